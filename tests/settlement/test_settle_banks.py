"""A player holds the bank: losers are collected first, then winners are paid as far as it lasts."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from settlement import settling
from settlement.models import Line
from tests.settlement import floor
from tests.settlement.floor import AtTable, a_table, a_wallet, covered, holds, lines_of, money, outcome

pytestmark = pytest.mark.django_db

THREE = """
    bet w1 p1 100
    bet w2 p2 100
    bet w3 p3 100
"""
CARDS = """
    lock
    p1 3S 4D
    p2 3C 4H
    p3 3D 4C
    dealer KC 6D
    dealer stays
    close
"""
"""Three hands of 7 against 6: each wins one stake."""
ONE_HAND = CARDS.replace("    p2 3C 4H\n    p3 3D 4C\n", "")
LOST = CARDS.replace("KC 6D", "KC 8D").replace("dealer stays\n", "")
"""The same against a pok: each loses one stake."""


def a_banked_table(**options: Any) -> AtTable:
    return a_table(banker="player", **options)


def opened(limit: int) -> str:
    return f"open 1 clockwise player:B1/{limit}\n"


def bank_of(round_id: UUID) -> tuple[int, int, int, int]:
    """What the banker put up, what play made of it, commission, net."""
    line = Line.objects.get(settlement=settling.effective(round_id), wager="bank")
    return line.stake, line.gross, line.commission, line.net


def test_cover_sets_aside_the_limit_that_the_banker_names() -> None:
    table, banker = a_banked_table(), a_wallet("B1", 2_000)

    cover = covered(table.tell(opened(800) + THREE))

    assert [(hold.wager, hold.amount) for hold in cover.covered] == [("bank", 800_00)]
    assert holds() == {banker: 800_00}


def test_cover_sets_aside_what_the_banker_has_where_that_is_less() -> None:
    table, banker = a_banked_table(), a_wallet("B1", 300)

    covered(table.tell(opened(800) + THREE))

    assert holds() == {banker: 300_00}


def test_a_banker_with_an_empty_wallet_covers_nothing() -> None:
    table = a_banked_table()
    a_wallet("B1")

    cover = covered(table.tell(opened(800) + THREE))

    assert [(item.wager, item.available, item.reason) for item in cover.refused] == [
        ("bank", 0, "insufficient_funds")
    ]


def test_a_bank_that_lasts_pays_every_winner() -> None:
    """Put up 800, paid 3 × 100: the banker has 500 of it left; the money went through the table's bank."""
    table, banker = a_banked_table(), a_wallet("B1", 2_000)
    round_id = table.tell(opened(800) + THREE)
    covered(round_id)
    table.tell(CARDS, round=round_id)

    assert outcome(round_id) == "settled"

    assert bank_of(round_id) == (800_00, -300_00, 0, -300_00)
    assert money() == {"external:cash:C1": -2_000_00, banker: 1_700_00, table.guests: 300_00}
    assert holds() == {}


def test_a_bank_runs_out_at_the_third_hand() -> None:
    """Put up 250: hands 1 and 2 get 100 each, hand 3 the 50 that are left; 50 stay unpaid and nobody owes them."""
    table, banker = a_banked_table(), a_wallet("B1", 250)
    round_id = table.tell(opened(800) + THREE)
    covered(round_id)
    table.tell(CARDS, round=round_id)

    assert outcome(round_id) == "settled"

    assert lines_of(round_id) == {"w1": 100_00, "w2": 100_00, "w3": 50_00, "bank": -250_00}
    assert Line.objects.get(wager="w3").uncovered == 50_00
    assert (money().get(banker, 0), money()[table.guests]) == (0, 250_00)
    effective = settling.effective(round_id)
    assert "bank_short" in [finding.kind for finding in settling.reviewed(round_id, effective)[1]]


def test_only_what_was_put_up_is_played_for_however_full_the_wallet_is() -> None:
    table, banker = a_banked_table(), a_wallet("B1", 10_000)
    round_id = table.tell(opened(250) + THREE)
    covered(round_id)
    table.tell(CARDS, round=round_id)

    assert outcome(round_id) == "settled"

    assert (lines_of(round_id)["w3"], money()[banker]) == (50_00, 9_750_00)


