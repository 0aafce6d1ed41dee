"""Which gaming day an act falls in: by the start hours of the property, never by a client or a UTC date.

Also the bounds of this house: when something can have happened in it, and which days can be asked for. Whoever takes
such a value from outside requires them, so that no day ever stands in the books with which nobody can compute.
"""

from __future__ import annotations

from datetime import date, datetime

from casino import events
from casino.gaming_day import StartHour
from casino.platform import values
from casino.platform.values import Between
from settlement.days import start_hours


def of(instant: datetime) -> date:
    """Return the house's gaming day of an instant."""
    return start_hours.calendar().gaming_day(instant)


def running() -> date:
    """Return the gaming day of the running act; raises NoAct outside of one."""
    return of(events.current().now)


def bounds(gaming_day: date) -> tuple[datetime, datetime]:
    """Return the instants (UTC) at which a gaming day begins and is over; the second belongs to the next day."""
    calendar = start_hours.calendar()
    return calendar.start(gaming_day), calendar.end(gaming_day)


def start_hour_of(gaming_day: date) -> StartHour:
    """Return the start hour, and its zone, of a gaming day."""
    return start_hours.calendar().in_force(gaming_day)


def happened(*, now: datetime) -> Between[datetime]:
    """Return when what is told now can have happened: from the beginning of the gaming day of the house's first entry
    to a minute from now. One statement."""
    return values.happened(since=bounds(_first(now))[0], now=now)


def asked(*, now: datetime) -> Between[date]:
    """Return the gaming days that can be asked for now: from that of the house's first entry to the running one. One
    statement."""
    return Between(_first(now), of(now + values.SLACK))


def _first(now: datetime) -> date:
    """Return the gaming day of the first entry. A house without one begins today, as does one whose clock ran ahead
    when it began: it must not stand still until then."""
    first = events.first_act()
    return of(now) if first is None else min(of(first), of(now))
