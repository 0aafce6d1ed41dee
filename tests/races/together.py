"""Two acts at once, in real threads with connections of their own.

The first is stopped behind one of its statements until the second is through, or waits for a lock. What a race looks
like without a lock is seen by taking the lock's words out of the statements on their way to the database: the product
has no switch for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic, sleep
from typing import Any

import psycopg
from django.db import Error, connection

from casino import events
from casino.platform.refusals import Refusal
from tests.settlement.floor import LATER

PATIENCE = 20.0
LOCKS = (" FOR UPDATE OF s", " FOR UPDATE OF r", " FOR NO KEY UPDATE", " FOR UPDATE")


@dataclass(frozen=True, slots=True)
class Unlocked:
    """Statements on these tables lose their row locks, and ``instead`` replaces words by others."""

    tables: tuple[str, ...] = ()
    instead: tuple[tuple[str, str], ...] = ()

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if any(f"FROM {table} " in sql or f'FROM "{table}" ' in sql for table in self.tables):
            for words in LOCKS:
                sql = sql.replace(words, "")
        for words, others in self.instead:
            sql = sql.replace(words, others)
        return execute(sql, params, many, context)


@dataclass(slots=True)
class Pause:
    """Stops its thread behind the statement that contains ``words`` for the ``time``-th time."""

    words: str
    time: int = 1
    reached: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        found = execute(sql, params, many, context)
        self.time -= self.words in sql
        if self.time == 0 and not self.reached.is_set():
            self.reached.set()
            assert self.over.wait(PATIENCE), "nobody let the first act go on"
        return found


def act(do: Callable[[], Any], *, now: datetime = LATER) -> Callable[[], Any]:
    """An act as a door runs it: started over when the database ended it for another's sake."""
    return lambda: events.attempt(lambda _: do(), actor=events.SERVICE, request_id="race", now=now)


def at_once(
    first: Callable[[], Any],
    second: Callable[[], Any],
    *,
    behind: str,
    time: int = 1,
    unlocked: Unlocked | None = None,
) -> list[Any]:
    """Run ``first`` up to the statement that contains ``behind`` (for the ``time``-th time), then ``second`` as far as
    it gets, then let go.

    Return what each came to: its answer, the code of its refusal, or the name of what the database said.
    """
    pause = Pause(behind, time)
    answers: list[Any] = [None, None]
    pids: list[int] = [0, 0]

    def run(place: int, do: Callable[[], Any]) -> None:
        with _watched(unlocked, pause if place == 0 else None):
            pids[place] = _pid()
            answers[place] = _answer(do)

    threads = [threading.Thread(target=run, args=(place, do)) for place, do in enumerate((first, second))]
    threads[0].start()
    try:
        assert pause.reached.wait(PATIENCE), f"the first act never ran {behind!r}: {answers[0]}"
        threads[1].start()
        _until_through_or_waiting(threads[1], pids)
    finally:
        pause.over.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)
    return answers


def all_at_once(acts: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run acts in a thread each, all let go at the same moment."""
    answers: list[Any] = [None] * len(acts)
    start = threading.Barrier(len(acts))

    def run(place: int, do: Callable[[], Any]) -> None:
        with _watched(None, None):
            start.wait(PATIENCE)
            answers[place] = _answer(do)

    threads = [threading.Thread(target=run, args=(place, do)) for place, do in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(3 * PATIENCE)
    assert not any(thread.is_alive() for thread in threads)
    return answers


def _answer(do: Callable[[], Any]) -> Any:
    try:
        return do()
    except Refusal as refusal:
        return refusal.code
    except Error as fault:
        return type(fault).__name__


@contextmanager
def _watched(unlocked: Unlocked | None, pause: Pause | None) -> Iterator[None]:
    """This thread's connection with what stands between it and the database; closed at the end."""
    connection.execute_wrappers = [one for one in (pause, unlocked) if one is not None]
    try:
        yield
    finally:
        connection.execute_wrappers = []
        connection.close()


def _pid() -> int:
    connection.ensure_connection()
    return int(connection.connection.info.backend_pid)


def _until_through_or_waiting(thread: threading.Thread, pids: Sequence[int]) -> None:
    settings = connection.settings_dict
    with psycopg.connect(
        host=settings["HOST"],
        port=settings["PORT"],
        user=settings["USER"],
        password=settings["PASSWORD"],
        dbname=settings["NAME"],
        autocommit=True,
    ) as watcher:
        until = monotonic() + PATIENCE
        while thread.is_alive() and monotonic() < until:
            waits = watcher.execute(
                "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'", [pids[1]]
            ).fetchone()
            if waits:
                return
            sleep(0.01)
