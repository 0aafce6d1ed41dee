"""The log as its readers get it: everybody what concerns them, and each reading leaves its own entry."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit import log
from audit.models import LogEntry
from casino import events
from casino.events import Fact, Principal
from casino.models import Device, Duty, Person, Table, TableSession

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
URL = "/api/v1/audit/entries"
TERMINAL = Principal(kind="device", id=uuid4(), code="PD01-T1", role="terminal")
ROUND = uuid4()


def person(role: str) -> Person:
    return Person.objects.create(badge=f"{role}-1", display_name=role, role=role, password="!", pin="!")


def signed_in(who: Person) -> Client:
    client = Client()
    client.force_login(who)
    return client


def announced(*facts: Fact) -> None:
    with events.act(actor=TERMINAL, request_id="r-1", now=NOW):
        events.announce(facts)


def a_night() -> None:
    announced(
        Fact("person.created", "people/1", {"role": "dealer"}),
        Fact("round.settled", f"rounds/{ROUND}", {"house_net": 500}, table="PD01", round=ROUND),
        Fact("table.opened", "tables/PD02", {}, table="PD02"),
    )


def subjects(client: Client, **query: Any) -> list[str]:
    answer = client.get(URL, query)
    assert answer.status_code == 200, answer.content
    return [entry["subject"] for entry in answer.json()["entries"] if entry["action"] != "log.read"]


def test_an_auditor_reads_every_entry_with_its_bytes_and_its_hash() -> None:
    a_night()
    answer = signed_in(person("auditor")).get(URL).json()

    assert [entry["subject"] for entry in answer["entries"]] == ["tables/PD02", f"rounds/{ROUND}", "people/1"]
    assert answer["next"] is None
    entry = answer["entries"][1]
    assert hashlib.sha256(b"\x00" + entry["bytes"].encode()).hexdigest() == entry["hash"]
    stored = LogEntry.objects.get(action="round.settled")
    assert entry == {
        "id": stored.id,
        "at": "2026-03-01T12:00:00.000000Z",
        "action": "round.settled",
        "subject": f"rounds/{ROUND}",
        "table": "PD01",
        "round": str(ROUND),
        "actor": {
            "kind": "device",
            "id": str(TERMINAL.id),
            "device": "PD01-T1",
            "role": "terminal",
            "person": None,
        },
        "request": "r-1",
        "hash": bytes(stored.leaf_hash).hex(),
        "bytes": bytes(stored.bytes).decode(),
    }


def test_reading_the_log_is_an_act_and_leaves_one_entry() -> None:
    a_night()
    auditor = person("auditor")
    before = LogEntry.objects.count()
    signed_in(auditor).get(URL, {"table": "PD01", "limit": "10"})

    assert LogEntry.objects.count() == before + 1
    entry = LogEntry.objects.latest("id")
    settled = LogEntry.objects.get(action="round.settled")
    assert (entry.action, entry.person, entry.table_code) == ("log.read", auditor.id, "PD01")
    assert json.loads(bytes(entry.bytes))["data"] == {
        "filters": {"table": "PD01"}, "before": None, "entries": 1, "newest": settled.id, "oldest": settled.id,
    }  # fmt: skip


@pytest.mark.parametrize("role", ["surveillance", "auditor", "manager"])
def test_surveillance_auditors_and_managers_read_all_tables(role: str) -> None:
    a_night()
    assert subjects(signed_in(person(role))) == ["tables/PD02", f"rounds/{ROUND}", "people/1"]


def test_a_supervisor_reads_the_tables_where_on_duty_and_nothing_else() -> None:
    a_night()
    supervisor = person("supervisor")
    client = signed_in(supervisor)
    assert subjects(client) == []

    table = Table.objects.create(code="PD01", currency="THB")
    session = TableSession.objects.create(id=uuid4(), table=table, opened_at=NOW)
    duty = Duty.objects.create(session=session, person=supervisor, role="supervisor", on_at=NOW)
    assert subjects(client) == [f"rounds/{ROUND}"]
    assert subjects(client, table="PD02") == []
    assert subjects(client, action="person.created") == []

    Duty.objects.filter(pk=duty.pk).update(off_at=NOW)
    assert subjects(client) == []


def test_an_administrator_reads_what_concerns_rights_and_doors_and_no_money() -> None:
    a_night()
    client = signed_in(person("administrator"))

    assert subjects(client) == ["people/1"]
    assert subjects(client, action="round.settled") == []
    assert subjects(client, round=ROUND) == []


@pytest.mark.parametrize("role", ["dealer", "cashier"])
def test_others_are_refused_and_the_refusal_is_in_the_log(role: str) -> None:
    a_night()
    answer = signed_in(person(role)).get(URL)

    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert "rounds" not in answer.content.decode()
    assert LogEntry.objects.latest("id").action == "act.refused"


def test_nobody_who_is_not_signed_in_reads_the_log_nor_does_a_device() -> None:
    table = Table.objects.create(code="PD01", currency="THB")
    Device.objects.create(
        code="T1",
        kind="terminal",
        table=table,
        enrolled_at=NOW,
        token_sha256=hashlib.sha256(b"pdd_x").digest(),
    )
    assert Client().get(URL).status_code == 401
    assert Client().get(URL, headers={"Authorization": "Bearer pdd_x"}).status_code == 403


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"action": "table.opened"}, ["tables/PD02"]),
        ({"table": "PD01"}, [f"rounds/{ROUND}"]),
        ({"round": ROUND}, [f"rounds/{ROUND}"]),
        ({"subject": "people/1"}, ["people/1"]),
        ({"actor": TERMINAL.id, "table": "PD02"}, ["tables/PD02"]),
        ({"actor": uuid4()}, []),
        ({"request": "r-1", "action": "person.created"}, ["people/1"]),
        ({"request": "r-2"}, []),
    ],
)
def test_a_filter_narrows_the_list(query: dict[str, Any], found: list[str]) -> None:
    a_night()
    assert subjects(signed_in(person("auditor")), **query) == found


def test_entries_since_one_are_those_after_it() -> None:
    a_night()
    first = LogEntry.objects.earliest("id")

    assert subjects(signed_in(person("auditor")), since=first.id) == ["tables/PD02", f"rounds/{ROUND}"]


def test_a_cursor_walks_the_whole_log_without_gaps_or_repeats() -> None:
    announced(*(Fact("table.opened", f"tables/{number}", {}) for number in range(25)))
    client = signed_in(person("auditor"))
    seen, query = [], {"limit": "10", "action": "table.opened"}
    while True:
        page = client.get(URL, query).json()
        seen.append([entry["subject"] for entry in page["entries"]])
        if page["next"] is None:
            break
        query["cursor"] = page["next"]

    assert [len(page) for page in seen] == [10, 10, 5]
    assert [subject for page in seen for subject in page] == [
        f"tables/{number}" for number in range(24, -1, -1)
    ]


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({"limit": "100000"}, 422, "invalid_value"),
        ({"limit": "201"}, 422, "invalid_value"),
        ({"limit": "0"}, 422, "invalid_value"),
        ({"_connector": "OR"}, 400, "unknown_field"),
        ({"role": "auditor"}, 400, "unknown_field"),
        ({"table": ["PD01", "PD02"]}, 400, "malformed"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(query: dict[str, Any], status: int, code: str) -> None:
    answer = signed_in(person("auditor")).get(URL, query)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert list(answer.json()["fields"]) == list(query)


@pytest.mark.parametrize(
    "query",
    [
        {"round": "x"},
        {"actor": "' OR 1=1"},
        {"table": "pd01;"},
        {"action": "DROP"},
        {"cursor": "-1"},
        {"since": "1.5"},
    ],
)
def test_a_value_that_is_none_is_refused(query: dict[str, str]) -> None:
    answer = signed_in(person("auditor")).get(URL, query)

    assert answer.status_code in (400, 422)
    assert list(answer.json()["fields"]) == list(query)


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_the_log_is_only_read(method: str) -> None:
    answer = getattr(signed_in(person("auditor")), method)(URL, {}, content_type="application/json")

    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


def test_a_page_costs_the_same_statements_whatever_it_holds() -> None:
    a_night()
    client = signed_in(person("auditor"))

    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get(URL, {"limit": "200"})
        return len(captured.captured_queries)

    statements()  # when the house began is looked for once
    few = statements()
    announced(*(Fact("table.opened", f"tables/{number}", {}) for number in range(150)))
    assert statements() == few


def test_every_action_about_rights_and_doors_is_one_an_administrator_sees() -> None:
    """Actions are named where they are announced; those of people and devices must be on the list."""
    import re
    from pathlib import Path

    root = Path(__file__).parents[2]
    named: set[str] = set()
    for app in ("casino", "settlement", "audit"):
        for path in (root / app).rglob("*.py"):
            named |= set(re.findall(r'Fact\(\s*"([a-z_]+\.[a-z_]+)"', path.read_text()))
    assert {"person.created", "device.enrolled", "act.refused"} <= named
    about = {
        action for action in named if action.partition(".")[0] in ("person", "device", "act", "log", "books")
    }
    assert about <= log.SECURITY_ACTIONS


def test_the_address_of_the_log_is_described_without_a_warning() -> None:
    from drf_spectacular.generators import SchemaGenerator

    described = SchemaGenerator().get_schema(request=None, public=True)["paths"]["/api/v1/audit/entries"][
        "get"
    ]
    assert {parameter["name"] for parameter in described["parameters"]} == {
        "action", "subject", "table", "round", "actor", "person", "request", "since", "limit", "cursor",
    }  # fmt: skip
