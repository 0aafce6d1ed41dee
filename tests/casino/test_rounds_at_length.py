"""A session that goes on for days: what an append reads does not grow with the rounds that were played before it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.casino.floor import NOW, Floor, a_round_id, a_table, a_whole_round, bets, opens
from tests.database import Connection

pytestmark = pytest.mark.django_db(transaction=True)

PLAYED = 20_000
MOST_PAGES = 100
"""Pages of 8 kB that one append may read of the rounds; a look at every round of the session reads thousands."""

LOAD = """
INSERT INTO casino_round (id, table_id, session_id, number, recorder_id, standing, reasons, in_dispute, created_at,
                          opened_at, closed_at, event_count, cards_seen)
SELECT gen_random_uuid(), %(table)s, %(session)s, n, %(device)s, 'settled', '{}', false, %(at)s, %(at)s, %(at)s, 40, 0
  FROM generate_series(100, %(last)s) AS n
"""


@pytest.fixture
def floor(administrator: Connection) -> Floor:
    at = a_table()
    at.tablet.sends(*a_whole_round(at.tablet, a_round_id()))
    parameters = {
        "table": at.table.id,
        "session": at.session.id,
        "device": at.tablet.device.id,
        "at": NOW,
        "last": PLAYED,
    }
    administrator.execute(LOAD, parameters)
    administrator.execute("VACUUM ANALYZE casino_round")
    return at


def pages_read(administrator: Connection, statement: str) -> int:
    """Return how many pages a statement reads; it is carried out and taken back."""
    with administrator.transaction(force_rollback=True):
        ((plan,),) = administrator.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}").fetchall()
    root: dict[str, Any] = plan[0]["Plan"]
    return int(root["Shared Hit Blocks"] + root["Shared Read Blocks"])


def test_an_append_reads_the_rounds_it_names_and_no_others(floor: Floor, administrator: Connection) -> None:
    round = a_round_id()
    with CaptureQueriesContext(connection) as captured:
        heard = floor.tablet.hears(opens(floor.tablet, round, number=PLAYED + 1), bets(floor.tablet, round))
    assert set(heard) == {"recorded"}
    reading = [one["sql"] for one in captured if "FROM casino_round r JOIN casino_tablesession" in one["sql"]]
    assert len(reading) == 1
    assert pages_read(administrator, reading[0]) < MOST_PAGES
