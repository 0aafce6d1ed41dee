"""The hour at which gaming days start: a dated row of two managers, for days to come, and nothing stored changes."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client

from casino.models import Person
from casino.platform.refusals import Refusal
from settlement import days
from settlement.days import start_hours
from settlement.models import GamingDay, StartHour
from tests.settlement import daybook
from tests.settlement.floor import a_person, act

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
"""19:00 in Bangkok, on 1 March; its days start at 6."""
TODAY, SECOND, THIRD = date(2026, 3, 1), date(2026, 3, 2), date(2026, 3, 3)


@pytest.fixture(autouse=True)
def rows_as_they_are() -> None:
    start_hours.forget()


@pytest.fixture
def managers() -> tuple[Person, Person]:
    with act(now=NOW):
        days.begin(TODAY)
    return a_person("M01", "manager"), a_person("M02", "manager")


def changed(
    managers: tuple[Person, Person],
    from_day: date,
    hour: int,
    *,
    zone: str = "Asia/Bangkok",
    now: datetime = NOW,
) -> StartHour:
    first, second = managers
    with act(now=now):
        row = start_hours.propose(from_day=from_day, hour=hour, zone=zone, by=first)
        row = start_hours.approve(start_hour=row.id, read=(from_day, hour, zone), by=second)
    start_hours.forget()
    return row


def test_the_first_row_is_the_one_of_the_installation_and_the_settings_are_asked_no_more(
    managers: tuple[Person, Person], settings: Any
) -> None:
    (row,) = StartHour.objects.all()
    assert (row.hour, row.zone, row.proposed_by_id) == (6, "Asia/Bangkok", None)

    settings.PROPERTY = settings.PROPERTY | {"day_start_hour": 12, "zone": "Asia/Tokyo"}
    start_hours.forget()

    assert days.of(datetime(2026, 3, 1, 23, 0, tzinfo=UTC)) == SECOND  # 06:00 in Bangkok
    assert days.of(datetime(2026, 3, 1, 22, 59, tzinfo=UTC)) == TODAY


@pytest.mark.parametrize(("hour", "lasts"), [(10, 28), (18, 36), (0, 18)])
def test_the_day_before_a_change_is_longer_or_shorter(
    managers: tuple[Person, Person], hour: int, lasts: int
) -> None:
    row = changed(managers, THIRD, hour)

    begins, ends = days.bounds(SECOND)
    assert ends - begins == timedelta(hours=lasts)
    assert days.bounds(THIRD) == (ends, ends + timedelta(hours=24))
    assert (days.of(ends - timedelta(microseconds=1)), days.of(ends)) == (SECOND, THIRD)
    assert start_hours.day_before(row) == (SECOND, begins, ends)


def test_stored_days_stay_byte_for_byte_and_the_books_agree(managers: tuple[Person, Person]) -> None:
    before = list(GamingDay.objects.values())
    changed(managers, THIRD, 10)
    for at in (NOW, NOW + timedelta(days=1), NOW + timedelta(days=1, hours=15), NOW + timedelta(days=2)):
        with act(now=at):
            days.begin(days.running())

    assert list(GamingDay.objects.filter(day=TODAY).values()) == before
    stored = GamingDay.objects.order_by("day").values_list("day", "start_hour", "begins_at", "ends_at")
    assert list(stored) == [
        (TODAY, 6, datetime(2026, 2, 28, 23, tzinfo=UTC), datetime(2026, 3, 1, 23, tzinfo=UTC)),
        (SECOND, 6, datetime(2026, 3, 1, 23, tzinfo=UTC), datetime(2026, 3, 3, 3, tzinfo=UTC)),
        (THIRD, 10, datetime(2026, 3, 3, 3, tzinfo=UTC), datetime(2026, 3, 4, 3, tzinfo=UTC)),
    ]


@pytest.mark.parametrize(
    ("from_day", "hour", "zone", "code"),
    [
        (TODAY - timedelta(days=3), 10, "Asia/Bangkok", "start_hour_too_late"),
        (TODAY, 10, "Asia/Bangkok", "start_hour_too_late"),
        (SECOND, 10, "Asia/Bangkok", "start_hour_too_late"),  # today would last longer, and has begun
        (THIRD, 19, "Asia/Bangkok", "invalid_value"),  # 37 hours
        (THIRD, 24, "Asia/Bangkok", "invalid_value"),
        (THIRD, 6, "Asia/Nowhere", "invalid_value"),
        (THIRD, 6, "../../etc/passwd", "invalid_value"),
        (date(2036, 6, 1), 10, "Asia/Bangkok", "invalid_value"),  # over ten years on
    ],
)
def test_what_no_change_can_be(
    managers: tuple[Person, Person], from_day: date, hour: int, zone: str, code: str
) -> None:
    with act(now=NOW), pytest.raises(Refusal) as refused:
        start_hours.propose(from_day=from_day, hour=hour, zone=zone, by=managers[0])
    assert refused.value.code == code
    assert StartHour.objects.count() == 1


def test_a_proposal_that_waited_too_long_is_not_approved(managers: tuple[Person, Person]) -> None:
    first, second = managers
    with act(now=NOW):
        row = start_hours.propose(from_day=THIRD, hour=10, zone="Asia/Bangkok", by=first)
    with act(now=NOW + timedelta(days=1)), pytest.raises(Refusal) as refused:
        start_hours.approve(start_hour=row.id, read=(THIRD, 10, "Asia/Bangkok"), by=second)
    assert refused.value.code == "start_hour_too_late"


def test_two_managers_and_what_the_second_has_read(managers: tuple[Person, Person]) -> None:
    first, second = managers
    with act(now=NOW):
        row = start_hours.propose(from_day=THIRD, hour=10, zone="Asia/Bangkok", by=first)
    for by, hour, code in ((first, 10, "sod_violation"), (second, 11, "stale_proposal")):
        with act(now=NOW), pytest.raises(Refusal) as refused:
            start_hours.approve(start_hour=row.id, read=(THIRD, hour, "Asia/Bangkok"), by=by)
        assert refused.value.code == code
    for role in ("supervisor", "auditor", "administrator"):
        with act(now=NOW), pytest.raises(Refusal) as refused:
            start_hours.approve(
                start_hour=row.id, read=(THIRD, 10, "Asia/Bangkok"), by=a_person(f"X-{role}", role)
            )
        assert refused.value.code == "forbidden"


def test_changes_come_one_behind_the_other(managers: tuple[Person, Person]) -> None:
    changed(managers, THIRD + timedelta(days=7), 10)
    for from_day in (THIRD, THIRD + timedelta(days=7)):
        with act(now=NOW), pytest.raises(Refusal) as refused:
            start_hours.propose(from_day=from_day, hour=8, zone="Asia/Bangkok", by=managers[0])
        assert refused.value.code == "start_hour_too_late"
    changed(managers, THIRD + timedelta(days=8), 6)


def test_a_day_over_24_hours_is_sealed_with_two_shifts_at_least(managers: tuple[Person, Person]) -> None:
    changed(managers, THIRD, 10)
    with act(now=NOW + timedelta(days=1)):
        days.begin(SECOND)
        days.begin(TODAY)
    found = {
        day: {item.code: item for item in daybook.checklist.of(days.of_day(day), now=NOW)}
        for day in (TODAY, SECOND)
    }
    missing, says = (found[SECOND][code] for code in ("second_shift_missing", "start_hour_changed"))
    assert (missing.found, missing.blocking, says.count, says.blocking) == (("shifts/0",), True, 1, False)
    assert [found[TODAY][code].met for code in ("second_shift_missing", "start_hour_changed")] == [True, True]


# -- over HTTP -----------------------------------------------------------------------------------------------


def posted(by: Person, path: str, **body: Any) -> tuple[int, dict[str, Any]]:
    client = Client()
    client.force_login(by)
    answer = client.post(
        f"/api/v1/{path}", body, "application/json", headers={"Idempotency-Key": str(uuid4())}
    )
    return answer.status_code, answer.json()


def test_proposed_and_approved_over_http(managers: tuple[Person, Person]) -> None:
    first, second = managers
    from_day = (days.of(datetime.now(UTC)) + timedelta(days=2)).isoformat()

    status, proposed = posted(first, "start-hours", from_day=from_day, hour=10)
    assert (status, proposed["state"], proposed["zone"]) == (201, "proposed", "Asia/Bangkok")
    assert proposed["day_before"]["minutes"] == 28 * 60
    read = {name: proposed[name] for name in ("from_day", "hour", "zone")}
    assert posted(first, f"start-hours/{proposed['id']}/approve", **read)[1]["code"] == "sod_violation"
    assert posted(second, f"start-hours/{uuid4()}/approve", **read)[0] == 404

    status, approved = posted(second, f"start-hours/{proposed['id']}/approve", **read)
    assert (status, approved["state"], approved["approved_by"]) == (200, "approved", str(second.id))
    assert posted(second, f"start-hours/{proposed['id']}/approve", **read)[1]["code"] == "start_hour_approved"

    client = Client()
    client.force_login(first)
    listed = client.get("/api/v1/start-hours").json()["start_hours"]
    assert [(row["state"], row["hour"]) for row in listed] == [("approved", 10), ("installed", 6)]


# -- what the database itself refuses ------------------------------------------------------------------------


ANOTHER_DAY = """
INSERT INTO settlement_gamingday (day, zone, start_hour, begins_at, ends_at, begun_at, state, tables)
SELECT day + 1, zone, 7, ends_at, ends_at + interval '1 day', begun_at, 'open', '[]' FROM settlement_gamingday
"""
ANOTHER_HOUR = """
INSERT INTO settlement_starthour (id, from_day, hour, zone, proposed_by_id, proposed_at, approved_by_id, approved_at)
SELECT gen_random_uuid(), {from_day}, 7, zone, proposed_by_id, proposed_at, {approved_by}, approved_at
  FROM settlement_starthour WHERE approved_by_id IS NOT NULL
