"""What the database lets each role do, asked of the database itself."""

from __future__ import annotations

import re

import psycopg
import pytest
from django.apps import apps
from django.db import connection

from deploy.local import paths
from tests.database import Connection

APP, READER, SEALER = "pokdeng_app", "pokdeng_reader", "pokdeng_sealer"
# Added by the sealer alone.
SEALED = ("audit_leaf", "audit_subtree", "audit_checkpoint")
# Added by a migration alone.
INSTALLED = ("settlement_formuladate",)
# Rows that are evidence or money: nobody but a migration's author may think of changing them.
APPEND_ONLY = (
    "casino_roundevent",
    "casino_refusedevent",
    "casino_signature",
    "casino_gapwaiver",
    "casino_roundwaiver",
    "casino_storedanswer",
    "casino_appointment",
    "settlement_journal",
    "settlement_entry",
    "settlement_settlement",
    "settlement_line",
    "settlement_count",
    "settlement_float",
    "settlement_message",
    "settlement_endpointchange",
    "settlement_attempt",
    "settlement_breakstep",
    "settlement_result",
    "settlement_refusedcover",
    "settlement_slipstep",
    "settlement_statement",
    "settlement_statementday",
    "settlement_matchingrule",
    "settlement_outsidefile",
    "settlement_outsidestatement",
    "settlement_match",
    "settlement_matchedentry",
    "settlement_cashact",
    "settlement_report",
    "settlement_reportfile",
    "settlement_dayjob",
    "settlement_tablerules",
    "settlement_uncovered",
    "audit_logentry",
    "audit_decision",
    "audit_discrepancy",
    "audit_analysisresult",
    *SEALED,
    *INSTALLED,
)

pytestmark = pytest.mark.django_db


def _ask(query: str, *values: str) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(query, list(values))
        return cursor.fetchall()


def _listed() -> dict[str, set[str]]:
    """Table and columns of the list in roles.sql, read from its text."""
    text = (paths.CLONE / "deploy" / "roles.sql").read_text()
    text = text[text.index("listed.goes") : text.index("AS listed (name")]
    return {
        name: set(columns.split())
        for name, columns in re.findall(r"\('(\w+)',\s+'([\w\s]+)',\s+(?:true|false)\)", text)
    }


def test_no_login_owns_anything() -> None:
    owners = _ask(
        "SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    )
    assert owners == [("pokdeng_owner",)]
    assert _ask("SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()") == [
        ("pokdeng_owner",)
    ]
    assert _ask("SELECT rolname FROM pg_roles WHERE rolname LIKE 'pokdeng%%' AND rolcanlogin AND (rolsuper OR "
                "rolcreatedb OR rolcreaterole OR rolbypassrls OR pg_has_role(rolname, 'pokdeng_owner', 'MEMBER'))"
                ) == []  # fmt: skip
    assert _ask("SELECT rolcanlogin FROM pg_roles WHERE rolname = 'pokdeng_owner'") == [(False,)]


def test_nobody_but_the_owner_may_make_a_table() -> None:
    for role in (APP, READER, SEALER):
        assert _ask("SELECT has_schema_privilege(%s, 'public', 'CREATE')", role) == [(False,)]
        assert _ask("SELECT has_database_privilege(%s, current_database(), 'CREATE, TEMPORARY')", role) == [
            (False,)
        ]


def test_evidence_and_money_are_added_and_never_changed() -> None:
    there = {name for (name,) in _ask("SELECT relname FROM pg_class WHERE relkind IN ('r', 'p')")}
    for table in there.intersection(APPEND_ONLY):
        for role in (APP, READER, SEALER):
            assert _ask("SELECT has_any_column_privilege(%s, %s, 'UPDATE')", role, table) == [(False,)], (
                role,
                table,
            )
            assert _ask(
                "SELECT has_table_privilege(%s, %s, 'UPDATE, DELETE, TRUNCATE, TRIGGER')", role, table
            ) == [(False,)], (role, table)
        for role, adds in (
            (APP, table not in (*SEALED, *INSTALLED)),
            (SEALER, table in SEALED),
            (READER, False),
        ):
            assert _ask("SELECT has_table_privilege(%s, %s, 'INSERT')", role, table) == [(adds,)], (
                role,
                table,
            )


def test_every_append_only_table_of_the_models_is_looked_at() -> None:
    promised = {
        model._meta.db_table
        for app in ("casino", "settlement", "audit")
        for model in getattr(__import__(f"{app}.models", fromlist=["models"]), "APPEND_ONLY", ())
    }
    assert promised <= set(APPEND_ONLY)


def test_the_application_changes_the_listed_columns_and_no_others() -> None:
    granted: dict[str, set[str]] = {}
    for table, column in _ask(
        "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
        " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0"
        " AND NOT a.attisdropped AND has_column_privilege(%s, c.oid, a.attnum, 'UPDATE')",
        APP,
    ):
        granted.setdefault(table, set()).add(column)
    assert granted == _listed()


def test_the_application_takes_only_sessions_away() -> None:
    tables = _ask(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
        " AND has_table_privilege(%s, oid, 'DELETE') ORDER BY relname",
        APP,
    )
    assert tables == [("casino_failedsignin",), ("django_session",)]
    assert (
        _ask(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
            " AND has_table_privilege(%s, oid, 'TRUNCATE')",
            APP,
        )
        == []
    )


def test_the_reader_sees_everything_but_secrets() -> None:
    unseen = _ask(
        "SELECT c.relname || '.' || a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
        " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0"
        " AND NOT a.attisdropped AND c.relname <> 'django_session'"
        " AND NOT has_column_privilege(%s, c.oid, a.attnum, 'SELECT') ORDER BY 1",
        READER,
    )
    assert unseen == [
        ("casino_person.password",),
        ("casino_person.pin",),
        ("settlement_cashiersystem.secret",),
        ("settlement_endpoint.previous_secret",),
        ("settlement_endpoint.secret",),
    ]
    for model in apps.get_models():
        table = model._meta.db_table
        assert _ask("SELECT has_table_privilege(%s, %s, 'INSERT, UPDATE, DELETE')", READER, table) == [
            (False,)
        ]


def test_applying_the_roles_again_changes_nothing(administrator: Connection) -> None:
    def grants() -> list[tuple]:
        return administrator.execute(
            "SELECT relname, relacl::text, (SELECT array_agg(attname || attacl::text ORDER BY attnum)"
            " FROM pg_attribute WHERE attrelid = c.oid AND attacl IS NOT NULL)"
            " FROM pg_class c WHERE relnamespace = 'public'::regnamespace ORDER BY relname"
        ).fetchall()

    before = grants()
    administrator.execute((paths.CLONE / "deploy" / "roles.sql").read_bytes())
    assert grants() == before


def test_a_granted_column_is_noticed(administrator: Connection) -> None:
    """The control: what the tests above ask does change with the grants."""
    with administrator.transaction(force_rollback=True):
        administrator.execute("GRANT UPDATE (sha256) ON casino_roundevent TO pokdeng_app")
        row = administrator.execute(
            "SELECT has_any_column_privilege('pokdeng_app', 'casino_roundevent', 'UPDATE')"
        ).fetchone()
    assert row == (True,)


def test_the_owner_cannot_sign_in(administrator: Connection) -> None:
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(
            host=administrator.info.host, port=administrator.info.port, dbname=administrator.info.dbname,
            user="pokdeng_owner", password="anything",
        )  # fmt: skip
