"""What a bet was is a fact that a dispute can choose, with what would come of it, as cards are."""

from __future__ import annotations

from typing import Any

import pytest

from audit import disputes
from casino.platform.refusals import Refusal
from settlement import settling
from settlement.models import Settlement
from tests.audit.disputing import (
    STANDS,
    THEN,
    WON,
    a_held_round,
    a_ruled_bet,
    a_settled_round,
    answers,
    decided,
    proposed,
    raised,
)
from tests.settlement import floor
from tests.settlement.floor import a_table, a_wallet, corrected, lines_of, money, outcome
from tests.settlement.test_settle_bets import PLAYED, a_bet, second_terminal

pytestmark = pytest.mark.django_db

LATE = WON.replace("lock\n", "lock\nchange w1 300\n", 1)
"""w1 of 100 baht was raised to 300 after the lock: late; p1 won."""


def options(found: dict[str, Any]) -> dict[str, tuple[str, int]]:
    return {said: (one.outcome, one.moved) for said, one in found.items()}


def test_a_late_raise_is_answered_by_the_stake_it_would_have_been_and_the_one_it_is() -> None:
    dispute = raised(a_settled_round(a_table(), LATE), subject="w1")
    assert options(answers(dispute)) == {
        "bet_ruled w1 p1 seat=1 300": ("settled", 200_00),
        "bet_ruled w1 p1 seat=1 100": ("settled", 0),
        "stands": ("settled", 0),
        "round_voided": ("voided", 100_00),
    }
    assert dispute.money_at_risk == 200_00


def test_a_late_bet_is_one_or_none() -> None:
    text = WON.replace("lock\n", "lock\nbet w2 p1 50 seat=2\n", 1)
    dispute = raised(a_settled_round(a_table(), text), subject="w2")
    assert list(answers(dispute))[:2] == ["bet_ruled w2 p1 seat=2 50", "bet_ruled w2 p1 seat=2 0"]


def test_a_decision_rules_a_bet_and_the_difference_is_paid() -> None:
    table = a_table()
    round_id = a_settled_round(table, LATE)
    decision = decided(raised(round_id, subject="w1"), a_ruled_bet("w1", "p1", 300))
    assert (decision.outcome, lines_of(round_id)) == ("settled", {"w1": 300_00})
    assert money() == {table.bank: -300_00, table.guests: 300_00}
    effective = settling.effective(round_id)
    assert effective is not None
    assert (effective.revision, effective.cites, effective.because) == (2, decision.events, decision.id)
    findings = [(one.kind, one.subject) for one in settling.reviewed(round_id, effective)[1]]
    assert findings == [("bet_ruled", "w1"), ("late_bet", "w1")]


def test_a_bet_that_nobody_entered_can_be_decided_to_a_guests_wallet() -> None:
    table, nok = a_table(), a_wallet("NOK", 100)
    round_id = a_settled_round(table)
    dispute = raised(round_id)
    assert proposed(dispute, a_ruled_bet("w2", "p1", 50, account="player:NOK")).consequences["moved"] == 50_00
    decided(dispute, a_ruled_bet("w2", "p1", 50, account="player:NOK"))
    assert (lines_of(round_id), money()[nok]) == ({"w1": 100_00, "w2": 50_00}, 150_00)


def test_a_bet_decided_to_a_wallet_that_does_not_exist_comes_to_nothing_and_is_said_to() -> None:
    round_id = a_settled_round(a_table())
    facts = a_ruled_bet("w2", "p1", 50, account="player:NOBODY")
    considered = settling.question(round_id).consider(facts)
    assert [(line.wager, line.after) for line in considered.lines] == [("w1", 100_00)]
    decided(raised(round_id), facts)
    assert lines_of(round_id) == {"w1": 100_00}


def test_a_bet_of_nobodys_is_decided_to_be_a_guests() -> None:
    """w1 was a bet of a wallet that does not exist, so it did not play; it was NOK's, and p1 won."""
    table, nok = a_table(), a_wallet("NOK", 100)
    round_id = a_settled_round(table, f"bet w1 p1 100 account=player:NOBODY \n {PLAYED} \n close")
    assert lines_of(round_id) == {}
    decided(raised(round_id), a_ruled_bet("w1", "p1", 100, account="player:NOK"))
    assert (lines_of(round_id), money()[nok]) == ({"w1": 100_00}, 200_00)


def test_the_bets_of_two_terminals_are_each_an_answer() -> None:
    table = a_table()
    round_id = table.tell(f"bet w1 p1 100 \n {PLAYED}")
    second_terminal(table, a_bet("w1", 1, 150), a_bet("w5", 2, 50))
    table.tell("close", round=round_id)
    assert outcome(round_id) == "held: records_differ"
    dispute = raised(round_id)
    assert options(answers(dispute)) == {
        # One of the two differences still holds the round, whichever way the other is answered.
        "bet_ruled w1 p1 seat=1 150": ("held", 0),
        "bet_ruled w1 p1 seat=1 100": ("held", 0),
        "bet_ruled w2 p1 seat=2 50": ("held", 0),
        "bet_ruled w2 p1 seat=2 0": ("held", 0),
        "hold_waived records_differ": ("settled", 100_00),
        "stands": ("held", 0),
        "round_voided": ("voided", 0),
    }
    decided(dispute, [*a_ruled_bet("w1", "p1", 150), *a_ruled_bet("w2", "p1", 50, seat=2)])
    assert (lines_of(round_id), Settlement.objects.get().revision) == ({"w1": 150_00, "w2": 50_00}, 1)


def test_a_check_in_doubt_is_answered_by_waiving_it() -> None:
    """p1's seven was checked against a king and a six; the king was dead, so that it meets a six and an eight: 4."""
    text = "bet w1 p1 100\nlock\np1 3S 4D\ndealer KC 6D\ncheck p1\ndealer draws\ndealer.3 8H\nremove dealer.1\nclose"
    dispute = raised(a_held_round(a_table(), text, reason="check_in_doubt"))
    assert options(answers(dispute))["hold_waived check_in_doubt"] == ("settled", 100_00)


def test_an_option_of_a_bet_says_in_one_line_what_it_is_and_what_comes_of_it() -> None:
    round_id = a_settled_round(a_table(), LATE)
    said = [option.written()["says"] for option in disputes.options_of(round_id)]
    assert (said[0]["en"], said[0]["th"]) == (
        "w1: ฿300 on seat 1: +฿300, ฿200 moves",
        "w1: ฿300 ที่ที่นั่ง 1: +฿300 ย้าย ฿200",
    )
    assert said[1]["en"] == "w1: ฿100 on seat 1: +฿100 as paid"


def test_two_people_choose_cards_and_no_bets() -> None:
    """A supervisor's ruling of a bet after the settlement is late; only a decision may name it."""
    table = a_table()
    round_id = a_settled_round(table)
    table.tell("rule-bet w1 p1 900", round=round_id, at=floor.LATER)
    with pytest.raises(Refusal, match="invalid_value"):
        corrected(round_id)
    assert lines_of(round_id) == {"w1": 100_00}
    late = list(floor.Round.objects.get(pk=round_id).events.filter(late=True).values_list("id", flat=True))
    dispute = raised(round_id)
    decided(dispute, STANDS)
    with floor.act(now=THEN):
        settling.correct(round_id, cites=late, because=dispute.id)
    assert lines_of(round_id) == {"w1": 900_00}