def test_a_bank_that_nobody_asked_to_cover_puts_up_as_much_at_the_settlement() -> None:
    table, banker = a_banked_table(), a_wallet("B1", 250)
    round_id = table.tell(opened(800) + THREE + CARDS)

    assert outcome(round_id) == "settled"

    assert (bank_of(round_id), money().get(banker, 0)) == ((250_00, -250_00, 0, -250_00), 0)
    effective = settling.effective(round_id)
    assert effective is not None
    assert effective.inputs == {"bank": 250_00, "not_in_play": []}


def test_what_stands_behind_a_bankers_own_wager_is_not_put_up_as_the_bank_too() -> None:
    """200 baht, all of them behind the 40 that the banker bets himself: the bank is empty. Hand 1 loses him the 40, and
    hand 2 is paid with those."""
    table, banker = a_banked_table(), a_wallet("B1", 200)
    round_id = table.tell(opened(800) + "bet w1 p1 40 account=player:B1\nbet w2 p2 100")
    covered(round_id)
    table.tell("lock\np1 2S 3D\np2 3S 4D\ndealer KC 6D\ndealer stays\nclose", round=round_id)

    assert outcome(round_id) == "settled"

    assert bank_of(round_id) == (0, 0, 0, 0)
    assert lines_of(round_id) == {"w1": -40_00, "w2": 40_00, "bank": 0}
    assert (money()[banker], table.shortfall in money()) == (160_00, False)


def test_a_bank_collects_every_loss() -> None:
    table, banker = a_banked_table(), a_wallet("B1", 100)
    round_id = table.tell(opened(800) + THREE)
    covered(round_id)
    table.tell(LOST, round=round_id)

    assert outcome(round_id) == "settled"

    assert money() == {"external:cash:C1": -100_00, banker: 400_00, table.guests: -300_00}


def test_the_bankers_commission_is_the_houses_and_all_that_it_gets() -> None:
    """The banker wins 300, of which five per cent are 15."""
    table = a_banked_table(commission={"rate_bp": 500, "side": "banker"})
    banker = a_wallet("B1", 1_000)
    round_id = table.tell(opened(800) + THREE)
    covered(round_id)
    table.tell(LOST, round=round_id)

    assert outcome(round_id) == "settled"

    assert money() == {
        "external:cash:C1": -1_000_00,
        banker: 1_285_00,
        table.guests: -300_00,
        table.commission: 15_00,
    }
    effective = settling.effective(round_id)
    assert effective is not None
    assert effective.house_net == 15_00


def test_a_guest_with_a_wallet_plays_against_a_bank_with_a_wallet() -> None:
    table, banker, nok = a_banked_table(), a_wallet("B1", 1_000), a_wallet("A17", 500)
    round_id = table.tell(opened(800) + "bet w1 p1 100 account=player:A17")
    covered(round_id)
    table.tell("lock\np1 3S 4D\ndealer KC 6D\ndealer stays\nclose", round=round_id)

    assert outcome(round_id) == "settled"

    assert money() == {"external:cash:C1": -1_500_00, banker: 900_00, nok: 600_00}


# -- nobody banks ----------------------------------------------------------------------------------------------


def test_a_round_without_a_banker_waits_for_one() -> None:
    round_id = a_banked_table().tell(THREE + CARDS)

    assert (outcome(round_id), money()) == ("held: missing_banker", {})


def test_a_banker_without_a_wallet_is_no_banker() -> None:
    round_id = a_banked_table().tell(opened(800) + THREE + CARDS)

    assert (outcome(round_id), money()) == ("held: missing_banker", {})


def test_a_preview_says_that_the_banker_has_no_wallet() -> None:
    round_id = a_banked_table().tell(opened(800) + THREE + CARDS)

    _, verdict = settling.preview(round_id)

    assert (verdict.outcome, verdict.reasons) == ("held", ("missing_banker",))


