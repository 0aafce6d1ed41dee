"""Comparing one chunk: everything of it is read as of one moment, and nothing is written while it is."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction

from casino import events
from settlement.reconcile import chunks
from settlement.reconcile.chunks import Claim
from settlement.reconcile.runs import OURS
from settlement.reconcile.tally import Tally
from settlement.reconcile.window import Found, Piece

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
    if not taken_in:
        log.warning(
            "chunk %d of run %s was somebody else's by the time it was compared", claim.chunk, claim.run
        )
    return Look(claim, taken_in=taken_in)


def _compare(claim: Claim, part: Part, *, now: datetime) -> Tally:
    with _reading():
        return Tally(claim.level).add_all(part(claim.piece(now=now)))


@contextmanager
def _reading() -> Iterator[None]:
    """Read as of one moment, in a transaction that cannot write and so holds up no sealing."""
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
