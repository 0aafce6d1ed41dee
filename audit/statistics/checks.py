"""Checks: whom a dealer leaves unchecked although comparing at once would have been worth more.

At his decision the dealer knows his own two cards and how many cards each guest holds. Checking a hand is worth what it
then brings the house; leaving it is worth what the best draw brings. The difference that was given away is the regret,
times the stake. A guest who is systematically left unchecked is a signal that only this game has.

Among hands of as many cards in one round the dealer could not tell one from the other. So their guests are exchanged
at random, with a fixed seed, and it is seen how often one of them comes out as favoured as he was.
"""

from __future__ import annotations

import functools
import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from audit.statistics import hold_bands, odds, probability
from audit.statistics.round_sample import Alarm, Answer, Played, guest
from casino import cards as deck
from settlement.rules import hands, lookup
from settlement.rules.house_rules import HouseRules

MICRO = 1_000_000
"""Regrets are whole millionths of a stake."""
EXCHANGES = 1_999
MORE_EXCHANGES = 19_999
"""Where the first exchanges leave a doubt, so many settle it."""
DOUBTFUL = 0.01


@dataclass(frozen=True, slots=True)
class _Alike:
    """Hands of one round between which the dealer could not tell: whose, for how much, and the regret of each."""

    guests: tuple[str, ...]
    stakes: tuple[int, ...]
    regrets: tuple[int, ...]


class Tally:
    """Regrets of hands left unchecked, by dealer and guest."""

    def __init__(self, *, seed: str) -> None:
        self._seed = seed
        self._rounds = 0
        self._hands = 0
        self._regret: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._left: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._alike: defaultdict[str, list[_Alike]] = defaultdict(list)
        self._table: dict[str, tuple[str, str]] = {}

    def add(self, one: Played) -> None:
        """Take a round in which the dealer had a choice: no pok of his own, and a sheet that lets him check."""
        house = one.house
        if one.voided or house is None or house.early_check == "none" or len(one.dealer) < 2:
            return
        two = one.dealer[:2]
        open_hands = [seat for seat in one.seats if not seat.pok]
        if hands.is_pok(two) or not open_hands:
            return
        self._rounds += 1
        self._table[one.dealt_by] = (one.table, one.currency)
        by_hand: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        for stake in one.stakes:
            by_hand[stake.hand].append((guest(one, stake.owner), stake.amount))
        alike: defaultdict[int, list[tuple[str, int, int]]] = defaultdict(list)
        for seat in open_hands:
            if house.early_check == "three_card_hands" and seat.cards < 3:
                continue
            regret = 0 if seat.checked else _regret(house, two, seat.cards, drew=len(one.dealer) > 2)
            for owner, amount in by_hand[seat.name][:1]:
                self._hands += 1
                self._left[one.dealt_by, owner] += not seat.checked
                self._regret[one.dealt_by, owner] += regret * amount
                alike[seat.cards].append((owner, amount, regret))
        for found in alike.values():
            if len({regret for *_, regret in found}) > 1:
                self._alike[one.dealt_by].append(_Alike(*zip(*found, strict=True)))

    def answer(self, earlier: Sequence[Mapping[str, Any]]) -> Answer:  # noqa: ARG002 - exchanges need the rounds
        """Say how often chance favours a guest as much as each was favoured."""
        tested: list[tuple[str, str, float, float]] = []
        for dealer in sorted(self._alike):
            chance = random.Random(f"{self._seed} {dealer}")  # noqa: S311 - exchanges that a rerun repeats
            tested += _exchanged(dealer, self._alike[dealer], chance)
        noted = probability.rejected([p for *_, p, _ in tested])
        alarms = [
            self._alarm(dealer, owner, p)
            for place, (dealer, owner, p, _) in enumerate(tested)
            if place in noted
        ]
        return Answer(
            counts={},
            sample={
                "rounds": self._rounds,
                "hands": self._hands,
                "telling_rounds": sum(map(len, self._alike.values())),
                "exchanges": EXCHANGES,
            },
            power={
                "regret": {
                    f"people/{dealer}#{owner}": round(
                        probability.detectable_mean(deviation, alpha=0.001, power=0.8) / MICRO
                    )
                    for dealer, owner, _, deviation in tested
                },
                "least_p": probability.written(1 / (MORE_EXCHANGES + 1)),
            },
            expected="0.01",
            tests=len(tested),
            figures=[
                {
                    "group": f"people/{dealer}",
                    "guest": owner,
                    "left": self._left[dealer, owner],
                    "regret": round(self._regret[dealer, owner] / MICRO),
                    "currency": self._table[dealer][1],
                    "p": probability.written(p),
                }
                for dealer, owner, p, _ in tested
            ],
            alarms=alarms,
        )

    def _alarm(self, dealer: str, owner: str, p: float) -> Alarm:
        table, currency = self._table[dealer]
        return Alarm(
            "unchecked_hands",
            f"people/{dealer}#{owner}",
            {
                "who": f"people/{dealer}",
                "guest": owner,
                "left": self._left[dealer, owner],
                "regret": round(self._regret[dealer, owner] / MICRO),
                "currency": currency,
                "p": probability.written(p),
            },
            table=table,
        )


