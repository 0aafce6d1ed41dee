"""What many rounds show together: the sentences of these findings. What chance gives too is said with its odds."""

from __future__ import annotations

from settlement.explanations.flag_figures import Seen
from settlement.explanations.terms import Said, card, seconds, start

_TESTS = {
    "taem": Said("แต้มของไพ่สองใบแรก", "the taem of the first two cards"),
    "pairs": Said("คู่และดอกของไพ่สองใบแรก", "pairs and suits of the first two cards"),
    "poks": Said("จำนวนป๊อก", "the number of poks"),
}
_CLASSES = {
    "taem": tuple(Said(f"{taem} แต้ม", f"{taem} taem") for taem in range(10)),
    "pairs": (Said("คู่", "pairs"), Said("สองเด้ง", "two of one suit"), Said("ไม่มีเด้ง", "neither")),
    "poks": (Said("ป๊อกแปด", "pok eight"), Said("ป๊อกเก้า", "pok nine"), Said("ไม่ป๊อก", "no pok")),
}


def whose(group: str) -> Said:
    """Name what figures were added up for, as the beginning of a sentence: the house, a table, a session, a person, an
    owner of bets. Of ids the last eight characters."""
    kind, _, name = group.partition("/")
    owner = whom(name)
    return {
        "tables": Said(f"โต๊ะ {name}", f"Table {name}"),
        "sessions": Said(f"ช่วงเปิดโต๊ะ {name[-8:]}", f"Session {name[-8:]}"),
        "people": Said(f"พนักงาน {name[-8:]}", f"Staff member {name[-8:]}"),
        "owners": Said(owner.th, start(owner.en)),
    }.get(kind, Said("ทั้งบ้าน", "The whole house"))


def whom(owner: str) -> Said:
    """Name the owner of a bet: a wallet's by its reference, a seat's by its number and its session."""
    session, _, seat = owner.partition(" seat:")
    if seat:
        return Said(f"ที่นั่ง {seat} (ช่วง {session[-8:]})", f"seat {seat} (session {session[-8:]})")
    return Said(f"ผู้เล่น {owner}", f"guest {owner}")


def cards_uneven(seen: Seen) -> Said:
    who, test = whose(seen.detail["who"]), _TESTS[seen.detail["test"]]
    name = _CLASSES[seen.detail["test"]][seen.detail["class"]]
    count, found, usual, p = (seen.detail[key] for key in ("hands", "seen", "usual", "p"))
    return Said(
        f"{who.th}: {test.th} ใน {count} มือ ไม่เป็นอย่างสำรับที่สับดี เช่น {name.th} {found} ครั้ง ปกติ {usual}"
        f" (p {p}) — ดูการสับและการแจก",
        f"{who.en}: {test.en} over {count} hands are not as a shuffled deck gives them, for one {name.en} {found}"
        f" times, usually {usual} (p {p}) — look at shuffle and deal",
    )


def hold_band(seen: Seen) -> Said:
    who = whose(seen.detail["who"])
    brought, expected, band = (seen.amount(name) for name in ("brought", "expected", "band"))
    rounds, p = seen.detail["rounds"], seen.detail["p"]
    return Said(
        f"{who.th}: {rounds} รอบ บ้านได้ {brought} ที่ควรเป็นคือ {expected} ± {band} (p {p}) — ดูรอบใหญ่และการจ่าย",
        f"{who.en}: over {rounds} rounds the house made {brought}, to be expected were {expected} ± {band} (p {p})"
        " — look at the large rounds and how they were paid",
    )


