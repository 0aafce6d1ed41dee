"""What sealed entries show of people's cash and of chips: days of which a report is due, days that come to one
together, and chips that came back to a cage although fewer were outside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from django.conf import settings

from audit.flags.kinds import Raised, Seen
from settlement.cashier import cash_acts, cash_report
from settlement.cashier.cash_report import Total
from settlement.models import CashKind

_ACTIONS = frozenset(cash_acts.ACTIONS.values())


def reports(seen: Sequence[Seen]) -> Iterator[Raised]:
    """People whose cash in, or out, of a gaming day comes to more than the limit, and those whose cash on either side
    of a start hour would, taken together. One statement."""
    entries: dict[tuple[str, date], int] = {}
    for one in seen:
        if one.action in _ACTIONS and one.data["person"] and one.data["means"] == "cash":
            entries.setdefault((one.data["person"], date.fromisoformat(one.data["gaming_day"])), one.entry)
    if not entries:
        return
    totals = cash_report.around(entries)
    for total in totals:
        if total.is_due and (total.person, total.gaming_day) in entries:
            yield Raised("ctr_due", _subject(total), _detail(total), entries[total.person, total.gaming_day])
    for before, after in cash_report.split(totals):
        told = entries.get((after.person, after.gaming_day)) or entries.get(
            (before.person, before.gaming_day)
        )
        if told is not None:
            yield Raised(
                "cash_across_days", _subject(after), _detail(after) | {"day_before": before.amount}, told
            )


def chips(seen: Sequence[Seen]) -> Iterator[Raised]:
    """Acts that took back more chips than were outside; the entry itself says so, so none passes unseen."""
    for one in seen:
        if one.action == cash_acts.ACTIONS[CashKind.CHIP_REDEMPTION] and one.data.get("chips_outside", 0) < 0:
            yield Raised(
                "chips_exceed_outstanding",
                f"cages/{one.data['cage']}#{one.data['act']}",
                {
                    "cage": one.data["cage"],
                    "amount": one.data["amount"],
                    "outside": one.data["chips_outside"] + one.data["amount"],
                    "currency": one.data["currency"],
                },
                one.entry,
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