def _exchanged(
    dealer: str, alike: Sequence[_Alike], chance: random.Random
) -> list[tuple[str, str, float, float]]:
    """Return dealer, guest, the share of exchanges that favour the guest as much, and their standard deviation."""
    guests = sorted({owner for one in alike for owner in one.guests})
    seen = dict.fromkeys(guests, 0)
    for one in alike:
        for owner, stake, regret in zip(one.guests, one.stakes, one.regrets, strict=True):
            seen[owner] += stake * regret
    as_much, sums, squares, done = (
        dict.fromkeys(guests, 0),
        dict.fromkeys(guests, 0),
        dict.fromkeys(guests, 0),
        0,
    )
    wanted = EXCHANGES
    while done < wanted:
        got = dict.fromkeys(guests, 0)
        for one in alike:
            regrets = chance.sample(one.regrets, len(one.regrets))
            for owner, stake, regret in zip(one.guests, one.stakes, regrets, strict=True):
                got[owner] += stake * regret
        for owner, value in got.items():
            as_much[owner] += value >= seen[owner]
            sums[owner] += value
            squares[owner] += value * value
        done += 1
        if done == EXCHANGES and min(as_much.values()) < DOUBTFUL * EXCHANGES:
            wanted = MORE_EXCHANGES
    return [
        (
            dealer,
            owner,
            (1 + as_much[owner]) / (1 + done),
            math.sqrt(max(0, squares[owner] * done - sums[owner] ** 2)) / done,
        )
        for owner in guests
    ]


def _regret(house: HouseRules, two: Sequence[int], count: int, *, drew: bool) -> int:
    """Return what leaving a hand of so many cards unchecked gave away, in millionths of its stake."""
    first, second = two
    worth = worth_of(
        hold_bands.paying(house),
        min(deck.rank(first), deck.rank(second)),
        max(deck.rank(first), deck.rank(second)),
        deck.suit(first) == deck.suit(second),
        count,
        house.player_draw.must_draw_to,
    )
    return max(worth) - worth[drew]


@functools.lru_cache(maxsize=4_096)
def worth_of(
    house: HouseRules, low: int, high: int, suited: bool, count: int, draws_to: int | None
) -> tuple[int, int]:
    """Return what a guest's hand of so many cards brings the house now, and after the dealer's draw: millionths of a
    stake, for two dealer's cards of these ranks.

    The guest is taken to draw up to ``draws_to`` taem (None: 4), and the dealer's third card to come from the fifty
    cards that he does not hold.
    """
    two = (4 * low, 4 * high if suited else 4 * high + 1)
    table = lookup.of(house)
    left = [card for card in deck.DECK if card not in two]
    limit = odds.USUAL if draws_to is None else draws_to
    ways: defaultdict[int, int] = defaultdict(int)
    for pair in combinations(left, 2):
        taem = hands.taem(pair)
        if count == 2 and limit < taem < hands.POK_FROM:
            ways[table.class_of(pair)] += 1
        elif count > 2 and taem <= limit:
            for third in left:
                if third not in pair:
                    ways[table.class_of((*pair, third))] += 1
    whole = sum(ways.values())
    if not whole:
        return 0, 0
    now = table.class_of(two)
    drawn = [table.class_of((*two, third)) for third in left]
    brings_now = -sum(number * table.outcomes[ours][now][0] for ours, number in ways.items())
    brings_drawn = -sum(
        number * table.outcomes[ours][theirs][0] for ours, number in ways.items() for theirs in drawn
    )
    return round(MICRO * brings_now / whole), round(MICRO * brings_drawn / (whole * len(drawn)))
