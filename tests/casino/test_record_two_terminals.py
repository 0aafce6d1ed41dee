"""Two terminals at one round: the recorder tells it, and no bet that only the other has vanishes."""

import pytest

from casino.record import BetsApart, Owner
from tests.casino.telling import TWO_HANDS, flagged, told


def apart(text: str) -> tuple[list[str], list[str]]:
    """The doubts, and the differences as ``source hand owner theirs ours`` (baht)."""
    found = told(text)
    assert bool(found.bets_apart) == ("records_differ" in found.doubts)
    return list(found.doubts), [
        f"{one.source} {one.hand} {one.owner.ref} {one.stake // 100} {one.ours // 100}"
        for one in found.bets_apart
    ]


HELD = ["records_differ"]


@pytest.mark.parametrize(
    ("theirs", "differences"),
    [
        # The same bets, under whatever ids, in whatever parts: no hold. Nor for one that only the recorder has.
        ("bet w1 p1 100", []),
        ("bet w7 p1 100", []),
        ("bet w7 p1 60 \n tablet2: bet w8 p1 40", []),
        ("bet w7 p1 500 \n tablet2: change w7 100", []),
        ("bet w7 p1 100 \n tablet2: bet w8 p2 50 \n tablet2: withdraw w8", []),
        ("lock", []),
        # Another sum of stakes, another owner, another hand.
        ("bet w7 p1 150", ["tablet2 p1 1 150 100"]),
        ("bet w7 p1 100 \n tablet2: bet w8 p1 20", ["tablet2 p1 1 120 100"]),
        ("bet w7 p1 100 seat=2", ["tablet2 p1 2 100 0"]),
        ("bet w7 p3 100 seat=1", ["tablet2 p3 1 100 0"]),
        ("bet w7 p1 100 account=player:A17", ["tablet2 p1 player:A17 100 0"]),
        ("bet w1 p1 100 \n tablet2: bet w9 p9 10 \n tablet2: bet w8 p8 10",
         ["tablet2 p8 8 10 0", "tablet2 p9 9 10 0"]),
        # As they stood when it closed its bets; late ones are left out, and what nobody can bet on.
        ("bet w7 p1 100 \n tablet2: lock \n tablet2: bet w8 p2 50", []),
        ("bet w7 p1 100 \n tablet2: bet w8 p2 50 \n tablet2: lock \n tablet2: withdraw w8", ["tablet2 p2 2 50 0"]),
        ("bet w7 dealer 100 \n tablet2: bet w8 junk1 100 \n tablet2: bet w9 p1 100 seat=1 USD", []),
    ],
)  # fmt: skip
def test_a_bet_that_another_terminal_has_otherwise_holds_the_round(
    theirs: str, differences: list[str]
) -> None:
    assert apart(f"{TWO_HANDS} \n tablet2: {theirs} \n close") == (HELD if differences else [], differences)


def test_the_recorders_bets_are_compared_as_they_stood_when_it_closed_them() -> None:
    said = "bet w1 p1 100 \n change w1 150 \n lock \n change w1 200 \n p1 3S 4D \n dealer KC 6D"
    assert apart(f"{said} \n tablet2: bet w1 p1 150") == ([], [])
    assert apart(f"{said} \n tablet2: bet w1 p1 200") == (HELD, ["tablet2 p1 1 200 150"])


def test_each_of_several_terminals_is_compared_by_itself() -> None:
    said = (
        f"{TWO_HANDS} \n tablet2: bet w1 p1 150 \n tablet3: bet w1 p1 100 \n tablet4: bet w1 p1 150 \n close"
    )
    assert apart(said) == (HELD, ["tablet2 p1 1 150 100", "tablet4 p1 1 150 100"])


def test_what_is_compared_names_both() -> None:
    found = told(f"{TWO_HANDS} \n tablet2: bet w7 p1 150 \n close")
    assert found.bets_apart == (BetsApart("tablet2", "p1", Owner("seat", "1"), 150_00, 100_00),)


EXTRA = f"{TWO_HANDS} \n tablet2: bet w2 p1 50 seat=2 \n close"


