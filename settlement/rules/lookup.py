"""Every hand of a rule sheet, worked out once and shared: the fast path for bulk judging and for the
terminal.

What a hand is worth depends on its ranks and on whether it is of one suit, so the 1,326 + 22,100 hands are
910 *shapes*, the same for every sheet. A sheet maps shapes to classified hands, and pairs of those to
multiple and step. That these tables say what ``hands.classify`` and ``showdown.compare`` say is tested for
every entry.
"""

import functools
from collections.abc import Iterable, Mapping
from itertools import combinations, permutations

from casino import cards as deck
from settlement.rules import hands, showdown
from settlement.rules.hands import Hand
from settlement.rules.house_rules import HouseRules
from settlement.rules.showdown import Step

MOST_SHEETS = 256
"""Sheets whose tables are kept; a house has a dozen, a comparison of sheets some more."""


class Table:
    """All answers of one sheet. Read ``classes[shapes[cards]]`` for the class of a tuple of cards in any
    order, ``hands[class]`` for its value, ``outcomes[guest_class][dealer_class]`` for multiple and step."""

    __slots__ = ("classes", "hands", "most_lost", "outcomes", "shapes", "values")

    def __init__(self, house: HouseRules) -> None:
        self.shapes = shapes()
        self.values = [hands.classify(cards, house) for cards in _specimens()]
        self.hands = sorted(set(self.values))
        number = {hand: index for index, hand in enumerate(self.hands)}
        self.classes = [number[hand] for hand in self.values]
        self.outcomes: list[list[tuple[int, Step]]] = [
            [showdown.compare(guest, dealer, house) for dealer in self.hands] for guest in self.hands
        ]

        self.most_lost = -min(multiple for row in self.outcomes for multiple, _ in row)

    def class_of(self, cards: tuple[int, ...]) -> int:
        return self.classes[self.shapes[cards]]

    def classify(self, cards: tuple[int, ...]) -> Hand:
        """Return the hand; raise KeyError where ``hands.classify`` raises ValueError."""
        return self.values[self.shapes[cards]]


_TABLES: dict[str, Table] = {}


def of(house: HouseRules) -> Table:
    """Return the sheet's tables, made on first use (some milliseconds)."""
    table = _TABLES.get(house.sha256)
    if table is None:
        while len(_TABLES) >= MOST_SHEETS:
            _TABLES.pop(next(iter(_TABLES)), None)
        table = _TABLES[house.sha256] = Table(house)
    return table


def classify_many(dealt: Iterable[tuple[int, ...]], house: HouseRules) -> list[Hand]:
    """Return the value of each hand; the cards of a hand may stand in any order."""
    table = of(house)
    values, shape = table.values, table.shapes
    return [values[shape[cards]] for cards in dealt]


@functools.cache
def shapes() -> Mapping[tuple[int, ...], int]:
    """Return the shape of every hand of two or three cards, in every order of its cards."""
    number: dict[tuple[tuple[int, ...], bool], int] = {}
    known: dict[tuple[int, ...], int] = {}
    for size in (2, 3):
        for cards in combinations(deck.DECK, size):
            shape = number.setdefault(_shape(cards), len(number))
            for order in permutations(cards):
                known[order] = shape
    return known


@functools.cache
def _specimens() -> tuple[tuple[int, ...], ...]:
    """One hand of each shape, by its number."""
    specimen: dict[int, tuple[int, ...]] = {}
    for cards, shape in shapes().items():
        specimen.setdefault(shape, cards)
    return tuple(specimen[shape] for shape in range(len(specimen)))


def _shape(cards: tuple[int, ...]) -> tuple[tuple[int, ...], bool]:
    return tuple(map(deck.rank, cards)), len(set(map(deck.suit, cards))) == 1
