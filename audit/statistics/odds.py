"""What a wager brings under a sheet, over all deals: its mean, its variance, and what two guests have in common.

Exact but for ``shared``. A deal is two cards for guest and dealer each, then a third for each whether it is taken or
not; pairs of final hands that share no card are counted by inclusion and exclusion over the cards they could share.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from casino import cards as deck
from settlement.rules import hands, lookup
from settlement.rules.house_rules import HouseRules

DEALS = 3_664_533_600
USUAL = 4
"""Both sides draw up to here where variances are worked out; other thresholds change them by a few hundredths."""

ONE_DECK = Fraction(995, 1_000)
"""What is left of the covariance because two guests cannot hold one card: simulated, and the same for each preset."""

Counts = dict[tuple[int, ...], dict[int, int]]
"""By set of cards, the empty one too: how many final hands of each class contain it."""

_TAEM = tuple(hands.TAEM[deck.rank(card)] for card in deck.DECK)
_DRAWS = {(a, b): (_TAEM[a] + _TAEM[b]) % 10 for a, b in combinations(deck.DECK, 2)}


class Moments(NamedTuple):
    """Of one wager of one stake, from the guest's side."""

    mean: Fraction
    square: Fraction


@functools.lru_cache(maxsize=128)
def moments(house: HouseRules, guest: int, dealer: int) -> Moments:
    """Return mean and mean square of the multiple where both draw up to these taem, deng not looked at."""
    if guest > dealer and house.tie_rule != "dealer_wins":
        # The game is the same for both sides but where a tie goes to the dealer.
        mirrored = moments(house, dealer, guest)
        return Moments(-mirrored.mean, mirrored.square)
    outcomes = lookup.of(house).outcomes
    total = squares = 0
    for guest_drew, guests in enumerate(_final_hands(house, guest)):
        for dealer_drew, dealers in enumerate(_final_hands(house, dealer)):
            not_taken = (48 * 47, 47, 1)[guest_drew + dealer_drew]
            for part, classes in guests.items():
                sign = -not_taken if len(part) % 2 else not_taken
                others = dealers.get(part, {})
                for ours, n in classes.items():
                    row = outcomes[ours]
                    for theirs, m in others.items():
                        multiple = row[theirs][0]
                        total += sign * n * m * multiple
                        squares += sign * n * m * multiple * multiple
    return Moments(Fraction(total, DEALS), Fraction(squares, DEALS))


@functools.lru_cache(maxsize=64)
def own(house: HouseRules) -> Fraction:
    """Return the variance of one wager of one stake."""
    found = moments(house, USUAL, USUAL)
    return found.square - found.mean**2


@functools.lru_cache(maxsize=64)
def shared(house: HouseRules) -> Fraction:
    """Return the covariance of two guests' wagers of one stake: what they share is the dealer's hand.

    Guests are first taken to be independent once the dealer's hand is known; that they are dealt from one deck then
    takes half a hundredth off (``ONE_DECK``).
    """
    outcomes = lookup.of(house).outcomes
    table = lookup.of(house)
    guests = _final_hands(house, USUAL)
    whole, squares = 0, Fraction(0)
    for cards, ways in _dealers(USUAL):
        theirs = table.class_of(cards)
        left = 52 - len(cards)
        pairs = left * (left - 1) // 2
        brought = Fraction(0)
        for guest_drew, found in enumerate(guests):
            total = 0
            for size in range(len(cards) + 1):
                for part in combinations(cards, size):
                    sign = -1 if size % 2 else 1
                    for ours, n in found.get(part, {}).items():
                        total += sign * n * outcomes[ours][theirs][0]
            brought += Fraction(total, pairs * (left - 2) if guest_drew else pairs)
        whole += ways
        squares += ways * brought**2
    return ONE_DECK * squares / whole - moments(house, USUAL, USUAL).mean ** 2


def _dealers(threshold: int) -> list[tuple[tuple[int, ...], int]]:
    """Every final hand and in how many of 1,326 × 50 deals it comes."""
    stayed = [(cards, 50) for cards, taem in _DRAWS.items() if taem > threshold]
    drew = [
        (three, ways)
        for three in combinations(deck.DECK, 3)
        if (ways := sum(_DRAWS[pair] <= threshold for pair in combinations(three, 2)))
    ]
    return [*stayed, *drew]


@functools.lru_cache(maxsize=32)
def _final_hands(house: HouseRules, threshold: int) -> tuple[Counts, Counts]:
    """The hands that stay and those that drew, by each set of their cards and by class."""
    table = lookup.of(house)
    stayed: Counts = defaultdict(lambda: defaultdict(int))
    drew: Counts = defaultdict(lambda: defaultdict(int))
    for cards, taem in _DRAWS.items():
        if taem > threshold:
            _count(stayed, cards, table.class_of(cards), 1)
    for three in combinations(deck.DECK, 3):
        ways = sum(_DRAWS[pair] <= threshold for pair in combinations(three, 2))
        if ways:
            _count(drew, three, table.class_of(three), ways)
    return stayed, drew


def _count(counts: Counts, cards: tuple[int, ...], kind: int, ways: int) -> None:
    for size in range(len(cards) + 1):
        for part in combinations(cards, size):
            counts[part][kind] += ways
