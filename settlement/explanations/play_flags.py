"""What was done with bets, cards and chips: the sentences of these findings."""

from __future__ import annotations

from collections.abc import Callable

from settlement.explanations.flag_figures import Seen
from settlement.explanations.terms import Said, hand, money, times


def draw_missed(seen: Seen) -> Said:
    taem, limit = seen.detail["taem"], seen.detail["must_draw_to"]
    return Said(
        f"{seen.at.th} อยู่ที่ {taem} แต้ม กติกาบังคับจั่วถึง {limit} แต้ม — ดูภาพ",
        f"{seen.at.en} stayed on {taem}, the sheet says draw up to {limit} — look at the replay",
    )


def stay_missed(seen: Seen) -> Said:
    taem, limit = seen.detail["taem"], seen.detail["must_stay_from"]
    return Said(
        f"{seen.at.th} จั่วที่ {taem} แต้ม กติกาให้อยู่ตั้งแต่ {limit} แต้ม — ดูภาพ",
        f"{seen.at.en} drew on {taem}, the sheet says stay from {limit} — look at the replay",
    )


def junk(why: Said) -> Callable[[Seen], Said]:
    def said(seen: Seen) -> Said:
        taem, drew = seen.detail["taem"], seen.detail["drew"]
        th, en = ("จั่ว", "drew") if drew else ("อยู่", "stayed")
        return Said(f"{seen.at.th} {th}ที่ {taem} แต้ม {why.th}", f"{seen.at.en} {en} on {taem}, {why.en}")

    return said


def junk_deng_four(seen: Seen) -> Said:
    th, en = ("จั่ว", "drew") if seen.detail["drew"] else ("อยู่", "stayed")
    return Said(
        f"{seen.at.th} มี 4 แต้มมีเด้ง แล้ว{th} — จุดนี้ไม่มีคำตอบที่ถูก มักทะเลาะกัน จดไว้ว่าใครทักท้วง",
        f"{seen.at.en} had four with deng and {en} — no answer is right and quarrels start here; note who objected",
    )


def out_of_turn(seen: Seen) -> Said:
    before = hand(seen.detail["before"])
    return Said(
        f"{seen.at.th} เล่นผิดลำดับกับ{before.th} — ดูว่ามีใครเสียประโยชน์",
        f"{seen.at.en} played out of turn with {before.en} — see whether anybody lost by it",
    )


def shared_hand_misplaced(seen: Seen) -> Said:
    th, en = (
        ("หลังเจ้ามือ", "after the dealer")
        if seen.detail["belongs"] == "after_dealer"
        else ("ก่อนเจ้ามือ", "before the dealer")
    )
    return Said(
        f"ขาบ๊วยแจกผิดที่ กติกาให้แจก{th} — ดูลำดับการแจก",
        f"The shared hand was dealt at the wrong place, the sheet says {en} — look at the deal",
    )


def check_not_allowed(seen: Seen) -> Said:
    th, en = (
        ("กติกาให้เช็คเฉพาะมือสามใบ", "the sheet allows only three-card hands")
        if seen.detail["allowed"] == "three_card_hands"
        else ("กติกาไม่ให้เช็คก่อนจั่ว", "the sheet allows no early check")
    )
    count = seen.detail["cards"]
    return Said(
        f"เช็ค{seen.where.th} ที่มี {count} ใบ {th} — ดูภาพ",
        f"{seen.at.en} was checked with {count} cards, {en} — look at the replay",
    )


def late_bet(seen: Seen) -> Said:
    what = {
        "bet_placed": Said("วาง", "was placed"),
        "bet_changed": Said("เปลี่ยน", "was changed"),
        "bet_withdrawn": Said("ถอน", "was withdrawn"),
    }[seen.detail["event"]]
    to = (
        Said(f"เป็น {seen.amount('stake')} ", f" to {seen.amount('stake')}")
        if "stake" in seen.detail
        else Said("", "")
    )
    if "counts" in seen.detail:
        stands = money(seen.detail["counts"], seen.currency)
        counts = Said(f"คิดที่ {stands}", f"{stands} counts")
    else:
        counts = Said("ไม่นับ", "it does not play")
    return Said(
        f"{seen.at.th} {what.th}{to.th}หลังปิดเดิมพัน {counts.th} — ดูว่าวางชิปเมื่อใด",
        f"{seen.at.en} {what.en}{to.en} after the lock, {counts.en} — see when the chips went down",
    )


def stake_outside_limits(seen: Seen) -> Said:
    stake, least, most, step = (seen.amount(name) for name in ("stake", "min", "max", "step"))
    return Said(
        f"{seen.at.th} {stake} นอกเกณฑ์ {least}–{most} ทีละ {step} — แจ้งเจ้ามือ",
        f"{seen.at.en} is {stake}, outside {least} to {most} in steps of {step} — tell the dealer",
    )


def dealer_bet_on_guest(seen: Seen) -> Said:
    named = hand(seen.detail["hand"])
    return Said(
        f"พนักงานวางเดิมพัน {seen.amount('stake')} ที่มือของ{named.th} — สอบถามหัวหน้าโต๊ะ",
        f"A member of the staff wagered {seen.amount('stake')} on {named.en} — ask the supervisor",
    )


def banker_bet_on_guest(seen: Seen) -> Said:
    named = hand(seen.detail["hand"])
    return Said(
        f"เจ้ามือ (ผู้เล่น) วางเดิมพัน {seen.amount('stake')} ที่มือของ{named.th} สู้กับกองของตัวเอง — สอบถาม",
        f"The player who banks wagered {seen.amount('stake')} on {named.en} against his own bank — ask him",
    )


