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

from casino import events, people, rounds
from casino.events import Act
from settlement import external, reconcile, reports, settle, statements
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


@shared_task(name="settlement.turn_people")
def turn_people() -> int:
    """Put down whose rights began or ended by now, one person at a time; return how many were looked at."""
    now = timezone.now()
    due = people.turn_due(now=now)
    for one in due:
        try:
            people.turn(one, now=now)
        except SoftTimeLimitExceeded:
            raise
        except Exception:
            log.exception("the rights of %s did not turn", one)
    return len(due)


@shared_task(name="settlement.deliver")
def deliver() -> int:
    """Send what is owed and due; return how many tries were made. Where there is more of it, the bell rings again."""
    until = timezone.now() + DELIVERING
    tried = delivering.deliver(owner=f"deliver-{uuid4().hex}", clock=timezone.now, until=until)
    if timezone.now() >= until:
        ring()
    return tried


def ring() -> None:
    """Wake a worker that sends what was owed just now. Where nobody hears it, the sweep looks within seconds."""
    try:
        deliver.apply_async(expires=DELIVERING.total_seconds(), retry=False)
    except OperationalError as silence:
        log.warning("nobody was woken to send what is owed: %s", silence)


@shared_task(name="settlement.call_cashiers")
def call_cashiers() -> int:
    """Send cashier systems what they are owed and is due; return how many tries were made."""
    until = timezone.now() + DELIVERING
    tried = external.call(owner=f"call-{uuid4().hex}", clock=timezone.now, until=until)
    if timezone.now() >= until:
        ring_for_calls()
    return tried


@shared_task(name="settlement.watch_cashiers")
def watch_cashiers() -> int:
    """Let go of holds whose answers nobody stored, open breaks for calls that are not acknowledged in time, take up
    again what a worker left; return how much there was."""
    return external.watch(acting=_cashier_act, now=timezone.now())


def _cashier_act(do: Callable[[Act], int]) -> int:
    return events.attempt(do, actor=events.SERVICE, request_id=f"cashiers-{uuid4().hex}", now=timezone.now())


def ring_for_calls() -> None:
    """Wake a worker that sends cashier systems what was owed just now; unheard, the sweep looks too."""
    try:
        call_cashiers.apply_async(expires=DELIVERING.total_seconds(), retry=False)
    except OperationalError as silence:
        log.warning("nobody was woken to call cashier systems: %s", silence)


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


COMPARED = 3
"""Chunks compared for one bell: each is ten seconds of work at most on a machine that is not busy."""


# On a busy machine a chunk takes its time: its claim is prolonged meanwhile, and a second bell claims other chunks.
@shared_task(name="settlement.reconcile", time_limit=1_800, soft_time_limit=1_700)
def compare() -> int:
    """Give back chunks whose claims ran out, then compare a few that wait; return how many. While there are more, the
    bell rings itself again."""
    owner = f"reconcile-{uuid4().hex}"
    events.attempt(lambda _: reconcile.sweep(), actor=events.SERVICE, request_id=owner, now=timezone.now())
    compared = 0
    while compared < COMPARED:
        if reconcile.look_on(owner=owner, now=timezone.now(), request_id=owner) is None:
            return compared
        compared += 1
    ring_compare()
    return compared


@shared_task(name="settlement.reconcile_nightly")
def compare_ended_day() -> str | None:
    """Begin the run of the gaming day that ended last, once; return its id, None while that day is just over."""
    now = timezone.now()
    run = events.attempt(
        lambda _: reconcile.begin_nightly(),
        actor=events.SERVICE,
        request_id=f"reconcile-{uuid4().hex}",
        now=now,
    )
    return None if run is None else str(run.id)


def ring_compare() -> None:
    """Wake workers that compare; a bell that is not heard costs five seconds."""
    try:
        compare.delay()
    except OperationalError:
        log.warning("the bell for reconciliation was not heard")


reconcile.ring_with(ring_compare)
