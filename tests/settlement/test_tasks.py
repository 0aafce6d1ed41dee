"""The sweep: what nobody asked for is settled within seconds, and one bad round keeps no other waiting."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any
from uuid import UUID

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings

from casino.models import Aside, RoundEvent, Sweep, Unread, UnreadCount
from deploy.local import paths
from settlement import settling, tasks
from settlement.models import Journal
from tests.casino.telling import TWO_HANDS
from tests.deploy.test_unread import POISON
from tests.settlement.floor import AtTable, a_table, money, standing

WON = TWO_HANDS + "close"
PATIENCE = 100.0


@pytest.mark.django_db
def test_closed_rounds_that_nobody_asked_for_are_settled() -> None:
    table = a_table()
    closed, playing, doubtful = (
        table.tell(WON),
        table.tell(TWO_HANDS),
        table.tell("bet w1 p1 100\nlock\nclose"),
    )

    assert tasks.sweep() == 2

    assert [standing(id) for id in (closed, playing, doubtful)] == ["settled", "", "held: missing_card"]
    assert money() == {table.bank: -100_00, table.guests: 100_00}


@pytest.mark.django_db
def test_a_second_sweep_finds_nothing_left() -> None:
    table = a_table()
    table.tell(WON)

    assert [tasks.sweep(), tasks.sweep()] == [1, 0]

    assert money() == {table.bank: -100_00, table.guests: 100_00}


@pytest.mark.django_db
def test_more_rounds_than_one_batch_are_settled_in_one_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "BATCH", 2)
    table = a_table()
    ids = [table.tell(WON) for _ in range(5)]

    assert tasks.sweep() == 5

    assert {standing(id) for id in ids} == {"settled"}


@pytest.mark.django_db
def test_a_round_whose_void_nobody_signed_is_looked_at_once_and_stays_in_play(settings: Any) -> None:
    settings.SIGNATURES = "required"
    round_id = a_table().tell(TWO_HANDS + "void")

    assert [tasks.sweep(), tasks.sweep()] == [1, 0]

    assert standing(round_id) == ""


def a_round_that_cannot_be_judged(table: AtTable) -> UUID:
    """Something is in its record that no fold knows; how it came there does not matter here."""
    round_id = table.tell(WON)
    last = RoundEvent.objects.filter(round=round_id).latest("seq")
    last.pk, last.seq, last.device_seq, last.kind = None, last.seq + 1, 9_999, "tea_served"
    last.save(force_insert=True)
    return round_id


@pytest.mark.django_db
def test_a_round_that_cannot_be_judged_keeps_no_other_waiting(caplog: pytest.LogCaptureFixture) -> None:
    table = a_table()
    before, bad, behind = table.tell(WON), a_round_that_cannot_be_judged(table), table.tell(WON)

    tasks.sweep()

    assert [standing(id) for id in (before, bad, behind)] == ["settled", "due", "settled"]
    assert Journal.objects.filter(round=bad).count() == 0
    assert f"settling cannot compute with rounds/{bad}" in caplog.text
    assert list(Aside.objects.values_list("work", "subject", "times")) == [("settling", f"rounds/{bad}", 1)]
    tasks.sweep()
    assert Aside.objects.get().times == 1, "it is tried again after a minute, and not with every bell"


@pytest.mark.django_db
def test_a_whole_batch_of_rounds_that_cannot_be_judged_keeps_no_other_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tasks, "BATCH", 2)
    table = a_table()
    for code in ("PD02", "PD03"):
        a_round_that_cannot_be_judged(a_table(code))
    good = table.tell(WON)

    tasks.sweep()

    assert standing(good) == "settled"


@pytest.mark.django_db
def test_a_sweep_whose_time_is_up_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    round_id = a_table().tell(WON)
    settle_rounds = settling.settle_rounds
    left = iter([0])

    def out_of_time(ids: Any) -> Any:
        for _ in left:
            raise SoftTimeLimitExceeded
        return settle_rounds(ids)

    monkeypatch.setattr(settling, "settle_rounds", out_of_time)

    with pytest.raises(SoftTimeLimitExceeded):
        tasks.sweep()

    assert standing(round_id) == "due"


# -- a worker --------------------------------------------------------------------------------------------------


@contextmanager
def a_worker(dsn: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker of its own process, on this test's database and broker."""
    worker = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "celery",
            "-q",
            "-A",
            "deploy.celery",
            "worker",
            "-P",
            "solo",
            "-l",
            "WARNING",
        ],
        cwd=paths.CLONE,
        env=os.environ | {"DATABASE_URL": dsn, "REDIS_URL": settings.REDIS_URL, "PROCESS": "worker"},
    )
    try:
        yield worker
    finally:
        worker.terminate()
        try:
            worker.wait(30)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()


def until(done: Any) -> None:
    end = monotonic() + PATIENCE
    while not done():
        assert monotonic() < end, "the worker did not come to it"
        sleep(0.05)


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_hears_the_bell_settles_and_ten_bells_pay_once(dsn: str, broker: Any) -> None:
    table = a_table()
    first = table.tell(WON)

    with a_worker(dsn):
        for _ in range(10):
            tasks.sweep.delay()
        until(lambda: standing(first) == "settled")
        second = table.tell(WON)
        tasks.sweep.delay()
        until(lambda: standing(second) == "settled")

    assert money() == {table.bank: -200_00, table.guests: 200_00}
    assert Journal.objects.filter(kind="round").count() == 2


@pytest.mark.django_db(transaction=True)
def test_what_cannot_be_read_in_the_queue_is_put_aside_and_counted_and_the_worker_goes_on(
    dsn: str, broker: Any
) -> None:
    round_id = a_table().tell(WON)
    for item, _ in POISON.values():
        broker.lpush("celery", item)

    with a_worker(dsn) as worker:
        tasks.sweep.delay()
        until(lambda: standing(round_id) == "settled")
        until(lambda: sum(UnreadCount.objects.values_list("count", flat=True)) == len(POISON))
        assert worker.poll() is None

    assert dict(UnreadCount.objects.values_list("reason", "count")) == Counter(
        why for _, why in POISON.values()
    )
    assert {bytes(one.content) for one in Unread.objects.all()} == {
        item[:4_096] for item, _ in POISON.values()
    }
    assert broker.llen("celery") == 0
    assert Sweep.objects.get(name="settlement.sweep").ended_at is not None


@pytest.mark.django_db(transaction=True)
def test_when_the_broker_has_lost_every_bell_the_next_one_is_enough(dsn: str, broker: Any) -> None:
    round_id = a_table().tell(WON)
    tasks.sweep.delay()
    broker.flushdb()

    with a_worker(dsn):
        tasks.sweep.delay()
        until(lambda: standing(round_id) == "settled")
