"""Two classified hands side by side: who wins how many stakes, and which step decided."""

from typing import Literal, get_args

from settlement.rules.hands import Hand
from settlement.rules.house_rules import HouseRules

Step = Literal["kind", "taem", "deng", "tong_over_sam_lueang", "rank", "tie_to_dealer", "push"]
STEPS: tuple[Step, ...] = get_args(Step)


def compare(guest: Hand, dealer: Hand, house: HouseRules) -> tuple[int, Step]:
    """Return how many stakes the guest wins (negative: loses) and the step that decided.

    ``max_deng`` caps the multiple and never changes the step.
    """
    multiple, step = _uncapped(guest, dealer, house)
    if house.max_deng is not None:
        multiple = max(-house.max_deng, min(house.max_deng, multiple))
    return multiple, step


def _uncapped(guest: Hand, dealer: Hand, house: HouseRules) -> tuple[int, Step]:
    if guest.kind != dealer.kind:
        return _kinds(guest, dealer, house)
    if _always_a_push(guest, house):
        return 0, "push"
    if guest.rank != dealer.rank:
        return (guest.deng if guest.rank > dealer.rank else -dealer.deng), "rank"
    if guest.taem != dealer.taem:
        return (guest.deng if guest.taem > dealer.taem else -dealer.deng), "taem"
    match house.tie_rule:
        case "dealer_wins":
            return -1, "tie_to_dealer"
        case "push":
            return 0, "push"
        case "deng_difference":
            difference = guest.deng - dealer.deng
            return difference, "deng" if difference else "push"


def _kinds(guest: Hand, dealer: Hand, house: HouseRules) -> tuple[int, Step]:
    order = house.type_order
    guest_wins = order.index(guest.kind) < order.index(dealer.kind)
    winner, loser = (guest, dealer) if guest_wins else (dealer, guest)
    won = winner.deng
    step: Step = "kind"
    if (winner.kind, loser.kind) == ("tong", "sam_lueang") and house.tong_over_sam_lueang == "difference":
        won, step = winner.deng - loser.deng, "tong_over_sam_lueang"
    return (won if guest_wins else -won), step


def _always_a_push(hand: Hand, house: HouseRules) -> bool:
    """A kind the sheet lets push against itself pushes whatever ``tie_rule`` says."""
    if hand.kind == "tong":
        return house.tong_against_tong == "push"
    return hand.kind == "sam_lueang" and house.sam_lueang_against_same == "push"
