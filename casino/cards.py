"""The 52 cards, and how they are written.

A card is a small integer, 4 × rank + suit, so that a set of cards is one 52-bit integer and a table of all
hands is a plain dictionary. Outside the pure modules a card is always its text, rank then suit: ``TS`` is the
ten of spades. There is no joker and no other spelling (``10S``, ``1S`` and ``ts`` are refused).
"""

from collections.abc import Iterable

RANKS = "A23456789TJQK"
SUITS = "CDHS"
DECK = range(52)

_TEXT = tuple(rank + suit for rank in RANKS for suit in SUITS)
_CARD = {text: card for card, text in enumerate(_TEXT)}


def parse(text: str) -> int:
    """Return the card that ``text`` names; raise ValueError for anything else, another type included."""
    card = _CARD.get(text) if isinstance(text, str) else None
    if card is None:
        raise ValueError(f"not a card: {text!r}")
    return card


def text(card: int) -> str:
    """Return rank and suit, ``AC`` for 0 up to ``KS`` for 51."""
    return _TEXT[card]


def rank(card: int) -> int:
    """Return 0 for the ace up to 12 for the king (an index into RANKS, not the taem of the card)."""
    return card >> 2


def suit(card: int) -> int:
    """Return an index into SUITS."""
    return card & 3


def mask(cards: Iterable[int]) -> int:
    """Return the set of cards as a 52-bit integer: bit n stands for card n."""
    bits = 0
    for card in cards:
        bits |= 1 << card
    return bits
