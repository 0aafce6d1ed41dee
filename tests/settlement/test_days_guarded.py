"""What the database itself refuses of days, shifts and reports, to the application and to the owner alike."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.database import Connection
from tests.settlement import daybook
from tests.settlement.daybook import EVENING, a_sealed_day, a_shift, closed
from tests.settlement.floor import a_person, act

pytestmark = pytest.mark.django_db(transaction=True)

EVIDENCE, NO_GRANT, CHECKED, TWICE = "PD001", "42501", "23514", "23505"
KEPT = ("settlement_report", "settlement_reportfile", "settlement_dayjob")
STATEFUL = ("settlement_gamingday", "settlement_shift")


@pytest.fixture
def application(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def met(connection: Connection, sql: str) -> str:
    """Try it, take it back, and say which SQLSTATE it met; "done" where nothing stopped it."""
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(sql)
    except psycopg.Error as error:
        return error.sqlstate or str(error)
    return "done"


@pytest.fixture
def ended() -> None:
    """A sealed day with a shift that ended, and the job that turned it."""
    shift = a_shift()
    with act(now=EVENING):
        daybook.reports.turn()
    with act(now=daybook.NIGHT):
        daybook.reports.close_shift(
            shift=shift.id, by=a_person("M08", "manager"), second=a_person("M09", "manager")
        )
    a_sealed_day()


@pytest.mark.usefixtures("ended")
def test_nothing_of_a_day_is_taken_away_and_reports_are_never_changed(
    application: Connection, owner: Connection
) -> None:
    for table in (*KEPT, *STATEFUL):
        gone = {f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE"}
        assert {met(application, sql) for sql in gone} == {NO_GRANT}, table
        assert {met(owner, sql) for sql in gone} == {EVIDENCE}, table
    for table, change in {
        "settlement_report": "canonical = 'x'",
        "settlement_reportfile": "content = 'x'",
        "settlement_dayjob": "found = '{}'",
    }.items():
        assert met(application, f"UPDATE {table} SET {change}") == NO_GRANT
        assert met(owner, f"UPDATE {table} SET {change}") == EVIDENCE
    owner.execute("RESET ROLE")
    owner.execute("SET session_replication_role = 'replica'")
    assert {met(owner, f"DELETE FROM {table}") for table in (*KEPT, *STATEFUL)} == {EVIDENCE}


@pytest.mark.usefixtures("ended")
def test_a_sealed_day_and_a_closed_shift_stay_as_they_are(application: Connection, owner: Connection) -> None:
    """The application may change these columns; what they are once a day is sealed they stay."""
    attacks = {
        "UPDATE settlement_gamingday SET state = 'open', closing_by_id = NULL, closing_at = NULL, sealed_by_id = NULL,"
        " seconded_by_id = NULL, sealed_at = NULL, last_entry = NULL, journals = NULL": EVIDENCE,
        "UPDATE settlement_gamingday SET journals = journals + 1": EVIDENCE,
        "UPDATE settlement_gamingday SET sealed_by_id = seconded_by_id": EVIDENCE,
        "UPDATE settlement_shift SET closed_at = closed_at - interval '1 h'": EVIDENCE,
        "UPDATE settlement_shift SET closed_at = NULL, closed_by_id = NULL, closed_with_id = NULL": EVIDENCE,
    }
    for connection in (application, owner):
        assert {sql: met(connection, sql) for sql in attacks} == attacks
    fixed = {
        "UPDATE settlement_gamingday SET begins_at = begins_at - interval '1 h'",
        "UPDATE settlement_gamingday SET day = day - 1",
        "UPDATE settlement_shift SET opened_by_id = opened_with_id",
    }
    assert {met(application, sql) for sql in fixed} == {NO_GRANT}
    assert {met(owner, sql) for sql in fixed} == {EVIDENCE}


def test_a_day_goes_forward_one_state_at_a_time_in_the_order_of_days(
    application: Connection, owner: Connection
) -> None:
    closed()
    two = [f"'{a_person(badge, 'auditor').id}'" for badge in ("A01", "A02")]
    seal = (
        "UPDATE settlement_gamingday SET state = 'sealed', sealed_by_id = {}, seconded_by_id = {}, sealed_at = {},"
        " last_entry = 0, journals = 0 WHERE day = '{}'"
    )
    ends = "ends_at + interval '1 h'"
    again = (
        "INSERT INTO settlement_gamingday (day, zone, start_hour, begins_at, ends_at, begun_at, state, tables)"
        " SELECT day {0}, zone, start_hour, begins_at {0} * interval '1 day', ends_at {0} * interval '1 day', begun_at,"
        " '{1}', '[]' FROM settlement_gamingday"
    )
    attacks = {
        seal.format(*two, ends, "2026-03-01"): "done",
        seal.format(two[0], two[0], ends, "2026-03-01"): CHECKED,
        seal.format(two[0], "closing_by_id", ends, "2026-03-01"): CHECKED,
        seal.format(two[0], "NULL", ends, "2026-03-01"): CHECKED,
        seal.format(*two, "begins_at", "2026-03-01"): CHECKED,
        "UPDATE settlement_gamingday SET state = 'open', closing_by_id = NULL, closing_at = NULL": EVIDENCE,
        again.format("+ 1", "open"): "done",
        again.format("+ 1", "sealed"): CHECKED,
        again.format("+ 0", "open"): TWICE,
    }
    for connection in (application, owner):
        assert {sql: met(connection, sql) for sql in attacks} == attacks
    owner.execute(again.format("- 1", "open"))
    assert met(application, seal.format(*two, ends, "2026-03-01")) == CHECKED  # the day before is open


@pytest.mark.usefixtures("ended")
def test_no_day_begins_before_a_sealed_one(application: Connection) -> None:
    sql = (
        "INSERT INTO settlement_gamingday (day, zone, start_hour, begins_at, ends_at, begun_at, state, tables)"
        " SELECT day - 3, zone, start_hour, begins_at - interval '3 day', ends_at - interval '3 day', begun_at, 'open',"
        " '[]' FROM settlement_gamingday WHERE state = 'sealed'"
    )
    assert met(application, sql) == CHECKED


def test_a_shift_lasts_24_hours_and_is_signed_by_two(application: Connection, owner: Connection) -> None:
    a_shift()
    two = [f"'{a_person(badge, 'manager').id}'" for badge in ("M01", "M02")]
    close = (
        "UPDATE settlement_shift SET closed_at = opened_at + interval '{}', closed_by_id = {}, closed_with_id = {},"
        " overdue = {}"
    )
    another = (
        "INSERT INTO settlement_shift (id, day_id, number, tables, opened_by_id, opened_with_id, opened_at, overdue)"
        " SELECT gen_random_uuid(), day_id, 2, '[]', {}, {}, {}, false FROM settlement_shift"
    )
    attacks = {
        close.format("24 h", *two, "false"): "done",
        close.format("24 h 1 s", *two, "false"): CHECKED,
        close.format("-1 s", *two, "false"): CHECKED,
        close.format("8 h", two[0], two[0], "false"): CHECKED,
        close.format("8 h", two[0], "NULL", "false"): CHECKED,
        close.format("8 h", "NULL", "NULL", "false"): CHECKED,
        close.format("24 h", "NULL", "NULL", "true"): "done",
        close.format("24 h", *two, "true"): CHECKED,
        another.format(*two, "opened_at + interval '1 h'"): TWICE,
        another.format(two[0], two[0], "opened_at + interval '1 h'"): CHECKED,
        another.format(*two, "opened_at + interval '1 day'"): CHECKED,
    }
    for connection in (application, owner):
        assert {sql: met(connection, sql) for sql in attacks} == attacks


@pytest.mark.usefixtures("ended")
def test_a_report_is_its_bytes_and_there_is_one_of_each(application: Connection, owner: Connection) -> None:
    report = (
        "INSERT INTO settlement_report (id, kind, day_id, shift_id, version, canonical, sha256, made_at)"
        " SELECT gen_random_uuid(), '{}', day_id, {}, 1, {}, {}, made_at FROM settlement_report WHERE kind = '{}'"
    )
    hashed = "encode(sha256('x'), 'hex')"
    file = (
        "INSERT INTO settlement_reportfile (report_id, format, content, sha256)"
        " SELECT id, '{}', 'x', {} FROM settlement_report WHERE kind = 'day'"
    )
    attacks = {
        report.format("day", "NULL", "'x'", "repeat('0', 64)", "day"): CHECKED,
        report.format("day", "NULL", "'x'", hashed, "day"): TWICE,
        report.format("shift", "shift_id", "'x'", hashed, "shift"): TWICE,
        report.format("shift", "NULL", "'x'", hashed, "day"): CHECKED,
        file.format("csv", hashed): TWICE,
        file.format("odt", hashed): CHECKED,
        file.format("pdf", "repeat('0', 64)"): CHECKED,
        "INSERT INTO settlement_dayjob (job, gaming_day, found, done_at)"
        " SELECT job, gaming_day, '{}', now() FROM settlement_dayjob": TWICE,
    }
    for connection in (application, owner):
        assert {sql: met(connection, sql) for sql in attacks} == attacks
