"""The gaming day of an instant, where the clocks stand still and where they change."""

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casino import gaming_day

BANGKOK = "Asia/Bangkok"
NEW_YORK = "America/New_York"


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]


def test_at_half_past_six_in_bangkok_the_new_day_has_begun() -> None:
    assert gaming_day.gaming_day(utc(2026, 2, 28, 23, 30), BANGKOK, 6) == date(2026, 3, 1)


def test_at_one_minute_to_six_it_is_still_the_old_day() -> None:
    assert gaming_day.gaming_day(utc(2026, 3, 1, 22, 59), BANGKOK, 6) == date(2026, 3, 1)


def test_the_start_hour_itself_belongs_to_the_new_day_and_the_instant_before_to_the_old() -> None:
    starts = utc(2026, 3, 1, 23)
    assert gaming_day.gaming_day(starts, BANGKOK, 6) == date(2026, 3, 2)
    assert gaming_day.gaming_day(starts - timedelta(microseconds=1), BANGKOK, 6) == date(2026, 3, 1)


def test_an_instant_whose_date_in_utc_is_another_belongs_to_the_day_of_the_house() -> None:
    assert gaming_day.gaming_day(utc(2026, 11, 28, 19), BANGKOK, 6) == date(2026, 11, 28)  # 02:00 on the 29th
    assert gaming_day.gaming_day(utc(2026, 11, 28, 23, 1), BANGKOK, 6) == date(2026, 11, 29)


def test_the_zone_in_which_an_instant_is_written_does_not_matter() -> None:
    there = datetime(2026, 3, 2, 1, 30, tzinfo=timezone(timedelta(hours=9)))
    assert gaming_day.gaming_day(there, BANGKOK, 6) == gaming_day.gaming_day(
        there.astimezone(UTC), BANGKOK, 6
    )


def test_a_day_is_the_interval_between_two_start_hours() -> None:
    assert gaming_day.start(date(2026, 3, 1), BANGKOK, 6) == utc(2026, 2, 28, 23)
    assert gaming_day.end(date(2026, 3, 1), BANGKOK, 6) == utc(2026, 3, 1, 23)


def test_a_time_that_names_no_instant_is_refused() -> None:
    with pytest.raises(ValueError, match="without a zone"):
        gaming_day.gaming_day(datetime(2026, 3, 1, 12), BANGKOK, 6)  # noqa: DTZ001


@pytest.mark.parametrize("hour", [-1, 24])
def test_an_hour_that_no_clock_shows_is_refused(hour: int) -> None:
    with pytest.raises(ValueError, match="not an hour"):
        gaming_day.start(date(2026, 3, 1), BANGKOK, hour)


def test_the_day_on_which_clocks_go_forward_has_twenty_three_hours() -> None:
    spring = date(2026, 3, 7)  # the change comes at 02:00 on the 8th, inside the day that began on the 7th
    assert gaming_day.end(spring, NEW_YORK, 6) - gaming_day.start(spring, NEW_YORK, 6) == timedelta(hours=23)
    assert gaming_day.start(date(2026, 3, 8), NEW_YORK, 6) == utc(2026, 3, 8, 10)


def test_the_day_on_which_clocks_go_back_has_twenty_five_hours() -> None:
    autumn = date(2026, 10, 31)
    assert gaming_day.end(autumn, NEW_YORK, 6) - gaming_day.start(autumn, NEW_YORK, 6) == timedelta(hours=25)


def test_a_skipped_start_hour_starts_the_day_when_the_clocks_jump_over_it() -> None:
    jump = utc(2026, 3, 8, 7)  # 02:00 becomes 03:00
    assert gaming_day.start(date(2026, 3, 8), NEW_YORK, 2) == jump
    assert gaming_day.gaming_day(jump, NEW_YORK, 2) == date(2026, 3, 8)
    assert gaming_day.gaming_day(jump - timedelta(seconds=1), NEW_YORK, 2) == date(2026, 3, 7)


def test_a_jump_in_the_middle_of_a_skipped_hour_starts_the_day_at_the_jump() -> None:
    # Toronto's clocks went from 23:30 to 00:30, so that midnight never came.
    assert gaming_day.start(date(1919, 3, 31), "America/Toronto", 0) == utc(1919, 3, 31, 4, 30)


def test_a_start_hour_that_comes_twice_starts_the_day_once() -> None:
    first, second = utc(2026, 11, 1, 5), utc(2026, 11, 1, 6)  # 01:00 and 01:00 again
    assert gaming_day.start(date(2026, 11, 1), NEW_YORK, 1) == first
    assert gaming_day.gaming_day(first - timedelta(seconds=1), NEW_YORK, 1) == date(2026, 10, 31)
    assert gaming_day.gaming_day(second - timedelta(seconds=1), NEW_YORK, 1) == date(2026, 11, 1)
    assert gaming_day.gaming_day(second, NEW_YORK, 1) == date(2026, 11, 1)


def test_a_day_does_not_come_back_when_clocks_are_set_back_over_midnight() -> None:
    # St John's: at 00:01 on the 25th the clocks went back to 23:01 on the 24th.
    began = utc(1987, 10, 25, 2, 30)
    assert gaming_day.gaming_day(began, "America/St_Johns", 0) == date(1987, 10, 25)
    assert gaming_day.gaming_day(began + timedelta(minutes=30), "America/St_Johns", 0) == date(1987, 10, 25)
    assert gaming_day.gaming_day(began - timedelta(seconds=1), "America/St_Johns", 0) == date(1987, 10, 24)


@settings(deadline=None)
@given(
    instant=st.datetimes(datetime(1990, 1, 1), datetime(2037, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    zone=st.sampled_from([BANGKOK, NEW_YORK, "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"]),
    hour=st.integers(0, 23),
)
def test_every_instant_lies_between_the_start_and_the_end_of_its_day(
    instant: datetime, zone: str, hour: int
) -> None:
    today = gaming_day.gaming_day(instant, zone, hour)
    assert gaming_day.start(today, zone, hour) <= instant < gaming_day.end(today, zone, hour)


def test_the_day_needs_no_django_and_no_clock() -> None:
    """The pure modules load nothing of the service: they must run where nothing is installed."""
    program = (
        "import sys; import casino.gaming_day, casino.cards, casino.record; print('django' in sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent.parent.parent,
    )
    assert said.stdout.strip() == "False"
