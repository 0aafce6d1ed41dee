"""The exception report: straight from the log, amounts as numbers, reasons as they were typed and never run."""

from __future__ import annotations

import csv
import io
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit import exception_report, flags
from audit.models import Flag, LogEntry
from casino import events, people
from casino.models import Person
from settlement.models import Line
from tests.audit.conftest import Played


def rows(*, action: str = "") -> list[dict[str, Any]]:
    since = timezone.now() - timedelta(days=2)
    found = exception_report.report(since=since, until=timezone.now() + timedelta(minutes=1))
    told = [dict(zip(exception_report.COLUMNS, row, strict=True)) for row in found]
    return [row for row in told if action in ("", row["action"])]


def test_a_correction_tells_of_each_wager_what_it_was_and_what_it_is(played: Played) -> None:
    nets: dict[str, dict[int, int]] = {}
    for line in Line.objects.filter(settlement__round=played.told["corrected"]).select_related("settlement"):
        nets.setdefault(line.wager, {})[line.settlement.revision] = line.net
    changed = {wager: net for wager, net in nets.items() if net[1] != net[2]}

    subject = f"rounds/{played.told['corrected']}"
    told = {
        row["item"]: row for row in rows(action="round.corrected") if row["item"].startswith(f"{subject}#")
    }

    assert (
        {item.removeprefix(f"{subject}#"): {1: row["before"], 2: row["after"]} for item, row in told.items()}
        == changed
        != {}
    )
    assert {(row["who"], row["second"], row["currency"], row["reason"]) for row in told.values()} == {
        ("S01", "M01", "THB", "two people")
    }


def test_a_decision_names_what_it_chose_and_both_people(played: Played) -> None:
    decided = {row["before"]: row for row in rows(action="dispute.decided")}
    row = decided[f"disputes/{played.told['by_two']}"]
    assert (row["item"], row["who"], row["second"]) == (f"rounds/{played.told['disputed']}", "A02", "A01")
    assert row["after"].startswith("card_ruled ")
    assert row["reason"] == "card_misread seen twice"
    assert decided[f"disputes/{played.told['alone']}"]["after"] == "stands"


def test_a_ruling_at_the_table_shows_the_card_before_and_after(played: Played) -> None:
    ruled = [
        row
        for row in rows(action="round.recorded")
        if row["item"].startswith(f"rounds/{played.told['corrected']}#")
    ]
    (row,) = ruled
    assert row["reason"] == "seen on video"
    assert row["before"] != row["after"]
    assert len(row["before"]) == len(row["after"]) == 2


def test_rights_sheets_waivers_and_flags_are_told(played: Played) -> None:
    told = rows()
    assert {row["action"] for row in told} >= {
        "person.created", "sheet.put_in_force", "gap.waived", "flag.closed", "device.enrolled",
    }  # fmt: skip
    (waived,) = [row for row in told if row["action"] == "gap.waived"]
    assert (waived["after"], waived["reason"]) == ("waived", "the tablet fell")
    assert [row["entry"] for row in told] == sorted(row["entry"] for row in told)


def test_the_report_is_a_file_in_which_what_people_typed_is_text(played: Played) -> None:
    auditor = Person.objects.get(badge="A01")
    flag = Flag.objects.filter(state="open", round__in_dispute=False).first()
    assert flag is not None
    with events.act(actor=people.principal_of(auditor), request_id="x", now=timezone.now()):
        flags.close(flag=flag.id, by=auditor, code="explained", reason='=HYPERLINK("http://x","y")')
    client = Client()
    client.force_login(auditor, backend="casino.people.BadgeAndPassword")

    day = f"{timezone.now().astimezone(_zone()):%Y-%m-%d}"
    answer = client.get(f"/admin/audit/logentry/exceptions.csv?on={day[:7]}")

    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/csv")
    assert answer["Content-Disposition"].startswith(f'attachment; filename="exceptions-{day[:7]}-as-of-')
    text = b"".join(answer).decode("utf-8-sig")
    header, *lines = csv.reader(io.StringIO(text, newline=""))
    assert tuple(header) == exception_report.COLUMNS
    told = [dict(zip(header, line, strict=True)) for line in lines]
    assert any(row["reason"] == 'explained =HYPERLINK("http://x","y")' for row in told)
    assert not [cell for line in lines for cell in line if cell and cell[0] in "=+@"]
    negative = [
        row["after"] for row in told if row["action"] == "round.corrected" and row["after"].startswith("-")
    ]
    assert negative
    assert all(f",{amount}," in text for amount in negative), "an amount below zero is a number, not a text"
    last = LogEntry.objects.latest("id")
    assert (last.action, last.person) == ("evidence.read", auditor.id)


def _zone() -> Any:
    from audit.admin import calendars

    return calendars.zone()


@pytest.mark.parametrize("on", ["2026-13", "x", "2026-02-30"])
def test_a_day_that_is_none_is_refused(played: Played, on: str) -> None:
    client = Client()
    client.force_login(Person.objects.get(badge="A01"), backend="casino.people.BadgeAndPassword")
    assert client.get(f"/admin/audit/logentry/exceptions.csv?on={on}").status_code == 400


def test_whoever_may_not_read_the_log_gets_no_report(played: Played) -> None:
    client = Client()
    client.force_login(Person.objects.get(badge="M01"), backend="casino.people.BadgeAndPassword")
    assert client.get("/admin/audit/logentry/exceptions.csv").status_code == 302
    assert isinstance(rows(), list)
    assert isinstance(timezone.now(), datetime)
