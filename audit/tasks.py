"""Celery's doors of the witness: a message only rings the bell, everything is read from PostgreSQL."""

from __future__ import annotations

from uuid import uuid4

from celery import shared_task
from django.utils import timezone

from audit import agreeing, analytics, flags, inspection
from casino import events
from settlement import reconcile

STEPS = 10
"""Steps of an inspection for one bell, so that it ends within a task's time."""


@shared_task(name="audit.inspect")
def look_on() -> int:
    """Take the standing inspection a few steps on; return how many leaves were looked at. The next bell goes on."""
    now = timezone.now()
    events.attempt(
        lambda _: inspection.begin(now=now),
        actor=events.SERVICE,
        request_id=f"inspect-{uuid4().hex}",
        now=now,
    )
    looked_at = 0
    while looked_at < STEPS * inspection.MOST:
        step = inspection.look_on(
            name=inspection.STANDING, now=timezone.now(), request_id=f"inspect-{uuid4().hex}"
        )
        looked_at += step.leaves
        if step.leaves < inspection.MOST:
            break
    return looked_at


@shared_task(name="audit.read_flags")
def read_flags() -> int:
    """Raise flags from what was sealed since; return how many leaves were looked at. Each step is an act of its own."""
    looked_at = 0
    while True:
        step = events.attempt(
            lambda _: flags.read_on(),
            actor=events.SERVICE,
            request_id=f"flags-{uuid4().hex}",
            now=timezone.now(),
        )
        looked_at += step
        if step < flags.MOST:
            return looked_at


@shared_task(name="audit.watch_decks")
def watch_decks() -> list[str]:
    """Look at the decks in play; return the codes of tables that were stopped until theirs is counted."""
    now = timezone.now()
    return events.attempt(
        lambda _: analytics.watch(now=now),
        actor=events.SERVICE,
        request_id=f"decks-{uuid4().hex}",
        now=now,
    )


@shared_task(name="audit.ask_analytics")
def ask_analytics() -> list[str]:
    """Ask for the gaming days that ended and that no screen has looked at; return them."""
    asked = events.attempt(
        lambda _: analytics.ask_for_ended_days(),
        actor=events.SERVICE,
        request_id=f"analytics-{uuid4().hex}",
        now=timezone.now(),
    )
    return [day.isoformat() for day in asked]


@shared_task(name="audit.analyse", time_limit=1_800, soft_time_limit=1_700)
def analyse() -> int:
    """Let the screens look at the oldest day that waits; return how many results there are. The next bell goes on."""
    for day in analytics.due_days()[:1]:
        request_id = f"analytics-{uuid4().hex}"
        return len(analytics.work_on(day=day, now=timezone.now(), request_id=request_id))
    return 0


@shared_task(name="audit.reconcile", time_limit=1_800, soft_time_limit=1_700)
def compare_log() -> int:
    """Compare the chunks of runs that are about the log, a few for one bell; return how many."""
    compared = 0
    while compared < STEPS:
        claimed = reconcile.claim(owner=f"audit-{uuid4().hex}", levels=[agreeing.LEVEL])
        if not claimed:
            break
        request_id = f"reconcile-{uuid4().hex}"
        reconcile.look(claimed[0], parts=agreeing.PARTS, now=timezone.now(), request_id=request_id)
        compared += 1
    return compared
