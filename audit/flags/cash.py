"""What sealed entries show of people's cash: days of which a report is due, and days that come to one together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from django.conf import settings

from audit.flags.kinds import Raised, Seen
from settlement.cashier import cash, report
from settlement.cashier.report import Total

_ACTIONS = frozenset(cash.ACTIONS.values())


def reports(seen: Sequence[Seen]) -> Iterator[Raised]:
    """People whose cash in, or out, of a gaming day comes to more than the limit, and those whose cash on either side
    of a start hour would, taken together. One statement."""
    entries: dict[tuple[str, date], int] = {}
    for one in seen:
        if one.action in _ACTIONS and one.data["person"] and one.data["means"] == "cash":
            entries.setdefault((one.data["person"], date.fromisoformat(one.data["gaming_day"])), one.entry)
    if not entries:
        return
    totals = report.around(entries)
    for total in totals:
        if total.is_due and (total.person, total.gaming_day) in entries:
            yield Raised("ctr_due", _subject(total), _detail(total), entries[total.person, total.gaming_day])
    for before, after in report.split(totals):
        told = entries.get((after.person, after.gaming_day)) or entries.get(
            (before.person, before.gaming_day)
        )
        if told is not None:
            yield Raised(
                "cash_across_days", _subject(after), _detail(after) | {"day_before": before.amount}, told
            )


def _subject(total: Total) -> str:
    return f"persons/{total.person}#{total.gaming_day.isoformat()}.{total.direction}"


def _detail(total: Total) -> dict[str, str | int]:
    return {
        "person": total.person,
        "gaming_day": total.gaming_day.isoformat(),
        "direction": total.direction,
        "amount": total.amount,
        "limit": int(settings.CASH["report"]),
        "currency": str(settings.PROPERTY["currency"]),
    }
