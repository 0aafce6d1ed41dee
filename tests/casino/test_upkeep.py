"""Works go on past the item they cannot compute with, and show it; what could not be read is kept and counted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import OperationalError, connection
from django.test import Client

from casino import upkeep
from casino.models import Aside, Person, Program, Sweep, Unread, UnreadCount
from casino.upkeep import Message

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 1, 5, 0, tzinfo=UTC)
ROLES = {"dealer": 403, "supervisor": 403, "cashier": 403, "surveillance": 403,
         "manager": 200, "auditor": 200, "administrator": 200}  # fmt: skip


def at(moment: datetime) -> Any:
    return lambda: moment


class Work:
    """Counts things; those in ``poisoned`` it cannot count."""

    def __init__(self, *poisoned: int, fault: type[Exception] = ValueError) -> None:
        self.poisoned = set(poisoned)
        self.fault = fault
        self.done: list[int] = []
        self.tried: list[int] = []

    def do(self, thing: int) -> None:
        self.tried.append(thing)
        if thing in self.poisoned:
            raise self.fault(f"thing {thing} is no number")
        self.done.append(thing)

    def each(self, *things: int, now: datetime = NOW) -> int:
        return upkeep.each("counting", things, self.do, named=lambda one: f"things/{one}", clock=at(now))


def test_a_poisoned_item_is_put_aside_by_its_name_and_the_others_are_done() -> None:
    work = Work(2)

    assert work.each(1, 2, 3) == 2

    assert work.done == [1, 3]
    found = Aside.objects.get()
    assert (found.work, found.subject, found.fault, found.times, found.due_at) == (
        "counting", "things/2", "ValueError: thing 2 is no number", 1, NOW + timedelta(minutes=1)
    )  # fmt: skip


def test_it_is_tried_again_after_pauses_that_double_up_to_an_hour() -> None:
    work, now, pauses = Work(2), NOW, []
    for _ in range(9):
        work.each(2, now=now)
        due_at = Aside.objects.get().due_at
        work.each(2, now=due_at - timedelta(seconds=1))
        pauses.append((due_at - now).total_seconds() / 60)
        now = due_at

    assert len(work.tried) == 9
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_once_its_work_was_through_with_it_it_stands_still_no_longer() -> None:
    work = Work(2)
    work.each(2)
    work.poisoned.clear()
    later = NOW + timedelta(minutes=1)

    assert work.each(2, now=later) == 1

    assert Aside.objects.get().solved_at == later
    assert upkeep.shown(now=later).asides == 0


def test_what_its_work_does_not_meet_any_more_is_let_go_of() -> None:
    Work(2).each(2)
    upkeep.let_rest(now=NOW + timedelta(hours=2))
    assert upkeep.shown(now=NOW).asides == 1
    upkeep.let_rest(now=NOW + timedelta(hours=2, minutes=2))
    assert upkeep.shown(now=NOW).asides == 0


def test_without_the_database_nothing_is_an_items_fault() -> None:
    work = Work(2, fault=OperationalError)
    with pytest.raises(OperationalError):
        work.each(1, 2, 3)
    assert (work.done, Aside.objects.count()) == ([1], 0)


@pytest.mark.parametrize(("sqlstate", "aside"), [("55P03", 0), ("40P01", 0), ("40001", 0), ("57014", 1)])
def test_an_item_in_somebodys_hands_waits_for_the_next_bell_and_one_that_takes_too_long_is_put_aside(
    sqlstate: str, aside: int
) -> None:
    class Said(Exception):
        pass

    Said.sqlstate = sqlstate  # type: ignore[attr-defined]
    done: list[int] = []

    def do(thing: int) -> None:
        if thing == 2:
            raise OperationalError("no") from Said()
        done.append(thing)

    upkeep.each("counting", [1, 2, 3], do, named=str, clock=at(NOW))
    assert (done, Aside.objects.count()) == ([1, 3], aside)


def test_an_item_that_takes_a_tasks_whole_time_is_put_aside_before_the_task_ends() -> None:
    work = Work(2, fault=SoftTimeLimitExceeded)
    with pytest.raises(SoftTimeLimitExceeded):
        work.each(1, 2, 3)
    assert list(Aside.objects.values_list("subject", flat=True)) == ["things/2"]
    assert work.each(1, 2, 3) == 2


def test_many_at_once_are_done_one_by_one_where_one_of_them_fails() -> None:
    work, taken = Work(2), []

    def do(things: Any) -> None:
        taken.append(list(things))
        for one in things:
            if one == 2:
                raise ValueError("no")

    assert upkeep.together("counting", [1, 2, 3], do, named=lambda one: f"things/{one}", clock=at(NOW)) == 2
    assert taken == [[1, 2, 3], [1], [2], [3]]
    assert work.tried == []
    assert Aside.objects.get().subject == "things/2"


def test_a_fault_and_a_name_that_the_database_would_not_keep_are_kept_all_the_same() -> None:
    upkeep.put_aside("counting", "things/\0" + "9" * 300, ValueError("\0" * 400 + "\nline"), now=NOW)
    found = Aside.objects.get()
    assert (len(found.subject), len(found.fault)) == (200, 300)


# -- messages -------------------------------------------------------------------------------------------------


def test_messages_are_kept_in_a_hundred_places_cut_and_all_of_them_counted() -> None:
    for number in range(3):
        messages = [Message(b"%d" % place * 5_000, "not_json") for place in range(60)]
        upkeep.keep_unread(messages, now=NOW + timedelta(seconds=number), more={"wrong_shape": 7})

    assert dict(UnreadCount.objects.values_list("reason", "count")) == {"not_json": 180, "wrong_shape": 21}
    assert Unread.objects.count() == 100
    assert {len(bytes(one.content)) for one in Unread.objects.all()} == {4_096}
    assert Unread.objects.filter(came_at=NOW + timedelta(seconds=2)).count() == 60


# -- the page -------------------------------------------------------------------------------------------------


def signed_in(role: str) -> Client:
    client = Client()
    client.force_login(Person.objects.create(badge=f"H-{role}", display_name=role, role=role))
    return client


@pytest.mark.parametrize(("role", "status"), ROLES.items())
def test_who_may_see_how_the_service_runs(role: str, status: int) -> None:
    assert signed_in(role).get("/api/v1/health").status_code == status


def test_the_public_page_says_no_more_than_that_it_is_well(client: Client) -> None:
    Work(2).each(2)
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/api/v1/health").status_code == 401


def test_the_page_shows_what_stands_still_what_came_and_which_program_was_given_up_on(settings: Any) -> None:
    settings.CELERY_BEAT_SCHEDULE = {
        "count things": {"task": "counting", "schedule": 2.0},
        "count more": {"task": "more", "schedule": 2.0},
    }
    manager = signed_in("manager")
    quiet = manager.get("/api/v1/health").json()
    assert (quiet["well"], [(one["late"], one["age"]) for one in quiet["sweeps"]]) == (
        False,
        [(True, None)] * 2,
    )

    now = datetime.now(UTC)
    for name in ("counting", "more"):
        upkeep.began(name, now=now)
        upkeep.ended(name, now=now)
    assert manager.get("/api/v1/health").json()["well"] is True
    Work(2).each(2, now=now)
    upkeep.failed("more", ValueError("no more"), now=now)
    upkeep.keep_unread([Message(b"junk", "not_json")], now=now)
    Program.objects.create(name="sealer", state="given_up", ended=10, said="no key", changed_at=now)

    told = manager.get("/api/v1/health").json()

    assert told["well"] is False
    assert [(one["name"], one["late"], one["fault"]) for one in told["sweeps"]] == [
        ("count more", False, "ValueError: no more"),
        ("count things", False, ""),
    ]
    assert (told["asides"], [(one["work"], one["subject"]) for one in told["aside"]]) == (
        1, [("counting", "things/2")]
    )  # fmt: skip
    assert [(one["reason"], one["count"]) for one in told["unread"]] == [("not_json", 1)]
    assert [(one["reason"], one["length"]) for one in told["kept"]] == [("not_json", 4)]
    assert [(one["name"], one["state"], one["ended"], one["said"]) for one in told["programs"]] == [
        ("sealer", "given_up", 10, "no key")
    ]


def test_a_sweep_that_came_to_its_end_again_failed_by_nothing() -> None:
    upkeep.failed("counting", ValueError("no"), now=NOW)
    upkeep.ended("counting", now=NOW)
    row = Sweep.objects.get()
    assert (row.fault, row.ended_at, row.failed_at) == ("", NOW, NOW)


def test_the_page_takes_the_same_statements_whatever_there_is() -> None:
    from django.test.utils import CaptureQueriesContext

    upkeep.shown(now=NOW)
    for number in range(5):
        Work(number).each(number)
    with CaptureQueriesContext(connection) as ran:
        upkeep.shown(now=NOW)
    assert len(ran) == 6
