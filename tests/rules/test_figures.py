"""The odds of the game, exact: one guest against the dealer over all 3,664,533,600 deals.

Guest and dealer draw on their thresholds without looking at deng. A deal is two cards each, then a third
card for each whether it is taken or not. Pairs of final hands that share no card are counted by inclusion
and exclusion over the cards they could share, so that no deal has to be played.
"""

import functools
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product
from math import sqrt

import pytest

from casino import cards as deck
from settlement.rules import hands, lookup
from settlement.rules.house_rules import PRESETS

DEALS = 3_664_533_600
TAEM = tuple(hands.TAEM[deck.rank(card)] for card in deck.DECK)

Counts = dict[tuple[int, ...], dict[int, int]]
"""Per set of cards (the empty one too): how many final hands of each class contain it."""


@functools.cache
def final_hands(preset: str, threshold: int) -> tuple[Counts, Counts]:
    """Return the hands that stay and those that drew, by class and by each set of their cards."""
    table = lookup.of(PRESETS[preset])
    stay: Counts = defaultdict(lambda: defaultdict(int))
    drew: Counts = defaultdict(lambda: defaultdict(int))
    draws = {(a, b): (TAEM[a] + TAEM[b]) % 10 <= threshold for a, b in combinations(deck.DECK, 2)}
    for cards, drawn in draws.items():
        if not drawn:
            _count(stay, cards, table.class_of(cards), 1)
    for three in combinations(deck.DECK, 3):
        ways = sum(draws[pair] for pair in combinations(three, 2))
        if ways:
            _count(drew, three, table.class_of(three), ways)
    return stay, drew


def _count(counts: Counts, cards: tuple[int, ...], kind: int, ways: int) -> None:
    for size in range(len(cards) + 1):
        for part in combinations(cards, size):
            counts[part][kind] += ways


def over_all_deals(preset: str, guest: int, dealer: int, value: Callable[[int], int]) -> Fraction:
    """Return the mean of ``value(multiple)`` over all deals."""
    outcomes = lookup.of(PRESETS[preset]).outcomes
    total = 0
    for ours, theirs in product(
        enumerate(final_hands(preset, guest)), enumerate(final_hands(preset, dealer))
    ):
        (guest_drew, guests), (dealer_drew, dealers) = ours, theirs
        not_taken = (48 * 47, 47, 1)[guest_drew + dealer_drew]
        for part, classes in guests.items():
            sign = -1 if len(part) % 2 else 1
            total += (sign * not_taken) * sum(
                n * m * value(outcomes[a][b][0])
                for a, n in classes.items()
                for b, m in dealers.get(part, {}).items()
            )
    return Fraction(total, DEALS)


def one(_multiple: int) -> int:
    return 1


def test_every_deal_is_counted_once() -> None:
    assert over_all_deals("seed_base", 4, 5, one) == 1


@pytest.mark.parametrize(
    ("preset", "guest_draws_to", "dealer_draws_to", "mean"),
    [
        ("seed_base", 4, 5, Fraction(158_152, 38_172_225)),
        ("seed_base", 5, 4, Fraction(-158_152, 38_172_225)),
        ("seed_table", 4, 5, Fraction(-176_083, 30_537_780)),
    ],
)
def test_the_guests_expectation_is_exact(
    preset: str, guest_draws_to: int, dealer_draws_to: int, mean: Fraction
) -> None:
    assert over_all_deals(preset, guest_draws_to, dealer_draws_to, int) == mean


def test_equal_play_is_a_fair_game_that_pushes_once_in_fifteen() -> None:
    mean = over_all_deals("seed_base", 4, 4, int)
    pushes = over_all_deals("seed_base", 4, 4, lambda multiple: multiple == 0)
    deviation = sqrt(over_all_deals("seed_base", 4, 4, lambda multiple: multiple**2))
    assert (mean, round(float(100 * pushes), 4), round(deviation, 4)) == (Fraction(0), 6.6450, 1.3197)
