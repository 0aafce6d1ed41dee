"""Wallets: the most a wager can lose is set aside before the cards, and none goes below zero."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.db.models import F

from casino import tables
from casino.platform.refusals import Refusal
from settlement import settling
from settlement.models import Account, Hold, Uncovered
from tests.settlement import floor
from tests.settlement.floor import AtTable, a_table, a_wallet, covered, holds, lines_of, money, outcome

pytestmark = pytest.mark.django_db

BET = "bet w1 p1 100 account=player:A17"
TONG = """
    lock
    p1 9S 8D
    dealer 7C 7D
    dealer draws
    dealer.3 7H
    close
"""
"""The dealer's three sevens take five stakes."""
SIX = """
    lock
    p1 3S 4D
    dealer KC 6D
    dealer stays
    close
"""
"""Hand 1 wins one stake."""


def refusal_of(round_id: UUID) -> str:
    with pytest.raises(Refusal) as refused:
        covered(round_id)
    return refused.value.code


def answered(cover: settling.Cover) -> dict[str, Any]:
    """What was set aside by wager, and what was not: exposure, available, reason."""
    return {hold.wager: hold.amount for hold in cover.covered} | {
        item.wager: (item.exposure, item.available, item.reason) for item in cover.refused
    }


def uncovered() -> list[tuple[str, int, str]]:
    return list(Uncovered.objects.order_by("wager").values_list("wager", "exposure", "reason"))


def ends_of(wager: str) -> list[tuple[int, str]]:
    """Its holds, those that ended before the one that stands."""
    found = Hold.objects.filter(wager=wager).order_by(F("ended_at").asc(nulls_last=True))
    return list(found.values_list("amount", "outcome"))


# -- before the cards ------------------------------------------------------------------------------------------


def test_five_stakes_are_set_aside_before_the_cards() -> None:
    table, nok = a_table(), a_wallet("A17", 1_000)

    cover = covered(table.tell(BET))

    assert answered(cover) == {"w1": 500_00}
    assert holds() == {nok: 500_00}
    assert money()[nok] == 1_000_00


def test_a_sheet_that_caps_the_deng_asks_for_less() -> None:
    table, nok = a_table(max_deng=2), a_wallet("A17", 1_000)

    covered(table.tell(BET))

    assert holds() == {nok: 200_00}


def test_chips_are_not_covered() -> None:
    table = a_table()

    assert answered(covered(table.tell("bet w1 p1 100"))) == {}


def test_a_wallet_short_of_five_stakes_is_refused_with_what_it_has() -> None:
    table, nok = a_table(), a_wallet("A17", 350)

    cover = covered(table.tell(BET))

    assert answered(cover) == {"w1": (500_00, 350_00, "insufficient_funds")}
    assert (holds(), money()[nok]) == ({}, 350_00)


def test_a_wallet_that_does_not_exist_covers_nothing() -> None:
    table = a_table()

    assert answered(covered(table.tell(BET))) == {"w1": (500_00, 0, "unknown_wallet")}


def test_a_wallet_covers_wagers_in_the_order_in_which_they_were_placed() -> None:
    """1,000 baht cover the first wager's 500; what is left is too little for 750 and enough for 500."""
    table, nok = a_table(), a_wallet("A17", 1_000)
    round_id = table.tell("""
        bet w1 p1 100 account=player:A17
        bet w2 p2 150 account=player:A17
        bet w3 p3 100 account=player:A17
    """)

    cover = covered(round_id)

    assert answered(cover) == {"w1": 500_00, "w3": 500_00, "w2": (750_00, 500_00, "insufficient_funds")}
    assert holds() == {nok: 1_000_00}


def test_two_wallets_on_one_hand_are_covered_each_for_itself() -> None:
    table, nok, lek = a_table(), a_wallet("A17", 1_000), a_wallet("B08", 1_000)
    round_id = table.tell(BET + "\nbet w2 p1 40 account=player:B08")

    assert answered(covered(round_id)) == {"w1": 500_00, "w2": 200_00}
    assert holds() == {nok: 500_00, lek: 200_00}


def test_what_one_table_has_set_aside_another_cannot_use() -> None:
    north, south, nok = a_table("PD01"), a_table("PD02"), a_wallet("A17", 600)
    covered(north.tell(BET))

    cover = covered(south.tell(BET))

    assert answered(cover) == {"w1": (500_00, 100_00, "insufficient_funds")}
    assert holds() == {nok: 500_00}


def test_asked_again_the_holds_follow_the_bets() -> None:
    table, nok = a_table(), a_wallet("A17", 1_000)
    round_id = table.tell(BET + "\nbet w2 p2 20 account=player:A17")
    covered(round_id)

    table.tell("change w1 60\nwithdraw w2\nbet w3 p3 10 account=player:A17", round=round_id)
    cover = covered(round_id)

    assert answered(cover) == {"w1": 300_00, "w3": 50_00}
    assert holds() == {nok: 350_00}
    assert ends_of("w1") == [(500_00, "changed"), (300_00, "")]
    assert ends_of("w2") == [(100_00, "changed")]


