"""What the witness writes, and that nobody writes it differently or takes it back."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import Error, connection, transaction
from django.test.utils import CaptureQueriesContext

from audit import merkle
from audit.models import APPEND_ONLY, LogEntry
from casino import events
from casino.events import Fact, Principal

NOW = datetime(2026, 3, 1, 12, 30, 15, 250, tzinfo=UTC)
NOK = UUID("01890000-0000-7000-8000-000000000001")
TERMINAL = Principal(
    kind="device",
    id=UUID("01890000-0000-7000-8000-000000000002"),
    code="PD01-T1",
    role="terminal",
    person=NOK,
)
ROUND = UUID("01890000-0000-7000-8000-000000000003")


def announced(*facts: Fact, actor: Principal = TERMINAL, request_id: str = "r-1") -> list[bytes]:
    with events.act(actor=actor, request_id=request_id, now=NOW):
        return events.announce(facts)


def opened(**data: Any) -> Fact:
    return Fact("table.opened", "tables/PD01", data, table="PD01", round=ROUND)


pytestmark = pytest.mark.django_db


def test_an_act_leaves_one_entry_per_fact_with_exactly_what_happened() -> None:
    receipts = announced(opened(float=50_000_00), Fact("table.stopped", "tables/PD02", {"why": ["deck"]}))

    first, second = LogEntry.objects.order_by("id")
    assert bytes(first.bytes).decode() == (
        '{"action":"table.opened","actor":{"code":"PD01-T1","id":"01890000-0000-7000-8000-000000000002",'
        '"kind":"device","person":"01890000-0000-7000-8000-000000000001","role":"terminal"},'
        '"at":"2026-03-01T12:30:15.000250Z","data":{"float":5000000},"origin":"pokdeng","request":"r-1",'
        '"round":"01890000-0000-7000-8000-000000000003","subject":"tables/PD01","table":"PD01","v":1}'
    )
    assert [bytes(entry.leaf_hash) for entry in (first, second)] == receipts
    assert receipts[0] == hashlib.sha256(b"\x00" + bytes(first.bytes)).digest()
    assert (first.device, first.actor, first.person, first.recorded_at) == (
        "PD01-T1",
        str(TERMINAL.id),
        NOK,
        NOW,
    )
    assert (second.action, second.round, json.loads(bytes(second.bytes))["round"]) == (
        "table.stopped",
        None,
        None,
    )
    assert first.xid == second.xid


def test_all_facts_of_an_act_are_one_statement() -> None:
    with events.act(actor=TERMINAL, request_id="r", now=NOW), CaptureQueriesContext(connection) as captured:
        events.announce([opened(number=number) for number in range(50)])

    assert len(captured.captured_queries) == 1
    numbers = [json.loads(bytes(entry.bytes))["data"]["number"] for entry in LogEntry.objects.order_by("id")]
    assert numbers == list(range(50))


def test_an_act_that_fails_leaves_no_entry() -> None:
    def announce_and_fail() -> None:
        with events.act(actor=TERMINAL, request_id="r", now=NOW):
            events.announce([opened()])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        announce_and_fail()
    assert not LogEntry.objects.exists()


def test_nothing_is_announced_outside_of_an_act() -> None:
    with pytest.raises(events.NoAct):
        events.announce([opened()])


def test_nothing_is_announced_where_nobody_listens(settings: Any) -> None:
    settings.WITNESS = ""
    with pytest.raises(events.NoWitness), events.act(actor=TERMINAL, request_id="r", now=NOW):
        events.announce([opened()])


def test_a_float_has_no_place_in_an_entry() -> None:
    with pytest.raises(TypeError):
        announced(opened(stakes=[{"amount": 1.5}]))

    assert not LogEntry.objects.exists()


def test_of_a_reason_the_entry_holds_the_code_and_the_hash_of_the_text() -> None:
    announced(opened(reason={"code": "dealer_error", "text": "Somchai looked away"}))

    written = bytes(LogEntry.objects.get().bytes)
    assert json.loads(written)["data"]["reason"] == {
        "code": "dealer_error",
        "text_sha256": hashlib.sha256(b"Somchai looked away").hexdigest(),
    }
    assert b"Somchai" not in written


def test_the_person_of_a_fact_goes_before_the_one_signed_in() -> None:
    ploy = UUID("01890000-0000-7000-8000-000000000009")
    announced(Fact("round.recorded", f"rounds/{ROUND}", {}, person=ploy))

    assert LogEntry.objects.get().person == ploy


def test_hostile_signs_cannot_stop_a_refusal_from_being_written_down() -> None:
    bad = 'a\0b\ud800 \\u0000 "ก"'
    announced(Fact("act.refused", bad * 100, {"field": bad, bad: 1}), request_id=bad)

    entry = LogEntry.objects.get()
    assert json.loads(bytes(entry.bytes))["data"]["field"] == 'a␀b��� \\u0000 "ก"'
    assert len(entry.subject) == 200


def test_two_facts_alike_are_two_entries() -> None:
    receipts = announced(opened(), opened())

    assert receipts[0] == receipts[1]
    assert LogEntry.objects.count() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_logentry SET role = 'auditor'",
        "DELETE FROM audit_logentry",
        "TRUNCATE audit_logentry CASCADE",
    ],
)
def test_nobody_changes_or_removes_an_entry(statement: str, owner: psycopg.Connection[Any]) -> None:
    announced(opened())
    before = list(LogEntry.objects.values())

    with pytest.raises(Error) as as_application, connection.cursor() as cursor:
        cursor.execute(statement)
    assert getattr(as_application.value.__cause__, "sqlstate", "") == "42501"
    with pytest.raises(psycopg.Error) as as_owner:
        owner.execute(statement)
    assert as_owner.value.sqlstate == "PD001"
    owner.execute("RESET ROLE; SET session_replication_role = replica")
    with pytest.raises(psycopg.Error) as as_replica:
        owner.execute(statement)
    assert as_replica.value.sqlstate == "PD001"
    assert list(LogEntry.objects.values()) == before


@pytest.mark.parametrize(
    "statement", ["ALTER TABLE audit_logentry DISABLE TRIGGER ALL", "DROP TABLE audit_logentry"]
)
def test_the_application_owns_nothing_it_could_switch_off(statement: str) -> None:
    with pytest.raises(Error) as refused, connection.cursor() as cursor:
        cursor.execute(statement)
    assert getattr(refused.value.__cause__, "sqlstate", "") == "42501"


COPIED = (
    "INSERT INTO audit_logentry (origin, recorded_at, action, subject, table_code, round, actor_kind, actor,"
    " device, person, role, request_id, bytes, leaf_hash) SELECT {} FROM audit_logentry"
)
COLUMNS = {
    name: name
    for name in (
        "origin", "recorded_at", "action", "subject", "table_code", "round", "actor_kind", "actor", "device",
        "person", "role", "request_id", "bytes", "leaf_hash",
    )
}  # fmt: skip


@pytest.mark.parametrize(
    ("column", "value", "guard"),
    [
        ("leaf_hash", "sha256('')", "log_entry_hash_is_of_its_bytes"),
        ("bytes", "bytes || ' '", "log_entry_hash_is_of_its_bytes"),
        ("origin", "'other'", "log_entry_columns_are_its_bytes"),
        ("recorded_at", "recorded_at - interval '1 day'", "log_entry_columns_are_its_bytes"),
        ("action", "'table.closed'", "log_entry_columns_are_its_bytes"),
        ("subject", "'tables/PD09'", "log_entry_columns_are_its_bytes"),
        ("table_code", "'PD09'", "log_entry_columns_are_its_bytes"),
        ("round", "gen_random_uuid()", "log_entry_columns_are_its_bytes"),
        ("round", "NULL", "log_entry_columns_are_its_bytes"),
        ("actor_kind", "'person'", "log_entry_columns_are_its_bytes"),
        ("actor", "'01890000-0000-7000-8000-000000000009'", "log_entry_columns_are_its_bytes"),
        ("device", "'PD02-T1'", "log_entry_columns_are_its_bytes"),
        ("person", "gen_random_uuid()", "log_entry_columns_are_its_bytes"),
        ("role", "'auditor'", "log_entry_columns_are_its_bytes"),
        ("request_id", "'another'", "log_entry_columns_are_its_bytes"),
    ],
)
def test_an_entry_whose_hash_or_columns_are_not_its_bytes_is_refused(
    column: str, value: str, guard: str
) -> None:
    announced(opened())
    with connection.cursor() as cursor:
        cursor.execute(COPIED.format(", ".join(COLUMNS)))  # as it is, it may be written
        with pytest.raises(Error, match=guard) as refused:
            cursor.execute(COPIED.format(", ".join((COLUMNS | {column: value}).values())))
    assert getattr(refused.value.__cause__, "sqlstate", "") == "23514"


@pytest.mark.django_db(transaction=True)
def test_an_entry_cannot_be_put_into_an_earlier_transaction() -> None:
    announced(opened())
    with pytest.raises(Error, match="number of the transaction") as refused, connection.cursor() as cursor:
        cursor.execute(
            COPIED.format(", ".join(COLUMNS))
            .replace("(origin", "(xid, origin")
            .replace("SELECT", "SELECT xid,")
        )
    assert getattr(refused.value.__cause__, "sqlstate", "") == "23514"


def test_every_table_that_is_declared_append_only_refuses_all_three_ways_always() -> None:
    update, delete, truncate = 16, 8, 32
    with connection.cursor() as cursor:
        for model in APPEND_ONLY:
            cursor.execute(
                "SELECT bit_or(tgtype::int) FROM pg_trigger WHERE tgrelid = %s::regclass AND tgenabled = 'A'"
                " AND tgfoid = 'pokdeng_append_only'::regproc",
                [model._meta.db_table],
            )
            (refused,) = cursor.fetchone()
            assert refused & (update | delete | truncate) == update | delete | truncate, model


@pytest.mark.django_db(transaction=True)
def test_acts_are_refused_inside_of_a_transaction_that_could_take_them_back() -> None:
    with pytest.raises(RuntimeError), transaction.atomic():
        announced(opened())

    assert not LogEntry.objects.exists()


def test_the_leaf_hash_is_that_of_the_tree() -> None:
    (receipt,) = announced(opened())

    assert receipt == merkle.leaf_hash(bytes(LogEntry.objects.get().bytes))
