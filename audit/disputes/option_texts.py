"""An option in one line, Thai and English: what would be chosen, and what would come of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from settlement import explanations, settling
from settlement.explanations import Said
from settlement.settling import Considered

_WAITS: Mapping[str, Said] = {
    "sequence_gap": Said("ลำดับของเครื่องขาด", "numbers of a device are missing"),
    "too_many_hands": Said("มือเกิน", "a hand too many"),
    "too_many_cards": Said("ไพ่เกิน", "a card too many"),
    "pok_drew": Said("ป๊อกได้ใบที่สาม", "a pok drew"),
    "duplicate_card": Said("ไพ่ซ้ำสองที่", "one card in two places"),
    "reads_differ": Said("อ่านไพ่ไม่ตรงกัน", "reads differ"),
    "missing_card": Said("ขาดหน้าไพ่", "a card is missing"),
    "awaiting_camera": Said("รอกล้อง", "the camera has not read every card"),
    "missing_banker": Said("ไม่ระบุเจ้ามือ", "no player was named as the bank"),
    "missing_declaration": Said("ยังไม่ประกาศผล", "a result is not declared"),
    "declared_differs": Said("ประกาศผลไม่ตรง", "the declared result differs"),
    "records_differ": Said("สองเครื่องบันทึกเดิมพันไม่ตรงกัน", "two terminals differ on the bets"),
    "check_in_doubt": Said("ไพ่เจ้ามือที่เช็คด้วยถูกเอาออก", "a dealer's card that a check met was removed"),
    "number_jump": Said("เลขรอบกระโดด", "the round's number jumps"),
}
"""Each reason to wait in a few words."""

_AND = Said(" และ ", " and ")


def option(facts: Sequence[Mapping[str, Any]], considered: Considered) -> Said:
    """Return ``7♣: −฿300 as paid`` · ``7♠: no money moves``: the net of the hand in question (of the round, where the
    facts are about the dealer's hand or about none), and what is moved to bring that about."""
    said = [_fact(fact) for fact in facts]
    chosen = Said(_AND.th.join(one.th for one in said), _AND.en.join(one.en for one in said))
    came = _outcome({str(fact.get("hand", "")) for fact in facts}, considered)
    return Said(f"{chosen.th}: {came.th}", f"{chosen.en}: {came.en}")


def _fact(fact: Mapping[str, Any]) -> Said:
    kind = fact["kind"]
    if kind == "card_ruled":
        face = explanations.card(fact["card"])
        return Said(face, face)
    if kind == "bet_ruled":
        return _bet(fact)
    if kind == "card_removed":
        slot = explanations.place(f"{fact['hand']}.{fact['position']}")
        return Said(f"เอา{slot.th} ออก", f"{slot.en} removed")
    if kind == "hold_waived":
        waived = _WAITS[fact["reason_code"]]
        return Said(f"ยกเว้น “{waived.th}”", f"waive “{waived.en}”")
    if kind == "round_voided":
        return Said("ยกเลิกรอบ", "void the round")
    assert kind == settling.STANDS
    return Said("คงเดิม", "it stands")


def _bet(fact: Mapping[str, Any]) -> Said:
    """``w2: ฿50 on seat 1`` · ``w2: no bet``."""
    stake = fact["stake"]
    if not stake["amount"]:
        return Said(f"{fact['wager']}: ไม่มีเดิมพัน", f"{fact['wager']}: no bet")
    amount, where = explanations.money(stake["amount"], stake["currency"]), explanations.hand(fact["hand"])
    return Said(f"{fact['wager']}: {amount} ที่{where.th}", f"{fact['wager']}: {amount} on {where.en}")


def _outcome(hands: set[str], considered: Considered) -> Said:
    if considered.outcome == "held":
        waits = [_WAITS[reason] for reason in considered.reasons]
        return Said(
            f"ยังค้าง ({', '.join(one.th for one in waits)})",
            f"still held ({', '.join(one.en for one in waits)})",
        )
    named = [line for line in considered.lines if line.hand in hands] or list(considered.lines)
    net = sum(line.after or 0 for line in named)
    was_settled = any(line.before is not None for line in considered.lines)
    shown = _signed(net, considered.currency)
    moved = explanations.money(considered.moved, considered.currency)
    if considered.moved == 0:
        return Said(f"{shown} ตามที่จ่ายแล้ว", f"{shown} as paid") if was_settled and net else _NOTHING
    if was_settled:
        return Said(f"{shown} ย้าย {moved}", f"{shown}, {moved} moves")
    return Said(shown, shown) if net else Said(f"{shown} จ่าย {moved}", f"{shown}, {moved} moves")


_NOTHING = Said("เงินไม่ย้าย", "no money moves")


def _signed(amount: int, currency: str) -> str:
    written = explanations.money(amount, currency)
    return f"+{written}" if amount > 0 else written
