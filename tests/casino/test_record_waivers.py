"""What a supervisor waives is what stood before; and what a check met is in doubt once its card is gone."""

from dataclasses import replace

import pytest

from casino import record
from casino.record import CheckInDoubt, RoundRecord
from settlement.rules import doubts, house_rules, payouts
from settlement.rules.house_rules import HouseRules
from tests.casino.telling import TWO_HANDS, events_of, faces, flagged, hand_of, told

SEED_BASE = house_rules.PRESETS["seed_base"]
CAMERA = house_rules.from_options("seed_base", {"requires": {"camera": True}})
DECLARED = house_rules.from_options("seed_base", {"requires": {"declared_result": True}})
BANKED = house_rules.from_options("seed_base", {"banker": "player"})


def held(text: str, sheet: HouseRules = SEED_BASE) -> list[str]:
    return list(payouts.judge(told(text), sheet).reasons)


# ── A waiver answers what stands before it ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        (f"{TWO_HANDS} \n waive awaiting_camera signed \n close", []),
        (f"{TWO_HANDS} \n close \n page: waive awaiting_camera", []),
        ("waive awaiting_camera signed \n " + TWO_HANDS + " \n close", ["awaiting_camera"]),
        ("bet w1 p1 100 \n lock \n page: waive awaiting_camera \n p1 3S 4D \n dealer KC 6D \n close",
         ["awaiting_camera"]),
        # A later face is a new doubt, also one that is corrected to; what a camera reads then answers it.
        (f"{TWO_HANDS} \n waive awaiting_camera signed \n p1 draws \n p1.3 2H \n close", ["awaiting_camera"]),
        (f"{TWO_HANDS} \n waive awaiting_camera signed \n correct p1.2 5D \n close", ["awaiting_camera"]),
        (f"{TWO_HANDS} \n waive awaiting_camera signed \n correct p1.2 5D \n close \n camera: p1.2 5D", []),
        (f"{TWO_HANDS} \n waive awaiting_camera signed \n close \n page: rule p1.2 5D", []),
        (f"{TWO_HANDS} \n waive awaiting_camera signed \n close \n page: rule p1.3 5D", ["awaiting_camera"]),
        (f"{TWO_HANDS} \n close \n page: rule p1.3 5D \n page: waive awaiting_camera", []),
    ],
)  # fmt: skip
def test_a_waived_camera_is_waived_for_the_faces_that_were_there(said: str, reasons: list[str]) -> None:
    assert held(said, CAMERA) == reasons


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        (f"{TWO_HANDS} \n waive missing_declaration signed \n close", []),
        (f"{TWO_HANDS} \n close \n page: waive missing_declaration \n page: rule-bet w2 p1 100 seat=2",
         ["missing_declaration"]),
        (f"{TWO_HANDS} \n close \n page: rule-bet w2 p1 100 seat=2 \n page: waive missing_declaration", []),
        ("waive missing_declaration signed \n " + TWO_HANDS + " \n close", ["missing_declaration"]),
    ],
)  # fmt: skip
def test_a_waived_declaration_is_waived_for_the_wagers_that_were_in_play(
    said: str, reasons: list[str]
) -> None:
    assert held(said, DECLARED) == reasons


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        (f"{TWO_HANDS} \n declare w1=-1 \n waive declared_differs signed \n close", []),
        (f"{TWO_HANDS} \n declare w1=-1 \n close \n page: waive declared_differs", []),
        (f"{TWO_HANDS} \n waive declared_differs signed \n declare w1=-1 \n close", ["declared_differs"]),
        # Another declaration or another judgement is a new doubt; the one that was waived comes back waived.
        (f"{TWO_HANDS} \n declare w1=-1 \n waive declared_differs signed \n declare w1=5 \n close",
         ["declared_differs"]),
        (f"{TWO_HANDS} \n declare w1=-1 \n waive declared_differs signed \n declare w1=5 \n declare w1=-1 \n close",
         []),
        # A pair of threes, six with two deng, wins once against a six: other cards, the same pair.
        (f"{TWO_HANDS} \n declare w1=-1 \n waive declared_differs signed \n close \n page: rule p1.2 3D", []),
        (f"{TWO_HANDS} \n declare w1=-1 \n close \n page: waive declared_differs \n page: rule p1.1 4S",
         ["declared_differs"]),
        (f"{TWO_HANDS} \n declare w1=-1 \n close \n page: rule p1.1 4S \n page: waive declared_differs", []),
    ],
)  # fmt: skip
def test_a_waived_difference_is_this_pair_of_declared_and_judged(said: str, reasons: list[str]) -> None:
    assert held(said, SEED_BASE) == reasons


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        (f"{TWO_HANDS} \n waive missing_banker signed \n close", []),
        (f"open \n page: waive missing_banker \n {TWO_HANDS} \n close", []),
        (f"camera: p1 3S \n page: waive missing_banker \n open \n {TWO_HANDS} \n close", ["missing_banker"]),
    ],
)  # fmt: skip
def test_the_house_banks_where_that_was_waived_after_the_opening(said: str, reasons: list[str]) -> None:
    assert held(said, BANKED) == reasons


