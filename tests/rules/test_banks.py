"""A player holds the bank: losses first, then wins in turn, as far as the bank lasts. Money in satang."""

from dataclasses import replace
from typing import Any

from settlement.rules import house_rules, payouts
from settlement.rules.payouts import BankLine, Verdict
from tests.rules.given import a_bet, a_card, a_round, answers, thb

BANKED_BY_B1 = {"banker": {"account": "player:B1", "limit": thb(50_000)}}
HALF_TO_THE_CHIP = {"rate_bp": 500, "unit": 100}
SEVEN, SIX, FIVE = "KS 7D", "KC 6D", "KH 5D"


def judged(*, bank: int | None = None, commission: dict[str, Any] | None = None, **told: Any) -> Verdict:
    sheet = house_rules.from_options("seed_base", {"banker": "player", "commission": commission or {}})
    verdict = payouts.judge(a_round(opened=BANKED_BY_B1, **told), sheet, bank=bank)
    assert verdict.bank is not None
    assert sum(line.net for line in verdict.lines) + verdict.bank.net + verdict.house_net == 0
    return verdict


def nets(verdict: Verdict) -> dict[str, tuple[int, int]]:
    return {line.wager: (line.net, line.uncovered) for line in verdict.lines}


@answers("banker", "player")
def test_the_bank_takes_its_losses_in_full_before_it_pays() -> None:
    """10,000 in the bank, 30,000 collected from p2, 40,000 paid to p1: the bank is empty and nobody is
    short."""
    verdict = judged(
        bank=10_000,
        bets={"p1": 40_000, "p2": 30_000},
        cards={"p1": SEVEN, "p2": FIVE, "dealer": SIX},
    )
    assert nets(verdict) == {"w1": (40_000, 0), "w2": (-30_000, 0)}
    assert verdict.bank == BankLine("player:B1", 10_000, -10_000, 0, -10_000, 0)
    assert verdict.house_net == 0


@answers("banker", "house")
def test_a_banker_named_under_a_sheet_where_the_house_banks_banks_nothing() -> None:
    record = a_round(opened=BANKED_BY_B1, bets={"p1": 100}, cards={"p1": SEVEN, "dealer": SIX})
    verdict = payouts.judge(record, house_rules.PRESETS["seed_base"], bank=1)
    assert (verdict.bank, verdict.house_net, nets(verdict)) == (None, -100, {"w1": (100, 0)})


def test_nobody_asked_the_bank_puts_up_its_limit_and_never_more() -> None:
    told: dict[str, Any] = {"bets": {"p1": 100}, "cards": {"p1": SEVEN, "dealer": SIX}}
    unasked, generous = judged(**told), judged(**told, bank=80_000)
    assert (unasked.bank, generous.bank) == (BankLine("player:B1", 50_000, -100, 0, -100, 0),) * 2


def test_a_dry_bank_pays_checked_hands_first_and_the_shared_hand_last() -> None:
    """The dealer's four loses to all on two cards and his six to all on three. 250 in the bank, 100 staked
    on each: p3 and the shared hand were checked in that order and get 100 each, p1 the 50 that is left, p2
    nothing."""
    verdict = judged(
        bank=250,
        bets={"p1": 100, "p2": 100, "p3": 100, "shared": 100},
        cards={"p1": "KS 7D", "p2": "QS 7C", "p3": "JS 7H", "shared": "TH 7S", "dealer": "KC 4D 2H"},
        checks=[["p3"], ["shared"]],
    )
    assert nets(verdict) == {"w1": (50, 50), "w2": (0, 100), "w3": (100, 0), "w4": (100, 0)}
    assert verdict.bank == BankLine("player:B1", 250, -250, 0, -250, 0)


def test_an_unchecked_shared_hand_is_paid_last_and_hands_go_by_number() -> None:
    """p10 comes after p2, as ten comes after two."""
    verdict = judged(
        bank=250,
        bets=[
            a_bet("w1", "shared", 100, by=1),
            a_bet("w2", "p10", 100, by=10),
            a_bet("w3", "p2", 100, by=2),
        ],
        cards={"shared": "TH 7S", "p10": "KS 7D", "p2": "QS 7C", "dealer": SIX},
    )
    assert nets(verdict) == {"w1": (50, 50), "w2": (100, 0), "w3": (100, 0)}


