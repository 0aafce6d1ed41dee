"""Round numbers that nobody played: ranges, however wide, that a supervisor answers for before a session ends well."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from audit.controls import Books, Scope, round_numbers
from casino import tables
from casino.models import Person, RoundEvent, RoundWaiver
from casino.platform.refusals import Refusal
from tests.casino.floor import (
    NOW,
    PIN,
    Floor,
    a_person,
    a_round_id,
    a_table,
    a_whole_round,
    act,
    opens,
    settled,
    statements,
)

pytestmark = pytest.mark.django_db

WIDEST = 2**31 - 1


def missing(floor: Floor) -> list[list[int]]:
    return tables.missing_rounds([floor.session.id]).get(floor.session.id, [])


def wrong_in_the_books() -> list[str]:
    """What I10 finds of numbers."""
    connection.ensure_connection()
    books = Books(reader=connection.connection, scope=Scope(None))
    sweeps = (round_numbers.numbered_once, round_numbers.numbers_without_holes)
    return [one.found for sweep in sweeps for one in sweep(books)]


def played(floor: Floor, *numbers: int) -> None:
    for number in numbers:
        round = a_round_id()
        floor.tablet.hears(*a_whole_round(floor.tablet, round, number=number))
        settled(round)


def waives(by: Person, numbers: str, **more: Any) -> Any:
    client = Client()
    client.force_login(by)
    body = {"reason": "typed wrongly", "badge": by.badge, "pin": PIN} | more
    path = f"/api/v1/tables/PD01/rounds/{numbers}/waive"
    return client.post(path, json.dumps(body), content_type="application/json")


def test_numbers_left_out_are_one_range_each_and_one_finding() -> None:
    floor = a_table()
    played(floor, 2, 3, 7)
    assert missing(floor) == [[1, 1], [4, 6]]
    assert wrong_in_the_books() == ["round 1 of 7 missing", "round 4-6 of 7 missing"]


def test_the_widest_range_is_one_range() -> None:
    floor = a_table()
    played(floor, WIDEST)
    with statements() as ran:
        assert missing(floor) == [[1, WIDEST - 1]]
    assert len(ran) == 1
    assert wrong_in_the_books() == [f"round 1-{WIDEST - 1} of {WIDEST} missing"]


@pytest.mark.parametrize(
    ("numbers", "jumps"),
    [
        ([1_000], [None]),
        ([1_001], [0]),
        ([14, 1_014, 2_015], [None, None, 1_014]),
        ([9_001, 15, 9_002], [0, None, None]),
        ([1, WIDEST], [None, 1]),
    ],
)
def test_a_number_more_than_a_thousand_above_the_tables_last_is_recorded_as_a_jump(
    numbers: list[int], jumps: list[int | None]
) -> None:
    floor = a_table()
    for number in numbers:
        assert floor.tablet.hears(opens(floor.tablet, a_round_id(), number=number)) == ["recorded"]
    assert list(RoundEvent.objects.order_by("id").values_list("jumped_from", flat=True)) == jumps


def test_jumps_are_seen_within_one_batch_too() -> None:
    floor = a_table()
    floor.tablet.hears(*(opens(floor.tablet, a_round_id(), number=number) for number in (1, 5_000, 5_001)))
    assert list(RoundEvent.objects.order_by("id").values_list("jumped_from", flat=True)) == [None, 1, None]


@pytest.mark.parametrize("role", ["supervisor", "manager"])
def test_a_range_is_waived_by_who_may_rule_there_with_a_reason_a_badge_and_a_pin(role: str) -> None:
    floor, by = a_table(), a_person(role, "X01", pin=PIN)
    played(floor, 1, 9)
    if role == "supervisor":
        with act() as running:
            tables.relieve(session=floor.session, role="supervisor", person=by, now=running.now)

    answer = waives(by, "3-8")

    assert (answer.status_code, answer.json()) == (
        201, {"table": "PD01", "session": str(floor.session.id), "first": 3, "last": 8},
    )  # fmt: skip
    assert missing(floor) == [[2, 2]]
    kept = RoundWaiver.objects.get()
    assert (kept.first, kept.last, kept.person, kept.reason) == (3, 8, by, "typed wrongly")
    again = waives(by, "3-8")
    assert (again.status_code, again.json()["code"], again.json()["missing"]) == (
        404,
        "rounds_not_missing",
        [[2, 2]],
    )
    assert waives(by, "2-2").status_code == 201
    assert wrong_in_the_books() == []


@pytest.mark.parametrize("numbers", ["1-1", "1-2", "8-9", "9-10", "10-10", "5-4", "0-3", f"2-{2**31 - 1}"])
def test_what_is_not_missing_is_not_waived(numbers: str) -> None:
    floor, by = a_table(), a_person("manager", "M01", pin=PIN)
    played(floor, 1, 9)
    assert waives(by, numbers).json()["code"] == "rounds_not_missing"
    assert not RoundWaiver.objects.exists()


def test_a_number_that_no_round_can_have_is_no_address() -> None:
    floor, by = a_table(), a_person("manager", "M01", pin=PIN)
    played(floor, 1, 9)
    answer = waives(by, f"2-{10**25}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_number_that_was_waived_and_is_played_after_all_is_recorded() -> None:
    floor, by = a_table(), a_person("manager", "M01", pin=PIN)
    played(floor, 1, 9)
    waives(by, "2-8")
    played(floor, 5)
    assert missing(floor) == []
    assert wrong_in_the_books() == []


def test_rounds_are_waived_by_nobody_else() -> None:
    floor = a_table()
    played(floor, 2)
    elsewhere = a_person("supervisor", "S09", pin=PIN)
    for role in ("dealer", "surveillance", "cashier", "auditor", "administrator"):
        answer = waives(a_person(role, pin=PIN), "1-1")
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), role
    assert waives(elsewhere, "1-1").status_code == 404
    body = {"reason": "?", "badge": "S09", "pin": PIN}
    assert floor.tablet.asks("POST", "tables/PD01/rounds/1-1/waive", body).status_code == 403
    assert waives(a_person("manager", "M01", pin=PIN), "1-1", badge="S09").json()["code"] == "not_on_duty"
    assert missing(floor) == [[1, 1]]


def test_a_session_does_not_end_over_missing_rounds_but_by_two_who_say_so_or_once_they_are_waived() -> None:
    floor, by = a_table(), a_person("manager", "M01", pin=PIN)
    played(floor, 1, 4)

    with pytest.raises(Refusal) as refused, act():
        tables.close(session=floor.session, last_round=4, carried_over_by=None, now=NOW)
    assert (refused.value.code, refused.value.extra) == ("round_numbers_missing", {"rounds": [[2, 3]]})

    two = (by, floor.supervisor)
    with act():
        tables.close(session=floor.session, last_round=4, carried_over_by=None, now=NOW, despite_missing=two)
    assert wrong_in_the_books() == ["round 2-3 of 4 missing"]
    assert waives(by, "2-3").status_code == 201
    assert wrong_in_the_books() == []


def test_the_tables_of_the_floor_say_which_rounds_are_missing() -> None:
    floor = a_table()
    played(floor, 3)
    shown = floor.tablet.asks("GET", "tables").json()["tables"]
    assert [table["missing_rounds"] for table in shown] == [[[1, 2]]]