def mispay_rate(seen: Seen) -> Said:
    who = whose(seen.detail["who"])
    errors, of, p = (seen.detail[key] for key in ("errors", "of", "p"))
    if seen.detail["what"] == "rate":
        return Said(
            f"{who.th}: จ่ายผิด {errors} ครั้งใน {of} รายการ มากกว่าคนอื่น (p {p}) — ดูภาพ และพูดคุย",
            f"{who.en}: {errors} payouts of {of} were wrong, more than others make (p {p}) — look at the replays",
        )
    if seen.detail["what"] == "direction":
        return Said(
            f"{who.th}: จ่ายผิด {of} ครั้ง เป็นคุณแก่ผู้เล่น {errors} ครั้ง ไปทางเดียว (p {p}) — ดูภาพ",
            f"{who.en}: of {of} wrong payouts {errors} favoured the guest, too much one way (p {p})"
            " — look at the replays",
        )
    guest = whom(seen.detail["guest"])
    return Said(
        f"{who.th}: จ่ายเกิน {of} ครั้ง เป็นของ{guest.th} {errors} ครั้ง (p {p}) — ดูภาพของคนนี้กับผู้เล่นคนนี้",
        f"{who.en}: of {of} payouts too high {errors} went to {guest.en} (p {p}) — look at the two of them",
    )


def late_bet_wins(seen: Seen) -> Said:
    who, raised = whose(seen.detail["who"]), seen.detail["side"] == "raised"
    hits, of, p = (seen.detail[key] for key in ("hits", "of", "p"))
    what = (
        Said("เพิ่มหลังปิดรับแล้วชนะ", "raised after the lock won")
        if raised
        else Said("ลดหลังปิดรับแล้วแพ้", "lowered after the lock lost")
    )
    return Said(
        f"{who.th}: เดิมพันที่{what.th} {hits} ใน {of} มากกว่าเดิมพันอื่น (p {p}) — ดูภาพหลังปิดรับ",
        f"{who.en}: of the bets {what.en} {hits} of {of}, more than others (p {p}) — look at what follows the lock",
    )


def unchecked_hands(seen: Seen) -> Said:
    who, guest, left = whose(seen.detail["who"]), whom(seen.detail["guest"]), seen.detail["left"]
    regret, p = seen.amount("regret"), seen.detail["p"]
    return Said(
        f"{who.th}: ไม่เช็ค{guest.th} {left} มือ บ้านเสียโอกาส {regret} มากกว่าที่บังเอิญให้ (p {p}) — ดูภาพ",
        f"{who.en}: left {left} hands of {guest.en} unchecked, worth {regret} to the house, more than chance lets pass"
        f" (p {p}) — look at the replays",
    )


def pace(seen: Seen) -> Said:
    if "idle_ms" in seen.detail:
        minutes, number = seen.detail["idle_ms"] // 60_000, seen.detail["number"]
        return Said(
            f"ก่อนรอบ {number} โต๊ะหยุด {minutes} นาที — ถามว่าเพราะอะไร",
            f"Before round {number} play stood still for {minutes} min — ask why",
        )
    table, hour = seen.detail["table"], seen.detail["hour"]
    took, least, most = (seconds(seen.detail[key]) for key in ("ms", "least_ms", "most_ms"))
    by = (
        Said("ขีดตายตัว ยังไม่มีสถิติพอ", "fixed limits, too few days are known")
        if seen.detail["fixed"]
        else Said(f"จาก {seen.detail['days']} วันก่อน", f"from the {seen.detail['days']} days before")
    )
    return Said(
        f"โต๊ะ {table} ช่วง {hour}:00 รอบละ {took} วินาที ปกติ {least}–{most} ({by.th}) — ดูว่าเพราะอะไร",
        f"Table {table} took {took} s a round at {hour}:00, usual are {least} to {most} ({by.en}) — see why",
    )


def short_deck(seen: Seen) -> Said:
    face, count, odds = card(seen.detail["card"]), seen.detail["rounds"], seen.detail["odds"]
    if not seen.detail.get("stopped", 1):
        return Said(
            f"{face} ไม่ออก {count} รอบ โอกาส {odds} — นับไพ่ทั้งสำรับ ถ้ายังอยู่",
            f"{face} was not seen for {count} rounds, odds {odds} — count the deck, if it is still there",
        )
    return Said(
        f"{face} ไม่ออก {count} รอบ โอกาส {odds} โต๊ะหยุดแล้ว — นับไพ่ทั้งสำรับ",
        f"{face} was not seen for {count} rounds, odds {odds}; the table is stopped — count the deck",
    )
