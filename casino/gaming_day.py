"""The gaming day: from the property's start hour to the next, by the clock on its wall.

A day is an interval of instants, ``start`` up to ``end``, and has 23 or 25 hours where the clocks change inside
it. A property may change its start hour (or zone) from a day on: ``Calendar`` knows which was in force when, and the
day before a change is longer or shorter. Nothing here reads a clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

_DAY = timedelta(days=1)
_SECOND = timedelta(seconds=1)


def gaming_day(instant: datetime, zone: tzinfo | str, start_hour: int) -> date:
    """Return the gaming day that an instant belongs to; before the start hour it is still the day before.

    ``zone`` is an IANA name or a zone, ``start_hour`` 0 to 23. Raises ValueError for an instant without a zone: a
    naive time names no instant."""
    if instant.tzinfo is None or instant.utcoffset() is None:
        raise ValueError("a gaming day needs an instant, not a time without a zone")
    day = instant.astimezone(_zone(zone)).date()
    if instant < start(day, zone, start_hour):
        return day - _DAY
    if instant >= end(day, zone, start_hour):
        return day + _DAY
    return day


def start(day: date, zone: tzinfo | str, start_hour: int) -> datetime:
    """Return the instant, in UTC, at which a gaming day starts: the first at which the wall clock shows its start
    hour or, where the clocks skip that hour, has gone past it."""
    if not 0 <= start_hour <= 23:
        raise ValueError(f"not an hour of the day: {start_hour!r}")
    return _start(day, _zone(zone), start_hour)


def end(day: date, zone: tzinfo | str, start_hour: int) -> datetime:
    """Return the instant, in UTC, at which a gaming day is over; it belongs to the next day already."""
    return start(day + _DAY, zone, start_hour)


@dataclass(frozen=True, slots=True)
class StartHour:
    """From ``from_day`` on, gaming days start at ``hour`` (0 to 23) by the clocks of ``zone`` (an IANA name)."""

    from_day: date
    hour: int
    zone: str


@dataclass(frozen=True, slots=True)
class Calendar:
    """The gaming days of a property by its start hours, the earliest first, which holds for all days before it too;
    one at least."""

    start_hours: Sequence[StartHour]

    def in_force(self, day: date) -> StartHour:
        """Return the start hour of a gaming day."""
        found = self.start_hours[0]
        for one in self.start_hours:
            if one.from_day <= day:
                found = one
        return found

    def start(self, day: date) -> datetime:
        """Return the instant, in UTC, at which a gaming day starts."""
        one = self.in_force(day)
        return start(day, one.zone, one.hour)

    def end(self, day: date) -> datetime:
        """Return the instant at which the next gaming day starts, by the start hour that is in force then."""
        return self.start(day + _DAY)

    def gaming_day(self, instant: datetime) -> date:
        """Return the gaming day of an instant. Raises ValueError for an instant without a zone."""
        last = self.start_hours[-1]
        day = gaming_day(instant, last.zone, last.hour)
        while instant < self.start(day):
            day -= _DAY
        while instant >= self.end(day):
            day += _DAY
        return day


def _zone(zone: tzinfo | str) -> tzinfo:
    return ZoneInfo(zone) if isinstance(zone, str) else zone


@lru_cache(maxsize=1024)
def _start(day: date, zone: tzinfo, start_hour: int) -> datetime:
    shown = datetime.combine(day, time(start_hour))
    first = shown.replace(tzinfo=zone).astimezone(UTC)
    if first.astimezone(zone).replace(tzinfo=None) == shown:
        return first
    # The hour was skipped. Its two readings lie on either side of the change, which is where the day starts.
    before = shown.replace(tzinfo=zone, fold=1).astimezone(UTC)
    after = first
    while after - before > _SECOND:
        middle = before + (after - before) // 2
        if middle.astimezone(zone).replace(tzinfo=None) < shown:
            before = middle
        else:
            after = middle
    return after.replace(microsecond=0)
