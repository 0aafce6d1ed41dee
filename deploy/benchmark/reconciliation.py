"""A day of a hundred thousand rounds compared again: rounds in a second, and whether memory grows with the day.

The rounds are copies, made by the database itself, of some that were played and settled (``day.sql``). Nothing in them
is false, so that a run finds no break.
"""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from django.db import connection
from django.utils import timezone

from casino import events
from casino.models import Round
from deploy.benchmark.measuring import Pace, measured
from deploy.benchmark.settling import Table
from settlement import days, reconciliation, settling
from settlement.models import Run

TEMPLATE = 1_000
"""Rounds that are played; the day is made of copies of them."""
LEVELS = ("R0", "R1", "R2")
DAY = Path(__file__).with_name("day.sql")

_COPIED = ("casino_round", "casino_roundevent", "settlement_settlement", "settlement_line", "settlement_journal",
           "settlement_entry", "settlement_account")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Peak:
    """The most memory that a comparing process held, in MB: after a tenth of its chunks, and at the end."""

    first: int
    last: int


def paces(*, tables: Sequence[Table], owner_url: str, rounds: int, runs: int) -> Iterator[Pace]:
    """Make a day of so many rounds; yield the floor (its rows read and thrown away), and how fast it is compared."""
    played = tables[0]
    played.record(TEMPLATE)
    waiting = played.take(TEMPLATE)
    for start in range(0, TEMPLATE, 100):
        _settle(waiting[start : start + 100])
    _copy(owner_url, copies=rounds // TEMPLATE - 1)
    yield measured("read the day's events and lines", "rounds", _read, runs=runs, is_floor=True)
    for processes in (1, 2):
        peaks: list[Peak] = []
        pace = measured("", "rounds", lambda n=processes, p=peaks: _compare(n, p), runs=runs)  # type: ignore[misc]
        first, last = max(peak.first for peak in peaks), max(peak.last for peak in peaks)
        what = f"reconcile a day, {processes} process{'es' * (processes > 1)}, memory {first} then {last} MB"
        yield Pace(what, pace.unit, pace.per_second, pace.runs)


def _settle(ids: Sequence[UUID]) -> None:
    events.attempt(
        lambda _: settling.settle_rounds(ids), actor=events.SERVICE, request_id="bench", now=timezone.now()
    )


def _copy(owner_url: str, *, copies: int) -> None:
    if copies < 1:
        return
    minute = 60_000
    left = days.bounds(days.of(timezone.now()))[1] - timezone.now()
    shift = minute if left > timedelta(milliseconds=minute * (copies + 1)) else -minute
    with psycopg.connect(owner_url, cursor_factory=psycopg.ClientCursor) as owner:
        for table in _COPIED:
            owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        owner.execute(DAY.read_text(), {"copies": copies, "shift": shift})
    with psycopg.connect(owner_url, autocommit=True) as owner:
        owner.execute("ANALYZE")


def _read() -> int:
    with psycopg.connect(**_address()) as reader:
        for table in ("casino_roundevent", "settlement_line", "settlement_entry"):
            with reader.cursor(name="floor") as cursor:
                cursor.itersize = 5_000
                cursor.execute(f"SELECT * FROM {table}")  # noqa: S608 - names of tables
                for _ in cursor:
                    pass
    return Round.objects.filter(standing="settled").count()


def _address() -> dict[str, Any]:
    found = connection.settings_dict
    return {
        "dbname": found["NAME"],
        "user": found["USER"],
        "password": found["PASSWORD"],
        "host": found["HOST"],
        "port": found["PORT"],
    }


def _compare(processes: int, peaks: list[Peak]) -> int:
    now = timezone.now()
    over = days.bounds(days.of(now))[1] + timedelta(hours=1)
    run = events.attempt(
        lambda _: reconciliation.begin(kind=Run.Kind.ASKED, gaming_day=days.of(now), levels=LEVELS),
        actor=events.SERVICE,
        request_id="bench",
        now=over,
    )
    connection.close()  # a connection is not shared by forking
    fork = multiprocessing.get_context("fork")
    said: multiprocessing.SimpleQueue[Peak] = fork.SimpleQueue()
    workers = [fork.Process(target=_work, args=(run.id, said)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    peaks += [said.get() for _ in workers]
    for worker in workers:
        worker.join()
    run.refresh_from_db()
    if run.outcome != Run.Outcome.MATCHED:
        raise RuntimeError(f"the copied day does not agree: {run.outcome} {run.report}")
    return int(run.report["levels"]["R1"]["compared"])


def _work(run: UUID, said: multiprocessing.SimpleQueue[Peak]) -> None:
    tenth = max(1, reconciliation.progress(run).chunks // 10)
    done, first = 0, _peak()
    while reconciliation.look_on(owner="bench", now=timezone.now(), request_id="bench", run=run) is not None:
        done += 1
        if done == tenth:
            first = _peak()
    said.put(Peak(first, _peak()))


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
