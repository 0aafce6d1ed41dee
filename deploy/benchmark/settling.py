"""Rounds settled in a second: one by one and in batches, by one process and by two."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from casino import events
from deploy.benchmark import dealt_rounds
from deploy.benchmark.measuring import Pace, measured
from settlement import settling

BATCH = "application/cloudevents-batch+json"
ROUNDS_A_REQUEST = 8
SIZES: Mapping[int, tuple[int, int]] = {1: (100, 300), 100: (400, 1_500)}
"""Rounds for each process and run, and what two cores should do in a second, by the size of a batch."""
COMMITS = 300


class Table:
    """A table whose terminal has recorded rounds that nobody settled yet."""

    def __init__(self, *, code: str, token: str, seed: int) -> None:
        self.code, self.token = code, token
        self.waiting: list[UUID] = []
        self._chance = random.Random(seed)  # noqa: S311 - repeatable deals, no secret
        self._sequence, self._number = 1, 1

    def sent(self, rounds: int) -> Iterator[tuple[list[str], list[str]]]:
        """Yield round ids and events of the next rounds, by the request."""
        numbers = range(self._number, self._number + rounds)
        told = dealt_rounds.as_sent(
            self._chance, device=f"{self.code}-terminal", numbers=numbers, first=self._sequence
        )
        self._number += rounds
        ids: list[str] = []
        batch: list[str] = []
        for count, (round_id, one) in enumerate(told, 1):
            self._sequence += len(one)
            ids.append(round_id)
            batch += one
            if count % ROUNDS_A_REQUEST == 0 or count == rounds:
                yield ids, batch
                ids, batch = [], []

    def record(self, rounds: int) -> None:
        """Record more rounds, in this process, through the door that a terminal uses."""
        client = Client(SERVER_NAME="localhost")
        for ids, batch in self.sent(rounds):
            answer = client.generic(
                "POST",
                f"/api/v1/tables/{self.code}/events",
                f"[{','.join(batch)}]".encode(),
                content_type=BATCH,
                secure=True,
                headers={
                    "Authorization": f"Bearer {self.token}",
                    "Pokdeng-Sent-At": timezone.now().isoformat(),
                },
            )
            if answer.status_code != 200:
                raise RuntimeError(f"{answer.status_code}: {answer.content[:300]!r}")
            self.waiting += [UUID(one) for one in ids]

    def take(self, rounds: int) -> list[UUID]:
        taken, self.waiting = self.waiting[:rounds], self.waiting[rounds:]
        return taken


def paces(*, tables: Sequence[Table], runs: int) -> Iterator[Pace]:
    """Yield floors and paces. Each table is settled by a process of its own, as tables share no lock."""
    yield measured("commit nothing", "commits", _commit_nothing, runs=runs, is_floor=True)
    yield measured("commit one plain INSERT", "commits", _insert, runs=runs, is_floor=True)
    for size, (count, aim) in SIZES.items():
        for processes in (1, 2):
            for table in tables[:processes]:
                table.record(count * runs)
            yield _settled(tables[:processes], size=size, count=count, runs=runs, aim=aim)


def _settled(tables: Sequence[Table], *, size: int, count: int, runs: int, aim: int) -> Pace:
    processes = len(tables)
    what = f"settle {'one by one' if size == 1 else f'{size} at a time'}, {processes} process{'es' * (processes > 1)}"

    def work() -> int:
        shares = [table.take(count) for table in tables]
        if processes == 1:
            _settle(shares[0], size)
        else:
            _in_processes(shares, size)
        return count * processes

    return measured(what, "rounds", work, runs=runs, aim=aim if processes == 2 else None)


def _in_processes(shares: Sequence[Sequence[UUID]], size: int) -> None:
    connection.close()  # a connection is not shared by forking
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=_settle, args=(share, size)) for share in shares]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        if worker.exitcode:
            raise RuntimeError("a settling process failed")


def _settle(ids: Sequence[UUID], size: int) -> None:
    for start in range(0, len(ids), size):
        some = ids[start : start + size]
        answers = events.attempt(
            lambda _, some=some: settling.settle_rounds(some),  # type: ignore[misc]
            actor=events.SERVICE,
            request_id="bench",
            now=timezone.now(),
        )
        if {answer.outcome for answer in answers} != {"settled"}:
            raise RuntimeError(f"not settled: {answers[:3]}")


def _commit_nothing() -> int:
    for _ in range(COMMITS):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    return COMMITS


def _insert() -> int:
    for _ in range(COMMITS):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("INSERT INTO bench_plain (said) VALUES (%s)", [str(time.perf_counter())])
    return COMMITS
