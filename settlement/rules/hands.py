"""What a hand is worth under a rule sheet.

*Kind* is the type of the hand: pok, tong, straight flush, straight, sam lueang or normal. *Taem* is its
points, the ones digit of the sum (ace 1, ten and faces 0). *Deng* is its multiplier. *Pok* is a two-card 8
or 9, *tong* three of one rank, *sam lueang* three faces that are no tong.
"""

from collections.abc import Sequence
from typing import NamedTuple

from casino import cards as deck
from settlement.rules.house_rules import HouseRules, Kind

TAEM = tuple(points if points < 10 else 0 for points in range(1, 14))
"""Taem of each rank, ace first."""

JACK, QUEEN, KING = 10, 11, 12
POK_FROM = 8


class Hand(NamedTuple):
    """A classified hand. ``rank`` sorts hands of one kind where the sheet compares that kind by its cards,
    and is 0 everywhere else: hands that no comparison under the sheet tells apart are equal values."""

    kind: Kind
    taem: int
    deng: int
    rank: int = 0


def taem(cards: Sequence[int]) -> int:
    return sum(TAEM[deck.rank(card)] for card in cards) % 10


def is_pok(cards: Sequence[int]) -> bool:
    """Say whether these are two cards of 8 or 9 taem, which they are under any sheet."""
    return len(cards) == 2 and taem(cards) >= POK_FROM


def is_song(cards: Sequence[int]) -> bool:
    """Say whether these are two cards of one rank or one suit."""
    first, second = cards
    return deck.rank(first) == deck.rank(second) or deck.suit(first) == deck.suit(second)


def classify(cards: Sequence[int], house: HouseRules) -> Hand:
    """Return kind, taem and deng of two or three cards, in any order.

    Raises ValueError for any other number of cards and for a card that is there twice: such a hand is held,
    never judged.
    """
    if len(cards) not in (2, 3) or len(set(cards)) != len(cards):
        raise ValueError(f"no hand: {list(cards)!r}")
    ranks = sorted(map(deck.rank, cards))
    points = taem(cards)
    if len(ranks) == 2:
        song = house.deng.song if is_song(cards) else 1
        if points >= POK_FROM:
            return Hand("pok", points, _pok_deng(points, song, house))
        return Hand("normal", points, song)
    return _three(ranks, len(set(map(deck.suit, cards))) == 1, points, house)


def _pok_deng(points: int, song: int, house: HouseRules) -> int:
    match house.pok_multiplier:
        case "deng":
            return song
        case "fixed_2":
            return 2
        case "nine_3_eight_2":
            return 3 if points == 9 else 2
        case "one":
            return 1


def _three(ranks: list[int], suited: bool, points: int, house: HouseRules) -> Hand:
    if ranks[0] == ranks[2]:
        return Hand("tong", points, house.deng.tong, _tong_rank(ranks[0], house))
    faces = ranks[0] >= JACK
    top = _top_of_run(ranks, house)
    if house.straights == "special" and top and _counts_as_run(faces, suited, house):
        rank = top if house.run_against_run == "top_card" else 0
        if suited:
            return Hand("straight_flush", points, house.deng.straight_flush, rank)
        return Hand("straight", points, house.deng.straight, rank)
    if faces:
        return Hand("sam_lueang", points, house.deng.sam_lueang, _faces_rank(ranks, house))
    if suited or (house.straights == "as_sam_deng" and top):
        return Hand("normal", points, house.deng.sam)
    return Hand("normal", points, 1)


def _top_of_run(ranks: list[int], house: HouseRules) -> int:
    """Return 2 (A-2-3) to 13 (Q-K-A) for three ranks in a row, 0 for none; K-A-2 is never a run."""
    if ranks == [0, QUEEN, KING]:
        return 0 if house.ace_in_run == "low" else KING + 1
    if ranks[0] + 1 != ranks[1] or ranks[1] + 1 != ranks[2]:
        return 0
    if ranks[0] == 0 and house.ace_in_run == "high":
        return 0
    return ranks[2]


def _counts_as_run(faces: bool, suited: bool, house: HouseRules) -> bool:
    if not faces or house.face_run == "straight":
        return True
    return suited and house.face_run == "straight_if_suited"


def _tong_rank(rank: int, house: HouseRules) -> int:
    match house.tong_against_tong:
        case "rank_ace_high":
            return rank or KING + 1
        case "rank_ace_low":
            return rank + 1
        case "taem" | "push":
            return 0


def _faces_rank(ranks: list[int], house: HouseRules) -> int:
    if house.sam_lueang_against_same == "push":
        return 0
    low, middle, high = ranks
    return high * 256 + middle * 16 + low