def test_wagers_of_one_hand_are_paid_in_the_order_in_which_they_were_placed() -> None:
    verdict = judged(
        bank=150,
        bets=[a_bet("w7", "p1", 100, by=1), a_bet("w2", "p1", 100, by=2)],
        cards={"p1": SEVEN, "dealer": SIX},
    )
    assert nets(verdict) == {"w7": (100, 0), "w2": (50, 50)}


@answers("commission", "side banker")
def test_commission_from_the_banker_never_shows_on_a_guests_line() -> None:
    """p1 wins 1,000, p2 loses 3,000: the banker made 2,000 and owes 100 of it."""
    verdict = judged(
        commission={**HALF_TO_THE_CHIP, "side": "banker"},
        bets={"p1": 1_000, "p2": 3_000},
        cards={"p1": SEVEN, "p2": FIVE, "dealer": SIX},
    )
    assert nets(verdict) == {"w1": (1_000, 0), "w2": (-3_000, 0)}
    assert verdict.bank == BankLine("player:B1", 50_000, 2_000, 100, 1_900, 0)
    assert verdict.house_net == 100


def test_commission_from_guests_leaves_a_winning_bankers_line_alone() -> None:
    verdict = judged(commission=HALF_TO_THE_CHIP, bets={"p1": 3_000}, cards={"p1": FIVE, "dealer": SIX})
    assert (verdict.bank, verdict.house_net) == (BankLine("player:B1", 50_000, 3_000, 0, 3_000, 0), 0)


def test_a_loss_of_one_satang_is_collected_too() -> None:
    verdict = judged(bank=0, bets={"p1": 1, "p2": 1}, cards={"p1": SEVEN, "p2": FIVE, "dealer": SIX})
    assert nets(verdict) == {"w1": (1, 0), "w2": (-1, 0)}


def test_a_banker_who_lost_owes_no_commission() -> None:
    verdict = judged(
        commission={**HALF_TO_THE_CHIP, "side": "banker"},
        bets={"p1": 1_000},
        cards={"p1": SEVEN, "dealer": SIX},
    )
    assert (verdict.bank, verdict.house_net) == (BankLine("player:B1", 50_000, -1_000, 0, -1_000, 0), 0)


@answers("commission", "side both")
def test_commission_from_both_sides_is_taken_once_from_each_win() -> None:
    """p1's 2,000 owe 100; the banker's 9,000 − 2,000 = 7,000 owe 350, in chips of 100: 400, half up."""
    verdict = judged(
        commission={**HALF_TO_THE_CHIP, "side": "both"},
        bets={"p1": 2_000, "p2": 9_000},
        cards={"p1": SEVEN, "p2": FIVE, "dealer": SIX},
    )
    assert nets(verdict) == {"w1": (1_900, 0), "w2": (-9_000, 0)}
    assert verdict.bank == BankLine("player:B1", 50_000, 7_000, 400, 6_600, 500_000)
    assert verdict.house_net == 500


def test_commission_is_taken_of_what_was_paid_not_of_what_was_due() -> None:
    """Of 4,000 won the bank pays 2,000: the guest owes 100 of those and keeps 1,900."""
    verdict = judged(
        bank=2_000,
        commission=HALF_TO_THE_CHIP,
        bets={"p1": 4_000},
        cards={"p1": SEVEN, "dealer": SIX},
    )
    assert nets(verdict) == {"w1": (1_900, 2_000)}
    assert (verdict.bank, verdict.house_net) == (BankLine("player:B1", 2_000, -2_000, 0, -2_000, 0), 100)


def test_a_bank_without_a_wallet_is_none_whatever_feed_leads() -> None:
    """Settlement takes the banker away; the terminal leads over the camera's five, so the record is made anew."""
    record = a_round(
        opened=BANKED_BY_B1,
        bets={"p1": 40_000},
        cards={"p1": SEVEN, "dealer": SIX},
        extra=[a_card("p1", 2, "5D", by="camera")],
    )
    sheet = house_rules.from_options("seed_base", {"banker": "player", "feed_lead": "terminal"})
    assert payouts.judge(replace(record, banker=None), sheet).reasons == ("missing_banker",)


def test_an_empty_bank_pays_what_it_collected_and_nothing_else() -> None:
    verdict = judged(
        bank=0, bets={"p1": 40_000, "p2": 30_000}, cards={"p1": SEVEN, "p2": FIVE, "dealer": SIX}
    )
    assert nets(verdict) == {"w1": (30_000, 10_000), "w2": (-30_000, 0)}
    assert verdict.bank == BankLine("player:B1", 0, 0, 0, 0, 0)
