"""Hold bands: whether a session brought the house what its stakes and its rules let it bring.

All guests of a round meet the dealer's hand, so their wagers move together: a band that takes them to be independent is
much too narrow and cries wolf. Hold per stake is tested, the drop never: it is no exposure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from audit.statistics import odds, probability
from audit.statistics.round_sample import Alarm, Answer, Played
from settlement.rules.house_rules import PRESETS, HouseRules

LEAST_ROUNDS = 100
"""Fewer say nothing: single rounds are far from a normal distribution."""
Z = 1.96
MICRO = 1_000_000
_FREE = PRESETS["seed_base"]


def paying(house: HouseRules) -> HouseRules:
    """Return the sheet with everything taken out that changes no multiple: sheets that pay alike are one."""
    kept = (
        "straights", "ace_in_run", "face_run", "type_order", "deng", "pok_multiplier", "tie_rule",
        "tong_over_sam_lueang", "tong_against_tong", "sam_lueang_against_same", "run_against_run", "max_deng",
    )  # fmt: skip
    return HouseRules(**{name: getattr(house, name) for name in kept})


def threshold(draws: Iterable[tuple[int, bool]]) -> int | None:
    """Return the taem up to which these hands drew: the one that the fewest of them went against; None for none."""
    counts = [[0, 0] for _ in range(8)]
    for taem, drew in draws:
        if taem < 8:
            counts[taem][drew] += 1
    if not any(map(any, counts)):
        return None
    against = {
        limit: sum(stayed if taem <= limit else drew for taem, (stayed, drew) in enumerate(counts))
        for limit in range(8)
    }
    return min(against, key=lambda limit: (against[limit], abs(limit - odds.USUAL)))


@dataclass(slots=True)
class _Sums:
    """One session's rounds under one way of paying."""

    house: HouseRules
    table: str
    rounds: int = 0
    stakes: int = 0
    brought: int = 0
    squares: int = 0
    pairs: int = 0
    guests: list[tuple[int, bool]] = field(default_factory=list)
    dealers: list[tuple[int, bool]] = field(default_factory=list)


class Tally:
    """Sums by session, table and house, of rounds that the house banked."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, HouseRules], _Sums] = {}
        self._others = 0
        self._currency: dict[str, str] = {}

    def add(self, one: Played) -> None:
        """Take a round; where a player banked, the house could not win or lose."""
        if one.voided or one.house is None or not one.stakes:
            return
        if one.banked:
            self._others += 1
            return
        house = paying(one.house)
        sums = self._sums.setdefault((one.session, house), _Sums(house, one.table))
        by_hand: dict[str, int] = {}
        for stake in one.stakes:
            by_hand[stake.hand] = by_hand.get(stake.hand, 0) + stake.amount
            sums.brought -= stake.brought
        squares, whole = sum(amount**2 for amount in by_hand.values()), sum(by_hand.values())
        sums.rounds += 1
        sums.stakes += whole
        sums.squares += squares
        sums.pairs += whole**2 - squares
        sums.guests += one.draws
        sums.dealers += one.dealer_draws
        self._currency[one.table] = one.currency

    def answer(self, earlier: Sequence[Mapping[str, Any]]) -> Answer:
        """Set what was brought beside what was to be expected: sessions of this day, tables and house over all days."""
        groups: dict[str, dict[str, int]] = {}
        tables: dict[str, str] = {}
        for (session, _), sums in sorted(
            self._sums.items(), key=lambda item: (item[0][0], item[1].house.sha256)
        ):
            told = _told(sums)
            for group in (f"sessions/{session}", f"tables/{sums.table}", "house"):
                _add(groups.setdefault(group, {}), told)
                tables[group] = sums.table
        counts = {group: sums for group, sums in groups.items() if not group.startswith("sessions/")}
        summed = {group: _over(group, sums, earlier) for group, sums in groups.items()}
        tested = {
            group: sums
            for group, sums in summed.items()
            if sums["rounds"] >= LEAST_ROUNDS and sums["variance"]
        }
        scores = {group: _score(sums) for group, sums in tested.items()}
        noted = probability.rejected([probability.normal_two_sided(score) for score in scores.values()])
        outside = [
            Alarm("hold_band", group, _detail(group, sums, scores[group], self._currency[tables[group]]),
                  table="" if group == "house" else tables[group], flagged=place in noted)
            for place, (group, sums) in enumerate(tested.items())
            if abs(scores[group]) > Z
        ]  # fmt: skip
        return Answer(
            counts=counts,
            sample={
                "rounds": groups.get("house", {}).get("rounds", 0),
                "sessions": sum(group.startswith("sessions/") for group in groups),
                "banked_by_players": self._others,
            },
            power=_power(tested),
            expected=probability.written(0.05 * len(tested), 3),
            tests=len(tested),
            figures=[
                _figure(group, sums, scores.get(group), self._currency[tables[group]])
                for group, sums in summed.items()
            ],
            alarms=outside,
        )


def _told(sums: _Sums) -> dict[str, int]:
    """A session's sums: what was to be expected and the variance, in millionths of a minor unit (and its square)."""
    guest, dealer = threshold(sums.guests), threshold(sums.dealers)
    mean = Fraction(0)
    if guest is not None and dealer is not None and guest != dealer:
        mean = odds.moments(sums.house, guest, dealer).mean
    variance = odds.own(sums.house) * sums.squares + odds.shared(sums.house) * sums.pairs
    return {
        "rounds": sums.rounds,
        "stakes": sums.stakes,
        "brought": sums.brought,
        "expected": round(-mean * sums.stakes * MICRO),
        "variance": round(variance),
    }


def _add(into: dict[str, int], sums: Mapping[str, int]) -> None:
    for name, value in sums.items():
        into[name] = into.get(name, 0) + value


def _over(group: str, sums: Mapping[str, int], earlier: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    whole = dict(sums)
    for day in earlier:
        _add(whole, day.get(group, {}))
    return whole


def _score(sums: Mapping[str, int]) -> float:
    return (sums["brought"] - sums["expected"] / MICRO) / math.sqrt(sums["variance"])


def _detail(group: str, sums: Mapping[str, int], score: float, currency: str) -> dict[str, Any]:
    return {
        "who": group,
        "rounds": sums["rounds"],
        "brought": sums["brought"],
        "expected": round(sums["expected"] / MICRO),
        "band": round(Z * math.sqrt(sums["variance"])),
        "currency": currency,
        "p": probability.written(probability.normal_two_sided(score)),
    }


def _figure(group: str, sums: Mapping[str, int], score: float | None, currency: str) -> dict[str, Any]:
    rate = round(10_000 * sums["brought"] / sums["stakes"]) if sums["stakes"] else None
    return {
        "group": group,
        "rounds": sums["rounds"],
        "stakes": sums["stakes"],
        "brought": sums["brought"],
        "expected": round(sums["expected"] / MICRO),
        "band": round(Z * math.sqrt(sums["variance"])),
        "hold_rate_bp": rate,
        "currency": currency,
        "z": None if score is None else f"{score:.2f}",
    }


def _power(tested: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """The leak, in basis points of stakes, that each group would have shown at 0.05 with 80 %."""
    return {
        "leak_bp": {
            group: math.ceil(
                10_000
                * probability.detectable_mean(math.sqrt(sums["variance"]), alpha=0.05, power=0.8)
                / sums["stakes"]
            )
            for group, sums in tested.items()
        }
    }