@pytest.mark.parametrize(
    ("ruling", "wagers"),
    [
        ("page: rule-bet w2 p1 50 seat=2", [("w1", 100_00), ("w2", 50_00)]),  # taken over, under a free id
        ("rule-bet w2 p1 50 seat=2 signed", [("w1", 100_00), ("w2", 50_00)]),
        ("tablet2: rule-bet w2 p1 50 seat=2 signed", [("w1", 100_00), ("w2", 50_00)]),
        ("page: rule-bet w2 p1 0 seat=2", [("w1", 100_00)]),  # there was no such bet
        ("page: rule-bet w2 p1 70 seat=2", [("w1", 100_00), ("w2", 70_00)]),
        ("page: waive records_differ", [("w1", 100_00)]),
    ],
)
def test_a_ruling_of_that_bet_or_a_waiver_releases_the_round(
    ruling: str, wagers: list[tuple[str, int]]
) -> None:
    found = told(f"{EXTRA} \n {ruling}")
    assert (found.doubts, [(wager.id, wager.stake) for wager in found.wagers]) == ((), wagers)


@pytest.mark.parametrize(
    "act",
    [
        "rule-bet w2 p1 50 seat=2",  # nobody signed
        "page: rule-bet w2 shared 50 seat=2",  # another hand
        "page: rule-bet w2 p1 50 seat=3",  # another owner
        "page: rule-bet w2 p1 50 seat=2 \n page: rule-bet w2 shared 50 seat=2",  # taken back by the last ruling
        "waive records_differ",
        "page: waive declared_differs",
    ],
)
def test_what_does_not_answer_that_bet_releases_nothing(act: str) -> None:
    assert apart(f"{EXTRA} \n shared 5C 5D \n {act}") == (HELD, ["tablet2 p1 2 50 0"])


def test_repeating_the_recorders_stake_lets_that_stand() -> None:
    found = told(f"{TWO_HANDS} \n tablet2: bet w7 p1 150 \n close \n page: rule-bet w1 p1 100")
    assert (found.doubts, [wager.stake for wager in found.wagers]) == ((), [100_00])
    assert flagged(found) == ["bet_ruled w1"]


def test_a_waiver_answers_the_bets_that_stood_before_it() -> None:
    said = f"{TWO_HANDS} \n close \n tablet2: bet w7 p1 150 \n page: waive records_differ"
    assert apart(said) == ([], [])
    assert apart(f"{said} \n tablet2: change w7 180") == (HELD, ["tablet2 p1 1 180 100"])
    assert apart(f"{said} \n tablet2: bet w8 p2 50") == (HELD, ["tablet2 p2 2 50 0"])
    assert apart(f"{said} \n tablet3: bet w7 p1 150") == (HELD, ["tablet3 p1 1 150 100"])
    early = f"{TWO_HANDS} \n close \n page: waive records_differ \n tablet2: bet w7 p1 150"
    assert apart(early) == (HELD, ["tablet2 p1 1 150 100"])


def test_a_void_ends_it() -> None:
    assert told(f"{EXTRA} \n void signed").doubts == ()


def test_a_terminal_that_became_recorder_is_not_another_terminal() -> None:
    said = "bet w1 p1 100 \n tablet2: bet w2 p2 100 \n tablet2: takes-over signed \n tablet2: bet w3 p3 20 \n"
    found = told(f"{said} tablet2: lock \n bet w4 p4 10 \n tablet2: close")
    assert (found.bets_apart, [wager.id for wager in found.wagers]) == ((), ["w1", "w3"])


def test_who_records_changes_and_the_bets_stay_open() -> None:
    said = "bet w1 p1 100 \n tablet2: takes-over signed \n tablet2: change w1 300 \n tablet2: bet w2 p2 50 \n"
    found = told(f"{said} tablet2: lock \n tablet2: change w1 900")
    assert [(wager.id, wager.stake) for wager in found.wagers] == [("w1", 300_00), ("w2", 50_00)]
    assert flagged(found) == ["late_bet w1"]


def test_while_numbers_are_missing_nobody_says_that_a_bet_is() -> None:
    assert apart("bet w1 p1 100 \n skip 1 \n lock \n tablet2: bet w2 p2 50 \n close") == (
        ["sequence_gap"],
        [],
    )
