"""A house that counted before counts had a door of their own keeps what it counted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from deploy.local import paths
from tests import database
from tests.database import House

NAME = f"pokdeng_test_{os.getpid()}_carried"

# A table that opened with 100 and closed with 90: two people counted each time, and chips went to and fro.
BEFORE = """
INSERT INTO casino_person (id, badge, display_name, role, permissions, password, pin, is_active)
VALUES ('00000000-0000-4000-8000-00000000000d', 'D1', 'D1', 'dealer', '{}', '', '', true),
       ('00000000-0000-4000-8000-00000000000e', 'S1', 'S1', 'supervisor', '{}', '', '', true);
INSERT INTO casino_table (id, code, currency, camera, camera_grace_ms, state, stop_reason)
VALUES ('00000000-0000-4000-8000-000000000001', 'PD01', 'THB', false, 1000, 'closed', '');
INSERT INTO casino_tablesession (id, table_id, opened_at, closed_at, last_round)
VALUES ('00000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-000000000001',
        '2026-03-01T14:00Z', '2026-03-01T23:30Z', 0);
INSERT INTO settlement_count (id, session_id, kind, ordinal, lines, currency, counted_by_id, counted_at)
SELECT gen_random_uuid(), '00000000-0000-4000-8000-000000000002', k.kind, p.ordinal,
       jsonb_build_array(jsonb_build_object('denomination', k.worth, 'pieces', 1)), 'THB', p.id, k.at
  FROM (VALUES ('opener', 10000, '2026-03-01T14:00Z'::timestamptz),
               ('closer', 9000, '2026-03-01T23:30Z'::timestamptz)) AS k (kind, worth, at)
 CROSS JOIN (SELECT id, row_number() OVER (ORDER BY badge) AS ordinal FROM casino_person) AS p;
INSERT INTO settlement_float (id, session_id, kind, count_id, expected, cage, bank_version, accepted_at)
SELECT gen_random_uuid(), session_id, kind, id, NULL, 'C1', CASE kind WHEN 'opener' THEN 1 ELSE 2 END, counted_at
  FROM settlement_count WHERE ordinal = 1;
"""
AFTER = """
SELECT f.kind, f.gaming_day::text, c.ordinal, c.amount, n.kind, n.state, n.session_id IS NULL, n.accepted_id = c.id,
       (SELECT count(*) FROM settlement_count o WHERE o.counting_id = n.id)
  FROM settlement_float f JOIN settlement_count c ON c.id = f.count_id
  JOIN settlement_counting n ON n.id = c.counting_id
 ORDER BY f.accepted_at
"""


@pytest.fixture
def old(house: House) -> Iterator[str]:
    """The address of an empty database, for who may migrate it."""
    with house.administer() as administrator:
        administrator.execute(sql.SQL("CREATE DATABASE {} OWNER pokdeng_owner").format(sql.Identifier(NAME)))
    yield database.at(house.addresses.owner_url, database=NAME)
    with house.administer() as administrator:
        administrator.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(NAME)))


def migrated(url: str, *to: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate", *to, "--verbosity", "0"],
        cwd=paths.CLONE, env=os.environ | {"DATABASE_URL": url, "DATABASE_OWNER_URL": url},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_counts_made_before_belong_to_countings_that_were_accepted(old: str) -> None:
    migrated(old, "settlement", "0006_slips")
    with psycopg.connect(old) as connection:
        connection.execute(BEFORE)
    migrated(old, "settlement", "0007_counts")

    with psycopg.connect(old) as connection:
        # 23:30Z is 06:30 at the tables: the next gaming day.
        assert connection.execute(AFTER).fetchall() == [
            ("opener", "2026-03-01", 1, 10_000, "opener", "accepted", True, True, 2),
            ("closer", "2026-03-02", 1, 9_000, "closer", "accepted", False, True, 2),
        ]
        for table in ("settlement_count", "settlement_float"):
            with pytest.raises(psycopg.Error) as refused, connection.transaction():
                connection.execute(sql.SQL("UPDATE {} SET id = id").format(sql.Identifier(table)))
            assert refused.value.sqlstate == "PD001"
