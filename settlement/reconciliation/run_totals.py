"""Whoever finishes the last chunk closes the run: adds up what its chunks came to, and writes the report."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from casino import events
from casino.events import Fact
from settlement import breaks
from settlement.breaks import Gone
from settlement.models import Chunk, Result, Run
from settlement.reconciliation import runs
from settlement.reconciliation.results import MODULUS


@dataclass(slots=True)
class Sum:
    """What chunks came to, together."""

    compared: int = 0
    matched: int = 0
    pending: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    at_risk: Counter[str] = field(default_factory=Counter)
    files: set[str] = field(default_factory=set)
    unseen: set[tuple[str, str]] = field(default_factory=set)
    sum: int = 0

    def add(self, result: Result) -> None:
        self.compared += result.compared
        self.matched += result.matched
        self.pending += result.pending
        self.broken.update(result.broken)
        self.at_risk.update(result.at_risk)
        self.files.update(result.files)
        self.unseen.update((what, why) for what, why in result.unseen)
        self.sum = (self.sum + int(result.sum, 16)) % MODULUS

    def written(self) -> dict[str, Any]:
        return {
            "compared": self.compared,
            "matched": self.matched,
            "pending": self.pending,
            "broken": dict(sorted(self.broken.items())),
            "at_risk": dict(sorted(self.at_risk.items())),
        }


def close(id: UUID) -> bool:
    """Close a run of which nothing is left to do, under its row's lock; say whether it is closed now.

    The lock and the look are two statements: who waited for the lock sees what the other has finished. Must run in an
    act, after the chunk was written.
    """
    run = Run.objects.select_for_update().get(pk=id)
    if run.done_at is not None:
        return True
    chunks = Chunk.objects.filter(run=run)
    if chunks.exclude(state__in=[Chunk.State.DONE, Chunk.State.POISONED]).exists():
        return False
    poisoned = sorted(
        chunks.filter(state=Chunk.State.POISONED).values_list("level", "part", "lower", "upper")
    )
    levels: dict[str, Sum] = {level: Sum() for level in runs.levels_of(run)}
    whole = Sum()
    for result in Result.objects.filter(chunk__run=run).select_related("chunk").iterator(chunk_size=500):
        levels[result.chunk.level].add(result)
        whole.add(result)
    for name, level in levels.items():
        # Nothing is said of what could not be looked at: a break of it stands.
        if not level.unseen and not any(chunk[0] == name for chunk in poisoned):
            breaks.not_found_again(
                Gone(run=run.id, begun_at=run.begun_at, level=name, gaming_day=run.gaming_day)
            )
    now = events.current().now
    run.done_at = now
    run.digest = _digest(run, whole, poisoned)
    run.outcome = _outcome(whole, poisoned)
    run.report = {
        **whole.written(),
        "levels": {name: level.written() for name, level in levels.items()},
        "files": sorted(whole.files),
        "unseen": [
            *([what, why] for what, why in sorted(whole.unseen)),
            *([f"{level} {part} {lower}-{upper}", "poisoned"] for level, part, lower, upper in poisoned),
        ],
        "verified_through": None if poisoned else run.until.isoformat(),
        "lag_seconds": None if poisoned else int((now - run.until).total_seconds()),
    }
    run.save(update_fields=["done_at", "digest", "outcome", "report"])
    told = {"digest": run.digest, "outcome": run.outcome, "report": run.report}
    events.announce([Fact("reconciliation.done", f"reconciliations/{run.id}", told)])
    return True


def _outcome(whole: Sum, poisoned: list[tuple[str, str, int, int]]) -> str:
    if poisoned or whole.unseen:
        return Run.Outcome.INCOMPLETE
    return Run.Outcome.BREAKS if whole.broken else Run.Outcome.MATCHED


def _digest(run: Run, whole: Sum, poisoned: list[tuple[str, str, int, int]]) -> str:
    said = {
        "scope": run.scope,
        "since": run.since.isoformat(),
        "until": run.until.isoformat(),
        "rules": run.rules,
        "files": sorted(whole.files),
        "unseen": sorted(list(one) for one in whole.unseen),
        "poisoned": [list(one) for one in poisoned],
        "sum": f"{whole.sum:064x}",
        **whole.written(),
    }
    return hashlib.sha256(events.canonical(said)).hexdigest()
