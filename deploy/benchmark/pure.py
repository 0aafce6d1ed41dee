"""What one core does without a database: classify, fold, judge."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator

from casino.record import fold
from deploy.benchmark import dealt_rounds, measuring
from deploy.benchmark.measuring import Pace
from settlement.rules import hands, house_rules, lookup, payouts

HANDS = 500_000
ROUNDS = 400


def paces(*, runs: int, seed: int) -> Iterator[Pace]:
    """Yield the pace of each, on rounds of nine hands under the seed's table sheet."""
    measured = functools.partial(measuring.measured, runs=runs, of_one_core=True)
    chance = random.Random(seed)  # noqa: S311 - repeatable deals, no secret
    sheet = house_rules.PRESETS["seed_table"]
    dealt = dealt_rounds.dealt(chance, count=HANDS)
    lookup.of(sheet)

    def add_up() -> int:
        for cards in dealt:
            sum(cards)
        return HANDS

    def looked_up() -> int:
        return len(lookup.classify_many(dealt, sheet))

    def worked_out() -> int:
        few = dealt[: HANDS // 20]
        for cards in few:
            hands.classify(cards, sheet)
        return len(few)

    yield measured("add up the cards of a hand", "hands", add_up, is_floor=True)
    yield measured("classify, by the sheet's table", "hands", looked_up, aim=2_000_000)
    yield measured("classify, worked out anew", "hands", worked_out)

    told = [
        dealt_rounds.as_recorded(dealt_rounds.nine_hands(chance, number=number))
        for number in range(1, ROUNDS + 1)
    ]
    records = [fold(events) for events in told]

    def folded() -> int:
        for events in told:
            fold(events)
        return ROUNDS

    def judged() -> int:
        for _ in range(10):
            for record in records:
                payouts.judge(record, sheet)
        return 10 * ROUNDS

    yield measured("fold a nine-hand round", "rounds", folded)
    yield measured("judge a nine-hand round", "rounds", judged, aim=40_000)
