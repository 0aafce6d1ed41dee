"""The database refuses by itself what would hide that something was told, or to whom."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from settlement.models import Delivery
from settlement.webhooks import delivering, sending
from tests.database import Connection
from tests.settlement.books import NOW, act
from tests.settlement.telling import an_endpoint, owed
from tests.settlement.test_append_only import CHECKED, EVIDENCE, NO_GRANT, TWICE, answers

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def application(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture(autouse=True)
def _told() -> None:
    """Two messages owed to an endpoint, one of them delivered."""
    an_endpoint(url="https://hooks.example/")
    owed(2)
    [letter] = delivering.claim(owner="test", now=NOW, room=1)
    with act():
        delivering.finish([(letter, sending.Answer("delivered", NOW, status=204))])
    assert sorted(Delivery.objects.values_list("state", flat=True)) == ["delivered", "due"]


def test_rows_with_a_state_stay_and_change_nothing_else(application: Connection, owner: Connection) -> None:
    never = {
        "target away": "DELETE FROM settlement_approvedtarget",
        "targets away": "TRUNCATE settlement_approvedtarget CASCADE",
        "target moved": "UPDATE settlement_approvedtarget SET host = 'evil.example'",
        "target's port": "UPDATE settlement_approvedtarget SET port = 6379",
        "target's networks": "UPDATE settlement_approvedtarget SET ranges = '{10.0.0.0/8}'",
        "target's second person": "UPDATE settlement_approvedtarget SET approved_by_id = set_by_id",
        "endpoint away": "DELETE FROM settlement_endpoint",
        "endpoint moved": "UPDATE settlement_endpoint SET url = 'https://evil.example/'",
        "endpoint told less": "UPDATE settlement_endpoint SET types = '{day.sealed}', name = 'other'",
        "endpoint of another": "UPDATE settlement_endpoint SET system = 'other'",
        "delivery away": "DELETE FROM settlement_delivery",
        "deliveries away": "TRUNCATE settlement_delivery CASCADE",
        "delivery of another message": "UPDATE settlement_delivery SET message_id ="
        " (SELECT message_id FROM settlement_delivery WHERE state = 'due') WHERE state = 'delivered'",
    }
    assert answers(application, never) == dict.fromkeys(never, NO_GRANT)
    assert answers(owner, never) == dict.fromkeys(never, EVIDENCE)


def test_what_only_grows_never_shrinks(application: Connection, owner: Connection) -> None:
    owner.execute("UPDATE settlement_approvedtarget SET withdrawn_at = now(), withdrawn_by_id = set_by_id")
    once = {
        "attempts back": "UPDATE settlement_delivery SET attempts = 0 WHERE attempts > 0",
        "target approved again": "UPDATE settlement_approvedtarget SET withdrawn_at = NULL, withdrawn_by_id = NULL",
    }
    assert answers(application, once) == dict.fromkeys(once, EVIDENCE)
    assert answers(owner, once) == dict.fromkeys(once, EVIDENCE)


ONE = "SELECT gen_random_uuid(), 'evil.example', 443, '{}'::text[]"
PERSON = "(SELECT set_by_id FROM settlement_approvedtarget)"


def test_what_cannot_be_is_no_row(application: Connection, owner: Connection) -> None:
    impossible = {
        "a target by one person": (
            "INSERT INTO settlement_approvedtarget (id, host, port, ranges, set_by_id, approved_by_id, set_at)"
            f" {ONE}, {PERSON}, {PERSON}, now()"
        ),
        "an endpoint opened by one person": (
            "INSERT INTO settlement_endpointchange (revision, endpoint_id, opens, reason, changed_by_id,"
            f" approved_by_id, changed_at) SELECT 99, id, true, '', {PERSON}, {PERSON}, now() FROM settlement_endpoint"
        ),
        "an endpoint opened by nobody": (
            "INSERT INTO settlement_endpointchange (revision, endpoint_id, opens, reason, changed_at)"
            " SELECT 99, id, true, '', now() FROM settlement_endpoint"
        ),
        "a message of no known type": (
            'INSERT INTO settlement_message (id, type, subject, "table", body, as_of_change, booked_at, request_id)'
            " VALUES (gen_random_uuid(), 'round.lost', '', '', '{}', 0, now(), '')"
        ),
        "a delivery both delivered and due": "UPDATE settlement_delivery SET state = 'due' WHERE state = 'delivered'",
        "a claim without its end": "UPDATE settlement_delivery SET state = 'claimed' WHERE state = 'due'",
    }
    assert answers(application, impossible) == dict.fromkeys(impossible, CHECKED)
    assert answers(owner, impossible) == dict.fromkeys(impossible, CHECKED)


def test_what_is_there_once_is_there_once(application: Connection) -> None:
    twice = {
        "a message owed to one endpoint twice": (
            "INSERT INTO settlement_delivery (message_id, endpoint_id, state, due_at, attempts, failures, owner,"
            " last_result) SELECT message_id, endpoint_id, 'due', now(), 0, 0, '', '' FROM settlement_delivery LIMIT 1"
        ),
        "a try written down twice": (
            "INSERT INTO settlement_attempt (delivery_id, number, sent_at, milliseconds, result)"
            " SELECT delivery_id, number, now(), 0, 'delivered' FROM settlement_attempt"
        ),
        "a change of the list counted twice": (
            "INSERT INTO settlement_endpointchange (revision, endpoint_id, opens, reason, changed_at)"
            " SELECT revision, endpoint_id, false, '', now() FROM settlement_endpointchange"
        ),
    }
    assert answers(application, twice) == dict.fromkeys(twice, TWICE)
