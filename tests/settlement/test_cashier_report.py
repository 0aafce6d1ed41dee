"""What is reported of cash: per person and gaming day, in and out apart."""

from __future__ import annotations

import csv
import io
import itertools
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from audit.models import Flag, LogEntry
from settlement import cashier
from settlement.cashier import Cash, cash_report
from tests import world
from tests.audit import flagged
from tests.settlement.cage import AtCage, a_cashier, said
from tests.settlement.doors import body_of, thb

NIGHT = datetime(2026, 3, 1, 14, tzinfo=UTC)
"""21:00 at the cage; the day began at 06:00 there."""
TODAY = date(2026, 3, 1)
LIMIT = 10_000_00


@pytest.fixture(autouse=True)
def _limits(settings: Any, db: None) -> None:
    settings.CASH = {"report": LIMIT, "log": 3_000_00, "sign_off": 10**12, "second_person": 10**12}


acts = itertools.count(1)
"""Every act has a number of its own, and comes a second after the one before."""


def comes(person: str, amount: int, *, at: datetime = NIGHT, means: str = "cash") -> None:
    number = next(acts)
    with world.acting(now=at + timedelta(seconds=number)):
        cashier.deposit(ref=person, amount=amount, cage="C1", document="D", key=str(number), means=means)


def goes(person: str, amount: int, *, at: datetime = NIGHT) -> None:
    number = next(acts)
    with world.acting(now=at + timedelta(seconds=number)):
        cashier.withdraw(ref=person, amount=amount, cage="C1", document="D", key=str(number))


def due(day: date = TODAY) -> dict[tuple[str, str], int]:
    return {(one.person, one.direction): one.amount for one in cash_report.due(day)}


# -- what is due -------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_ctr_edge() -> None:
    """Exactly the limit is no report, one unit more is; in and out are never netted; a start hour between two halves
    makes none, but a look; two people for one guest are added up."""
    comes("A1", 6_000_00)
    comes("A1", 4_000_00, at=NIGHT + timedelta(hours=2))
    comes("A2", 6_000_00)
    comes("A2", 4_000_01, at=NIGHT + timedelta(hours=2))
    comes("A3", 9_000_00)
    goes("A3", 9_000_00)
    start = datetime(2026, 3, 1, 23, tzinfo=UTC)  # 06:00 of 2 March at the cage
    comes("A4", 6_000_00, at=start - timedelta(minutes=5))
    comes("A4", 6_000_00, at=start + timedelta(minutes=5))
    # Two friends of A5's, one at the cage's window for the wallet, one for chips.
    comes("A5", 6_000_00)
    with world.acting(now=NIGHT):
        lines = [{"denomination": 1_000_00, "pieces": 5}]
        cashier.exchange(
            cage=world.a_cage("C2"),
            direction="sell",
            cash=Cash(5_000_00, person="A5", lines=lines),
            key="chips",
        )

    assert due() == {("A2", "in"): 10_000_01, ("A5", "in"): 11_000_00}
    assert due(TODAY + timedelta(days=1)) == {}
    flagged.read_all()
    assert flagged.raised() == {
        ("ctr_due", "persons/A2#2026-03-01.in"): _detail("A2", 10_000_01),
        ("ctr_due", "persons/A5#2026-03-01.in"): _detail("A5", 11_000_00),
        ("cash_across_days", "persons/A4#2026-03-02.in"): _detail("A4", 6_000_00, "2026-03-02")
        | {"day_before": 6_000_00},
    }


def _detail(person: str, amount: int, day: str = "2026-03-01") -> dict[str, Any]:
    return {
        "person": person, "gaming_day": day, "direction": "in", "amount": amount, "limit": LIMIT, "currency": "THB",
    }  # fmt: skip


def test_cash_out_is_reported_as_cash_in_is() -> None:
    comes("A1", 9_000_00)
    comes("A1", 2_000_00, at=NIGHT - timedelta(days=1))
    goes("A1", 10_000_01)
    assert due() == {("A1", "out"): 10_000_01}


def test_only_cash_counts_as_cash() -> None:
    comes("A1", 9_000_00)
    comes("A1", 9_000_00, means="transfer")
    assert due() == {}


@pytest.mark.django_db(transaction=True)
def test_one_report_is_one_flag_however_often_the_person_comes() -> None:
    for _ in range(3):
        comes("A1", 6_000_00)
        flagged.read_all()
    flag = Flag.objects.get()
    assert (flag.kind, flag.detail["amount"], flag.table, flag.round) == ("ctr_due", 12_000_00, None, None)


# -- the report --------------------------------------------------------------------------------------------


@pytest.fixture
def manager() -> AtCage:
    return AtCage(world.a_manager())


def test_the_report_of_a_day_names_who_is_due_and_logs_acts_from_the_limit_on(manager: AtCage) -> None:
    comes("A1", 9_000_00)
    comes("A1", 1_000_01)
    comes("A2", 3_000_00)
    comes("A3", 2_999_99)

    answer = manager.asks("GET", "cash/report?gaming_day=2026-03-01")

    shown = body_of(answer)
    assert (shown["limit"], shown["log_limit"]) == (thb(LIMIT), thb(3_000_00))
    assert shown["due"] == [{"person": "A1", "direction": "in", "amount": thb(10_000_01), "acts": 2}]
    assert [(act["person"], act["amount"]) for act in shown["log"]] == [
        ("A1", thb(9_000_00)),
        ("A2", thb(3_000_00)),
    ]
    assert body_of(manager.asks("GET", "cash/report?gaming_day=2026-03-02"))["log"] == []
    entries = LogEntry.objects.filter(action="evidence.read").order_by("id")
    assert [entry.subject for entry in entries] == ["cash/2026-03-01", "cash/2026-03-02"]


def test_the_log_is_read_page_by_page(manager: AtCage) -> None:
    for person in ("A1", "A2", "A3"):
        comes(person, 5_000_00)
    seen: list[str] = []
    path: str | None = "cash/report?gaming_day=2026-03-01&limit=2"
    while path is not None:
        page = body_of(manager.asks("GET", path))
        seen += [act["person"] for act in page["log"]]
        path = page["next"] and f"cash/report?gaming_day=2026-03-01&limit=2&cursor={page['next']}"
    assert seen == ["A1", "A2", "A3"]


def test_the_running_log_is_a_table_that_a_spreadsheet_never_runs(manager: AtCage) -> None:
    comes("-A1", 5_000_00)
    for asked in ({"Accept": "text/csv"}, {}):
        form = "" if asked else "&format=csv"
        answer = manager.asks("GET", f"cash/report?gaming_day=2026-03-01{form}", **asked)

        assert (answer.status_code, answer["Content-Type"]) == (200, "text/csv; charset=utf-8")
        [row] = csv.DictReader(io.StringIO(answer.content.decode()))
        assert (row["person"], row["amount_minor"], row["kind"]) == ("'-A1", "500000", "deposit")
        assert b'"\'-A1"' in answer.content


def test_who_reads_the_report_is_who_answers_for_cash() -> None:
    for who in (world.a_manager(), world.an_auditor(), a_cashier()):
        assert AtCage(who).asks("GET", "cash/report").status_code == 200
    for who in (world.a_dealer(), world.a_supervisor(), world.a_person(role="administrator", badge="X01")):
        assert said(AtCage(who).asks("GET", "cash/report", Accept="text/csv")) == (403, "forbidden")
    manager = AtCage(world.a_manager(badge="M02"))
    for wrong in ("gaming_day=today", "cursor=x", "limit=x"):
        assert said(manager.asks("GET", f"cash/report?{wrong}")) == (400, "malformed")
