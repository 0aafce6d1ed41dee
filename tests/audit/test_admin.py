"""The audit trail in the admin: found and read by those whom it concerns, changed by nobody."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.admin import calendars, read_only
from audit.admin.read_only import ReadOnly
from audit.models import LogEntry
from casino import events, tables
from casino.events import Fact, Principal
from casino.models import Person, Table
from settlement import table_floats
from tests import world
from tests.world import acting

pytestmark = pytest.mark.django_db

SHOWN = {
    model: page
    for model, page in admin.site._registry.items()
    if model._meta.app_label in ("casino", "settlement", "audit")
}
NAMES = sorted(model._meta.label_lower for model in SHOWN)
MACHINE = Principal(kind="device", id=uuid4(), code="PD01-T1", role="terminal")
NOON = datetime(2026, 3, 1, 5, tzinfo=UTC)


def hired(badge: str, role: str, *permissions: str) -> Person:
    return world.a_person(role=role, badge=badge, permissions=permissions)


def signed_in(role: str) -> Client:
    """Somebody of this role who may see what a tray should hold; an administrator has no permissions."""
    return _client_of(hired(f"{role}-1", role, *([] if role == "administrator" else ["see_expected"])))


def _client_of(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def announced(*facts: Fact, at: datetime = NOON) -> None:
    with events.act(actor=MACHINE, request_id="r-7", now=at):
        events.announce(facts)


def listed(name: str, query: str = "") -> str:
    return reverse(f"admin:{name.replace('.', '_')}_changelist") + query


def test_every_model_of_record_ledger_and_log_is_shown_and_none_can_be_changed() -> None:
    must = {
        "casino.person", "casino.table", "casino.tablesession", "casino.duty", "casino.device", "casino.round",
        "casino.roundevent", "casino.refusedevent", "casino.signature", "casino.gapwaiver",
        "casino.roundwaiver", "settlement.rulesheet",
        "settlement.tablerules", "settlement.account", "settlement.journal", "settlement.entry", "settlement.hold",
        "settlement.settlement", "settlement.line", "settlement.count", "audit.logentry",
    }  # fmt: skip
    assert must <= set(NAMES)
    for page in SHOWN.values():
        assert isinstance(page, ReadOnly)
        assert not page.actions
        assert not page.list_editable


def test_an_auditor_opens_each_list_and_searches_it() -> None:
    client = signed_in("auditor")
    for name, query in itertools.product(
        NAMES,
        ("", "?q=PD01", f"?q={uuid4()}", "?q=7", f"?q={'ab' * 32}", "?q=no+such+thing", "?on=2026-03-01"),
    ):
        has_days = any(
            issubclass(shown, calendars.Calendar) for shown in SHOWN_FILTERS[name] if isinstance(shown, type)
        )
        if has_days or not query.startswith("?on"):
            assert client.get(listed(name, query)).status_code == 200, (name, query)


SHOWN_FILTERS = {model._meta.label_lower: page.list_filter for model, page in SHOWN.items()}


def test_balances_are_for_who_may_see_expected_and_not_while_a_table_is_counted() -> None:
    figures = ("account", "journal", "entry", "count", "float", "drop")
    watching, auditing = signed_in("surveillance"), signed_in("auditor")

    def statuses(client: Client) -> set[int]:
        return {client.get(listed(f"settlement.{name}")).status_code for name in figures}

    assert (statuses(watching), statuses(auditing)) == ({200}, {200})
    with acting():
        table = tables.add(code="PD07", currency="THB", camera=False)
        table_floats.count(table=table, kind="opener", by=hired("D7", "dealer"), count=None)
    assert (statuses(watching), statuses(auditing)) == ({403}, {200})
    watching, auditing = (_client_of(hired(f"{role}-2", role)) for role in ("surveillance", "auditor"))
    assert (statuses(watching), statuses(auditing)) == ({403}, {403})


def test_nobody_adds_changes_or_deletes_a_row_by_a_form() -> None:
    client = signed_in("auditor")
    person = Person.objects.get()
    before = list(Person.objects.values())
    forged = {"role": "administrator", "action": "delete_selected", "_selected_action": person.pk}
    for name in NAMES:
        path, key = name.replace(".", "_"), person.pk if name == "casino.person" else 1
        for url in (
            listed(name),
            reverse(f"admin:{path}_add"),
            reverse(f"admin:{path}_change", args=[key]),
            reverse(f"admin:{path}_delete", args=[key]),
        ):
            assert client.post(url, forged).status_code == 403, url
    assert list(Person.objects.values()) == before


@pytest.mark.parametrize("role", ["dealer", "supervisor", "manager", "cashier"])
def test_the_floor_has_no_admin(role: str) -> None:
    answer = signed_in(role).get(listed("audit.logentry"))

    assert (answer.status_code, answer["Location"].split("?")[0]) == (302, reverse("admin:login"))


def test_an_administrator_sees_people_and_devices_and_no_money() -> None:
    client = signed_in("administrator")

    assert client.get(listed("casino.person")).status_code == 200
    assert client.get(listed("settlement.account")).status_code == 403
    assert client.get(listed("audit.logentry")).status_code == 403


def test_an_entry_is_found_by_table_round_person_request_and_hash_and_by_nothing_else() -> None:
    round_id, person = uuid4(), hired("S17", "supervisor")
    announced(Fact("round.settled", f"rounds/{round_id}", {}, table="PD01", round=round_id, person=person.id))
    announced(Fact("table.opened", "tables/PD02", {}, table="PD02"), at=NOON + timedelta(days=40))
    Table.objects.create(code="PD01", currency="THB")
    client = signed_in("auditor")

    def subjects(query: str) -> list[str]:
        answer = client.get(listed("audit.logentry", query))
        return [entry.subject for entry in answer.context["cl"].result_list if entry.action != "log.read"]

    settled, opened = [f"rounds/{round_id}"], ["tables/PD02"]
    entry = LogEntry.objects.get(action="round.settled")
    for word in ("PD01", str(round_id), str(person.id), "S17", "round.settled", bytes(entry.leaf_hash).hex()):
        assert subjects(f"?q={word}") == settled, word
    assert subjects("?q=r-7") == opened + settled
    assert subjects("?q=r-7+PD02") == opened
    assert subjects("?q=PD") == []
    assert subjects("?action=table.opened") == opened
    assert subjects("?table=PD01") == settled
    assert subjects("?on=2026-03-01") == settled
    assert subjects("?on=2026-03") == settled
    assert subjects("?on=2026-04") == opened
    assert subjects("?on=2026-02") == []
    assert subjects("?on=2026")[-2:] == opened + settled
    assert subjects("?on=2026-13") == []


def test_a_day_is_the_day_of_the_property() -> None:
    # 23:30 UTC on the first is 06:30 in Bangkok on the second.
    announced(Fact("table.opened", "tables/PD01", {}), at=datetime(2026, 3, 1, 23, 30, tzinfo=UTC))
    client = signed_in("auditor")

    assert not client.get(listed("audit.logentry", "?on=2026-03-01")).context["cl"].result_list
    assert len(client.get(listed("audit.logentry", "?on=2026-03-02")).context["cl"].result_list) == 1


def test_pages_follow_each_other_by_key_in_both_directions() -> None:
    announced(*(Fact("table.opened", f"tables/{number}", {}) for number in range(250)))
    client = signed_in("auditor")
    url = listed("audit.logentry", "?action=table.opened")
    pages = []
    while url:
        shown = client.get(url).context["cl"]
        pages.append([entry.subject for entry in shown.result_list])
        url = listed("audit.logentry", shown.older) if shown.older else ""
    back = client.get(listed("audit.logentry", shown.newer)).context["cl"]

    assert [len(page) for page in pages] == [100, 100, 50]
    assert [subject for page in pages for subject in page] == [
        f"tables/{number}" for number in range(249, -1, -1)
    ]
    assert [entry.subject for entry in back.result_list] == pages[1]


def test_a_list_counts_nothing_and_costs_the_same_statements_whatever_it_holds() -> None:
    client = signed_in("auditor")
    announced(Fact("table.opened", "tables/PD01", {}))
    client.get(listed("audit.logentry"))

    def statements() -> list[str]:
        with CaptureQueriesContext(connection) as captured:
            client.get(listed("audit.logentry"))
        return [query["sql"] for query in captured.captured_queries]

    few = statements()
    announced(*(Fact("table.opened", f"tables/{number}", {}) for number in range(300)))
    many = statements()
    assert not [sql for sql in many if "COUNT(" in sql.upper()]
    assert len(many) - len(few) <= 1  # the estimate, once there is more than a page


def test_the_page_of_an_entry_shows_its_facts_and_that_its_hash_holds() -> None:
    announced(Fact("table.opened", "tables/PD01", {"float": 5_000_000, "note": "<b>"}))
    entry = LogEntry.objects.get()
    answer = signed_in("auditor").get(reverse("admin:audit_logentry_change", args=[entry.pk]))

    page = answer.content.decode()
    assert "&quot;float&quot;: 5000000" in page
    assert "<b>" not in page.partition("float")[2].partition("</pre>")[0]
    assert bytes(entry.leaf_hash).hex() in page
    assert "icon-yes" in page
    assert 'type="submit"' not in page.partition('id="logentry_form"')[2]


def test_reading_evidence_on_a_page_leaves_an_entry() -> None:
    client = signed_in("surveillance")
    reader = Person.objects.get()
    client.get(listed("audit.logentry", "?q=PD01"))
    client.get(listed("settlement.account"))

    found = [
        (entry.action, entry.person, json.loads(bytes(entry.bytes))["data"])
        for entry in LogEntry.objects.order_by("id")
    ]
    assert found == [
        ("log.read", reader.id, {"model": "audit.logentry", "query": {"q": "PD01"}}),
        ("evidence.read", reader.id, {"model": "settlement.account", "query": {}}),
    ]


def test_a_page_that_begins_nowhere_is_refused() -> None:
    assert signed_in("auditor").get(listed("audit.logentry", "?before=x")).status_code == 400


@pytest.mark.parametrize(
    ("chosen", "first", "last"),
    [
        ("2026", "2026-01-01", "2027-01-01"),
        ("2026-12", "2026-12-01", "2027-01-01"),
        ("2026-02-28", "2026-02-28", "2026-03-01"),
    ],
)
def test_a_year_a_month_and_a_day_end_where_the_next_begins(chosen: str, first: str, last: str) -> None:
    found: Any = [at.date().isoformat() for at in calendars.span(chosen)]
    assert found == [first, last]


def test_the_words_of_a_search_are_read_by_their_form() -> None:
    key = UUID("01890000-0000-7000-8000-000000000003")
    assert list(read_only._readings_of(str(key))) == [("word", str(key)), ("uuid", key)]
    assert ("number", 12) in list(read_only._readings_of("12"))
    assert ("hash", b"\xab" * 32) in list(read_only._readings_of("ab" * 32))
