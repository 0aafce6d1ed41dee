"""A round belongs to the gaming day in which its bets closed; learnt late, it is posted in the open day and says so."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest

from casino.models import Round
from settlement import settling
from settlement.models import Journal
from tests.casino.telling import TWO_HANDS
from tests.settlement import floor
from tests.settlement.floor import a_table, corrected, outcome

pytestmark = pytest.mark.django_db

WON = TWO_HANDS + "close"
SIX = datetime(2026, 3, 1, 23, 0, tzinfo=UTC)
"""Six in the morning at the tables: the gaming day of 2 March begins."""
OPENED = SIX - timedelta(days=6)
FIRST, SECOND = date(2026, 3, 1), date(2026, 3, 2)


def days_of(round_id: UUID) -> tuple[date | None, date, date | None]:
    """The day of the round, the day in which it was posted, and the original day that its journal names."""
    journal = Journal.objects.get(round=round_id)
    return Round.objects.get(pk=round_id).gaming_day, journal.gaming_day, journal.orig_day


def after_lock(text: str) -> int:
    """How many events follow the lock, each a second after the one before."""
    events = floor.telling.events_of(text)[0]
    return len(events) - 1 - next(place for place, event in enumerate(events) if event.kind == "bets_locked")


def locked_at(instant: datetime, *, opened_at: datetime = OPENED) -> UUID:
    """A round of PD01 whose bets close at ``instant``, settled as soon as it is closed."""
    closed = instant + timedelta(seconds=after_lock(WON))
    round_id = a_table(opened_at=opened_at).tell(WON, at=closed)
    assert outcome(round_id, now=closed) == "settled"
    return round_id


def test_bets_that_close_a_second_before_six_belong_to_the_day_that_ends() -> None:
    assert days_of(locked_at(SIX - timedelta(seconds=1))) == (FIRST, FIRST, None)


def test_bets_that_close_at_six_belong_to_the_day_that_begins() -> None:
    assert days_of(locked_at(SIX)) == (SECOND, SECOND, None)


def test_a_round_settled_the_morning_after_is_posted_in_its_own_day() -> None:
    closed = SIX - timedelta(hours=1)
    round_id = a_table(opened_at=OPENED).tell(WON, at=closed)

    assert outcome(round_id, now=closed + timedelta(hours=12)) == "settled"

    assert days_of(round_id) == (FIRST, FIRST, None)


def test_a_round_settled_two_days_later_is_posted_in_the_open_day_and_names_its_own() -> None:
    closed = SIX - timedelta(hours=1)
    round_id = a_table(opened_at=OPENED).tell(WON, at=closed)

    assert outcome(round_id, now=closed + timedelta(days=2)) == "settled"

    assert days_of(round_id) == (FIRST, date(2026, 3, 3), FIRST)
    effective = settling.effective(round_id)
    assert effective is not None
    assert effective.gaming_day == FIRST


def test_a_correction_is_posted_in_the_open_day_and_the_round_stays_in_its_own() -> None:
    closed = SIX - timedelta(hours=1)
    table = a_table(opened_at=OPENED)
    round_id = table.tell(WON, at=closed)
    outcome(round_id, now=closed)
    later = closed + timedelta(hours=3)
    table.tell("rule dealer.2 8D", round=round_id, at=later)

    second = corrected(round_id, now=later)

    assert second.gaming_day == FIRST
    assert Round.objects.get(pk=round_id).gaming_day == FIRST
    assert list(
        Journal.objects.filter(round=round_id)
        .order_by("gaming_day", "kind")
        .values_list("kind", "gaming_day", "orig_day")
    ) == [("round", FIRST, None), ("round", SECOND, FIRST), ("round_reversal", SECOND, FIRST)]


def test_the_day_is_that_of_the_bets_as_put_right_not_of_the_devices_clock() -> None:
    """The tablet is an hour fast: it says half past six, and it is half past five."""
    table = a_table(opened_at=OPENED)
    true = SIX - timedelta(minutes=30)
    fast = timedelta(hours=1)
    round_id = floor.a_round_id(1)
    reports = [
        floor.a_report(event.seq, event.kind, round_id, event.data, at=true + fast)
        for event in floor.telling.events_of(WON)[0]
    ]
    with floor.act(now=true):
        floor.rounds.append(device=table.devices["tablet"], reports=reports, sent_at=true + fast)

    assert outcome(round_id, now=true) == "settled"

    assert days_of(round_id) == (FIRST, FIRST, None)


def test_a_round_without_a_lock_closes_its_bets_with_the_first_card() -> None:
    text = WON.replace("    lock\n", "")
    after = len(floor.telling.events_of(text)[0]) - 3
    closed = SIX + timedelta(seconds=after)
    round_id = a_table(opened_at=OPENED).tell(text, at=closed)

    outcome(round_id, now=closed)

    assert days_of(round_id)[0] == SECOND
