"""What the database refuses of breaks and runs, as the application and as the owner of the tables."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from settlement import breaks, reconciliation
from settlement.breaks import NewBreak
from tests.database import Connection
from tests.settlement.books import NOW, TODAY, a_person, act

pytestmark = pytest.mark.django_db(transaction=True)

ATTACKS = {
    # What a break is and how it moved.
    "UPDATE settlement_break SET amount = 0": ("42501", "PD001"),
    "UPDATE settlement_break SET severity = 'low'": ("42501", "PD001"),
    "DELETE FROM settlement_break": ("42501", "PD001"),
    "UPDATE settlement_break SET state = 'matched'": ("23514", "23514"),
    "UPDATE settlement_break SET state = 'matched', steps = steps + 2": ("23514", "23514"),
    "UPDATE settlement_break SET state = 'approved', steps = steps + 1, resolution = 'no_action',"
    " resolved_by_id = (SELECT id FROM casino_person), approved_by_id = (SELECT id FROM casino_person)": (
        "23514",
        "23514",
    ),
    "UPDATE settlement_break SET state = 'assigned', steps = steps + 1,"
    " assigned_to_id = (SELECT id FROM casino_person)": ("23514", "23514"),
    "INSERT INTO settlement_breakstep (of_id, ordinal, state, reason, taken_at)"
    " SELECT id, 9, 'approved', '', now() FROM settlement_break": ("23514", "23514"),
    # What a run compared, and what its chunks came to.
    "UPDATE settlement_run SET until = until + interval '1 s'": ("42501", "PD001"),
    "UPDATE settlement_run SET digest = repeat('0', 64)": ("PD001", "PD001"),
    "DELETE FROM settlement_run": ("42501", "PD001"),
    "UPDATE settlement_chunk SET attempts = 0": ("PD001", "PD001"),
    "UPDATE settlement_chunk SET upper = upper + 1": ("42501", "PD001"),
    "DELETE FROM settlement_chunk": ("42501", "PD001"),
    "UPDATE settlement_result SET matched = 9": ("42501", "PD001"),
    "INSERT INTO settlement_run SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid()))).*"
    " FROM settlement_run r": ("23505", "23505"),
}
"""Statement → what it meets as the application and as the owner."""


@pytest.fixture
def application(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture(autouse=True)
def compared() -> None:
    """A break that nobody has looked at, and a run that is done."""
    a_person("M1", "manager")
    with act():
        breaks.found([NewBreak("AMOUNT", "rounds/r1", "f", {}, amount=1, currency="THB")])
    with act(now=NOW + timedelta(days=1)):
        run = reconciliation.begin(kind="asked", gaming_day=TODAY, levels=("R3",))
    while reconciliation.look_on(owner="test", now=NOW, request_id="test", run=run.id) is not None:
        pass


def met(connection: Connection, statement: str) -> str:
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(statement)
            connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
    except psycopg.Error as error:
        return error.sqlstate or str(error)
    return "done"


def test_what_was_found_and_compared_is_kept_whoever_asks(application: Connection, owner: Connection) -> None:
    found: dict[str, Any] = {
        statement: (met(application, statement), met(owner, statement)) for statement in ATTACKS
    }
    assert found == ATTACKS


def test_a_run_is_not_done_while_a_chunk_is_left(application: Connection) -> None:
    with act(now=NOW + timedelta(days=1)):
        run = reconciliation.begin(kind="asked", gaming_day=TODAY, levels=("R3",))
    done = (
        "UPDATE settlement_run SET done_at = now(), outcome = 'matched', digest = repeat('0', 64),"
        " report = '{\"a\": 1}'"
        f" WHERE id = '{run.id}'"
    )
    assert met(application, done) == "23514"
    (claim, *_) = reconciliation.claim(owner="test", levels=["R3"], run=run.id)
    wrong = (
        "INSERT INTO settlement_result SELECT"
        f" (jsonb_populate_record(r, jsonb_build_object('chunk_id', {claim.chunk}))).* FROM settlement_result r LIMIT 1"
    )
    assert met(application, wrong) == "23514", "a chunk that is not finished has no result"
