"""What became of a wager, as one sentence of arithmetic: both hands, the step that decided, the money."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from casino import cards
from casino.record import Owner
from settlement.explanations.terms import KIND, Said, hand, money, start, times
from settlement.rules import showdown
from settlement.rules.hands import Hand, classify
from settlement.rules.house_rules import HouseRules
from settlement.rules.payouts import BankLine, Line

STEP: Mapping[str, Said] = {
    "kind": Said("ตัดสินที่ชนิดไพ่", "decided by kind"),
    "taem": Said("ตัดสินที่แต้ม", "decided by taem"),
    "deng": Said("ตัดสินที่เด้ง", "decided by deng"),
    "tong_over_sam_lueang": Said("ตัดสินที่ตองเหนือสามเหลือง", "decided by tong over sam lueang"),
    "rank": Said("ตัดสินที่หน้าไพ่", "decided by rank"),
    "tie_to_dealer": Said("ตัดสินที่เสมอเจ้ามือกิน", "a tie, which goes to the dealer"),
    "push": Said("เสมอ", "a push"),
}
"""What each step of a comparison is called."""


def read_line(stored: Mapping[str, Any], house: HouseRules) -> Line:
    """Return a stored line (its columns by name) as the value it was stored from. Not for a banker's line."""
    return Line(
        wager=stored["wager"],
        hand=stored["hand"],
        owner=Owner(stored["owner_kind"], stored["owner_ref"]),
        stake=stored["stake"],
        cards=tuple(cards.parse(card) for card in stored["cards"]),
        guest=Hand(
            stored["hand_kind"], stored["hand_taem"], stored["hand_deng"], _rank(stored["cards"], house)
        ),
        dealer_cards=tuple(cards.parse(card) for card in stored["dealer_cards"]),
        dealer=Hand(
            stored["dealer_kind"],
            stored["dealer_taem"],
            stored["dealer_deng"],
            _rank(stored["dealer_cards"], house),
        ),
        step=stored["step"],
        multiple=stored["multiple"],
        gross=stored["gross"],
        uncovered=stored["uncovered"],
        commission=stored["commission"],
        net=stored["net"],
        rounding_bp=stored["rounding_bp"],
    )


def _rank(dealt: list[str], house: HouseRules) -> int:
    return classify([cards.parse(card) for card in dealt], house).rank


def line(line: Line, house: HouseRules, *, sheet: str, currency: str) -> Said:
    """Say one wager: ``Seat 3: sam lueang beats a normal hand → 3 × ฿1,000 = ฿3,000 (sheet … · decided by kind)``.

    ``sheet`` is the name that the sheet is known by here.
    """
    where, owner, came, step = hand(line.hand), _owner(line), _came(line, house), STEP[line.step]
    capped = _cap(line, house)
    sum_th, sum_en = _sum(line, currency)
    return Said(
        f"{where.th}{owner.th}: {came.th}{capped.th} → {sum_th} (กติกา {sheet} · {step.th})",
        f"{start(where.en)}{owner.en}: {came.en}{capped.en} → {sum_en} (sheet {sheet} · {step.en})",
    )


def bank(bank: BankLine, *, currency: str) -> Said:
    """Say what became of a player's bank."""
    who, held, result = (
        bank.account.partition(":")[2],
        money(bank.held, currency),
        money(bank.result, currency),
    )
    net, charged = money(bank.net, currency), money(bank.commission, currency)
    less = (
        Said(f" − ค่าต๋ง {charged} = {net}", f" − commission {charged} = {net}")
        if bank.commission
        else Said("", "")
    )
    return Said(
        f"เจ้ามือ (ผู้เล่น {who}): วางเงิน {held} ผลของเจ้ามือ {result}{less.th}",
        f"The bank of player {who}: put up {held}, result {result}{less.en}",
    )


def _owner(line: Line) -> Said:
    """Whose wager it is, where the hand does not say it."""
    owner = line.owner
    if owner.kind == "account":
        ref = owner.ref.partition(":")[2]
        return Said(f" (กระเป๋า {ref})", f" (wallet {ref})")
    if owner.kind == "person":
        return Said(" (พนักงาน)", " (staff)")
    if line.hand == f"p{owner.ref}":
        return Said("", "")
    return Said(f" (ผู้เล่นที่นั่ง {owner.ref})", f" (guest of seat {owner.ref})")