def jumping(text: str) -> list[str]:
    events, _ = events_of(text)
    told = [replace(event, jumped_from=12) if event.kind == "round_opened" else event for event in events]
    return list(record.fold(told).doubts)


def test_a_number_that_jumps_is_held_until_it_is_waived_or_the_round_is_voided() -> None:
    assert jumping(f"open 9001 \n {TWO_HANDS} \n close") == ["number_jump"]
    assert jumping(f"open 9001 \n {TWO_HANDS} \n close \n page: waive number_jump") == []
    assert jumping(f"open 9001 \n {TWO_HANDS} \n close \n waive number_jump") == ["number_jump"]
    assert jumping(f"camera: p1 3S \n page: waive number_jump \n open 9001 \n {TWO_HANDS}") == ["number_jump"]
    assert jumping(f"open 9001 \n {TWO_HANDS} \n close \n void signed") == []


def test_a_terminals_waiver_covers_what_cameras_read_whenever_that_arrives() -> None:
    sheet = house_rules.from_options("seed_base", {"feed_lead": "camera"})
    played = f"{TWO_HANDS} \n declare w1=-1 \n waive declared_differs signed \n close"
    assert held(f"{played} \n camera: p1 3S 4D", sheet) == []


def test_a_pages_waiver_does_not_cover_a_judgement_that_a_camera_makes_later() -> None:
    sheet = house_rules.from_options("seed_base", {"feed_lead": "camera"})
    played = f"{TWO_HANDS} \n declare w1=-1 \n close \n page: waive declared_differs"
    assert held(played, sheet) == []
    assert held(f"{played} \n camera: p1.1 4S", sheet) == ["declared_differs"]


# ── A check in doubt ──────────────────────────────────────────────────────────────────────────────────────

CHECKED = """
    bet w1 p1 100
    bet w2 p2 100
    lock
    p1 3S 2D
    p2 9S KD
    dealer KC 6D
    check p1
"""
"""p1 was checked against a king and a six; p2 waits."""


def in_doubt(text: str) -> tuple[list[str], list[CheckInDoubt]]:
    found = told(text)
    return list(found.doubts), list(found.checks_in_doubt)


WAIVED = "dealer draws \n dealer.3 8H \n page: remove dealer.1 \n page: waive check_in_doubt"
GONE = [CheckInDoubt("p1", "dealer.1", 1)]


@pytest.mark.parametrize(
    ("said", "doubtful"),
    [
        ("dealer draws \n dealer.3 8H \n page: remove dealer.1 \n close", GONE),
        ("dealer draws \n dealer.3 8H \n close \n remove dealer.1 signed", GONE),
        ("dealer draws \n dealer.3 8H \n tablet2: remove dealer.1 signed \n close", GONE),
        ("dealer draws \n dealer.3 8H \n remove dealer.1 \n close", []),  # nobody signed
        ("dealer draws \n dealer.3 8H \n page: remove dealer.3 \n close", []),  # no check met that one
        ("dealer stays \n close \n page: remove p1.1 \n page: rule p1.1 3S", []),
        # A ruling of that slot puts a card back; removed once more, it is a new doubt.
        ("dealer draws \n dealer.3 8H \n page: remove dealer.1 \n close \n page: rule dealer.1 KC", []),
        ("dealer draws \n dealer.3 8H \n page: remove dealer.1 \n close \n page: waive check_in_doubt", []),
        ("dealer draws \n dealer.3 8H \n page: waive check_in_doubt \n page: remove dealer.1 \n close", GONE),
        (f"{WAIVED} \n page: rule dealer.1 KC \n page: remove dealer.1 \n close",
         [CheckInDoubt("p1", "dealer.1", 2)]),
        (f"{WAIVED} \n page: remove dealer.2 \n dealer.4 2H \n close", [CheckInDoubt("p1", "dealer.2", 1)]),
    ],
)  # fmt: skip
def test_a_check_is_in_doubt_while_a_card_that_it_met_is_gone(
    said: str, doubtful: list[CheckInDoubt]
) -> None:
    assert in_doubt(f"{CHECKED} {said}") == (["check_in_doubt"] if doubtful else [], doubtful)