def test_where_a_supervisor_waives_the_banker_the_house_banks() -> None:
    table = a_banked_table()
    round_id = table.tell(opened(800) + THREE + CARDS)
    assert outcome(round_id) == "held: missing_banker"

    table.tell("waive missing_banker", round=round_id)

    assert outcome(round_id) == "settled"
    assert money() == {table.bank: -300_00, table.guests: 300_00}
    effective = settling.effective(round_id)
    assert effective is not None
    assert (effective.inputs, effective.house_net) == ({"bank": None, "not_in_play": []}, -300_00)


def test_a_held_rounds_bank_stays_set_aside_until_it_is_voided() -> None:
    table, banker = a_banked_table(), a_wallet("B1", 1_000)
    round_id = table.tell(opened(800) + THREE)
    covered(round_id)
    table.tell("lock\nclose", round=round_id)
    assert (outcome(round_id), holds()) == ("held: missing_card", {banker: 800_00})

    table.tell("void", round=round_id)

    assert (outcome(round_id), holds(), money()[banker]) == ("voided", {}, 1_000_00)


def test_two_rounds_of_one_batch_share_one_bankers_wallet() -> None:
    """250 baht: the first round takes 200 of them, the second can only be played for the 50 that are left."""
    table, banker = a_banked_table(), a_wallet("B1", 250)
    two = "bet w1 p1 100\nbet w2 p2 100\nlock\np1 3S 4D\np2 3C 4H\ndealer KC 6D\ndealer stays\nclose"
    first, second = table.tell(opened(800) + two), table.tell(opened(800) + two)

    floor.settled(first, second)

    assert (bank_of(first)[0], bank_of(second)[0]) == (250_00, 50_00)
    assert lines_of(second) == {"w1": 50_00, "w2": 0, "bank": -50_00}
    assert money().get(banker, 0) == 0


# -- a bank is measured once ---------------------------------------------------------------------------------


def test_a_bank_that_cover_found_empty_is_empty_whatever_is_paid_in_after_the_cards() -> None:
    """He named 800 and had nothing when it counted; with the cards on the table he pays 2,000 in. Hand 1 won 100."""
    table, banker = a_banked_table(), a_wallet("B1")
    round_id = table.tell("open 1 clockwise player:B1/800 \n bet w1 p1 100")
    assert [(one.wager, one.available) for one in covered(round_id).refused] == [("bank", 0)]
    floor.paid_in("B1", 2_000_00)

    table.tell(ONE_HAND, round=round_id)
    (answer,) = floor.settled(round_id)

    assert answer.outcome == "settled"
    assert (bank_of(round_id), lines_of(round_id)) == ((0, 0, 0, 0), {"w1": 0, "bank": 0})
    assert (money()[banker], table.guests in money()) == (2_000_00, False)


def test_a_bank_is_not_measured_again_by_asking_again() -> None:
    table, banker = a_banked_table(), a_wallet("B1", 300)
    round_id = table.tell("open 1 clockwise player:B1/800 \n bet w1 p1 100")
    covered(round_id)
    floor.paid_in("B1", 2_000_00)
    again = covered(round_id)
    assert ([(one.wager, one.amount) for one in again.covered], again.refused) == ([("bank", 300_00)], ())
    assert holds() == {banker: 300_00}


def test_an_empty_bank_stays_refused_when_it_is_asked_for_again() -> None:
    table = a_banked_table()
    a_wallet("B1")
    round_id = table.tell("open 1 clockwise player:B1/800 \n bet w1 p1 100")
    covered(round_id)
    floor.paid_in("B1", 2_000_00)
    again = covered(round_id)
    assert (again.covered, [(one.wager, one.available, one.reason) for one in again.refused]) == (
        (),
        [("bank", 0, "insufficient_funds")],
    )
    assert holds() == {}


def test_a_bank_whose_wallet_came_after_cover_asked_for_it_is_empty() -> None:
    table = a_banked_table()
    round_id = table.tell("open 1 clockwise player:B1/800 \n bet w1 p1 100")
    assert [one.reason for one in covered(round_id).refused] == ["unknown_wallet"]
    a_wallet("B1", 2_000)
    table.tell(ONE_HAND, round=round_id)
    floor.settled(round_id)
    assert bank_of(round_id) == (0, 0, 0, 0)
