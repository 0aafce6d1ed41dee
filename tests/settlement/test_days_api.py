"""The doors of days and shifts: who may, what is answered, and that an answer stays the same for its key."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from casino.models import Person
from settlement.models import GamingDay, Journal, Report, ReportFile
from tests import world
from tests.settlement import daybook, floor
from tests.settlement.daybook import DAY, ENDS, EVENING, MORNING, NIGHT, WON, a_sealed_day, compared

pytestmark = pytest.mark.django_db

Clock = Callable[[datetime], None]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What the doors read on the clock."""

    def set_to(instant: datetime) -> None:
        monkeypatch.setattr(timezone, "now", lambda: instant)

    set_to(EVENING)
    return set_to


def somebody(badge: str, role: str, *permissions: str) -> Person:
    return Person.objects.filter(badge=badge).first() or world.a_person(
        role=role, badge=badge, permissions=permissions
    )


def at_desk(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def posted(client: Client, path: str, body: Any = None, *, key: str = "") -> tuple[int, Any]:
    answer = client.post(
        f"/api/v1/{path}",
        json.dumps(body or {}),
        "application/json",
        headers={"Idempotency-Key": key or f"{path} {body}"},
    )
    return answer.status_code, answer.json()


def second(person: Person) -> dict[str, str]:
    return {"badge": person.badge, "pin": world.PIN}


@pytest.fixture
def manager(clock: Clock) -> Client:
    return at_desk(somebody("M09", "manager"))


@pytest.fixture
def auditors(clock: Clock) -> tuple[Person, Person]:
    """One who keeps the accounts, and another."""
    return somebody("A01", "auditor", "accounting"), somebody("A02", "auditor")


def seal(auditors: tuple[Person, Person], *, key: str = "seal") -> tuple[int, Any]:
    return posted(at_desk(auditors[0]), f"days/{DAY}/seal", second(auditors[1]), key=key)


# -- days ----------------------------------------------------------------------------------------------------


def test_a_manager_opens_and_closes_a_day_and_everybody_sees_where_it_stands(manager: Client) -> None:
    table = floor.a_table()
    status, opened = posted(manager, f"days/{DAY}/open", {"tables": ["PD01"]})
    assert (status, opened["state"], opened["running"]) == (201, "open", True)
    assert [(one["table"], one["sheet"] is not None) for one in opened["tables"]] == [("PD01", True)]

    status, closing = posted(manager, f"days/{DAY}/close")
    assert (status, closing["state"]) == (201, "closing")
    shown = manager.get(f"/api/v1/days/{DAY}").json()
    assert (shown["day"]["state"], shown["ready"]) == ("closing", False)
    unmet = [one["code"] for one in shown["checklist"] if one["blocking"] and not one["met"]]
    assert unmet == ["day_not_over", "table_open", "run_missing"]
    assert all(one["th"] and one["en"] for one in shown["checklist"])
    assert [one["gaming_day"] for one in manager.get("/api/v1/days").json()["days"]] == [str(DAY)]
    assert table.table.code == "PD01"


def test_a_day_that_is_no_day_or_not_there_is_not_found(manager: Client) -> None:
    for day in ("2026-13-01", "yesterday", "2026-W11-1"):
        assert manager.get(f"/api/v1/days/{day}").status_code == 404
        assert manager.get(f"/api/v1/days/{day}/report").status_code == 404
    for day in ("2026-03-09", "0001-01-02", "9999-12-31"):
        status, refused = posted(manager, f"days/{day}/close")
        assert (status, list(refused["fields"])) == (422, ["day"])


def test_the_list_goes_on_from_where_it_ended(manager: Client) -> None:
    for hours in (0, 24, 48):
        with floor.act(now=EVENING + timedelta(hours=hours)):
            daybook.reports.turn()
    first = manager.get("/api/v1/days?limit=2").json()
    assert [one["gaming_day"] for one in first["days"]] == ["2026-03-03", "2026-03-02"]
    rest = manager.get(f"/api/v1/days?cursor={first['next']}").json()
    assert ([one["gaming_day"] for one in rest["days"]], rest["next"]) == (["2026-03-01"], None)


def test_a_day_is_sealed_by_two_and_its_report_can_be_fetched_in_every_form(
    manager: Client, auditors: tuple[Person, Person], clock: Clock
) -> None:
    posted(manager, f"days/{DAY}/close")
    compared()
    clock(MORNING)
    manager.force_login(somebody("M09", "manager"))
    assert manager.get(f"/api/v1/days/{DAY}/report").json()["code"] == "day_not_sealed"

    status, sealed = seal(auditors)

    assert status == 201
    report = Report.objects.get(kind="day")
    assert sealed == {
        "report": str(report.id),
        "sha256": report.sha256,
        "files": dict(ReportFile.objects.values_list("format", "sha256")),
    }
    for name, media in (
        ("json", "application/json"),
        ("csv", "text/csv; charset=utf-8"),
        ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("pdf", "application/pdf"),
    ):
        answer = manager.get(f"/api/v1/days/{DAY}/report?format={name}")
        sha256 = report.sha256 if name == "json" else sealed["files"][name]
        assert (answer.status_code, answer["Content-Type"], answer["ETag"]) == (200, media, f'"{sha256}"')
        assert f"day-{DAY}.{name}" in answer["Content-Disposition"]
        stored = report.canonical if name == "json" else ReportFile.objects.get(format=name).content
        assert answer.content == bytes(stored)
    assert manager.get(f"/api/v1/days/{DAY}").json()["checklist"] == []


def test_a_day_that_is_not_ready_says_what_is_missing(auditors: tuple[Person, Person], clock: Clock) -> None:
    daybook.closed()
    clock(MORNING)
    status, refused = seal(auditors)
    assert (status, refused["code"]) == (409, "day_not_ready")
    assert [(one["code"], one["count"]) for one in refused["unmet"]] == [("run_missing", 6)]
    assert not GamingDay.objects.filter(state="sealed").exists()


def test_a_seal_asked_again_gets_the_first_answer_and_by_another_key_is_refused(
    auditors: tuple[Person, Person], clock: Clock
) -> None:
    daybook.closed()
    compared()
    clock(MORNING)
    first = seal(auditors)
    assert seal(auditors) == first
    assert seal(auditors, key="other")[1]["code"] == "day_sealed"


def test_the_second_person_of_a_seal_gives_their_own_pin(
    auditors: tuple[Person, Person], clock: Clock
) -> None:
    daybook.closed()
    compared()
    clock(MORNING)
    desk = at_desk(auditors[0])
    wrong = posted(desk, f"days/{DAY}/seal", {"badge": "A02", "pin": "000000"})
    alone = posted(desk, f"days/{DAY}/seal", {"badge": "A01", "pin": world.PIN})
    unknown = posted(desk, f"days/{DAY}/seal", second(auditors[1]) | {"reason": "x"})
    assert (wrong[1]["code"], alone[1]["code"], unknown[0]) == ("wrong_secret", "sod_violation", 400)
    assert not GamingDay.objects.filter(state="sealed").exists()


def test_two_auditors_of_whom_none_keeps_the_accounts_seal_nothing(clock: Clock) -> None:
    daybook.closed()
    compared()
    clock(MORNING)
    asked = posted(
        at_desk(somebody("A07", "auditor")), f"days/{DAY}/seal", second(somebody("A08", "auditor"))
    )
    assert (asked[0], asked[1]["code"]) == (403, "second_person_forbidden")


def test_a_retry_after_the_day_was_sealed_gets_its_first_answer(clock: Clock) -> None:
    """key_reused: a deposit of the evening, whose answer was lost, is sent again in the morning."""
    cashier = at_desk(somebody("C01", "cashier"))
    body = {
        "amount": {"amount": 100_00, "currency": "THB"},
        "cage": "C1",
        "till": "T1",
        "means": "cash",
        "document": "CR-1",
        "happened_at": EVENING.isoformat(),
    }
    first = posted(cashier, "wallets/A17/deposits", body, key="evening")
    assert first[0] == 201, first
    daybook.closed()
    compared()
    daybook.sealed()
    clock(MORNING)
    cashier.force_login(somebody("C01", "cashier"))

    again = cashier.post(
        "/api/v1/wallets/A17/deposits",
        json.dumps(body),
        "application/json",
        headers={"Idempotency-Key": "evening"},
    )

    assert (again.status_code, again.json()) == first
    assert again["Idempotency-Replayed"] == "true"
    assert again.json()["gaming_day"] == str(DAY)
    assert Journal.objects.filter(kind="deposit").count() == 1


def test_no_table_is_opened_by_a_door_in_a_day_that_is_closing(manager: Client, clock: Clock) -> None:
    table = daybook.a_counted_table()
    daybook.a_table_closed(table, last_round=0, baht=10_000)
    daybook.closed()
    with floor.act(now=NIGHT):
        world.counted(table.table, "opener", table.dealer, table.supervisor, pieces={100_00: 100})
    clock(NIGHT)
    status, refused = posted(
        at_desk(table.supervisor),
        "tables/PD01/sessions",
        {"dealer": table.dealer.badge, "supervisor": table.supervisor.badge, "cage": "C1"},
    )
    assert (status, refused["code"]) == (409, "day_closing")


# -- shifts --------------------------------------------------------------------------------------------------


def test_a_shift_is_opened_and_closed_by_two_and_reported(clock: Clock) -> None:
    table = daybook.a_counted_table()
    supervisor, manager = somebody("S-PD01", "supervisor"), somebody("M09", "manager")
    desk = at_desk(supervisor)
    status, shift = posted(desk, "shifts", {"tables": ["PD01"], **second(manager)})
    assert (status, shift["number"], shift["tables"]) == (201, 1, ["PD01"]), shift
    assert desk.get(f"/api/v1/shifts/{shift['id']}/report").json()["code"] == "shift_running"
    floor.outcome(table.tell(WON))

    clock(EVENING + timedelta(hours=6))
    desk = at_desk(supervisor)  # a session at rest ends: they sign in again
    status, closed = posted(desk, f"shifts/{shift['id']}/close", second(manager))

    assert (status, set(closed["files"])) == (201, {"csv", "xlsx", "pdf"}), closed
    report = desk.get(f"/api/v1/shifts/{shift['id']}/report").json()
    assert report["signed"] == ["S-PD01", "M09"]
    assert report["uncounted"] == ["PD01"]
    (listed,) = desk.get("/api/v1/shifts").json()["shifts"]
    assert (listed["id"], listed["report_sha256"]) == (shift["id"], closed["sha256"])
    assert posted(desk, f"shifts/{shift['id']}/close", second(manager), key="k")[1]["code"] == "shift_closed"


def test_who_counted_in_a_shift_is_one_of_those_who_close_it(clock: Clock) -> None:
    table = daybook.a_counted_table()
    shift = daybook.a_shift(tables=[table])
    later = EVENING + timedelta(hours=6)
    with floor.act(now=later):
        world.counted(table.table, "shift", table.dealer, table.supervisor, pieces={100_00: 100})
    clock(later)
    strangers = at_desk(somebody("M08", "manager"))
    path = f"shifts/{shift.id}/close"
    assert posted(strangers, path, second(somebody("M09", "manager")))[1]["code"] == "nobody_counted"
    supervisor = at_desk(table.supervisor)
    status, _ = posted(supervisor, path, second(somebody("M09", "manager")))
    assert status == 201
    report = supervisor.get(f"/api/v1/shifts/{shift.id}/report").json()
    assert [(one["kind"], one["counted"]) for one in report["counts"]] == [("shift", 10_000_00)]
    assert report["uncounted"] == []


def test_a_supervisor_who_did_not_serve_in_a_shift_does_not_close_it(clock: Clock) -> None:
    shift = daybook.a_shift()
    stranger = at_desk(somebody("S77", "supervisor"))
    asked = posted(stranger, f"shifts/{shift.id}/close", second(somebody("M09", "manager")))
    assert (asked[0], asked[1]["code"]) == (403, "forbidden")


def test_a_shifts_report_is_not_shown_while_one_of_its_tables_is_counted(clock: Clock) -> None:
    table = daybook.a_counted_table()
    shift = daybook.a_shift(tables=[table])
    manager = somebody("M09", "manager")
    with floor.act(now=EVENING + timedelta(hours=1)):
        daybook.reports.close_shift(shift=shift.id, by=table.supervisor, second=manager)
    with floor.act(now=NIGHT):
        world.counted(table.table, "closer", table.dealer, pieces={100_00: 100})
    seen = {
        who.badge: at_desk(who).get(f"/api/v1/shifts/{shift.id}/report").status_code
        for who in (manager, table.supervisor, somebody("A05", "auditor", "see_expected"))
    }
    assert seen == {"M09": 409, "S-PD01": 409, "A05": 200}


def test_a_sealed_days_report_is_shown_whatever_is_counted_today(manager: Client) -> None:
    table, _ = a_sealed_day()
    with floor.act(now=MORNING):
        world.counted(table.table, "opener", table.dealer, pieces={100_00: 100})
    assert manager.get(f"/api/v1/days/{DAY}/report").status_code == 200
    assert ENDS < MORNING
