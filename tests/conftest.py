"""Fixtures that more than one folder of tests uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
from xdist.scheduler import LoadScopeScheduling

from deploy.local import servers
from tests import database
from tests.database import Connection, House


@pytest.fixture(scope="session")
def house() -> Iterator[House]:
    """The running servers. Started here where nobody named or started others; the last one out stops them."""
    from django.conf import settings

    from deploy.celery import app

    with ExitStack() as stack:
        addresses = database.given_addresses() or stack.enter_context(servers.running())
        settings.REDIS_URL = settings.CELERY_BROKER_URL = database.broker_of_this_process(addresses.redis_url)
        app.conf.update(broker_url=settings.REDIS_URL)
        yield House(addresses=addresses)


@pytest.fixture(scope="session")
def django_db_setup(house: House, django_test_environment: None, django_db_blocker: Any) -> Iterator[None]:
    """In place of pytest-django's: the template, and this process's clone of it."""
    from django.test import TransactionTestCase

    with django_db_blocker.unblock():
        house.prepare()
        ours = house.clone()
        before = house.use(ours)
    patch = pytest.MonkeyPatch()
    clones: list[tuple[str, str]] = []

    def move_into_a_clone(cls: type[TransactionTestCase]) -> None:
        name = house.clone()
        clones.append((name, house.use(name)))

    def move_out_again(self: TransactionTestCase) -> None:
        name, back = clones.pop()
        house.use(back)
        house.drop(name)

    # Where Django would fill tables before and empty them after a test that commits.
    patch.setattr(TransactionTestCase, "_fixture_setup", classmethod(move_into_a_clone))
    patch.setattr(TransactionTestCase, "_fixture_teardown", move_out_again)
    yield
    patch.undo()
    with django_db_blocker.unblock():
        house.use(before)
        house.drop(ours)


def _start_hour_of_the_settings() -> None:
    from settlement.days import start_hours

    start_hours._known = start_hours._Known(rows=(), until=float("inf"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-examples",
        action="store_true",
        help="make deploy/openapi/examples.json anew from what these tests ask",
    )


def pytest_configure(config: pytest.Config) -> None:
    """What must hold for every change is tried with the same cases each time; ``--full`` draws new ones."""
    import hypothesis

    hypothesis.settings.register_profile("same_cases", derandomize=True)
    if config.option.markexpr == "not full":
        hypothesis.settings.load_profile("same_cases")


class _HousesTogether(LoadScopeScheduling):
    """Tests of a file that opens a house of its own run in one process, one behind the other; so do all that hurt a
    house. Every other test goes where there is room. (pytest-xdist's groups change ``_nodeid``, which pytest 9 does not
    read.)"""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        if path.startswith("tests/faults/"):
            return "tests/faults"
        return path if path.startswith("tests/journeys/") else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    return _HousesTogether(config, log) if config.getvalue("dist") == "loadgroup" else None


def pytest_collection(session: pytest.Session) -> None:
    """Modules of tests ask for days while they are imported, without a database; every answer of the API is compared
    with its description."""
    from tests import answers, examples

    _start_hour_of_the_settings()
    if session.config.getoption("write_examples") and not hasattr(session.config, "workerinput"):
        examples.begin()
    answers.watch_django(told=examples.consider if session.config.getoption("write_examples") else None)


def pytest_sessionfinish(session: pytest.Session) -> None:
    from tests import examples

    if session.config.getoption("write_examples"):
        examples.keep()


@pytest.fixture(autouse=True)
def no_start_hour_of_another_test() -> None:
    """The start hours that a process keeps in memory are another database's after each test: a house of one test has
    the hour of the settings until the test says otherwise (``start_hours.forget``)."""
    _start_hour_of_the_settings()


def _current(house: House, url: str) -> str:
    from django.db import connection

    return database.at(url, database=connection.settings_dict["NAME"])


@pytest.fixture
def dsn(house: House, request: pytest.FixtureRequest) -> str:
    """The application's address of the current test's database, for further connections.

    Only what was committed is seen through it: use it with `django_db(transaction=True)`.
    """
    request.getfixturevalue("_django_db_helper")
    return _current(house, house.addresses.database_url)


@pytest.fixture
def administrator(house: House, request: pytest.FixtureRequest) -> Iterator[Connection]:
    """A superuser in the current test's database, who may do what the service must find afterwards."""
    request.getfixturevalue("_django_db_helper")
    with psycopg.connect(_current(house, house.addresses.owner_url), autocommit=True) as connection:
        yield connection


@pytest.fixture
def owner(administrator: Connection) -> Connection:
    """The owner of every table, in the current test's database: grants do not stop it, triggers must."""
    administrator.execute("SET ROLE pokdeng_owner")
    return administrator


@pytest.fixture
def broker(house: House) -> Iterator[Any]:
    """This process's Redis database, empty."""
    import redis
    from django.conf import settings

    client = redis.Redis.from_url(settings.REDIS_URL)
    client.flushdb()
    yield client
    client.flushdb()
    client.close()


@pytest.fixture(autouse=True)
def answers_as_described(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that got from the API what the description does not say; ``undescribed`` marks those that let it say
    what it never would."""
    from tests import answers

    answers.complaints.clear()
    yield
    met = [] if request.node.get_closest_marker("undescribed") else list(answers.complaints)
    answers.complaints.clear()
    assert met == []
