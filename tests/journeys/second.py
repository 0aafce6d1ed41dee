"""A second evening, at two tables, for what the recorded night has not: wallets, a player's bank, corrections.

Sums are in baht here; the file has satang. Nobody pays commission at PD11 (seed_base); at PD12 a player banks and
guests leave 5 % of a win. A21 comes with 1,000, B22 with 10,000, C23 with 5,000, K24 with 700. A wager can lose five
stakes. What the house wins stands behind each arrow.

PD11
 1  A21 bets 300 on p1: five stakes are 1,500, the wallet has 1,000, so cover leaves w1 out. The dealer lowers it to
    200, and cover sets all 1,000 aside. p1 has 5♠ 7♠ 4♥, six taem; the dealer 7♣ 7♦ 7♥, a tong: five stakes.
    w1 −1,000 → +1,000
 2  A21's wallet is empty: cover leaves w1 (100 on p1) out, and it is dealt all the same. p1 has K♦ 5♣, the dealer's
    9♣ Q♥ is a pok. What nobody has stands in the table's shortfall. w1 −100 → +100
 3  B22 (500) and C23 (200) on one hand. p1 shows 9♠ K♠, pok nine, two of a suit: two deng, so two stakes each, against
    4♦ 3♣, seven taem. w1 +1,000, w2 +400 → −1,400
 4  Seats: w1 100 on p1 (3♠ 4♥, seven), w2 200 on p2 (K♥ 6♦, six). p1 is checked early against 2♣ 4♦, six: +100. The
    dealer draws 5♥, one taem: p2 +200. After the settlement a supervisor rules that the dealer's second card was 5♠:
    p1 met seven, a push; p2 met two taem, still +200. Revision 2: w1 0, w2 +200 → −200
 5  B22 bets 100 on p1, 9♥ 9♦: pok eight, a pair, two deng, against K♣ 3♦ 4♠, seven: +200. Then the round is voided,
    after its settlement: revision 2 takes everything back → 0
 6  The first terminal takes the bets (w1 100 on p1 by a seat, w2 100 on p2 by C23) and breaks; a second one is made
    the recorder and tells the rest. A♠ 5♦, six, loses to T♣ 7♥, seven; 8♦ J♣, pok eight, wins. w1 −100, w2 +100 → 0
PD12
 1  K24 banks, limit 1,000; the wallet has 700, so 700 are put up. p1, p2, p3 (300 each) have seven against the
    dealer's six, p4 (100) has five. The bank takes 100 and pays 300, 300, and 200 of the third 300: 100 are not
    covered. Guests leave 15, 15 and 10. w1 +285, w2 +285, w3 +190, w4 −100, the bank −700 → +40
 2  B22 banks, limit 2,000. C23 bets 100 on p1: 4♠ 4♥, pok eight, against 9♣ J♦, pok nine. w1 −100, the bank +100 → 0

In the end A21 has 0, B22 10,000 + 1,000 + 100 = 11,100, C23 5,000 + 400 + 100 − 100 = 5,400, K24 0; the shortfall of
PD11 is −100; PD11's bank, opened with 250,000, has 249,500 (1,000 + 100 − 1,400 − 200); PD12's still 250,000, and 40
of commission.
"""

from __future__ import annotations

from tests.rules.given import Short, a_bet, an_act, short_round, thb
from tests.world import Recording, RoundTold

A21, B22, C23, K24 = "player:A21", "player:B22", "player:C23", "player:K24"
Told = tuple[list[Short], list[Short]]


def _told(number: int, **round_: object) -> Told:
    """Return a round's events up to the lock, and from it."""
    shorts = short_round(**round_)  # type: ignore[arg-type]
    shorts[0]["data"]["number"] = number
    lock = next(place for place, short in enumerate(shorts) if short["type"] == "bets_locked")
    return shorts[:lock], shorts[lock:]


