"""Runs: what is compared, begun once and closed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from casino import events
from casino.events import Fact
from casino.models import Person
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement import days
from settlement.models import Chunk, Run
from settlement.reconciliation import (
    r0_structure,
    r1_judgement,
    r2_sources,
    r3_counts_and_slips,
    r4_outside,
    r5_log,
)
from settlement.reconciliation.window import Level, Slice, Window, instant, millis

refusals.register("day_not_begun", 422, "Nothing of that gaming day is over yet.", "วันทำการนั้นยังไม่มีส่วนที่จบแล้ว")

OURS: dict[str, Level] = {
    "R0": r0_structure.LEVEL,
    "R1": r1_judgement.LEVEL,
    "R2": r2_sources.LEVEL,
    "R3": r3_counts_and_slips.LEVEL,
    "R4": r4_outside.LEVEL,
}
"""The levels that are compared here."""

ALL = OURS | {"R5": r5_log.LEVEL}
LEVELS = (*ALL,)
"""Every level by its name, in the order in which a run takes them."""

_ringer: list[Callable[[], None]] = []


def ring_with(ring: Callable[[], None]) -> None:
    """Say what wakes workers once a run is committed. A bell that fails costs seconds: the sweep looks too."""
    _ringer[:] = [ring]


def begin(
    *, kind: str, gaming_day: date, levels: Sequence[str] = LEVELS, chunk_size: int | None = None,
    by: Person | None = None,
) -> Run:  # fmt: skip
    """Begin a run over what of a gaming day is over, cut into chunks, and return it.

    One under way for the same day and rules is returned as it is, and so is the day's ``nightly`` run whether it is
    over or not: two who begin it begin one. Of a day that runs, the last minute is left out, and whatever began before
    an act that is still being written. Refuses ``day_not_begun`` and ``invalid_value``. Must run in an act.
    """
    act = events.current()
    rules = rules_of(levels)
    window = _window(gaming_day, now=act.now)
    scope = str(settings.PROPERTY["code"])
    size = chunk_size or settings.RECONCILE["chunk_size"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"reconcile:{gaming_day}"])
    same = Run.objects.filter(kind=kind, scope=scope, gaming_day=gaming_day).order_by("-edition")
    if kind != Run.Kind.NIGHTLY:
        same = same.filter(rules=rules)
    known = same.first() if kind == Run.Kind.NIGHTLY else same.filter(done_at=None).first()
    if known is not None:
        return known
    before = same.filter(since=window.since, until=window.until).first()
    run = Run.objects.create(
        id=events.uuid7(act.now), kind=kind, scope=scope, gaming_day=gaming_day, since=window.since,
        until=window.until, rules=rules, edition=before.edition + 1 if before else 1, chunk_size=size, begun_by=by,
        begun_at=act.now,
    )  # fmt: skip
    Chunk.objects.bulk_create(
        (
            Chunk(run=run, level=level, part=piece.part, lower=piece.lower, upper=piece.upper)
            for level in levels
            for piece in _cut(level, window, size)
        ),
        batch_size=1000,
    )
    events.announce([Fact("reconciliation.begun", f"reconciliations/{run.id}", _told(run))])
    for ring in _ringer:
        transaction.on_commit(ring, robust=True)
    return run


def begin_nightly() -> Run | None:
    """Begin the nightly run over all levels of the gaming day that ended last, or return the one that was begun; None
    until that day has been over for the time of the property. Must run in an act."""
    act = events.current()
    yesterday = days.running() - timedelta(days=1)
    over_at = days.bounds(yesterday)[1] + timedelta(minutes=settings.RECONCILE["nightly_after_minutes"])
    if act.now < over_at:
        return None
    return begin(kind=Run.Kind.NIGHTLY, gaming_day=yesterday)


def rules_of(levels: Sequence[str]) -> str:
    """Return levels with the number of their rules; refuses ``invalid_value`` for one that does not exist."""
    if not levels or not set(levels) <= set(LEVELS) or len(set(levels)) != len(levels):
        raise Refusal("invalid_value", fields={"levels": " · ".join(LEVELS)})
    numbers = {name: level.number for name, level in ALL.items()}
    return " ".join(f"{level}.{numbers[level]}" for level in sorted(levels))


def levels_of(run: Run) -> tuple[str, ...]:
    """Return the levels of a run."""
    return tuple(rule.split(".")[0] for rule in run.rules.split())


def window_of(run: Run) -> Window:
    """Return the stretch that a run looks at."""
    return Window(run.gaming_day, run.since, run.until)


def _cut(level: str, window: Window, size: int) -> Sequence[Slice]:
    return list(ALL[level].cut(window, size))


def _window(gaming_day: date, *, now: datetime) -> Window:
    since, end = days.bounds(gaming_day)
    until = min(end, _settled_by(now))
    if until <= since:
        raise Refusal("day_not_begun")
    return Window(gaming_day, since, instant(millis(until)))


def _settled_by(now: datetime) -> datetime:
    """Return an instant before which no act is still being written: an act carries the time at which it was asked for,
    and what commits after the look would be in no run."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT min(xact_start) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xid IS NOT NULL"
        )
        (oldest,) = cursor.fetchone()
    margin = timedelta(seconds=settings.RECONCILE["margin_seconds"])
    return min(now, oldest or now) - margin


def _told(run: Run) -> dict[str, Any]:
    return {
        "kind": run.kind,
        "scope": run.scope,
        "gaming_day": run.gaming_day.isoformat(),
        "since": run.since.isoformat(),
        "until": run.until.isoformat(),
        "rules": run.rules,
        "edition": run.edition,
        "chunk_size": run.chunk_size,
        "by": str(run.begun_by_id) if run.begun_by_id else None,
    }


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come, in chunks."""

    chunks: int
    done: int
    claimed: int
    poisoned: int


def progress(run: UUID) -> Progress:
    """Return how far a run has come. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), count(*) FILTER (WHERE state = 'done'), count(*) FILTER (WHERE state = 'claimed'),"
            " count(*) FILTER (WHERE state = 'poisoned') FROM settlement_chunk WHERE run_id = %s",
            [run],
        )
        return Progress(*cursor.fetchone())
