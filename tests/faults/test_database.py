"""The database crashes under load, and is held up by others. What was acknowledged is there; nothing is skipped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from tests.faults import telling
from tests.faults.harness import House
from tests.faults.waiting import until
from tests.settlement.receiver import Receiver

pytestmark = [pytest.mark.full, pytest.mark.timeout(600)]

UNSEALED = (
    "SELECT count(*) FROM audit_logentry e LEFT JOIN audit_leaf l ON l.entry_id = e.id WHERE l.id IS NULL"
)


def test_what_was_acknowledged_is_there_after_the_database_crashed(
    open_house: House, receiver: Receiver
) -> None:
    house, since = open_house, telling.last_owed(open_house)
    postgres = house.furnished.postgres
    with house.everybody().running(pause=0.05) as load:
        load.goes_on(steps=20)
        unknown = len(house.history.of(outcome="unknown"))
        postgres.crash()
        until(lambda: len(house.history.of(outcome="unknown")) > unknown, "somebody is not answered")
        postgres.start()
        load.goes_on(steps=20)

    house.holds()
    telling.all_told(house, receiver, since=since)


@contextmanager
def a_writer(house: House, *, patience: str = "") -> Iterator[psycopg.Connection[Any]]:
    """Somebody who signed in from outside, began to write, and does nothing more."""
    url = house.furnished.postgres.url("pokdeng_app", database=house.database)
    with psycopg.connect(url, options=patience) as writer:
        writer.execute("SELECT pg_current_xact_id()")
        yield writer


def sealed(house: House) -> None:
    """Wait until every act so far has its leaf; others go on meanwhile."""
    newest = house.number("SELECT max(id) FROM audit_logentry")
    until(lambda: not house.number(f"{UNSEALED} AND e.id <= %s", newest), "what waited is sealed")


def idles_until_it_is_ended(house: House) -> None:
    still = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s"
    with a_writer(house) as writer:
        backend = writer.info.backend_pid
        until(lambda: not house.number(still, backend), "the database ends who idles for too long")


def test_an_idle_writer_holds_up_two_sealers_until_it_is_ended_and_nothing_is_skipped(
    open_house: House,
) -> None:
    house = open_house
    house.start("sealer", called="second sealer")
    with house.everybody().running() as load:
        with a_writer(house, patience="-c idle_in_transaction_session_timeout=0") as writer:
            load.goes_on(steps=20)
            assert house.number(UNSEALED) > 20, "the fault never struck: nothing waits for the writer"
            writer.commit()
        sealed(house)

        with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
            idles_until_it_is_ended(house)
        sealed(house)
    house.kill("second sealer")

    house.holds()
