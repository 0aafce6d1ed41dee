"""What is measured is real work: rounds that settle, with a line for every wager."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from casino.record import fold
from deploy.benchmark import dealt_rounds, measuring
from deploy.local.start_errors import Trouble
from deploy.management.commands import bench
from settlement.rules import house_rules, payouts


def test_a_round_to_measure_by_settles_with_eight_lines_and_no_doubt() -> None:
    chance = random.Random(1)
    for number in range(1, 101):
        record = fold(dealt_rounds.as_recorded(dealt_rounds.nine_hands(chance, number=number)))
        verdict = payouts.judge(record, house_rules.PRESETS["seed_table"])
        assert (verdict.outcome, len(verdict.lines), record.number) == ("settled", 8, number)


def test_rounds_to_send_are_numbered_without_gaps_over_the_borders_of_rounds() -> None:
    told = list(dealt_rounds.as_sent(random.Random(1), device="BN01-terminal", numbers=range(3, 6), first=41))
    events = [json.loads(text) for _, texts in told for text in texts]
    assert [int(event["sequence"]) for event in events] == list(range(41, 41 + len(events)))
    opened = [event["data"]["number"] for event in events if event["type"] == "pokdeng.round_opened.v1"]
    assert opened == [3, 4, 5]
    assert len({round_id for round_id, _ in told}) == 3


def test_a_pace_is_the_median_of_its_runs() -> None:
    done = iter((1, 1_000_000, 1_000))
    found = measuring.measured("count", "things", lambda: next(done), runs=3)
    assert found.per_second == sorted(found.runs)[1]


def test_each_figure_is_printed_as_soon_as_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = io.StringIO()
    floor = measuring.Pace("an empty loop", "turns", 1_000_000.0, (900_000.0, 1_100_000.0), is_floor=True)

    def measured(**_: Any) -> Iterator[measuring.Pace]:
        yield floor
        assert "(an empty loop)" in printed.getvalue().splitlines()[-1]
        raise Trouble("the power went")

    monkeypatch.setattr(bench, "_paces", measured)
    with pytest.raises(CommandError, match="the power went"):
        call_command("bench", stdout=printed)
    assert [line.split()[0] for line in printed.getvalue().splitlines()] == ["Medians", "what", "(an"]
