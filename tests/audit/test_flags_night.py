"""The recorded night, played and sealed: its flags are those that are known, each raised once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from audit import flags
from audit.models import Flag, Leaf, LogEntry, Reading
from tests.audit import flagged
from tests.database import House
from tests.rules.given import case
from tests.rules.test_rounds import COMPARED
from tests.settlement.books import statements, taken_back
from tests.settlement.floor import NOW, settled
from tests.settlement.test_settle_night import chunks, recorded_night


@pytest.fixture(scope="module")
def night(house: House, django_db_setup: None, django_db_blocker: Any) -> Iterator[dict[str, Any]]:
    """A database in which the night was recorded, settled and sealed, and nothing read yet; what is expected of it."""
    expected: dict[str, Any] = case("night.expected.json")
    with django_db_blocker.unblock():
        name = house.clone()
        before = house.use(name)
        try:
            recorded_night()
            for batch in chunks([UUID(key) for key in expected["rounds"]], 100):
                settled(*batch, now=NOW + timedelta(hours=1))
            flagged.number_all()
            yield expected
        finally:
            house.use(before)
            house.drop(name)


def read(limit: int = flags.MOST) -> list[int]:
    """Read on to the end in steps of ``limit``; return how many leaves each looked at."""
    return list(iter(lambda: flagged.step(limit), 0))


def kinds_by_round() -> dict[str, list[str]]:
    """The kinds of the compared subset that were raised of each round."""
    found: dict[str, set[str]] = defaultdict(set)
    for kind, round_id in Flag.objects.filter(kind__in=COMPARED).values_list("kind", "round"):
        found[str(round_id)].add(kind)
    return {round_id: sorted(kinds) for round_id, kinds in found.items()}


def test_the_nights_flags_are_those_that_are_known(night: dict[str, Any]) -> None:
    with taken_back():
        read()
        found = kinds_by_round()
        named = set(Flag.objects.filter(kind__in=COMPARED).values_list("kind", "subject"))
    wanted = {key: sorted(told["flags"]) for key, told in night["rounds"].items() if told["flags"]}
    assert found == wanted
    assert all(
        ("#w" in subject) is (kind == "late_bet") and ("." in subject) is (kind == "reads_differ")
        for kind, subject in named
    )


def test_a_held_rounds_flag_names_the_contested_slot(night: dict[str, Any]) -> None:
    with taken_back():
        read()
        found = set(Flag.objects.filter(kind="reads_differ").values_list("subject", flat=True))
    held = {key: told for key, told in night["rounds"].items() if told["outcome"] == "held"}
    assert len(held) == 9
    assert {f"rounds/{key}#{told['hand']}.{told['position']}" for key, told in held.items()} <= found


def test_any_steps_raise_the_same_flags_and_reading_again_raises_none(night: dict[str, Any]) -> None:
    found = []
    for limit in (500, 97, 13):
        with taken_back():
            steps = read(limit)
            assert sum(steps) == Leaf.objects.count()
            found.append(flagged.raised())
            announced = LogEntry.objects.filter(action="flag.raised").count()
            assert announced == len(found[-1]) == Flag.objects.count()
            Reading.objects.update(position=0)
            read(limit)
            assert (flagged.raised(), Flag.objects.count()) == (found[-1], announced)
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 40


class Killed(Exception):
    """The reader's process ended."""


def test_a_reader_killed_behind_any_statement_of_a_step_leaves_nothing_half_done(
    night: dict[str, Any],
) -> None:
    with taken_back():
        read()
        whole = flagged.raised()
    with taken_back():
        start_before_the_first_settlement()
        flagged.step(60)
        before, position = flagged.raised(), Reading.objects.get().position
        ran = 0
        while True:
            try:
                with connection.execute_wrapper(dies_behind(ran)):
                    flagged.step(200)
                break
            except Killed:
                assert (flagged.raised(), Reading.objects.get().position) == (before, position)
                ran += 1
        assert ran > 15
        read(200)
        assert flagged.raised() == whole


def dies_behind(count: int) -> Any:
    """Let ``count`` statements through; the next one is the last."""
    left = [count]

    def wrapper(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        found = execute(sql, params, many, context)
        if "SAVEPOINT" not in sql:
            left[0] -= 1
        if left[0] < 0:
            raise Killed
        return found

    return wrapper


def test_a_step_takes_the_same_statements_for_few_rounds_and_for_many(night: dict[str, Any]) -> None:
    counts = []
    for limit in (60, 500):
        seen: list[str] = []
        with taken_back():
            start_before_the_first_settlement()
            with statements(seen):
                flagged.step(limit)
        counts.append(len(seen))
    assert counts[0] == counts[1] <= 22


def start_before_the_first_settlement() -> None:
    """The night was recorded before it was settled."""
    standings = Leaf.objects.filter(entry__action="round.settled").order_by("index")
    first = standings.values_list("index", flat=True)[0]
    Reading.objects.create(name="flags", origin="pokdeng", position=first - 30, read_at=NOW)
