"""What the floor recorded is evidence: the database refuses to change it, to the application and to the owner alike."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from django.test import Client

from casino import people, rounds
from casino.models import APPEND_ONLY, StoredAnswer
from tests.casino.floor import (
    NOW,
    a_person,
    a_round_id,
    a_table,
    a_whole_round,
    act,
    becomes,
    bets,
    opens,
)
from tests.database import Connection

pytestmark = pytest.mark.django_db(transaction=True)

EVIDENCE, NO_GRANT, CHECKED, TWICE = "PD001", "42501", "23514", "23505"
TABLES = sorted(model._meta.db_table for model in APPEND_ONLY)


@pytest.fixture
def application(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
def evening() -> None:
    """A row in every table of evidence."""
    floor, round = a_table(), a_round_id()
    played = a_whole_round(floor.tablet, round)
    floor.tablet.hears(*played[:3], *played[5:], bets(floor.tablet, round, hand="p17"))
    with act():
        people.sign(
            person=floor.supervisor,
            device=floor.tablet.device,
            session=floor.session,
            sha256=b"\1" * 32,
            now=NOW,
        )
        rounds.waive_gap(
            device=floor.tablet.device, first=4, last=5, person=floor.supervisor, reason="lost", now=NOW
        )
    floor.tablet.hears(opens(floor.tablet, a_round_id(), number=3))
    with act():
        rounds.waive_rounds(
            table=floor.session.table, session=None, first=2, last=2, person=floor.supervisor,
            reason="announced, never dealt", now=NOW,
        )  # fmt: skip
    client = Client()
    client.force_login(becomes(a_person("manager"), "manager", ("rules_author",)))
    client.post(
        "/api/v1/rule-sheets", '{"name":"ours","preset":"seed_base"}', content_type="application/json",
        headers={"Idempotency-Key": "k"},
    )  # fmt: skip
    assert StoredAnswer.objects.exists()
    assert all(model._default_manager.exists() for model in APPEND_ONLY)


def met(connection: Connection, sql: str) -> str:
    """Try it, take it back, and say which SQLSTATE it met; "done" where nothing stopped it."""
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(sql)
    except psycopg.Error as error:
        return error.sqlstate or str(error)
    return "done"


def attacks(table: str) -> dict[str, str]:
    return {
        "delete": f"DELETE FROM {table}",
        "change": f"UPDATE {table} SET id = id",
        "merge": f"MERGE INTO {table} t USING {table} s ON t.id = s.id WHEN MATCHED THEN DELETE",
        "empty": f"TRUNCATE {table} CASCADE",
    }


@pytest.mark.usefixtures("evening")
def test_the_application_cannot_change_evidence(application: Connection) -> None:
    for table in TABLES:
        assert {name: met(application, sql) for name, sql in attacks(table).items()} == dict.fromkeys(
            attacks(table), NO_GRANT
        ), table


@pytest.mark.usefixtures("evening")
def test_the_owner_is_stopped_by_triggers_also_as_a_replica(owner: Connection) -> None:
    for table in TABLES:
        found = {name: met(owner, sql) for name, sql in attacks(table).items()}
        assert found == dict.fromkeys(attacks(table), EVIDENCE), table
    owner.execute("RESET ROLE")
    owner.execute("SET session_replication_role = 'replica'")
    for table in TABLES:
        assert met(owner, f"DELETE FROM {table}") == EVIDENCE


@pytest.mark.usefixtures("evening")
def test_the_application_cannot_switch_off_what_guards_evidence(application: Connection) -> None:
    for table in TABLES:
        tried = {
            "disable": f"ALTER TABLE {table} DISABLE TRIGGER ALL",
            "drop": f"DROP TRIGGER append_only_rows ON {table}",
            "replace": "CREATE OR REPLACE FUNCTION pokdeng_append_only() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN RETURN NEW; END'",
            "own": f"ALTER TABLE {table} OWNER TO pokdeng_app",
            "become": "SET ROLE pokdeng_owner",
            "replica": "SET session_replication_role = 'replica'",
        }
        met_by = {name: met(application, sql) for name, sql in tried.items()}
        assert met_by == dict.fromkeys(tried, NO_GRANT)
        application.execute(
            f"GRANT UPDATE, DELETE ON {table} TO pokdeng_app"
        )  # warned of, and without effect
        assert met(application, f"DELETE FROM {table}") == NO_GRANT


@pytest.mark.usefixtures("evening")
def test_of_what_changes_the_application_changes_named_columns_alone(application: Connection) -> None:
    tried = {
        "UPDATE casino_round SET created_at = now()": NO_GRANT,
        "UPDATE casino_round SET table_id = table_id": NO_GRANT,
        "UPDATE casino_round SET id = id": NO_GRANT,
        "UPDATE casino_device SET code = code": NO_GRANT,
        "UPDATE casino_device SET table_id = table_id": NO_GRANT,
        "UPDATE casino_duty SET person_id = person_id": NO_GRANT,
        "UPDATE casino_tablesession SET opened_at = now()": NO_GRANT,
        "UPDATE casino_person SET badge = 'M02'": NO_GRANT,
        "DELETE FROM casino_person": NO_GRANT,
        "DELETE FROM casino_round": NO_GRANT,
        "DELETE FROM casino_duty": NO_GRANT,
        "DELETE FROM casino_wrongtries": NO_GRANT,
        "TRUNCATE casino_round CASCADE": NO_GRANT,
        "UPDATE casino_round SET event_count = event_count": "done",
        "UPDATE casino_device SET last_seq = last_seq": "done",
        "UPDATE casino_device SET token_sha256 = token_sha256": "done",  # a device chooses a new one
    }
    assert {sql: met(application, sql) for sql in tried} == tried


COPY = (
    "INSERT INTO casino_roundevent (round_id, seq, kind, payload, source, event_id, device_id, device_seq, signed,"
    " happened_at, instant, clock_off, recorded_at, sha256, late) SELECT round_id, {seq}, kind, payload, source,"
    " event_id, {device}, {number}, signed, happened_at, {instant}, clock_off, recorded_at, sha256, late"
    " FROM casino_roundevent ORDER BY id LIMIT 1"
)


@pytest.mark.usefixtures("evening")
def test_what_no_device_could_have_reported_is_not_stored_whoever_asks(
    application: Connection, owner: Connection
) -> None:
    fine = {"seq": "99", "device": "device_id", "number": "99", "instant": "instant"}
    tried = {
        "a place taken": (fine | {"seq": "seq"}, TWICE),
        "a number used": (fine | {"number": "device_seq"}, TWICE),
        "a device without a number": (fine | {"number": "NULL"}, CHECKED),
        "a number without a device": (fine | {"device": "NULL::uuid"}, CHECKED),
        "a number below one": (fine | {"number": "0"}, CHECKED),
        "an event from later": (fine | {"instant": "recorded_at + interval '1 ms'"}, CHECKED),
        "an honest event": (fine, "done"),
    }
    for connection in (application, owner):
        assert {name: met(connection, COPY.format(**change)) for name, (change, _) in tried.items()} == {
            name: sqlstate for name, (_, sqlstate) in tried.items()
        }


@pytest.mark.usefixtures("evening")
def test_a_round_is_numbered_once_and_held_only_with_a_reason(application: Connection) -> None:
    another = (
        "INSERT INTO casino_round (id, table_id, session_id, number, standing, reasons, in_dispute, created_at,"
        " event_count, cards_seen) SELECT gen_random_uuid(), table_id, session_id, {number}, {standing}, {reasons},"
        " false, now(), 0, 0 FROM casino_round LIMIT 1"
    )
    fine = {"number": "2", "standing": "''", "reasons": "'{}'::text[]"}
    tried = {
        "the same number": (fine | {"number": "number"}, TWICE),
        "number nought": (fine | {"number": "0"}, CHECKED),
        "held for nothing": (fine | {"standing": "'held'"}, CHECKED),
        "a reason without a hold": (fine | {"reasons": "'{reads_differ}'::text[]"}, CHECKED),
        "an unknown standing": (fine | {"standing": "'won'"}, CHECKED),
        "an honest round": (fine, "done"),
    }
    assert {name: met(application, another.format(**change)) for name, (change, _) in tried.items()} == {
        name: sqlstate for name, (_, sqlstate) in tried.items()
    }
