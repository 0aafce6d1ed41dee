"""What nobody foresaw is answered with a name to look for, told nobody what is inside, and left nothing half done."""

from __future__ import annotations

import io
import json
import logging

import pytest
from django.db import connection
from django.test import Client

from audit.models import LogEntry
from casino.models import Device, Round, RoundEvent, Signature, Table
from deploy import logs
from tests.casino.floor import BATCH, PIN, a_person, a_round_id, a_table, a_whole_round, opens
from tests.database import Connection

pytestmark = pytest.mark.django_db(transaction=True)


def breaks(owner: Connection, table: str, *, when: str = "INSERT") -> None:
    """Let the database fail at this table as it would with a full disk."""
    owner.execute(
        "CREATE OR REPLACE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'could not extend file \"base/5/16384\"' USING ERRCODE = '53100'; END $$"
    )
    owner.execute(f"CREATE TRIGGER no_space BEFORE {when} ON {table} EXECUTE FUNCTION no_space()")


def mends(owner: Connection, table: str) -> None:
    owner.execute(f"DROP TRIGGER no_space ON {table}")


@pytest.mark.parametrize(
    ("table", "when"),
    [
        ("casino_round", "INSERT"),
        ("casino_roundevent", "INSERT"),
        ("casino_round", "UPDATE"),
        ("casino_device", "UPDATE"),
        ("audit_logentry", "INSERT"),
    ],
)
def test_a_batch_that_fails_at_any_write_is_not_recorded_and_can_be_sent_again(
    owner: Connection, table: str, when: str
) -> None:
    floor, round = a_table(), a_round_id()
    played = a_whole_round(floor.tablet, round)
    before = (Device.objects.values().get(pk=floor.tablet.device.pk), LogEntry.objects.count())
    breaks(owner, table, when=when)

    answer = floor.tablet.posts(played, content_type=BATCH)

    assert answer.status_code in (500, 503)
    assert not Round.objects.exists()
    assert not RoundEvent.objects.exists()
    assert (Device.objects.values().get(pk=floor.tablet.device.pk), LogEntry.objects.count()) == before

    mends(owner, table)
    again = floor.tablet.posts(played, content_type=BATCH).json()["events"]
    assert {event["outcome"] for event in again} == {"recorded"}


def test_a_fault_of_ours_is_a_problem_that_names_the_request_and_nothing_of_the_inside(
    owner: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    floor = a_table()
    owner.execute(
        "CREATE FUNCTION wrong() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'secret inside'; END $$"
    )
    owner.execute("CREATE TRIGGER wrong BEFORE INSERT ON casino_roundevent EXECUTE FUNCTION wrong()")

    with caplog.at_level(logging.ERROR, logger="pokdeng.errors"):
        answer = floor.tablet.posts(opens(floor.tablet, a_round_id()))

    assert (answer.status_code, answer["Content-Type"]) == (500, "application/problem+json")
    assert answer.json() == {
        "type": "urn:pokdeng:refusal:internal_error", "title": "Something failed here; nothing was half done.",
        "status": 500, "code": "internal_error", "instance": "/api/v1/tables/PD01/events",
        "request_id": answer["X-Request-Id"],
    }  # fmt: skip
    assert b"secret" not in answer.content
    (record,) = [record for record in caplog.records if record.name == "pokdeng.errors"]
    assert record.exc_info is not None
    assert "secret inside" in str(record.exc_info[1])


def test_the_line_of_a_fault_carries_the_requests_name(owner: Connection) -> None:
    floor = a_table()
    owner.execute("ALTER TABLE casino_refusedevent RENAME COLUMN code TO lost")
    written = logging.StreamHandler(io.StringIO())
    written.setFormatter(logs.Lines())
    logging.getLogger("pokdeng.errors").addHandler(written)

    answer = floor.tablet.posts(opens(floor.tablet, a_round_id()))

    logging.getLogger("pokdeng.errors").removeHandler(written)
    line = json.loads(written.stream.getvalue())
    assert (answer.status_code, line["request_id"]) == (500, answer["X-Request-Id"])


def test_a_sign_off_that_cannot_be_witnessed_is_not_given(owner: Connection) -> None:
    floor = a_table()
    a_person("manager", "M01", pin=PIN)
    breaks(owner, "audit_logentry")
    answer = floor.tablet.asks(
        "POST", "signatures", {"badge": "M01", "pin": PIN, "type": "t", "subject": "s", "data": {}}
    )
    assert answer.status_code in (500, 503)
    assert not Signature.objects.exists()


def test_a_refusal_stands_though_it_cannot_be_written_down(owner: Connection) -> None:
    a_table()
    client = Client()
    client.force_login(a_person("cashier"))
    breaks(owner, "audit_logentry")
    answer = client.post("/api/v1/tables/PD01/stop", "{}", content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_a_table_is_not_stopped_by_an_act_that_fails_afterwards(owner: Connection) -> None:
    a_table()
    client = Client()
    client.force_login(a_person("manager"))
    breaks(owner, "audit_logentry")
    answer = client.post("/api/v1/tables/PD01/stop", '{"reason":"other"}', content_type="application/json")
    assert answer.status_code in (500, 503)
    assert Table.objects.get().state == "open"


def test_a_database_that_ends_the_connection_is_unavailable_and_asked_again_later(owner: Connection) -> None:
    floor = a_table()
    owner.execute("RESET ROLE")
    owner.execute(
        "CREATE FUNCTION ends() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS"
        " $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$"
    )
    owner.execute("CREATE TRIGGER ends AFTER INSERT ON casino_roundevent EXECUTE FUNCTION ends()")
    event = opens(floor.tablet, a_round_id())

    answer = floor.tablet.posts(event)

    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (503, "unavailable", "2")
    owner.execute("DROP TRIGGER ends ON casino_roundevent")
    assert floor.tablet.posts(event).json()["events"][0]["outcome"] == "recorded"


def test_a_round_that_another_request_holds_is_waited_for_and_then_given_up(owner: Connection) -> None:
    """The lock is held for longer than anybody waits; nothing of the batch remains, and the device may send again."""
    floor, round = a_table(), a_round_id()
    floor.tablet.hears(opens(floor.tablet, round))
    event = floor.tablet.says("note", round, text="so")
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = 100")
    with owner.transaction():
        owner.execute("SELECT 1 FROM casino_round FOR UPDATE")
        answer = floor.tablet.posts(event)

    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert floor.tablet.posts(event).json()["events"][0]["outcome"] == "recorded"
