"""Values that come from outside: instants, days, whole numbers, ids; and the bounds within which the house can compute.

One reader for each, of exactly one way of writing it. Whoever reads a body, an address, a query, a file, a form or a
command's argument reads with these, so that what one door refuses no other door takes. Only ASCII digits are digits.

``Unreadable`` is what is not written so (a door answers 400 ``malformed``), ``OutOfBounds`` what is, and cannot be
meant or be computed with (422 ``invalid_value``). Both say in ``why`` what would be right, for whoever sent it.
Nothing here reads a clock or a setting; ``settlement.days`` has the bounds of this house.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Generic, TypeVar
from uuid import UUID

Value = TypeVar("Value", date, datetime, int)

AN_INSTANT = "a time with its zone, 2026-03-01T10:04:05Z"
A_DAY = "a day, 2026-03-01"
A_WHOLE_NUMBER = "must be a whole number"
A_UUID = "must be a UUID"

MOST_BIGINT = 2**63 - 1
"""The largest number that the database keeps."""

MOST_COUNTED = 10**15
"""The most that pieces of one paper or one count come to (minor units): sums over many of them stay below the largest
number by far."""

MOST_STAKE = 10**12
"""The largest stake of one wager, in minor units."""

SLACK = timedelta(minutes=1)
"""How far another clock may be ahead of ours, or behind it, and still say *now*."""

YEARS_AHEAD = 10
"""How many years ahead something may be set to take effect."""

_INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,20})?(?:Z|[+-][0-9]{2}:[0-5][0-9])"
)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WHOLE = re.compile(r"0|-?[1-9][0-9]*")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

# Within these an instant can be shown by the clock of any zone.
_EARLIEST = datetime(1, 1, 2, tzinfo=UTC)
_FIRST = _EARLIEST - timedelta(microseconds=1)
_LATEST = datetime(9999, 12, 30, tzinfo=UTC)


class Wrong(ValueError):
    """A value that is not taken; ``why`` says what would be."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Unreadable(Wrong):
    """It is not written as such a value is."""


class OutOfBounds(Wrong):
    """It can be read, and lies where it cannot be meant."""


def instant(given: Any) -> datetime:
    """Return, in UTC, the instant that RFC 3339 text names: date, ``T``, hours to seconds, an optional fraction, and
    ``Z`` or ±hh:mm. Digits beyond microseconds are left out.

    Raises Unreadable, also for a second 60 and for the first and last days of the calendar, which not every zone has.
    """
    found = clock(given)
    if not _EARLIEST <= found < _LATEST:
        raise Unreadable(AN_INSTANT)
    return found


def clock(given: Any) -> datetime:
    """Return, in UTC, what a clock showed, whatever year that is: a device's word about its own time, which is kept
    and weighed, and never refused for what it says. What lies at the very ends of the calendar is brought within it.

    Raises Unreadable for what is not written as ``instant`` has it.
    """
    if not isinstance(given, str) or not _INSTANT.fullmatch(given):
        raise Unreadable(AN_INSTANT)
    try:
        found = datetime.fromisoformat(given)
    except ValueError:
        raise Unreadable(AN_INSTANT) from None
    try:
        return min(max(found.astimezone(UTC), _FIRST), _LATEST)
    except OverflowError:
        return _FIRST if found.year == 1 else _LATEST


def day(given: Any) -> date:
    """Return the day that ``YYYY-MM-DD`` names; raise Unreadable for anything else (a week's day, a time)."""
    if not isinstance(given, str) or not _DAY.fullmatch(given):
        raise Unreadable(A_DAY)
    try:
        return date.fromisoformat(given)
    except ValueError:
        raise Unreadable(A_DAY) from None


def whole(given: Any, *, least: int = 0, most: int = MOST_BIGINT) -> int:
    """Return the whole number that text names in ASCII digits, without leading zeros, ``+``, point or space.

    Raises Unreadable, and OutOfBounds below ``least`` or above ``most``."""
    if not isinstance(given, str) or not _WHOLE.fullmatch(given):
        raise Unreadable(A_WHOLE_NUMBER)
    # Python reads no more than 4,300 digits; what is longer than the bounds' own digits is outside of them anyway.
    found = int(given) if len(given) <= 40 else None
    if found is None or not least <= found <= most:
        raise OutOfBounds(f"{least} to {most}")
    return found


def uuid(given: Any) -> UUID:
    """Return the UUID that text names, in either case, with its four hyphens; raise Unreadable."""
    if not isinstance(given, str) or not _UUID.fullmatch(given):
        raise Unreadable(A_UUID)
    return UUID(given)


@dataclass(frozen=True, slots=True)
class Between(Generic[Value]):
    """Bounds: from ``first`` to ``last``, both within. Empty where ``last`` comes before ``first``."""

    first: Value
    last: Value

    def __contains__(self, value: Value) -> bool:
        return self.first <= value <= self.last

    def require(self, value: Value) -> Value:
        """Return the value; raise OutOfBounds where it is not within."""
        if value not in self:
            raise OutOfBounds(f"{_text(self.first)} to {_text(self.last)}")
        return value


def happened(*, since: datetime, now: datetime) -> Between[datetime]:
    """Return when something can have happened: from ``since``, where the gaming day of the house's first entry began,
    to now and a minute."""
    return Between(since, now + SLACK)


def takes_effect(*, now: datetime) -> Between[datetime]:
    """Return when something may take effect, end or fall due: from now (less the minute by which another clock may be
    behind) to ten years on."""
    year = min(now.year + YEARS_AHEAD, _LATEST.year)
    try:
        last = now.replace(year=year)
    except ValueError:  # 29 February
        last = now.replace(year=year, day=28)
    return Between(now - SLACK, last)


def _text(value: date | int) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return value.isoformat() if isinstance(value, date) else str(value)