def test_a_check_that_is_waived_meets_the_dealers_first_two_effective_cards() -> None:
    found = told(
        f"{CHECKED} dealer draws \n dealer.3 8H \n page: remove dealer.1 \n page: waive check_in_doubt \n close"
    )
    assert (hand_of(found, "p1").met, faces(found.dealer)) == ("two", "6D 8H")
    assert {line.wager: line.dealer_cards for line in payouts.judge(found, SEED_BASE).lines} == {
        "w1": found.dealer.cards[:2],
        "w2": found.dealer.cards,
    }


def test_a_voided_round_has_no_check_in_doubt() -> None:
    found = told(f"{CHECKED} dealer draws \n dealer.3 8H \n page: remove dealer.1 \n page: void")
    assert (found.state, found.doubts) == ("voided", ())


@pytest.mark.parametrize(
    "by", ["page: remove dealer.1", "remove dealer.1 signed", "tablet2: remove dealer.1 signed"]
)
def test_a_card_that_was_gone_before_the_check_is_no_doubt(by: str) -> None:
    found = told(
        f"bet w1 p1 100 \n lock \n p1 3S 2D \n dealer KC 6D \n {by} \n dealer.3 8H \n check p1 \n dealer stays \n close"
    )
    assert (found.doubts, flagged(found)) == ((), [])
    assert (hand_of(found, "p1").met, faces(found.dealer)) == ("two", "6D 8H")


def test_the_doubt_of_a_check_says_nothing_of_what_was_declared() -> None:
    said = f"{CHECKED} dealer draws \n dealer.3 8H \n page: remove dealer.1 \n declare w1=-1 w2=1 \n close"
    assert held(said) == ["check_in_doubt"]


def test_the_check_of_a_hand_that_is_not_in_play_is_in_no_doubt() -> None:
    said = "bet w1 p1 100 \n lock \n p1 3S 2D \n dealer KC 6D \n check p9 \n page: remove dealer.1 \n dealer.3 8H"
    assert in_doubt(said) == ([], [])


# ── As it stood at the check ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("said", "cards"),
    [
        ("p1 3S 2D \n check p1 \n p1 draws \n p1.3 4H", 2),  # it drew afterwards
        ("p1 3S 2D \n p1 draws \n check p1 \n p1.3 4H", 3),  # its face is shown later
        ("p1 draws \n check p1 \n p1 3S 2D 4H", 3),
        ("p1 3S 2D 4H \n check p1 \n page: remove p1.3", 3),
        ("p1 3S 2D 4H \n page: remove p1.3 \n check p1", 2),
        ("p1 3S 2D 4H \n page: remove p1.1 \n check p1", 2),
        ("p1 3S 2D \n p1 draws \n remove p1.3 \n check p1 \n p1.3 4H", 2),
    ],
)  # fmt: skip
def test_a_check_remembers_with_how_many_cards_the_hand_stood(said: str, cards: int) -> None:
    found = told(f"bet w1 p1 100 \n lock \n dealer KC 6D \n {said} \n close")
    assert hand_of(found, "p1").checked_with == cards


def test_hands_that_nobody_checked_have_no_cards_at_a_check() -> None:
    found: RoundRecord = told(f"{TWO_HANDS} \n close")
    assert [hand.checked_with for hand in (*found.hands, found.dealer)] == [0, 0]
    assert doubts.reasons(found, SEED_BASE) == ()
