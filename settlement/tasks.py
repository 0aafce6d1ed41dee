"""Celery's doors: a message only rings the bell, everything is read from PostgreSQL."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import TypeVar
from uuid import UUID, uuid4

from celery import shared_task
from celery.exceptions import SoftTimeLimitExceeded
from django.utils import timezone
from kombu.exceptions import OperationalError

from casino import events, rounds
from casino.events import Act
from settlement import reports, settle, statements
from settlement.models import Account
from settlement.webhooks import delivering

T = TypeVar("T")

log = logging.getLogger("pokdeng.settlement")

BATCH = 100
REACH = 2_000
"""How many rounds one sweep takes on; the next one follows within seconds."""


@shared_task(name="settlement.sweep")
def sweep() -> int:
    """Settle closed rounds that nobody asked for, longest waiting first; return how many were looked at.

    Each batch is an act of its own, and each round is tried in one batch only: a batch that fails is tried round by
    round, so that a round which cannot be judged keeps no other waiting.
    """
    waiting = rounds.due(now=timezone.now(), limit=REACH)
    for start in range(0, len(waiting), BATCH):
        _settle(waiting[start : start + BATCH])
    return len(waiting)


def _settle(batch: Sequence[UUID]) -> None:
    try:
        _act(batch)
    except SoftTimeLimitExceeded:
        raise
    except Exception:
        log.exception("a batch of %d rounds was not settled; trying them one by one", len(batch))
        for one in batch:
            try:
                _act([one])
            except SoftTimeLimitExceeded:
                raise
            except Exception:
                log.exception("round %s was not settled", one)


def _act(batch: Sequence[UUID]) -> None:
    events.attempt(
        lambda _: settle.settle_rounds(batch),
        actor=events.SERVICE,
        request_id=f"sweep-{uuid4().hex}",
        now=timezone.now(),
    )


DELIVERING = timedelta(seconds=10)
"""For so long one bell claims what is due; what it claimed is over within seconds of that."""


@shared_task(name="settlement.deliver")
def deliver() -> int:
    """Send what is owed and due; return how many tries were made. Where there is more of it, the bell rings again."""
    until = timezone.now() + DELIVERING
    tried = delivering.deliver(owner=f"deliver-{uuid4().hex}", clock=timezone.now, until=until)
    if timezone.now() >= until:
        ring()
    return tried


def ring() -> None:
    """Wake a worker that sends what was owed just now. While the broker is away nobody hears it; the sweep looks too."""
    try:
        deliver.apply_async(expires=DELIVERING.total_seconds(), retry=False)
    except OperationalError as silence:
        log.warning("nobody was woken to send what is owed: %s", silence)


@shared_task(name="settlement.days")
def turn_the_day() -> bool:
    """Begin the running gaming day and end shifts that nobody closed in time; say whether this bell turned the day."""
    return events.attempt(
        lambda _: reports.turn(),
        actor=events.SERVICE,
        request_id=f"days-{uuid4().hex}",
        now=timezone.now(),
    )


STATEMENTS = timedelta(seconds=20)
"""For so long one bell makes and matches statements; the next one goes on."""


@shared_task(name="settlement.statements")
def write_statements() -> int:
    """Make statements of sealed days that wait for theirs, match the lines of others; return how much was done."""
    until, looked_at = timezone.now() + STATEMENTS, 0
    while timezone.now() < until and (made := _statement_act(lambda _: statements.make())) is not None:
        looked_at += made
    for account, first_day, last_day in statements.waiting(limit=BATCH):
        _match(account, first_day, last_day)
        looked_at += 1
    return looked_at


def _match(account: Account, first_day: date, last_day: date) -> None:
    _statement_act(lambda _: statements.match(account, first_day=first_day, last_day=last_day))


def _statement_act(do: Callable[[Act], T]) -> T:
    return events.attempt(
        do, actor=events.SERVICE, request_id=f"statements-{uuid4().hex}", now=timezone.now()
    )
