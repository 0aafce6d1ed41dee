"""Single results, and what a chunk of them comes to."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from casino import events
from settlement.breaks import NewBreak

MODULUS = 1 << 256

Outcome = Literal["matched", "pending", "broken"]


@dataclass(frozen=True, slots=True)
class Single:
    """What comparing one thing came to. ``key`` names it, once in a run; ``value`` is what was compared, and holds
    nothing that depends on when the run looked. ``breaks`` make it broken; *pending* waits for something not due yet.
    ``records`` is how many it stands for: a range that agreed as a whole stands for all that lies in it.
    """

    key: str
    value: Any
    breaks: tuple[NewBreak, ...] = ()
    is_pending: bool = False
    records: int = 1

    @property
    def outcome(self) -> Outcome:
        if self.breaks:
            return "broken"
        return "pending" if self.is_pending else "matched"


@dataclass(frozen=True, slots=True)
class Unseen:
    """What could not be looked at, and why. Unknown is not matched."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class File:
    """An outside file that was compared, by its SHA-256 in hexadecimal."""

    sha256: str


@dataclass(slots=True)
class Tally:
    """The results of one chunk added up, each by its own hash: the sum does not know the order, nor the chunk."""

    level: str
    compared: int = 0
    matched: int = 0
    pending: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    at_risk: Counter[str] = field(default_factory=Counter)
    files: set[str] = field(default_factory=set)
    unseen: set[tuple[str, str]] = field(default_factory=set)
    breaks: list[NewBreak] = field(default_factory=list)
    sum: int = 0

    def add_all(self, found: Iterable[Single | Unseen | File]) -> Tally:
        """Add what a level found, one by one, and return this tally."""
        for one in found:
            if isinstance(one, Unseen):
                self.unseen.add((one.what, one.why))
            elif isinstance(one, File):
                self.files.add(one.sha256)
            else:
                self._add(one)
        return self

    def _add(self, one: Single) -> None:
        self.compared += one.records
        self.matched += one.records if one.outcome == "matched" else 0
        self.pending += one.records if one.outcome == "pending" else 0
        self.breaks.extend(one.breaks)
        for found in one.breaks:
            self.broken[found.code] += 1
            if found.amount:
                self.at_risk[found.currency] += abs(found.amount)
        said = [self.level, one.key, one.outcome, one.value, sorted(found.key for found in one.breaks)]
        self.sum = (self.sum + hash_of(said)) % MODULUS

    @property
    def written_sum(self) -> str:
        return f"{self.sum:064x}"


def hash_of(said: Any) -> int:
    """Return the SHA-256 of a value's canonical JSON as a number."""
    return int.from_bytes(hashlib.sha256(events.canonical(said)).digest())
