"""What sealed entries show of counts: differences of which surveillance is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.conf import settings

from audit.flags.kinds import Raised, Seen

_TOLD = ("incident", "notify")


def differences(seen: Sequence[Seen]) -> Iterator[Raised]:
    """Floats and drop boxes that were off by an incident or more, by the limits of the property at the time."""
    for one in seen:
        if one.action.startswith("table.float_") and one.data["grade"] in _TOLD:
            yield _raised(one, f"floats/{one.data['float']}", one.data["kind"], one.data["expected"])
        if one.action == "drop.counted" and one.data["grade"] in _TOLD:
            yield _raised(one, f"drops/{one.data['drop']}", "drop", one.data["recorded"])


def _raised(one: Seen, subject: str, kind: str, expected: int) -> Raised:
    detail = {
        "kind": kind,
        "grade": one.data["grade"],
        "gaming_day": one.data["gaming_day"],
        "difference": one.data["counted"] - expected,
        "currency": str(settings.PROPERTY["currency"]),
    }
    return Raised("count_variance", subject, detail, one.entry, table=one.table)
