"""Questions about cash and chips at the cages in words."""

from __future__ import annotations

from settlement.explanations.flag_figures import Seen
from settlement.explanations.terms import Said

_WAYS = {"in": Said("จ่ายเข้า", "in"), "out": Said("รับออก", "out")}


def ctr_due(seen: Seen) -> Said:
    person, day, way = seen.detail["person"], seen.detail["gaming_day"], _WAYS[seen.detail["direction"]]
    amount, limit = seen.amount("amount"), seen.amount("limit")
    return Said(
        f"{person} {way.th}เงินสด {amount} ในวันทำการ {day} เกิน {limit} — ต้องรายงาน",
        f"{person} had cash {way.en} of {amount} on gaming day {day}, more than {limit} — a report is due",
    )


def cash_across_days(seen: Seen) -> Said:
    person, day, way = seen.detail["person"], seen.detail["gaming_day"], _WAYS[seen.detail["direction"]]
    before, amount, limit = seen.amount("day_before"), seen.amount("amount"), seen.amount("limit")
    return Said(
        f"{person} {way.th}เงินสด {before} แล้ว {amount} คนละฝั่งของเวลาเริ่มวัน {day} แต่ละวันไม่เกิน {limit}"
        " รวมกันเกิน ไม่ต้องรายงาน — ตรวจดู",
        f"{person} had cash {way.en} of {before} and then {amount} on either side of the start of {day}; neither is"
        f" more than {limit}, together they are, and no report is due — have a look",
    )


def chips_exceed_outstanding(seen: Seen) -> Said:
    """``amount`` is what the cage took back, ``outside`` what was outside before; below zero where it was less."""
    cage, amount, outside = seen.detail["cage"], seen.amount("amount"), seen.amount("outside")
    return Said(
        f"แคช {cage} รับคืนชิป {amount} เกินกว่าชิปที่อยู่ข้างนอก ({outside}) — นับชิป และดูว่ามาจากไหน",
        f"Cage {cage} took back chips of {amount}, more than were outside ({outside})"
        " — count the chips and see where they came from",
    )
