"""A built house whose rows nothing guards any more: what a superuser could do, and taken back after each test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
import pytest

from audit import controls
from audit.checkpoints import Store
from tests import database
from tests.database import House

Connection = psycopg.Connection[Any]


class Case(NamedTuple):
    """What was altered, the statements that do it (between semicolons), the invariants that must find something (no
    others), and how a subject begins that the first of them must name."""

    altered: str
    statement: str
    found_by: str
    subject: str


@pytest.fixture(scope="module")
def superuser(house: House, built_house: tuple[str, dict[str, UUID]]) -> Iterator[Connection]:
    with psycopg.connect(database.at(house.addresses.owner_url, database=built_house[0])) as connection:
        yield connection


@pytest.fixture
def spoilt(superuser: Connection, outside: Store) -> Iterator[Connection]:
    """A superuser's transaction in which nothing guards the rows any more; taken back afterwards."""
    superuser.rollback()
    for (statement,) in superuser.execute(
        "SELECT format('ALTER TABLE %I DISABLE TRIGGER ALL', relname) FROM pg_class"
        " WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
        " UNION ALL SELECT format('ALTER TABLE %s DROP CONSTRAINT %I CASCADE', conrelid::regclass, conname)"
        " FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'u')"
        " UNION ALL SELECT format('DROP INDEX %s', indexrelid::regclass)"
        " FROM pg_index JOIN pg_class c ON c.oid = indrelid"
        " WHERE indisunique AND NOT indisprimary AND c.relnamespace = 'public'::regnamespace"
        " AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)"
    ).fetchall():
        superuser.execute(statement)
    yield superuser
    superuser.rollback()


def found(connection: Connection) -> list[tuple[str, str]]:
    opened = controls.Books(reader=connection, scope=controls.Scope(None))
    return [(id, finding.subject) for id, finding in controls.check(opened, ids=controls.built())]


def see_it_found(case: Case, spoilt: Connection, told: dict[str, UUID]) -> None:
    """Alter what the case says, and see that the invariants it names find it, and no others."""
    for statement in case.statement.split(";"):
        assert spoilt.execute(statement, told).rowcount > 0, statement
    rows = found(spoilt)
    first, *_ = case.found_by.split()
    assert {id for id, _ in rows} == set(case.found_by.split()), rows[:8]
    assert [
        subject for id, subject in rows if id == first and subject.startswith(case.subject.format(**told))
    ], rows[:8]
