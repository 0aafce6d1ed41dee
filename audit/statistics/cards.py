"""Cards: whether the first two cards of the dealer's hand fall as a shuffled deck lets them.

No decision touches the first two cards, and hands of one round share a deck, so one hand a round is counted: the
dealer's. Days add up, because one dealer's day shows only gross faults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from audit.statistics import probability
from audit.statistics.round_sample import Alarm, Answer, Played
from casino import cards as deck
from settlement.rules import hands

TAEM = (190, 128, 124, 128, 124, 128, 124, 128, 124, 128)
"""Two-card hands of each taem, of 1,326."""
PAIRS = (78, 312, 936)
"""Pairs, two of one suit, neither."""
POKS = (124, 128, 1_074)
"""Pok eight, pok nine, other."""
WEIGHTS: Mapping[str, tuple[int, ...]] = {"taem": TAEM, "pairs": PAIRS, "poks": POKS}

POK_RATE = 42 / 221
ALPHA, POWER = 0.001, 0.9


def classes(two: Sequence[int]) -> dict[str, int]:
    """Return the class of two cards under each test."""
    taem = hands.taem(two)
    pair = deck.rank(two[0]) == deck.rank(two[1])
    suited = deck.suit(two[0]) == deck.suit(two[1])
    pok = taem - hands.POK_FROM if taem >= hands.POK_FROM else 2
    return {"taem": taem, "pairs": 0 if pair else 1 if suited else 2, "poks": pok}


class Tally:
    """Counts by house, table and dealer."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[str, list[int]]] = {}

    def add(self, one: Played) -> None:
        """Take a round; one that was voided says nothing of a shuffle that was finished."""
        if one.voided or len(one.dealer) < 2:
            return
        found = classes(one.dealer[:2])
        for group in ("house", f"tables/{one.table}", f"people/{one.dealt_by}"):
            counts = self._counts.setdefault(
                group, {test: [0] * len(weights) for test, weights in WEIGHTS.items()}
            )
            for test, place in found.items():
                counts[test][place] += 1

    def answer(self, earlier: Sequence[Mapping[str, Any]]) -> Answer:
        """Test each group's counts, over all the days, for those that played on this one."""
        summed = {group: _summed(group, counts, earlier) for group, counts in sorted(self._counts.items())}
        tested = [
            (group, test, counts[test], fitted)
            for group, counts in summed.items()
            for test, weights in WEIGHTS.items()
            if (fitted := probability.fit(counts[test], weights)) is not None
        ]
        noted = probability.rejected([fitted.p for *_, fitted in tested])
        of_house = sum(summed.get("house", {"taem": [0]})["taem"])
        return Answer(
            counts=self._counts,
            sample={"hands": sum(self._counts.get("house", {"taem": [0]})["taem"]), "over_days": of_house},
            power=_power({group: sum(counts["taem"]) for group, counts in summed.items()}),
            expected="0.01",
            tests=len(tested),
            figures=[
                {"group": group, "test": test, "hands": sum(counts), "p": probability.written(fitted.p)}
                for group, test, counts, fitted in tested
            ],
            alarms=[
                Alarm("cards_uneven", f"{group}#{test}", _detail(group, test, counts, fitted.p), table=_table(group))
                for place, (group, test, counts, fitted) in enumerate(tested)
                if place in noted
            ],
        )  # fmt: skip


def _summed(
    group: str, counts: Mapping[str, Sequence[int]], earlier: Sequence[Mapping[str, Any]]
) -> dict[str, list[int]]:
    days = [counts, *(day[group] for day in earlier if group in day)]
    return {test: [sum(row) for row in zip(*(day[test] for day in days), strict=True)] for test in WEIGHTS}


def _detail(group: str, test: str, counts: Sequence[int], p: float) -> dict[str, Any]:
    weights = WEIGHTS[test]
    total = sum(counts)
    far = max(
        range(len(counts)),
        key=lambda place: (counts[place] - total * weights[place] / 1_326) ** 2 / weights[place],
    )
    return {
        "who": group,
        "test": test,
        "hands": total,
        "class": far,
        "seen": counts[far],
        "usual": round(total * weights[far] / 1_326),
        "p": probability.written(p),
    }


def _table(group: str) -> str:
    return group.removeprefix("tables/") if group.startswith("tables/") else ""


def _power(by_group: Mapping[str, int]) -> dict[str, Any]:
    """The pok rate (basis points) that each group's sample would have shown at 0.001 with 90 %."""
    shown = {
        group: probability.detectable_rate(POK_RATE, count, alpha=ALPHA, power=POWER)
        for group, count in by_group.items()
    }
    return {
        "usual_pok_bp": round(POK_RATE * 10_000),
        "pok_bp": {group: None if rate is None else round(rate * 10_000) for group, rate in shown.items()},
        "hands_for_2100_bp": round(probability.sample_for_rate(POK_RATE, 0.21, alpha=ALPHA, power=POWER)),
    }
