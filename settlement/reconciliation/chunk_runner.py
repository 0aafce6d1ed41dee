"""Comparing one chunk: read, then compute outside of any transaction, then write under the number of the claim.

While it computes, the claim is prolonged: a slow machine makes a chunk slower and does not lose it to another worker.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings

from casino import events
from settlement.reconciliation import chunks
from settlement.reconciliation.chunks import Claim
from settlement.reconciliation.results import Tally
from settlement.reconciliation.runs import OURS
from settlement.reconciliation.window import Found, Piece

log = logging.getLogger("pokdeng.reconcile")

Part = Callable[[Piece], Iterator[Found]]

PARTS: Mapping[str, Mapping[str, Part]] = {name: level.parts for name, level in OURS.items()}
"""What compares a part of a level, by both names."""


@dataclass(frozen=True, slots=True)
class Look:
    """What became of a chunk that was claimed: ``taken_in``, or not (the claim was lost, or comparing failed)."""

    claim: Claim
    taken_in: bool


def look_on(
    *,
    owner: str,
    now: datetime,
    request_id: str,
    levels: Sequence[str] = tuple(OURS),
    run: UUID | None = None,
) -> Look | None:
    """Claim one waiting chunk, compare it and take in what it came to; None where no chunk waits.

    Each step commits by itself, so call it outside of any act. What a chunk's comparing fails by is kept with it.
    """
    claimed = chunks.claim(owner=owner, levels=levels, run=run)
    if not claimed:
        return None
    return look(claimed[0], parts=PARTS, now=now, request_id=request_id)


def look(claim: Claim, *, parts: Mapping[str, Mapping[str, Part]], now: datetime, request_id: str) -> Look:
    """Compare a claimed chunk by the part of its level, and take in what it came to."""
    try:
        tally = _compare(claim, parts[claim.level][claim.part], now=now)
    except _ClaimLost:
        return _lost(claim)
    except Exception as trouble:
        log.exception("chunk %d of run %s could not be compared", claim.chunk, claim.run)
        named = f"{type(trouble).__name__}: {trouble}"
        events.attempt(
            lambda _: chunks.failed(claim, trouble=named),
            actor=events.SERVICE,
            request_id=request_id,
            now=now,
        )
        return Look(claim, taken_in=False)
    taken_in = events.attempt(
        lambda _: chunks.finish(claim, tally), actor=events.SERVICE, request_id=request_id, now=now
    )
    return Look(claim, taken_in=True) if taken_in else _lost(claim)


class _ClaimLost(Exception):
    """The lease was over and the chunk given back while it was compared."""


def _lost(claim: Claim) -> Look:
    log.warning("chunk %d of run %s was somebody else's by the time it was compared", claim.chunk, claim.run)
    return Look(claim, taken_in=False)


def _compare(claim: Claim, part: Part, *, now: datetime) -> Tally:
    return Tally(claim.level).add_all(_prolonged(claim, part(claim.piece(now=now))))


def _prolonged(claim: Claim, found: Iterator[Found]) -> Iterator[Found]:
    """Pass on what a part finds, and prolong the claim whenever a third of its lease has gone by."""
    third = settings.RECONCILE["lease_seconds"] / 3
    prolonged = time.monotonic()
    for one in found:
        yield one
        if time.monotonic() - prolonged > third:
            if not chunks.prolong(claim):
                raise _ClaimLost
            prolonged = time.monotonic()
