"""Celery's doors: a message only rings the bell, everything is read from PostgreSQL."""

from __future__ import annotations

import logging
from uuid import UUID, uuid4

from celery import shared_task
from django.utils import timezone

from casino import events, rounds
from settlement import settle

log = logging.getLogger("pokdeng.settlement")

BATCH = 100


@shared_task(name="settlement.sweep")
def sweep() -> int:
    """Settle closed rounds that nobody asked for, longest waiting first; return how many were looked at.

    Each batch is an act of its own. A batch that fails is tried round by round, so that one round which cannot be
    judged keeps no other waiting.
    """
    looked_at = 0
    while True:
        waiting = rounds.due(now=timezone.now(), limit=BATCH)
        if not waiting or not _settle(waiting):
            return looked_at
        looked_at += len(waiting)


def _settle(waiting: list[UUID]) -> bool:
    """Say whether any of the rounds stands differently now."""
    try:
        return _act(waiting)
    except Exception:
        log.exception("a batch of %d rounds was not settled; trying them one by one", len(waiting))
    moved = False
    for one in waiting:
        try:
            moved = _act([one]) or moved
        except Exception:
            log.exception("round %s was not settled", one)
    return moved


def _act(waiting: list[UUID]) -> bool:
    answers = events.attempt(
        lambda _: settle.settle_rounds(waiting),
        actor=events.SERVICE,
        request_id=f"sweep-{uuid4().hex}",
        now=timezone.now(),
    )
    return any(answer.outcome != "waiting" for answer in answers)
