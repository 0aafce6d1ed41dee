"""An act happens whole, is witnessed, or does not happen."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from audit.models import LogEntry
from casino import events
from casino.events import Fact
from casino.models import Table
from tests.casino.floor import NOW, act

pytestmark = pytest.mark.django_db

FACT = Fact("table.added", "tables/PD09", {"code": "PD09"}, table="PD09")


def add() -> None:
    Table.objects.create(code="PD09", currency="THB")
    events.announce([FACT])


def test_what_an_act_did_and_what_it_told_commit_together() -> None:
    with act():
        add()

    assert (Table.objects.count(), LogEntry.objects.count()) == (1, 1)


def test_an_act_that_fails_leaves_neither_change_nor_entry() -> None:
    def add_and_fail() -> None:
        with act():
            add()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        add_and_fail()

    assert (Table.objects.count(), LogEntry.objects.count()) == (0, 0)


def test_an_act_inside_an_act_is_the_same_act() -> None:
    with act() as outer:
        with act(now=NOW + timedelta(hours=1)) as inner:
            assert inner is outer
        assert events.current() is outer


def test_an_act_inside_a_bare_transaction_is_refused() -> None:
    with pytest.raises(RuntimeError, match="durable"), transaction.atomic(), act():
        pass


def test_nothing_is_announced_outside_of_an_act() -> None:
    with pytest.raises(events.NoAct):
        events.announce([FACT])
    with act():
        pass
    with pytest.raises(events.NoAct):
        events.current()


def test_nothing_happens_where_nobody_listens(settings: Any) -> None:
    settings.WITNESS = ""
    with pytest.raises(events.NoWitness), act():
        add()

    assert not Table.objects.exists()


def test_a_receipt_is_the_hash_of_the_entry() -> None:
    with act() as running:
        receipts = events.announce([FACT, FACT])
        assert running.receipts == receipts

    assert receipts == [bytes(entry.leaf_hash) for entry in LogEntry.objects.order_by("id")]


def test_an_act_ended_for_anothers_sake_starts_over_and_happens_once() -> None:
    attempts: list[int] = []

    def do(_: events.Act) -> str:
        attempts.append(1)
        Table.objects.create(code="PD09", currency="THB")
        if len(attempts) < 4:
            raise OperationalError from psycopg.errors.DeadlockDetected()
        return "done"

    assert events.attempt(do, actor=events.SERVICE, request_id="", now=NOW) == "done"
    assert (len(attempts), Table.objects.count()) == (4, 1)


def test_an_act_that_is_ended_again_and_again_gives_up_after_three_more_tries() -> None:
    attempts: list[int] = []

    def do(_: events.Act) -> None:
        attempts.append(1)
        raise OperationalError from psycopg.errors.LockNotAvailable()

    with pytest.raises(OperationalError):
        events.attempt(do, actor=events.SERVICE, request_id="", now=NOW)
    assert len(attempts) == 4


@pytest.mark.django_db(transaction=True)
def test_an_act_that_fails_by_itself_is_not_tried_again() -> None:
    attempts: list[int] = []

    def do(_: events.Act) -> None:
        attempts.append(1)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    with pytest.raises(OperationalError):
        events.attempt(do, actor=events.SERVICE, request_id="", now=NOW)
    connection.close()
    assert len(attempts) == 1


# -- how things are written ----------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


@given(value=VALUES)
def test_one_value_is_written_one_way_and_reads_back_the_same(value: Any) -> None:
    written = events.canonical(value)
    assert json.loads(written) == value
    assert events.canonical(json.loads(written)) == written


@given(value=st.dictionaries(st.text(max_size=5), st.integers(), min_size=2))
def test_the_order_in_which_facts_were_gathered_does_not_show(value: dict[str, int]) -> None:
    assert events.canonical(value) == events.canonical(dict(reversed(value.items())))


@pytest.mark.parametrize("value", [0.5, {"a": [1, {"b": 0.5}]}, [(0.5,)]])
def test_a_float_has_no_place_in_evidence(value: Any) -> None:
    with pytest.raises(TypeError):
        events.canonical(value)


MOMENTS = st.integers(10**5, 3 * 10**10).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))


@given(
    moments=st.lists(
        MOMENTS,
        min_size=2,
        max_size=5,
    )
)
def test_ids_sort_by_the_time_they_were_made(moments: list[datetime]) -> None:
    made = [(int(moment.timestamp() * 1000), events.uuid7(moment)) for moment in moments]
    assert [at for at, _ in sorted(made, key=lambda pair: pair[1])] == sorted(at for at, _ in made)
    for _, one in made:
        assert (one.version, one.variant) == (7, UUID(int=0x80 << 56).variant)
