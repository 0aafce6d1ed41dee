"""A mispay that is found when the chips are gone: no money moves, and nobody is left to wonder where it went."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from casino import rounds
from casino.models import RoundEvent
from settlement import reports
from settlement.models import Break, Journal
from tests.settlement import daybook, floor
from tests.settlement.daybook import (
    DAY,
    EVENING,
    MORNING,
    NIGHT,
    WON,
    a_counted_table,
    a_sealed_day,
    a_table_closed,
)
from tests.settlement.floor import act, money

pytestmark = pytest.mark.django_db

THB = {"currency": "THB"}
PAID = {
    "wager": "w1",
    "paid": THB | {"amount": 300_00},
    "due": THB | {"amount": 100_00},
    "reason": "on the video",
}
FOUND = {"wager": "w1", "paid": 300_00, "due": 100_00, "currency": "THB"}


def found(round: UUID, *, at: datetime) -> RoundEvent:
    with act(now=at):
        return rounds.rule(round_id=round, kind="mispay_found", data=PAID, by=daybook.manager())


def amendments() -> list[dict[str, Any]]:
    return reports.posted_later_about(DAY)


def test_a_mispay_found_moves_no_ledger_and_is_named_as_a_likely_cause_of_the_next_counts_variance() -> None:
    """The guest was paid 300 where 100 was due, and 200 are missing from the tray."""
    table = a_counted_table()
    assert floor.outcome(table.tell(WON)) == "settled"
    before, journals = money(), Journal.objects.count()

    found(table.told[0], at=EVENING + timedelta(minutes=10))

    assert (money(), Journal.objects.count()) == (before, journals)
    a_table_closed(table, last_round=1, baht=10_000 - 100 - 200)
    written = Break.objects.get(code="COUNT_VARIANCE", amount=-200_00)
    assert written.detail["likely_causes"] == [FOUND | {"round": str(table.told[0])}]


def test_a_count_that_agrees_names_no_cause_and_one_of_an_earlier_count_is_not_named_again() -> None:
    table = a_counted_table()
    assert floor.outcome(table.tell(WON)) == "settled"
    found(table.told[0], at=EVENING + timedelta(minutes=10))
    a_table_closed(table, last_round=1, baht=10_000 - 100)
    assert not Break.objects.exists()
    later = a_counted_table("PD02", now=NIGHT)
    a_table_closed(later, last_round=0, baht=10_000 - 50, now=NIGHT + timedelta(hours=1))
    assert "likely_causes" not in Break.objects.get().detail


def test_one_found_after_the_seal_stands_among_the_reports_amendments() -> None:
    table, sealed = a_sealed_day(rounds=2)
    journals = Journal.objects.count()
    assert amendments() == []

    event = found(table.told[1], at=MORNING + timedelta(days=2))

    assert (event.late, Journal.objects.count()) == (False, journals)
    [listed] = amendments()
    assert {name: listed[name] for name in ("kind", "orig_day", "round", "wager", "paid", "due", "house_net")} == {
        "kind": "mispay_found", "orig_day": str(DAY), "round": str(table.told[1]), "wager": "w1", "paid": 300_00,
        "due": 100_00, "house_net": 0,
    }  # fmt: skip
    assert reports.posted_later_about(DAY + timedelta(days=1)) == []
    sealed.refresh_from_db()
    assert sealed.sha256 == type(sealed).objects.get(pk=sealed.pk).sha256


def test_one_found_before_the_seal_is_no_amendment() -> None:
    table = a_counted_table()
    assert floor.outcome(table.tell(WON)) == "settled"
    found(table.told[0], at=EVENING + timedelta(minutes=10))
    a_table_closed(table, last_round=1, baht=9_900)
    daybook.closed()
    daybook.compared()
    daybook.sealed()
    assert amendments() == []


# -- a number that jumps --------------------------------------------------------------------------------------


def test_a_round_whose_number_jumps_is_held_until_a_supervisor_confirms_it() -> None:
    table = floor.a_table()
    assert floor.outcome(table.tell(WON)) == "settled"
    jumped = table.tell(WON, number=9_001)
    assert floor.outcome(jumped) == "held: number_jump"

    table.tell("waive number_jump signed", round=jumped)

    assert floor.outcome(jumped) == "settled"


def test_a_number_within_a_thousand_of_the_last_settles() -> None:
    table = floor.a_table()
    assert floor.outcome(table.tell(WON, number=1_000)) == "settled"
    assert floor.outcome(table.tell(WON, number=2_000)) == "settled"
