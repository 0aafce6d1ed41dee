"""The bounds of this house, as doors require them: of what has happened, and of the days that can be asked for."""

from __future__ import annotations

from datetime import date, datetime

from django.utils import timezone

from casino.api.door import in_path
from casino.platform import refusals, values
from casino.platform.values import Between
from settlement import days


def happened(at: datetime, name: str = "happened_at") -> datetime:
    """Return an instant at which something is said to have happened; refuse ``invalid_value`` where it cannot have."""
    return refusals.require_within(days.happened(now=timezone.now()), at, name)


def day_asked(day: date, name: str = "gaming_day") -> date:
    """Return a gaming day that is asked for; refuse ``invalid_value`` for one before the house or yet to come."""
    return refusals.require_within(days.asked(now=timezone.now()), day, name)


def day_in_path(text: str) -> date:
    """Read a gaming day of the address; refuse ``not_found`` for what is no day, ``invalid_value`` as ``day_asked``."""
    return day_asked(in_path(values.day, text), "day")


def rule_days(first: date, last: date | None) -> None:
    """Refuse ``invalid_value`` for days of a rule that no line can have: from the house's first day, as what is agreed
    now may explain a line that waits, to ten years on."""
    now = timezone.now()
    bounds = Between(days.asked(now=now).first, days.of(values.takes_effect(now=now).last))
    for name, day in (("first_day", first), ("last_day", last)):
        if day is not None:
            refusals.require_within(bounds, day, name)
