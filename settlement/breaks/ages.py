"""How old a break is, from the moment it fell due."""

from __future__ import annotations

from datetime import datetime, timedelta

from settlement import days

AGES = ("not_due", "under_15_minutes", "same_day", "one_day", "two_to_three_days", "over_three_days")


def of(*, fell_due_at: datetime, now: datetime) -> str:
    """Return the age of a break by name: days are gaming days of the house."""
    if now < fell_due_at:
        return "not_due"
    if now - fell_due_at < timedelta(minutes=15):
        return "under_15_minutes"
    back = (days.of(now) - days.of(fell_due_at)).days
    if back == 0:
        return "same_day"
    if back == 1:
        return "one_day"
    return "two_to_three_days" if back <= 3 else "over_three_days"
