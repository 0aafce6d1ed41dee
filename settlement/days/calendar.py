"""Which gaming day an act falls in: by the property's zone and start hour, never by a client or a UTC date."""

from __future__ import annotations

from datetime import date, datetime

from django.conf import settings

from casino import day, events


def of(instant: datetime) -> date:
    """Return the house's gaming day of an instant."""
    return day.gaming_day(instant, settings.PROPERTY["zone"], settings.PROPERTY["day_start_hour"])


def running() -> date:
    """Return the gaming day of the running act; raises NoAct outside of one."""
    return of(events.current().now)


def bounds(gaming_day: date) -> tuple[datetime, datetime]:
    """Return the instants (UTC) at which a gaming day begins and is over; the second belongs to the next day."""
    house = settings.PROPERTY
    zone, hour = house["zone"], house["day_start_hour"]
    return day.start(gaming_day, zone, hour), day.end(gaming_day, zone, hour)
