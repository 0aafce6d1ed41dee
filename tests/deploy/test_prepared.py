"""The database plans a statement of ours once, and not again for each request: also in connections that are pooled."""

from __future__ import annotations

import os
import subprocess
import sys
from uuid import UUID

import pytest
from django.conf import settings
from django.db import connection

from casino import rounds
from deploy.local import paths

SENT_AS_IT_IS = 2
PLANNED_FOR_ITS_VALUES = 5
"""So often PostgreSQL plans a prepared statement for its values before it keeps one plan for all."""

IN_A_POOL = """
import django; django.setup()
from uuid import UUID
from django.db import connection
from casino import rounds
for _ in range(4):
    rounds.recorded([UUID(int=1)])
    connection.close()  # given back
with connection.cursor() as cursor:
    cursor.execute("SELECT count(*) FROM pg_prepared_statements")
    print(cursor.fetchone()[0], type(connection.pool).__name__)
"""


@pytest.mark.django_db(transaction=True)
def test_a_statement_that_comes_again_is_not_planned_again() -> None:
    for _ in range(SENT_AS_IT_IS + PLANNED_FOR_ITS_VALUES + 3):
        rounds.recorded([UUID(int=1)])
    with connection.cursor() as cursor:
        cursor.execute("SELECT custom_plans, generic_plans FROM pg_prepared_statements")
        assert cursor.fetchall() == [(PLANNED_FOR_ITS_VALUES, 3)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("prepare", "kept"), [("1", "1"), ("0", "0")], ids=["prepared", "switched off"])
def test_a_pooled_connection_keeps_what_it_prepared(dsn: str, prepare: str, kept: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", IN_A_POOL],
        cwd=paths.CLONE,
        env=os.environ
        | {
            "DJANGO_SETTINGS_MODULE": "deploy.settings",
            "DATABASE_URL": dsn,
            "REDIS_URL": settings.REDIS_URL,
            "DATABASE_POOL": "1",
            "DATABASE_PREPARE": prepare,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.stdout.split() == [kept, "ConnectionPool"], ended.stderr
