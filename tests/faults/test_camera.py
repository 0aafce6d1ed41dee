"""A camera whose reports come in any order, three times each, some of them only at the end."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from tests.faults.harness import House
from tests.faults.load import Terminal, Told, batch
from tests.faults.waiting import until

pytestmark = [pytest.mark.full, pytest.mark.timeout(600)]

ROUNDS = 20
Event = dict[str, Any]


def reads(told: Sequence[Told]) -> list[Event]:
    return [event for one in told for event in one.events if event["source"].endswith("-camera")]


def tell_terminals(terminal: Terminal, told: Sequence[Told]) -> None:
    for one in told:
        ours = [event for event in one.events if event["source"].endswith("-terminal")]
        assert terminal.client.insist(batch(terminal.table, ours)).outcome == "ok"


def tell_camera(terminal: Terminal, events: Sequence[Event], *, in_one: int = 40) -> set[str]:
    outcomes = set()
    for start in range(0, len(events), in_one):
        call = terminal.clients[f"{terminal.table}-camera"].insist(
            batch(terminal.table, events[start : start + in_one])
        )
        outcomes |= {event.get("code") or event["outcome"] for event in call.answer["events"]}
    return outcomes


def muddled(chance: random.Random, told: Sequence[Told]) -> tuple[list[Event], list[Event]]:
    """Every read three times in any order, but for one in twenty: those are what comes at the end."""
    every = reads(told)
    missing = chance.sample(every, len(every) // 20)
    fed = [event for event in every if event not in missing] * 3
    chance.shuffle(fed)
    return fed, missing


def came_to(settled: dict[str, Any]) -> list[tuple[Any, ...]]:
    lines = settled["settlement"]["lines"]
    return [(line["wager"], line["hand"], line["step"], line["stake"], line["net"]) for line in lines]


def test_where_the_camera_is_required_rounds_wait_and_come_to_what_they_are_worth(open_house: House) -> None:
    house = open_house
    muddle, calm = house.watched
    chance = random.Random(f"{house.seed} camera")
    told = [muddle.deal(random.Random(f"{house.seed} {number}")) for number in range(ROUNDS)]
    for number in range(ROUNDS):
        twin = calm.deal(random.Random(f"{house.seed} {number}"))
        calm.send(twin)
        assert calm.settle(twin).answer["outcome"] == "settled"

    tell_terminals(muddle, told)
    fed, missing = muddled(chance, told)
    assert tell_camera(muddle, fed) == {"recorded", "duplicate"}
    lacking = {event["subject"].removeprefix("rounds/") for event in missing}
    assert 0 < len(lacking) < ROUNDS, "the fault never struck: every round has its reads, or none has"
    for one in told:
        outcome = muddle.settle(one).answer["outcome"]
        assert (outcome == "settled") == (one.id not in lacking), (one.id, outcome)

    assert tell_camera(muddle, missing) == {"recorded"}
    for one, twin in zip(told, calm.rounds[-ROUNDS:], strict=True):
        assert muddle.settle(one).answer["outcome"] == "settled"
        assert one.settled is not None
        assert twin.settled is not None
        assert came_to(one.settled) == came_to(twin.settled)
    house.holds()


def test_where_it_is_not_what_comes_late_is_kept_and_moves_nothing(open_house: House) -> None:
    house, terminal = open_house, open_house.terminals[0]
    told = [terminal.deal() for _ in range(ROUNDS)]
    tell_terminals(terminal, told)
    for one in told:
        until(lambda one=one: house.is_settled(one.id), "a round is settled without its camera")  # type: ignore[misc]
        terminal.settle(one)
    before = [came_to(one.settled) for one in told if one.settled is not None]

    fed, missing = muddled(random.Random(f"{house.seed} late"), told)
    assert tell_camera(terminal, [*fed, *missing]) == {"recorded", "duplicate"}
    ids = [one.id for one in told]
    late = "SELECT count(*) FROM casino_roundevent WHERE round_id = ANY (%s::uuid[]) AND late"
    assert house.number(late, ids) == len(reads(told))
    for one in told:
        terminal.settle(one)
    assert [came_to(one.settled) for one in told if one.settled is not None] == before
    assert len(before) == ROUNDS
    revisions = "SELECT max(revision) FROM settlement_settlement WHERE round_id = ANY (%s::uuid[])"
    assert house.number(revisions, ids) == 1
    house.holds()
