"""The harness itself: tests run as the application, a committing test leaves nothing behind."""

from __future__ import annotations

import psycopg
import pytest
import redis
from django.db import connection
from django.test import TestCase

from casino.models import Person


def _sees() -> tuple[str, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user, current_database()")
        row = cursor.fetchone()
    assert row is not None
    return row[0], row[1]


@pytest.mark.django_db
def test_a_test_runs_as_the_application() -> None:
    assert _sees()[0] == "pokdeng_app"


@pytest.mark.django_db
@pytest.mark.parametrize("again", [1, 2])
def test_an_ordinary_test_is_rolled_back(again: int) -> None:
    Person.objects.create(badge="D1", display_name="Noi", role="dealer")
    assert Person.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("again", [1, 2])
def test_a_committing_test_has_a_database_of_its_own(again: int, dsn: str) -> None:
    Person.objects.create(badge="D1", display_name="Noi", role="dealer")
    with psycopg.connect(dsn) as other:
        row = other.execute("SELECT current_user, current_database(), count(*) FROM casino_person").fetchone()
    assert row == ("pokdeng_app", _sees()[1], 1)


@pytest.mark.django_db
def test_the_owner_may_do_what_the_application_may_not(owner: psycopg.Connection) -> None:
    assert owner.execute("SELECT current_user, current_database()").fetchone() == (
        "pokdeng_owner",
        _sees()[1],
    )
    with pytest.raises(psycopg.errors.InsufficientPrivilege), psycopg.connect(_app(owner)) as application:
        application.execute("TRUNCATE casino_person")


def _app(owner: psycopg.Connection) -> str:
    settings = connection.settings_dict
    return psycopg.conninfo.make_conninfo(
        host=owner.info.host,
        port=owner.info.port,
        user=settings["USER"],
        password=settings["PASSWORD"],
        dbname=owner.info.dbname,
    )


def test_a_test_without_the_mark_gets_no_database() -> None:
    with pytest.raises(RuntimeError, match="Database access not allowed"):
        Person.objects.count()


class TestOrdinaryCase(TestCase):
    def test_djangos_own_test_case_is_rolled_back(self) -> None:
        Person.objects.create(badge="D1", display_name="Noi", role="dealer")
        assert Person.objects.count() == 1


def test_the_broker_is_a_real_one(broker: redis.Redis) -> None:
    broker.set("bell", 1)
    assert broker.get("bell") == b"1"
