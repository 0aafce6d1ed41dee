"""Celery's doors of the witness: a message only rings the bell, everything is read from PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import TypeVar
from uuid import uuid4

from celery import shared_task
from celery.exceptions import SoftTimeLimitExceeded
from django.utils import timezone

from audit import analytics, flags
from audit.controls import along_the_log, log_reconciliation
from casino import events, upkeep
from casino.events import Act
from settlement import reconciliation

T = TypeVar("T")

STEPS = 10
"""Steps of an inspection for one bell, so that it ends within a task's time."""


@shared_task(name="audit.inspect")
def look_on() -> int:
    """Take the standing inspection a few steps on; return how many leaves were looked at. The next bell goes on."""
    now = timezone.now()
    events.attempt(
        lambda _: along_the_log.begin(now=now),
        actor=events.SERVICE,
        request_id=f"inspect-{uuid4().hex}",
        now=now,
    )
    looked_at = 0
    limit = along_the_log.MOST
    while looked_at < STEPS * along_the_log.MOST:
        try:
            step = along_the_log.look_on(
                name=along_the_log.STANDING,
                now=timezone.now(),
                request_id=f"inspect-{uuid4().hex}",
                limit=limit,
            )
        except SoftTimeLimitExceeded:
            raise
        except Exception as fault:
            # Half as many, down to the one that cannot be looked at.
            if limit > 1:
                limit //= 2
                continue
            entry = _act(
                "inspect", lambda act: along_the_log.pass_over(name=along_the_log.STANDING, now=act.now)
            )
            if entry is None:
                raise  # it is no leaf's
            upkeep.put_aside("inspection", f"entries/{entry}", fault, now=timezone.now())
            looked_at, limit = looked_at + 1, along_the_log.MOST
            continue
        looked_at += step.leaves
        if step.leaves < limit:
            break
    return looked_at


@shared_task(name="audit.read_flags")
def read_flags() -> int:
    """Raise flags from what was sealed since; return how many leaves were looked at. Each step is an act of its own."""
    upkeep.let_rest(now=timezone.now())
    _again()
    looked_at, limit = 0, flags.MOST
    while True:
        step, limit = _read(limit)
        looked_at += step
        if step < limit:
            break
    _act("flags", lambda act: flags.raise_uncomputable(now=act.now))
    return looked_at


READING = "reading for flags"


def _read(limit: int) -> tuple[int, int]:
    """Take one step of as many leaves; where it fails of half as many, down to the one that cannot be looked at, which
    is put aside. Return how many were looked at, and how many were asked for."""
    while True:
        try:
            return _act("flags", lambda _, limit=limit: flags.read_on(limit=limit)), limit  # type: ignore[misc]
        except SoftTimeLimitExceeded:
            raise
        except Exception as fault:
            if limit > 1:
                limit //= 2
                continue
            entry = _act("flags", lambda _: flags.pass_over())
            if entry is None:
                raise  # it is no leaf's
            upkeep.put_aside(READING, f"entries/{entry}", fault, now=timezone.now())
            limit = flags.MOST


def _again() -> None:
    """Look once more at leaves that were put aside and are due."""
    upkeep.each(
        READING,
        sorted(upkeep.standing_still(READING)),
        lambda subject: _act("flags", lambda _: flags.read_again(int(subject.removeprefix("entries/")))),
        named=str,
        clock=timezone.now,
    )


def _act(work: str, do: Callable[[Act], T]) -> T:
    return events.attempt(do, actor=events.SERVICE, request_id=f"{work}-{uuid4().hex}", now=timezone.now())


@shared_task(name="audit.watch_decks")
def watch_decks() -> list[str]:
    """Look at the decks in play; return the codes of tables that were stopped until theirs is counted."""
    stopped: list[str] = []
    upkeep.together(
        "watching decks",
        analytics.playing(now=timezone.now()),
        lambda tables: stopped.extend(_watch(only=tables[0] if len(tables) == 1 else "")),
        named=lambda table: f"tables/{table}",
        clock=timezone.now,
    )
    return stopped


def _watch(*, only: str) -> list[str]:
    return _act("decks", lambda act: analytics.watch(now=act.now, only=only))


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
    beyond = [f"analyses/{id}" for id in analytics.beyond_the_calendar()]
    out = upkeep.out_of(ANALYTICS, now=timezone.now()) if beyond else []
    for subject in beyond:
        if subject not in out:
            upkeep.put_aside(ANALYTICS, subject, "its gaming day is beyond the calendar", now=timezone.now())
    results: list[int] = []

    def work_on(day: date) -> None:
        request_id = f"analytics-{uuid4().hex}"
        results.append(len(analytics.work_on(day=day, now=timezone.now(), request_id=request_id)))

    for day in analytics.due_days():
        upkeep.each(ANALYTICS, [day], work_on, named=lambda day: f"analytics/{day}", clock=timezone.now)
        if results:
            return results[0]
    return 0


ANALYTICS = "analytics"


@shared_task(name="audit.reconcile", time_limit=1_800, soft_time_limit=1_700)
def compare_log() -> int:
    """Compare the chunks of runs that are about the log, a few for one bell; return how many."""
    compared = 0
    while compared < STEPS:
        claimed = reconciliation.claim(owner=f"audit-{uuid4().hex}", levels=[log_reconciliation.LEVEL])
        if not claimed:
            break
        request_id = f"reconcile-{uuid4().hex}"
        reconciliation.look(
            claimed[0], parts=log_reconciliation.PARTS, now=timezone.now(), request_id=request_id
        )
        compared += 1
    return compared
