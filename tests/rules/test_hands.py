"""All 1,326 two-card and 22,100 three-card hands, counted, and the few that are easily got wrong."""

from collections import Counter
from itertools import combinations, permutations
from typing import Any

import pytest

from casino import cards as deck
from settlement.rules import hands, house_rules, lookup, showdown
from settlement.rules.house_rules import PRESETS, HouseRules
from tests.rules.given import case, hand

TWO = tuple(combinations(deck.DECK, 2))
THREE = tuple(combinations(deck.DECK, 3))


def kinds(options: dict[str, Any]) -> dict[str, int]:
    table = lookup.of(house_rules.from_options("seed_base", options))
    return dict(Counter(table.classify(cards).kind for cards in THREE))


def test_two_cards_are_a_pok_in_252_of_1326_hands() -> None:
    """Nine in 128 hands, 32 of them with deng; eight in 124, 40 of them with deng."""
    count = Counter(hands.classify(cards, PRESETS["seed_base"]) for cards in TWO)
    assert len(TWO) == 1326
    assert {(pok.taem, pok.deng): n for pok, n in count.items() if pok.kind == "pok"} == {
        (9, 1): 96,
        (9, 2): 32,
        (8, 1): 84,
        (8, 2): 40,
    }
    assert sum(deck.rank(a) == deck.rank(b) for a, b in TWO) == 78
    assert sum(deck.suit(a) == deck.suit(b) for a, b in TWO) == 312


SPECIAL = {"straights": "special"}


@pytest.mark.parametrize(
    ("sheets", "counts"),
    [
        (
            [{"straights": "off"}, {"straights": "as_sam_deng"}],
            {"tong": 52, "sam_lueang": 208, "normal": 21_840},
        ),
        (
            [SPECIAL | {"ace_in_run": ace, "face_run": "sam_lueang"} for ace in ("low", "high")],
            {"tong": 52, "straight_flush": 40, "straight": 600, "sam_lueang": 208, "normal": 21_200},
        ),
        (
            [SPECIAL | {"ace_in_run": "both", "face_run": "sam_lueang"}],
            {"tong": 52, "straight_flush": 44, "straight": 660, "sam_lueang": 208, "normal": 21_136},
        ),
        (
            [SPECIAL | {"ace_in_run": ace, "face_run": "straight"} for ace in ("low", "high")],
            {"tong": 52, "straight_flush": 44, "straight": 660, "sam_lueang": 144, "normal": 21_200},
        ),
        (
            [SPECIAL | {"ace_in_run": "both", "face_run": "straight"}],
            {"tong": 52, "straight_flush": 48, "straight": 720, "sam_lueang": 144, "normal": 21_136},
        ),
        (
            [SPECIAL | {"ace_in_run": "high", "face_run": "straight_if_suited"}],
            {"tong": 52, "straight_flush": 44, "straight": 600, "sam_lueang": 204, "normal": 21_200},
        ),
    ],
)
def test_three_cards_fall_into_their_kinds_as_often_as_they_must(
    sheets: list[dict[str, Any]], counts: dict[str, int]
) -> None:
    assert len(THREE) == 22_100
    assert [kinds(sheet) for sheet in sheets] == [counts] * len(sheets)


@pytest.mark.parametrize(
    ("cards", "preset", "worth"),
    [
        ("5H 7H 7S", "seed_base", ("normal", 9, 1)),  # a pair among three cards has no deng
        ("4S 4D KC", "seed_base", ("normal", 8, 1)),  # three cards are no pok
        ("KS KH KD", "seed_base", ("tong", 0, 5)),  # not sam lueang
        ("TS JH QD", "seed_base", ("normal", 0, 1)),  # a ten is no face
        ("KS AS 2S", "seed_table", ("normal", 3, 3)),  # a run does not go round the corner
        ("QS KD AH", "seed_table", ("normal", 1, 1)),  # the ace is low
        ("AS 2D 3H", "thai_app", ("normal", 6, 1)),  # the ace is high
        ("JS QS KS", "thai_app", ("straight_flush", 0, 5)),
        ("JS QS KD", "thai_app", ("sam_lueang", 0, 3)),
        ("QS KS AS", "thai_app", ("straight_flush", 1, 5)),
        ("2S 3D 4C", "seed_sam_deng", ("normal", 9, 3)),
        ("JS QD KC", "seed_sam_deng", ("sam_lueang", 0, 3)),
    ],
)
def test_hands_that_are_easily_got_wrong(cards: str, preset: str, worth: tuple[str, int, int]) -> None:
    assert hands.classify(hand(cards), PRESETS[preset])[:3] == worth


@pytest.mark.parametrize("cards", ["", "9S", "9S 9S", "9S 8D 9S", "2C 3C 4C 5C"])
def test_what_is_no_hand_has_no_worth(cards: str) -> None:
    with pytest.raises(ValueError, match="no hand"):
        hands.classify(hand(cards), PRESETS["seed_base"])


def sheets_looked_up() -> list[HouseRules]:
    changed = [
        house_rules.from_options("seed_base", sheet["options"]) for sheet in case("options.json")["sheets"]
    ]
    return [*PRESETS.values(), *changed]


def test_the_precomputed_worth_of_every_hand_is_that_of_classify() -> None:
    for sheet in sheets_looked_up()[::3]:
        table = lookup.of(sheet)
        wrong = [c for c in TWO + THREE if table.hands[table.class_of(c)] != hands.classify(c, sheet)]
        assert wrong == []


def test_the_precomputed_outcome_of_every_pair_is_that_of_compare() -> None:
    for sheet in sheets_looked_up():
        table = lookup.of(sheet)
        for ours, row in zip(table.hands, table.outcomes, strict=True):
            assert row == [showdown.compare(ours, theirs, sheet) for theirs in table.hands]


def test_a_hand_is_the_same_in_whatever_order_its_cards_lie() -> None:
    shape = lookup.shapes()
    assert len(shape) == 2 * 1326 + 6 * 22_100
    assert all(len({shape[order] for order in permutations(cards)}) == 1 for cards in TWO + THREE[::7])
    assert (
        lookup.classify_many([(8, 4, 0), (0, 4, 8)], PRESETS["seed_base"]) == [hands.Hand("normal", 6, 3)] * 2
    )