"""


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("UPDATE settlement_starthour SET hour = 7", "42501"),
        ("DELETE FROM settlement_starthour", "42501"),
        ("UPDATE settlement_starthour SET approved_at = NULL WHERE proposed_by_id IS NOT NULL", "PD001"),
        (ANOTHER_DAY, "23514"),
        (
            ANOTHER_HOUR.format(from_day="'2026-03-02'", approved_by="approved_by_id"),
            "23514",
        ),  # today has begun
        (ANOTHER_HOUR.format(from_day="from_day + 3", approved_by="proposed_by_id"), "23514"),
    ],
)
def test_the_database_keeps_start_hours(managers: tuple[Person, Person], what: str, why: str) -> None:
    changed(managers, THIRD, 10)
    with pytest.raises(DatabaseError) as refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(what)
    cause = refused.value.__cause__
    assert isinstance(cause, psycopg.Error)
    assert cause.sqlstate == why


@pytest.mark.django_db(transaction=True)
def test_an_approval_and_the_row_of_a_day_wait_for_each_other(
    managers: tuple[Person, Person], dsn: str
) -> None:
    """While a day's row is being made by the hours as they are, nobody approves others: the approval waits, and finds
    that the day has begun."""
    first, second = managers
    with act(now=NOW):
        row = start_hours.propose(from_day=THIRD, hour=10, zone="Asia/Bangkok", by=first)
    with psycopg.connect(dsn) as other:
        other.execute("SELECT * FROM settlement_start_hours()")
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s, 0)", [start_hours._LOCK])
            assert cursor.fetchone() == (False,)
        other.execute(
            "INSERT INTO settlement_gamingday (day, zone, start_hour, begins_at, ends_at, begun_at, state, tables)"
            " SELECT day + 1, zone, start_hour, ends_at, ends_at + interval '1 day', begun_at, 'open', '[]'"
            " FROM settlement_gamingday"
        )
    with act(now=NOW), pytest.raises(Refusal) as refused:
        start_hours.approve(start_hour=row.id, read=(THIRD, 10, "Asia/Bangkok"), by=second)
    assert refused.value.code == "start_hour_too_late"
