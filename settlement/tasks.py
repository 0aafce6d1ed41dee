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

from casino import events, people, rounds, upkeep
from casino.events import Act
from settlement import external_wallets, reconciliation, reports, settling, statements
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

    Each batch is an act of its own. One that fails is tried round by round; a round which cannot be judged is put
    aside, and keeps no other waiting.
    """
    now = timezone.now()
    aside = upkeep.standing_still(SETTLING)
    out = [subject for subject, due_at in aside.items() if due_at > now]
    waiting = rounds.due(now=now, limit=REACH, but=out)
    again = [id for id in waiting if _round(id) in aside]
    upkeep.each(SETTLING, again, lambda one: _act([one]), named=_round, clock=timezone.now)
    fresh = [id for id in waiting if _round(id) not in aside]
    for start in range(0, len(fresh), BATCH):
        upkeep.together(SETTLING, fresh[start : start + BATCH], _act, named=_round, clock=timezone.now)
    return len(waiting)


SETTLING = "settling"
"""What the service calls this work, where it names what it cannot compute with; so for those below."""


def _round(id: UUID) -> str:
    return f"rounds/{id}"


def _act(batch: Sequence[UUID]) -> None:
    events.attempt(
        lambda _: settling.settle_rounds(batch),
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
    upkeep.each(
        "turning rights",
        due,
        lambda one: people.turn(one, now=now),
        named=lambda one: f"people/{one}",
        clock=timezone.now,
    )
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
    tried = external_wallets.call(owner=f"call-{uuid4().hex}", clock=timezone.now, until=until)
    if timezone.now() >= until:
        ring_for_calls()
    return tried


@shared_task(name="settlement.watch_cashiers")
def watch_cashiers() -> int:
    """Let go of holds whose answers nobody stored, open breaks for calls that are not acknowledged in time, take up
    again what a worker left; return how much there was."""
    return external_wallets.watch(acting=_cashier_act, clock=timezone.now)


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
    """End shifts that nobody closed in time and begin the running gaming day; say whether this bell turned the day."""
    upkeep.each(
        "ending shifts by time",
        reports.overdue_shifts(now=timezone.now()),
        lambda shift: _day_act(lambda _: reports.end_overdue(shift)),
        named=lambda shift: f"shifts/{shift}",
        clock=timezone.now,
    )
    return _day_act(lambda _: reports.begin_day())


def _day_act(do: Callable[[Act], T]) -> T:
    return events.attempt(do, actor=events.SERVICE, request_id=f"days-{uuid4().hex}", now=timezone.now())


STATEMENTS = timedelta(seconds=20)
"""For so long one bell makes and matches statements; the next one goes on."""


@shared_task(name="settlement.statements")
def write_statements() -> int:
    """Make statements of sealed days that wait for theirs, match the lines of others; return how much was done."""
    until, looked_at = timezone.now() + STATEMENTS, 0
    while timezone.now() < until and (made := _made()) is not None:
        looked_at += made
    for line in statements.beyond_the_calendar(now=timezone.now(), limit=BATCH):
        upkeep.put_aside(
            MATCHING, f"statement-lines/{line}", "it is booked beyond the calendar", now=timezone.now()
        )
    return looked_at + upkeep.each(
        MATCHING,
        statements.waiting(limit=BATCH),
        _match,
        named=lambda one: _account(one[0]),
        clock=timezone.now,
    )


MAKING, MATCHING = "making statements", "statement matching"


def _made() -> int | None:
    """Make statements of some accounts, at once, or each by itself where that fails.

    An account of which none can be made waits for the next sealed day, and the others' day is finished without it.
    """
    aside = upkeep.standing_still(MAKING)
    codes = [subject.removeprefix("accounts/") for subject in aside]
    again = [code for code in statements.waiting_accounts(late=codes) if code in codes] if codes else []
    made = _made_singly(again, late=codes)
    try:
        others = _statement_act(lambda _: statements.make(but=codes))
    except SoftTimeLimitExceeded:
        raise
    except Exception as fault:
        waiting = [code for code in statements.waiting_accounts() if code not in codes]
        if not waiting:
            raise  # it is no account's
        log.warning("statements of %d accounts were not made at once: %s", len(waiting), fault)
        return made + _made_singly(waiting)
    return others if others is None else made + others


def _made_singly(accounts: Sequence[str], *, late: Sequence[str] = ()) -> int:
    return upkeep.each(
        MAKING,
        accounts,
        lambda code: _statement_act(lambda _: statements.make(only=code, late=late)),
        named=lambda code: f"accounts/{code}",
        clock=timezone.now,
    )


def _account(account: Account) -> str:
    return f"accounts/{account.code}"


def _match(waiting: tuple[Account, date, date]) -> None:
    account, first_day, last_day = waiting
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
    events.attempt(
        lambda _: reconciliation.sweep(), actor=events.SERVICE, request_id=owner, now=timezone.now()
    )
    compared = 0
    while compared < COMPARED:
        if reconciliation.look_on(owner=owner, now=timezone.now(), request_id=owner) is None:
            return compared
        compared += 1
    ring_compare()
    return compared


@shared_task(name="settlement.reconcile_nightly")
def compare_ended_day() -> str | None:
    """Begin the run of the gaming day that ended last, once; return its id, None while that day is just over."""
    now = timezone.now()
    run = events.attempt(
        lambda _: reconciliation.begin_nightly(),
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


reconciliation.ring_with(ring_compare)
