"""Chunks: claimed by a lease, finished under the number of the claim.

A worker that lost its lease writes nothing: ``attempts`` was raised by whoever took the chunk over, and is checked in
the commit that stores results and *done* together. Leases are by the database's clock; no host's clock counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from casino import events
from settlement import breaks
from settlement.breaks import NewBreak
from settlement.models import Chunk, Result
from settlement.reconciliation import run_totals
from settlement.reconciliation.results import Tally
from settlement.reconciliation.window import Piece, Window

ATTEMPTS = 5
"""A chunk that was claimed so often and never finished is poisoned."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A chunk that is ours until its lease is over; ``attempt`` is the number to finish it under."""

    chunk: int
    attempt: int
    owner: str
    run: UUID
    level: str
    part: str
    lower: int
    upper: int
    window: Window

    def piece(self, *, now: datetime) -> Piece:
        return Piece(self.run, self.level, self.part, self.lower, self.upper, self.window, now)


_CLAIM = """
UPDATE settlement_chunk c
   SET state = 'claimed', owner = %(owner)s, attempts = c.attempts + 1,
       lease_until = clock_timestamp() + make_interval(secs => %(lease)s)
  FROM settlement_run r
 WHERE r.id = c.run_id AND c.id IN (
    SELECT id FROM settlement_chunk
     WHERE state = 'waiting' AND level = ANY(%(levels)s) AND (%(run)s::uuid IS NULL OR run_id = %(run)s)
     ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
RETURNING c.id, c.attempts, c.owner, r.id, c.level, c.part, c.lower, c.upper, r.gaming_day, r.since, r.until
"""


def claim(*, owner: str, levels: Sequence[str], limit: int = 1, run: UUID | None = None) -> list[Claim]:
    """Claim up to ``limit`` waiting chunks of these levels (of one run, where it is named), oldest first.

    One statement, in a transaction of its own: a claim is not undone by the failure of what follows. ``owner`` names
    the worker for people who look.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _CLAIM,
            {
                "owner": owner[:80],
                "lease": settings.RECONCILE["lease_seconds"],
                "levels": list(levels),
                "limit": limit,
                "run": run,
            },
        )
        rows = cursor.fetchall()
    return [Claim(*[*row[:8], Window(*row[8:])]) for row in sorted(rows)]


_PROLONG = """
UPDATE settlement_chunk SET lease_until = clock_timestamp() + make_interval(secs => %(lease)s)
 WHERE id = %(chunk)s AND state = 'claimed' AND attempts = %(attempt)s AND owner = %(owner)s RETURNING id
"""


def prolong(claimed: Claim) -> bool:
    """Let a claim run for another lease, in a transaction of its own; False where it is not ours any more."""
    with connection.cursor() as cursor:
        cursor.execute(
            _PROLONG,
            {
                "lease": settings.RECONCILE["lease_seconds"],
                "chunk": claimed.chunk,
                "attempt": claimed.attempt,
                "owner": claimed.owner,
            },
        )
        return cursor.fetchone() is not None


_DONE = """
UPDATE settlement_chunk SET state = 'done', owner = '', lease_until = NULL, trouble = ''
 WHERE id = %(chunk)s AND state = 'claimed' AND attempts = %(attempt)s AND owner = %(owner)s RETURNING id
"""


def finish(claimed: Claim, tally: Tally) -> bool:
    """Take in what a claimed chunk came to, its breaks among it; close the run where it was the last.

    Returns False, and writes nothing, where the claim is not ours any more. Must run in an act.
    """
    with connection.cursor() as cursor:
        cursor.execute(_DONE, {"chunk": claimed.chunk, "attempt": claimed.attempt, "owner": claimed.owner})
        if cursor.fetchone() is None:
            return False
    Result.objects.create(
        chunk_id=claimed.chunk,
        attempt=claimed.attempt,
        compared=tally.compared,
        matched=tally.matched,
        pending=tally.pending,
        broken=dict(tally.broken),
        at_risk=dict(tally.at_risk),
        files=sorted(tally.files),
        unseen=sorted(list(one) for one in tally.unseen),
        sum=tally.written_sum,
        finished_at=events.current().now,
    )
    breaks.found([_of_run(one, claimed) for one in tally.breaks])
    run_totals.close(claimed.run)
    return True


def _of_run(found: NewBreak, claimed: Claim) -> NewBreak:
    return replace(found, run=claimed.run, level=claimed.level, gaming_day=claimed.window.gaming_day)


_BACK = """
UPDATE settlement_chunk SET state = CASE WHEN attempts >= %(most)s THEN 'poisoned' ELSE 'waiting' END,
       owner = '', lease_until = NULL, trouble = %(trouble)s
 WHERE id IN (SELECT id FROM settlement_chunk WHERE state = 'claimed' AND {which} ORDER BY id FOR UPDATE SKIP LOCKED)
RETURNING id, run_id, level, part, lower, upper, state, attempts
"""


def failed(claimed: Claim, *, trouble: str) -> None:
    """Give a chunk back that could not be compared, for another try; after the fifth it is poisoned. Must run in an
    act."""
    _give_back(
        "id = %(chunk)s AND attempts = %(attempt)s AND owner = %(owner)s",
        {
            "chunk": claimed.chunk,
            "attempt": claimed.attempt,
            "owner": claimed.owner,
            "trouble": trouble[:200],
        },
    )


def sweep() -> int:
    """Give back every chunk whose lease is over, and return how many there were. Must run in an act."""
    return _give_back("lease_until < clock_timestamp()", {"trouble": "the lease was over"})


def _give_back(which: str, parameters: dict[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_BACK.format(which=which), parameters | {"most": ATTEMPTS})
        rows = cursor.fetchall()
    poisoned = [row for row in rows if row[6] == Chunk.State.POISONED]
    days = dict(
        Chunk.objects.filter(pk__in=[row[0] for row in poisoned]).values_list("id", "run__gaming_day")
    )
    breaks.found(
        [
            NewBreak(
                "POISONED",
                f"reconciliations/{run}",
                f"{level} {part} {lower}-{upper}",
                {"level": level, "part": part, "lower": lower, "upper": upper, "attempts": attempts},
                run=run,
                level=level,
                gaming_day=days[id],
            )
            for id, run, level, part, lower, upper, _, attempts in poisoned
        ]
    )
    for run in sorted({row[1] for row in poisoned}):
        run_totals.close(run)
    return len(rows)