def test_asked_again_without_a_change_the_same_hold_stands() -> None:
    table = a_table()
    a_wallet("A17", 1_000)
    round_id = table.tell(BET)

    first, second = covered(round_id), covered(round_id)

    assert first.covered == second.covered
    assert ends_of("w1") == [(500_00, "")]


def test_a_wager_raised_too_far_is_refused_with_what_its_own_hold_frees() -> None:
    """550 baht, 500 of them behind the wager itself: raised to 120 it needs 600, and 550 are there."""
    table, nok = a_table(), a_wallet("A17", 550)
    round_id = table.tell(BET)
    covered(round_id)

    table.tell("change w1 120", round=round_id)

    assert answered(covered(round_id)) == {"w1": (600_00, 550_00, "insufficient_funds")}
    assert holds() == {}
    assert money()[nok] == 550_00


def test_a_refused_wager_that_is_lowered_is_covered() -> None:
    table, nok = a_table(), a_wallet("A17", 350)
    round_id = table.tell(BET)
    covered(round_id)

    table.tell("change w1 70", round=round_id)

    assert answered(covered(round_id)) == {"w1": 350_00}
    assert holds() == {nok: 350_00}


def test_at_a_stopped_table_no_bet_is_covered() -> None:
    table = a_table()
    a_wallet("A17", 1_000)
    round_id = table.tell(BET)
    with floor.act():
        tables.stop(table=table.table, reason="count_deck")

    assert (refusal_of(round_id), holds()) == ("table_stopped", {})

    with floor.act():
        tables.resume(table=table.table)
    assert answered(covered(round_id)) == {"w1": 500_00}


def test_for_a_settled_or_voided_round_nothing_is_set_aside() -> None:
    table = a_table()
    a_wallet("A17", 1_000)
    paid, void = table.tell(BET + SIX), table.tell(BET + "\nvoid")
    outcome(paid)
    outcome(void)

    assert (refusal_of(paid), refusal_of(void), holds()) == ("round_finished", "round_finished", {})


def test_for_a_round_that_nobody_knows_nothing_is_set_aside() -> None:
    assert refusal_of(floor.a_round_id(1)) == "not_found"


# -- when the round is settled ---------------------------------------------------------------------------------


def test_what_was_set_aside_is_given_back_when_the_round_is_settled() -> None:
    table, nok = a_table(), a_wallet("A17", 1_000)
    round_id = table.tell(BET)
    covered(round_id)
    table.tell(SIX, round=round_id)

    assert outcome(round_id) == "settled"

    assert (holds(), money()[nok]) == ({}, 1_100_00)
    assert (ends_of("w1"), uncovered()) == ([(500_00, "settled")], [])


def test_what_was_set_aside_pays_five_stakes() -> None:
    table, nok = a_table(), a_wallet("A17", 500)
    round_id = table.tell(BET)
    covered(round_id)
    table.tell(TONG, round=round_id)

    assert outcome(round_id) == "settled"

    assert (holds(), money().get(nok, 0), money()[table.bank]) == ({}, 0, 500_00)
    assert table.shortfall not in money()


def test_a_void_gives_back_what_was_set_aside() -> None:
    table, nok = a_table(), a_wallet("A17", 1_000)
    round_id = table.tell(BET)
    covered(round_id)
    table.tell("lock\nvoid", round=round_id)

    assert outcome(round_id) == "voided"

    assert (holds(), money()[nok]) == ({}, 1_000_00)
    assert ends_of("w1") == [(500_00, "released")]


def test_a_held_round_keeps_what_was_set_aside() -> None:
    table, nok = a_table(), a_wallet("A17", 1_000)
    round_id = table.tell(BET)
    covered(round_id)
    table.tell("lock\nclose", round=round_id)

    assert outcome(round_id) == "held: missing_card"

    assert holds() == {nok: 500_00}


def test_one_rounds_settlement_leaves_the_holds_of_another() -> None:
    table, nok = a_table(), a_wallet("A17", 1_000)
    first, second = table.tell(BET), table.tell("bet w1 p1 40 account=player:A17")
    covered(first)
    covered(second)
    table.tell(TONG, round=first)

    assert outcome(first) == "settled"

    assert (holds(), money()[nok]) == ({nok: 200_00}, 500_00)


def test_two_wallets_on_one_hand_are_paid_each_for_its_stake() -> None:
    table, nok, lek = a_table(), a_wallet("A17", 1_000), a_wallet("B08", 1_000)
    round_id = table.tell(BET + "\nbet w2 p1 40 account=player:B08")
    covered(round_id)
    table.tell(SIX, round=round_id)

    assert outcome(round_id) == "settled"

    assert (money()[nok], money()[lek], money()[table.bank]) == (1_100_00, 1_040_00, -140_00)


# -- uncovered -------------------------------------------------------------------------------------------------