def evening() -> Recording:
    """Return the evening as its devices tell it."""
    recording = Recording(name="second")
    _lowered_bet(recording.round(table="PD11", number=1))
    _uncovered_bet(recording.round(table="PD11", number=2))
    _two_wallets_on_one_hand(recording.round(table="PD11", number=3))
    _dealers_card_ruled_afterwards(recording.round(table="PD11", number=4))
    _voided_afterwards(recording.round(table="PD11", number=5))
    _replaced_terminal(recording.round(table="PD11", number=6))
    _bank_that_runs_out(recording.round(table="PD12", number=1))
    _bank_that_wins(recording.round(table="PD12", number=2))
    return recording


def _lowered_bet(told: RoundTold) -> None:
    bets, rest = _told(
        1, bets=[a_bet("w1", "p1", 300_00, by=A21)], cards={"p1": "5S 7S 4H", "dealer": "7C 7D 7H"}
    )
    told.tell(*bets)
    told.cover()
    told.tell(an_act("bet_changed", wager="w1", stake=thb(200_00)))
    told.cover()
    told.tell(*rest)


def _uncovered_bet(told: RoundTold) -> None:
    bets, rest = _told(2, bets=[a_bet("w1", "p1", 100_00, by=A21)], cards={"p1": "KD 5C", "dealer": "9C QH"})
    told.tell(*bets)
    told.cover()
    told.tell(*rest)


def _two_wallets_on_one_hand(told: RoundTold) -> None:
    both = [a_bet("w1", "p1", 500_00, by=B22), a_bet("w2", "p1", 200_00, by=C23)]
    bets, rest = _told(3, bets=both, cards={"p1": "9S KS", "dealer": "4D 3C"})
    told.tell(*bets)
    told.cover()
    told.tell(*rest)


def _dealers_card_ruled_afterwards(told: RoundTold) -> None:
    bets, rest = _told(
        4,
        bets={"p1": 100_00, "p2": 200_00},
        cards={"p1": "3S 4H", "p2": "KH 6D", "dealer": "2C 4D 5H"},
        checks=[["p1"]],
    )
    told.tell(*bets, *rest)
    reason = "the camera over the table shows the five"
    told.tell(an_act("card_ruled", hand="dealer", position=2, card="5S", reason=reason))
    told.correct(reason=reason)


def _voided_afterwards(told: RoundTold) -> None:
    bets, rest = _told(
        5, bets=[a_bet("w1", "p1", 100_00, by=B22)], cards={"p1": "9H 9D", "dealer": "KC 3D 4S"}
    )
    told.tell(*bets)
    told.cover()
    told.tell(*rest)
    told.tell(an_act("round_voided", reason="a card lay face up in the deck"))
    told.correct(reason="a card lay face up in the deck")


def _replaced_terminal(told: RoundTold) -> None:
    both = [a_bet("w1", "p1", 100_00, by=1), a_bet("w2", "p2", 100_00, by=C23)]
    bets, rest = _told(6, bets=both, cards={"p1": "AS 5D", "p2": "8D JC", "dealer": "TC 7H"})
    told.tell(*bets)
    told.cover()
    told.tell(an_act("recorder_changed"), *rest, device="PD11-terminal2")


def _bank_that_runs_out(told: RoundTold) -> None:
    bets, rest = _told(
        1,
        opened={"banker": {"account": K24, "limit": thb(1_000_00)}},
        bets={"p1": 300_00, "p2": 300_00, "p3": 300_00, "p4": 100_00},
        cards={"p1": "7S KD", "p2": "3C 4D", "p3": "5S 2C", "p4": "3D 2H", "dealer": "4H 2D"},
    )
    told.tell(*bets)
    told.cover()
    told.tell(*rest)


def _bank_that_wins(told: RoundTold) -> None:
    bets, rest = _told(
        2,
        opened={"banker": {"account": B22, "limit": thb(2_000_00)}},
        bets=[a_bet("w1", "p1", 100_00, by=C23)],
        cards={"p1": "4S 4H", "dealer": "9C JD"},
    )
    told.tell(*bets)
    told.cover()
    told.tell(*rest)
