"""What is measured is real work: rounds that settle, with a line for every wager."""

from __future__ import annotations

import json
import random

from casino.record import fold
from deploy.benchmark import deals, pace
from settlement.rules import house, payouts


def test_a_round_to_measure_by_settles_with_eight_lines_and_no_doubt() -> None:
    chance = random.Random(1)
    for number in range(1, 101):
        record = fold(deals.as_recorded(deals.nine_hands(chance, number=number)))
        verdict = payouts.judge(record, house.PRESETS["seed_table"])
        assert (verdict.outcome, len(verdict.lines), record.number) == ("settled", 8, number)


def test_rounds_to_send_are_numbered_without_gaps_over_the_borders_of_rounds() -> None:
    told = list(deals.as_sent(random.Random(1), device="BN01-terminal", numbers=range(3, 6), first=41))
    events = [json.loads(text) for _, texts in told for text in texts]
    assert [int(event["sequence"]) for event in events] == list(range(41, 41 + len(events)))
    opened = [event["data"]["number"] for event in events if event["type"] == "pokdeng.round_opened.v1"]
    assert opened == [3, 4, 5]
    assert len({round_id for round_id, _ in told}) == 3


def test_a_pace_is_the_median_of_its_runs() -> None:
    done = iter((1, 1_000_000, 1_000))
    found = pace.measured("count", "things", lambda: next(done), runs=3)
    assert found.per_second == sorted(found.runs)[1]