def _came(line: Line, house: HouseRules) -> Said:
    """Say what the comparison came to, from the guest's side."""
    guest, dealer = line.guest, line.dealer
    won = line.multiple > 0
    beats = Said("ชนะ", "beats") if won else Said("แพ้", "loses to")
    match line.step:
        case "kind":
            gap = " " if guest.kind == "pok" else ""  # after a digit
            return Said(
                f"{_named(guest).th}{gap}{beats.th}{_named(dealer).th}",
                f"{_named(guest).en} {beats.en} {_named(dealer).en}",
            )
        case "taem":
            kind = KIND[guest.kind]
            return Said(
                f"{kind.th} {guest.taem} แต้ม {beats.th} {dealer.taem} แต้ม",
                f"{kind.en}, {guest.taem} {beats.en} {dealer.taem}",
            )
        case "deng":
            return Said(
                f"{guest.taem} แต้มเท่ากัน {guest.deng} เด้ง{beats.th} {dealer.deng} เด้ง ต่างกัน"
                f" {abs(guest.deng - dealer.deng)}",
                f"both {guest.taem}, {guest.deng} deng {beats.en} {dealer.deng}, a difference of"
                f" {abs(guest.deng - dealer.deng)}",
            )
        case "tong_over_sam_lueang":
            high, low = (guest.deng, dealer.deng) if won else (dealer.deng, guest.deng)
            return Said(
                f"{KIND[guest.kind].th}{beats.th}{KIND[dealer.kind].th} ต่างกัน {high} − {low} = {high - low}",
                f"{KIND[guest.kind].en} {beats.en} {KIND[dealer.kind].en}, {high} − {low} = {high - low}",
            )
        case "rank":
            return Said(
                f"{KIND[guest.kind].th}เจอ{KIND[dealer.kind].th} หน้าไพ่{'สูงกว่า' if won else 'ต่ำกว่า'}",
                f"{KIND[guest.kind].en} against {KIND[dealer.kind].en}, {'higher' if won else 'lower'} cards",
            )
        case "tie_to_dealer":
            return Said(
                f"{KIND[guest.kind].th} {guest.taem} แต้มเท่ากัน เจ้ามือกิน",
                f"{KIND[guest.kind].en}, both {guest.taem}, the dealer wins ties",
            )
        case "push":
            return _push(guest, dealer, house)


def _push(guest: Hand, dealer: Hand, house: HouseRules) -> Said:
    kind = KIND[guest.kind]
    always = (guest.kind == "tong" and house.tong_against_tong == "push") or (
        guest.kind == "sam_lueang" and house.sam_lueang_against_same == "push"
    )
    if always:
        return Said(f"{kind.th}เจอ{kind.th} เสมอ", f"{kind.en} against {kind.en} pushes")
    if guest.deng != dealer.deng:
        return Said(f"{kind.th} {guest.taem} แต้มเท่ากัน เสมอ", f"{kind.en}, both {guest.taem}, ties push")
    return Said(
        f"{kind.th} {guest.taem} แต้ม {guest.deng} เด้งเท่ากัน เสมอ",
        f"{kind.en}, both {guest.taem} with {guest.deng} deng",
    )


def _named(hand: Hand) -> Said:
    """A hand by its kind; a pok with its taem, as it is called at the table."""
    kind = KIND[hand.kind]
    if hand.kind == "pok":
        return Said(f"{kind.th} {hand.taem}", f"{kind.en} {hand.taem}")
    return Said(kind.th, f"a {kind.en}" if hand.kind == "normal" else kind.en)


def _cap(line: Line, house: HouseRules) -> Said:
    if house.max_deng is None or abs(line.multiple) < house.max_deng:
        return Said("", "")
    whole, _ = showdown.compare(line.guest, line.dealer, replace(house, max_deng=None))
    if whole == line.multiple:
        return Said("", "")
    return Said(
        f" {abs(whole)} เด้ง จำกัดที่ {house.max_deng}", f", {abs(whole)} deng capped at {house.max_deng}"
    )


def _sum(line: Line, currency: str) -> tuple[str, str]:
    """The sum, down to what the wager moves."""
    stake, gross, net = (money(amount, currency) for amount in (line.stake, line.gross, line.net))
    if line.multiple == 0:
        return f"คืน {stake} ไม่มีเงินเปลี่ยนมือ", f"{stake} is returned, no money moves"
    th = [f"{times(line.multiple)} เด้ง × {stake} = {gross}"]
    en = [f"{times(line.multiple)} × {stake} = {gross}"]
    if line.uncovered:
        short = money(line.uncovered, currency)
        th.append(f"จ่ายขาด {short}")
        en.append(f"not paid {short}")
    if line.commission:
        charged = money(line.commission, currency)
        th.append(f"ค่าต๋ง {charged}")
        en.append(f"commission {charged}")
    if len(th) == 1:
        return th[0], en[0]
    return f"{' − '.join(th)} = {net}", f"{' − '.join(en)} = {net}"
