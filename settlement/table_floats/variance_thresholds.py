"""How far a count may be off before somebody must do something about it: dated limits of the property. Pure.

A limit is written as its rule is: ``>=10000`` is reached by exactly 10,000 minor units, ``>10000`` by one more.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

_WRITTEN = re.compile(r"(>=?)([0-9]{1,13})")


@dataclass(frozen=True, slots=True)
class Limit:
    """``amount`` in minor units; ``reached`` by it, or only by more."""

    amount: int
    counts_itself: bool

    @classmethod
    def read(cls, written: str) -> "Limit":
        """Read ``>=10000`` or ``>10000``. Raises ValueError."""
        found = _WRITTEN.fullmatch(written)
        if found is None:
            raise ValueError(f"{written!r} is no limit; write >=10000 or >10000, in minor units")
        return cls(amount=int(found[2]), counts_itself=found[1] == ">=")

    def reached(self, difference: int) -> bool:
        """Say whether a difference of either sign reaches the limit."""
        return abs(difference) >= self.amount if self.counts_itself else abs(difference) > self.amount


@dataclass(frozen=True, slots=True)
class Ladder:
    """The limits in force from ``from_`` on, the lowest step first."""

    from_: date
    note: Limit
    incident: Limit
    notify: Limit

    def grade(self, difference: int) -> str:
        """Return the highest step that a difference reaches: ``quiet`` below all of them, empty for none."""
        if difference == 0:
            return ""
        for name in ("notify", "incident", "note"):
            limit: Limit = getattr(self, name)
            if limit.reached(difference):
                return name
        return "quiet"


def read(rows: Iterable[Mapping[str, str]]) -> tuple[Ladder, ...]:
    """Return the ladders of ``[{"from": "2026-01-01", "note": ">=…", "incident": "…", "notify": "…"}, …]``, oldest
    first. Raises ValueError for anything else, and for none."""
    try:
        found = [
            Ladder(
                from_=date.fromisoformat(row["from"]),
                note=Limit.read(row["note"]),
                incident=Limit.read(row["incident"]),
                notify=Limit.read(row["notify"]),
            )
            for row in rows
        ]
    except (KeyError, TypeError, AttributeError) as fault:
        raise ValueError(f"limits of a variance are from, note, incident and notify: {fault!r}") from fault
    if not found:
        raise ValueError("there are no limits of a variance")
    return tuple(sorted(found, key=lambda ladder: ladder.from_))


def in_force(ladders: Iterable[Ladder], on: date) -> Ladder:
    """Return the ladder of a gaming day: the newest that is not later; the oldest for a day before all of them."""
    known = list(ladders)
    return next((ladder for ladder in reversed(known) if ladder.from_ <= on), known[0])