def played(table: AtTable, *, asked: bool = False, then: str = "", cards: str = SIX) -> UUID:
    """A wager of A17, covered if asked, what happened to it then, and the cards."""
    round_id = table.tell(BET)
    if asked:
        covered(round_id)
    table.tell(then + cards, round=round_id)
    assert outcome(round_id) == "settled"
    return round_id


def test_a_wager_whose_cards_came_while_the_terminal_was_offline_is_uncovered_and_paid_all_the_same() -> None:
    table, nok = a_table(), a_wallet("A17", 1_000)

    round_id = played(table)

    assert (uncovered(), money()[nok]) == ([("w1", 500_00, "offline")], 1_100_00)
    assert lines_of(round_id) == {"w1": 100_00}


def test_a_wager_that_the_wallet_had_refused_is_uncovered_because_it_was_refused() -> None:
    a_wallet("A17", 350)

    played(a_table(), asked=True)

    assert uncovered() == [("w1", 500_00, "refused")]


def test_a_wager_raised_behind_its_cover_is_uncovered_because_it_changed() -> None:
    a_wallet("A17", 1_000)

    played(a_table(), asked=True, then="change w1 120")

    assert uncovered() == [("w1", 600_00, "changed_since")]


def test_a_wager_refused_then_lowered_and_covered_then_raised_is_uncovered_because_it_changed() -> None:
    table = a_table()
    a_wallet("A17", 350)
    round_id = table.tell(BET)
    covered(round_id)
    table.tell("change w1 70", round=round_id)
    covered(round_id)

    table.tell("change w1 80" + SIX, round=round_id)

    assert outcome(round_id) == "settled"
    assert uncovered() == [("w1", 400_00, "changed_since")]


def test_a_wager_lowered_behind_its_cover_is_covered() -> None:
    table, nok = a_table(), a_wallet("A17", 1_000)

    played(table, asked=True, then="change w1 50")

    assert (uncovered(), holds(), money()[nok]) == ([], {}, 1_050_00)


def test_a_wager_withdrawn_behind_its_cover_gives_its_money_back() -> None:
    table, nok = a_table(), a_wallet("A17", 1_000)

    round_id = played(table, asked=True, then="withdraw w1\nbet w2 p1 10")

    assert (uncovered(), holds(), money()[nok]) == ([], {}, 1_000_00)
    assert lines_of(round_id) == {"w2": 10_00}


def test_five_stakes_due_of_a_wallet_of_350_take_350_and_leave_150_in_suspense() -> None:
    table, nok = a_table(), a_wallet("A17", 350)

    round_id = played(table, cards=TONG)

    assert money() == {table.bank: 500_00, table.shortfall: -150_00, "external:cash:C1": -350_00}
    assert Account.objects.get(code=nok).balance == 0
    assert lines_of(round_id) == {"w1": -500_00}
    assert floor.posted() == [("hold_shortfall", 2), ("round", 2)]


def test_what_is_set_aside_for_another_round_does_not_pay_a_shortfall() -> None:
    """350 baht, of which 250 are set aside for the next round: 100 are taken, 400 are missing."""
    table, nok = a_table(), a_wallet("A17", 350)
    first, second = table.tell(BET), table.tell("bet w1 p1 50 account=player:A17")
    covered(second)
    table.tell(TONG, round=first)

    assert outcome(first) == "settled"

    assert (money()[nok], holds()[nok], money()[table.shortfall]) == (250_00, 250_00, -400_00)


def test_two_rounds_of_one_batch_share_what_the_wallet_has() -> None:
    """350 baht against 500 and 500: the first takes 350, the second finds nothing."""
    table, nok = a_table(), a_wallet("A17", 350)
    ids = [table.tell(BET + TONG), table.tell(BET + TONG)]

    floor.settled(*ids)

    assert (money().get(nok, 0), money()[table.shortfall], money()[table.bank]) == (0, -650_00, 1_000_00)


def test_a_win_pays_for_the_loss_of_the_same_round() -> None:
    """100 baht: hand 1 loses 100, hand 2 wins 100; nothing is missing."""
    table, nok = a_table(), a_wallet("A17", 100)
    round_id = table.tell("""
        bet w1 p1 100 account=player:A17
        bet w2 p2 100 account=player:A17
        lock
        p1 2S 3D
        p2 3S 4D
        dealer KC 6D
        dealer stays
        close
    """)

    assert outcome(round_id) == "settled"

    assert (money()[nok], money().get(table.shortfall, 0)) == (100_00, 0)


def test_a_wagers_missing_cover_and_missing_money_deserve_a_second_look() -> None:
    table = a_table()
    a_wallet("A17", 350)

    round_id = played(table, cards=TONG)

    found = {
        finding.kind: finding for finding in settling.reviewed(round_id, settling.effective(round_id))[1]
    }
    assert (found["uncovered"].subject, dict(found["uncovered"].detail)) == (
        "w1",
        {"reason": "offline", "exposure": 500_00},
    )
    assert (found["shortfall"].subject, dict(found["shortfall"].detail)) == (
        "player:A17:wallet",
        {"missing": 150_00},
    )
