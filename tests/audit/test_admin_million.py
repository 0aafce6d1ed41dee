"""A log of a million entries is searched and paged at once: every list goes along an index, and nothing is counted."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.models import LogEntry
from casino.models import Person, Table
from tests.database import Connection

ENTRIES = 1_000_000
SECONDS = 1.0
"""What a page may take on a machine that others use as well; it takes a tenth where nobody does."""

# Two months of forty tables: each entry of one of six actions, most of them a round's; the last one tells of a device.
LOAD = """
INSERT INTO audit_logentry (origin, recorded_at, action, subject, table_code, round, actor_kind, actor, device, person,
                            role, request_id, bytes, leaf_hash)
SELECT 'pokdeng', at, action, subject, tab, round, 'system', '', '', person, 'service', request, bytes,
       sha256('\\x00'::bytea || bytes)
  FROM (SELECT *, convert_to(jsonb_build_object(
            'v', 1, 'origin', 'pokdeng', 'action', action, 'subject', subject, 'table', tab, 'round', round,
            'request', request, 'at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'actor', jsonb_build_object('kind', 'system', 'id', NULL, 'role', 'service', 'person', person),
            'data', jsonb_build_object('n', n))::text, 'UTF8') AS bytes
          FROM (SELECT n, timestamptz '2026-01-01 00:00Z' + n * interval '5 s' AS at,
                       CASE WHEN n = %(last)s THEN 'device.revoked' WHEN n %% 50 = 0 THEN 'flag.raised'
                            WHEN n %% 10 = 0 THEN 'round.settled' WHEN n %% 7 = 0 THEN 'log.read'
                            WHEN n %% 3 = 0 THEN 'round.covered' ELSE 'round.recorded' END AS action,
                       'rounds/' || md5((n / 20)::text)::uuid AS subject,
                       'PD' || lpad((n %% 40 + 1)::text, 2, '0') AS tab,
                       md5((n / 20)::text)::uuid AS round, md5('p' || n %% 300)::uuid AS person,
                       'r-' || n / 3 AS request
                  FROM generate_series(1, %(last)s) AS n) AS made) AS written
"""


@pytest.fixture
def a_million(administrator: Connection) -> Connection:
    administrator.execute(LOAD, {"last": ENTRIES})
    administrator.execute("VACUUM ANALYZE audit_logentry")
    return administrator


def plans(administrator: Connection, statements: list[dict[str, str]]) -> list[str]:
    """Return the ways in which these statements read the log."""
    found: list[str] = []

    def walk(node: dict[str, Any]) -> None:
        if node.get("Relation Name") == "audit_logentry":
            found.append(node["Node Type"])
        for child in node.get("Plans", ()):
            walk(child)

    for statement in statements:
        if statement["sql"].startswith(("SELECT", "WITH")) and "audit_logentry" in statement["sql"]:
            ((plan,),) = administrator.execute(f"EXPLAIN (FORMAT JSON) {statement['sql']}").fetchall()
            walk(plan[0]["Plan"])
    return found


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.django_db(transaction=True)
def test_pages_of_a_million_entries_are_found_at_once(a_million: Connection) -> None:
    Table.objects.bulk_create(Table(code=f"PD{number:02}", currency="THB") for number in range(1, 41))
    some = LogEntry.objects.get(pk=ENTRIES // 2 + 7)
    Person.objects.create(
        id=some.person, badge="D07", display_name="D07", role="dealer", password="!", pin="!"
    )
    auditor = Person.objects.create(badge="A01", display_name="A01", role="auditor", password="!", pin="!")
    client = Client()
    client.force_login(auditor, backend="casino.people.BadgeAndPassword")
    asked = [
        "", "?q=PD07", f"?q={some.round}", "?q=D07", f"?q={some.request_id}", "?q=device.revoked", "?q=nothing+like+it",
        f"?q={bytes(some.leaf_hash).hex()}", "?q=PD07+round.settled", "?q=PD07+D07", "?action=round.settled&table=PD39",
        "?action=device.revoked", "?on=2026-01-15", "?on=2026-02", "?on=2026", "?on=2026-01-15&table=PD03",
        "?on=2026-02-03&action=flag.raised", f"?before={ENTRIES // 2}", "?after=17", "?table=PD07&before=40000",
    ]  # fmt: skip
    by_role = {"sql": "SELECT id FROM audit_logentry WHERE role = 'nobody'"}
    assert plans(a_million, [by_role]) == ["Seq Scan"], "no index on roles: this is what is looked for"
    url = reverse("admin:audit_logentry_changelist")
    slow: dict[str, float] = {}
    for query in asked:
        client.get(url + query)
        with CaptureQueriesContext(connection) as captured:
            began = time.perf_counter()
            answer = client.get(url + query)
            took = time.perf_counter() - began
        assert answer.status_code == 200
        ways = plans(a_million, captured.captured_queries)
        assert ways, query
        assert not [way for way in ways if "Seq Scan" in way], (query, ways)
        assert not [one for one in captured.captured_queries if "COUNT(" in one["sql"].upper()], query
        if took > SECONDS:
            slow[query] = took
    assert slow == {}
    assert pages_of_a_table(client) == [n for n in range(2999, 0, -1) if n % 40 + 1 == 7]


def pages_of_a_table(client: Client) -> list[int]:
    """Leaf through the last pages of a table's entries; return the entries in the order in which they came."""
    url = reverse("admin:audit_logentry_changelist")
    shown = client.get(f"{url}?table=PD07&before=3000").context["cl"]
    seen = [entry.pk for entry in shown.result_list]
    while shown.older:
        shown = client.get(url + shown.older).context["cl"]
        seen += [entry.pk for entry in shown.result_list]
    return seen