def bet_ruled(seen: Seen) -> Said:
    """``before`` and ``stake`` are the bet as it was reported and as it was ruled; 0, or not there: no bet."""
    none = Said("ไม่มีเดิมพัน", "no bet")
    before, after = (
        Said(*(seen.amount(name),) * 2) if seen.detail.get(name) else none for name in ("before", "stake")
    )
    named = hand(seen.detail["hand"])
    return Said(
        f"ชี้ขาด{seen.where.th} ที่{named.th}: {before.th} เป็น {after.th} — ดูว่าวางชิปเมื่อใด",
        f"{seen.at.en} on {named.en} was ruled from {before.en} to {after.en} — see when the chips went down",
    )


def too_many_hands(seen: Seen) -> Said:
    count, most = seen.detail["hands"], seen.detail["most"]
    return Said(
        f"รอบนี้มี {count} มือ เกิน {most} — ดูว่าเกิดขึ้นอย่างไร แม้ชี้ขาดแล้ว",
        f"The round had {count} hands, more than {most} — see how it came about, also once it is ruled",
    )


def declared_differs(seen: Seen) -> Said:
    declared, judged = times(seen.detail["declared"]), times(seen.detail["judged"])
    return Said(
        f"{seen.at.th} ประกาศ {declared} เท่า ระบบคิดได้ {judged} เท่า — ดูว่าเกิดขึ้นอย่างไร แม้ชี้ขาดแล้ว",
        f"{seen.at.en} was declared {declared} and judged {judged} — see how it came about, also once it is ruled",
    )


def mark_differs(seen: Seen) -> Said:
    th, en = (
        ("ประกาศป๊อกแต่ไพ่ไม่ใช่", "was marked pok, the cards are not")
        if seen.detail["mark"] == "pok_shown"
        else ("บันทึกว่าอยู่แต่มีใบที่สาม", "was marked as staying and has a third card")
    )
    return Said(
        f"{seen.at.th} {th} คิดตามไพ่ — ดูภาพ", f"{seen.at.en} {en}; the cards count — look at the replay"
    )


_NOT_IN_PLAY = {
    "placed_before": Said("วางซ้ำเลขเดิม", "its number was used before"),
    "hand": Said("วางที่มือเจ้ามือหรือมือแจกทิ้ง", "it lies on the dealer's or a junk hand"),
    "currency": Said("เป็นเงินสกุลอื่น", "it is in another currency"),
    "unknown": Said("ไม่มีเดิมพันนี้", "there is no such wager"),
    "no_wallet": Said("จากกระเป๋าที่ไม่มี", "there is no such wallet"),
}


def bet_not_in_play(seen: Seen) -> Said:
    why = _NOT_IN_PLAY[seen.detail["why"]]
    stake = f" {seen.amount('stake')}" if "stake" in seen.detail else ""
    of = f" of{stake}" if stake else ""
    return Said(
        f"{seen.at.th}{stake} ไม่นับ: {why.th} — คืนชิป",
        f"{seen.at.en}{of} does not play: {why.en} — return the chips",
    )


def bet_on_other_hand(seen: Seen) -> Said:
    named = hand(seen.detail["hand"])
    return Said(
        f"{seen.at.th} ตามมือ{named.th} กติกาโต๊ะนี้ไม่ให้ตาม คิดตามที่วาง — แจ้งเจ้ามือ",
        f"{seen.at.en} is on another's hand ({named.en}), which the sheet does not allow; it is judged as placed"
        " — tell the dealer",
    )


def bank_short(seen: Seen) -> Said:
    named, short = hand(seen.detail["hand"]), seen.amount("uncovered")
    return Said(
        f"เงินเจ้ามือ (ผู้เล่น) หมดที่{named.th} {seen.where.th} จ่ายขาด {short} ไม่มีใครเป็นหนี้ — แจ้งผู้เล่น",
        f"The player's bank ran out at {named.en}, {seen.where.en}; {short} was not paid and nobody owes it"
        " — tell the guests",
    )


_UNCOVERED = {
    "offline": Said("ออฟไลน์", "offline"),
    "refused": Said("ถูกปฏิเสธ", "refused"),
    "changed": Said("เปลี่ยนภายหลัง", "changed since"),
    "changed_since": Said("เปลี่ยนภายหลัง", "changed since"),
}


def uncovered(seen: Seen) -> Said:
    why, exposure = _UNCOVERED[seen.detail["reason"]], seen.amount("exposure")
    return Said(
        f"{seen.at.th} ของกระเป๋าเงิน อาจเสียถึง {exposure} ไม่ได้กันเงินไว้ ({why.th}) — ตรวจว่าเงินพอ",
        f"{seen.at.en} of a wallet can lose {exposure} and has no money set aside ({why.en})"
        " — see whether it can pay",
    )


def shortfall(seen: Seen) -> Said:
    wallet, missing = seen.subject.removeprefix("player:").removesuffix(":wallet"), seen.amount("missing")
    return Said(
        f"กระเป๋า {wallet} จ่ายไม่พอ ขาด {missing} — แจ้งแคชเชียร์",
        f"Wallet {wallet} could not pay all; {missing} is missing — tell the cashier",
    )


def mispay(seen: Seen) -> Said:
    paid, due = seen.amount("paid"), seen.amount("due")
    return Said(
        f"{seen.at.th} จ่ายไป {paid} ควรเป็น {due} — แก้ที่โต๊ะถ้าไพ่ยังอยู่ หรือแจ้งข้อพิพาท",
        f"{seen.at.en} was paid {paid} where {due} was due — put it right while the cards lie, or raise a dispute",
    )
