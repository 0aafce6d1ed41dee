"""A house whose days start at six: half past six is the new day, one minute to six the old one, whatever UTC says."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from casino import events
from settlement import days, reports
from settlement.models import GamingDay, Journal
from tests.settlement import floor

pytestmark = pytest.mark.django_db

HALF_PAST_SIX = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
"""06:30 of 2 March on the wall."""
ONE_MINUTE_TO_SIX = datetime(2026, 3, 1, 22, 59, tzinfo=UTC)


def test_before_six() -> None:
    assert days.of(HALF_PAST_SIX) == date(2026, 3, 2)
    assert days.of(ONE_MINUTE_TO_SIX) == date(2026, 3, 1)

    for instant, day in ((ONE_MINUTE_TO_SIX, date(2026, 3, 1)), (HALF_PAST_SIX, date(2026, 3, 2))):
        floor.paid_in(f"G{day.day}", 100_00, now=instant)
        assert Journal.objects.get(recorded_at=instant).gaming_day == day
        with events.act(actor=events.SERVICE, request_id="beat", now=instant):
            reports.turn()
        row = GamingDay.objects.get(day=day)
        assert row.begins_at <= instant < row.ends_at


def test_a_day_ends_where_the_next_begins() -> None:
    first, second = days.bounds(date(2026, 3, 1)), days.bounds(date(2026, 3, 2))
    assert first[1] == second[0] == datetime(2026, 3, 1, 23, tzinfo=UTC)
