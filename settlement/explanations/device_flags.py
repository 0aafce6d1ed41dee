"""What devices reported, and how: the sentences of these findings."""

from __future__ import annotations

from settlement.explanations.flag_figures import Seen
from settlement.explanations.terms import Said, both, card, place, seconds


def closed_too_fast(seen: Seen) -> Said:
    took = seconds(seen.detail["took_ms"])
    return Said(
        f"รอบนี้ใช้ {took} วินาที เร็วกว่าที่คนเล่นได้ — ดูว่ากรอกย้อนหลังหรือไม่",
        f"The round took {took} s, faster than people play — see whether it was entered afterwards",
    )


def late_event(seen: Seen) -> Said:
    count = seen.detail["events"]
    return Said(
        f"มีข้อมูลมาช้า {count} รายการหลังคิดเงินแล้ว เก็บเป็นหลักฐาน — เทียบกับผลเดิม",
        f"{count} reports came after settlement and are kept as evidence — compare them with the result",
    )


def out_of_order(seen: Seen) -> Said:
    event, source, number = (seen.detail[name] for name in ("event", "source", "seq"))
    return Said(
        f"{source} ลำดับ {number} ({event}) ผิดลำดับของรอบ เก็บเป็นหลักฐาน — เทียบกับผลเดิม",
        f"{source}'s number {number} ({event}) is out of the round's order and is kept as evidence"
        " — compare it with the result",
    )


_BY = {
    "terminal": Said("เครื่องโต๊ะ", "the terminal's card counts"),
    "camera": Said("กล้อง", "the camera's card counts"),
    "ruled": Said("คำชี้ขาด", "the ruled card counts"),
}


def reads_differ(seen: Seen) -> Said:
    reads = [
        Said(f"{source} {card(read)}", f"{source} {card(read)}")
        if read
        else Said(f"{source} ไม่มีใบนี้", f"{source} no such card")
        for source, read in seen.detail["reads"]
    ]
    said = both(reads, th=" ", en=", ")
    by, counts = seen.detail["by"], seen.detail["counts"]
    if by == "removed":
        outcome = Said("ใบนี้ถูกเอาออก", "the card was removed")
    elif by not in _BY:
        outcome = Said("ยังไม่มีคำชี้ขาด", "nothing is ruled yet")
    elif counts:
        outcome = Said(f"คิดตาม{_BY[by].th} {card(counts)}", f"{_BY[by].en}: {card(counts)}")
    else:
        outcome = Said(f"คิดตาม{_BY[by].th} ไม่นับใบนี้", "the terminal's word counts: there is no such card")
    return Said(
        f"{seen.at.th}: {said.th} — {outcome.th} — ดูภาพ",
        f"{seen.at.en}: {said.en}; {outcome.en} — look at the picture",
    )


def duplicate_card(seen: Seen) -> Said:
    slots = both([place(slot) for slot in seen.detail["slots"]], th=" และ", en=" and ")
    face = card(seen.detail["card"])
    return Said(
        f"{face} อยู่สองที่ ({slots.th}) — ดูว่าเกิดขึ้นอย่างไร แม้ชี้ขาดแล้ว",
        f"{face} was in two places ({slots.en}) — see how it came about, also once it is ruled",
    )


def unsigned_ruling(seen: Seen) -> Said:
    event = seen.detail["event"]
    return Said(
        f"มีคำสั่ง {event} ที่{seen.where.th} โดยไม่มีหัวหน้าลงชื่อ จึงไม่มีผล — ให้หัวหน้าชี้ขาดเอง",
        f"An act ({event}) on {seen.where.en} bears no supervisor's signature and changes nothing"
        " — a supervisor must rule",
    )


def sequence_reused(seen: Seen) -> Said:
    device, number = seen.detail["device"], seen.detail["number"]
    return Said(
        f"{device} ส่งลำดับ {number} อีกครั้งด้วยข้อมูลอื่น อันแรกยังใช้ อันหลังเก็บเป็นหลักฐาน — ตรวจเครื่อง",
        f"{device} sent number {number} again with other contents; the first stands, the second is kept as evidence"
        " — check the device",
    )


def sequence_too_far(seen: Seen) -> Said:
    device, number, highest = seen.detail["device"], seen.detail["number"], seen.detail["highest"]
    return Said(
        f"{device} ส่งลำดับ {number} ซึ่งไกลเกินจาก {highest} จึงไม่รับ — ตรวจเครื่อง แล้วลงทะเบียนใหม่",
        f"{device} sent number {number}, too far above {highest}, and it was not taken — check the device and enrol it"
        " anew",
    )


def number_jump(seen: Seen) -> Said:
    number, last = seen.detail["number"], seen.detail["last"]
    return Said(
        f"รอบนี้เปิดเป็นเลขที่ {number} ทั้งที่รอบก่อนคือ {last} — ดูว่าพิมพ์ผิดหรือมีรอบที่ไม่ได้ส่ง",
        f"This round was opened as number {number} after {last} — see whether it is a slip or rounds were not sent",
    )


def off_duty(seen: Seen) -> Said:
    badge, table = seen.detail["badge"], seen.detail["table"]
    return Said(
        f"{badge} บันทึกที่โต๊ะ {table} ทั้งที่ไม่ได้อยู่เวร — ดูว่าใครแจก",
        f"{badge} recorded at table {table} without being on duty there — see who dealt",
    )


def camera_gap(seen: Seen) -> Said:
    camera = seen.detail.get("device") or seen.detail["source"]
    first, last = seen.detail["first"], seen.detail["last"]
    return Said(
        f"{camera} ขาดลำดับ {first}–{last} — ตรวจกล้องและเครือข่าย",
        f"{camera}'s numbers {first}–{last} are missing — check the camera and its network",
    )


def stray_read(seen: Seen) -> Said:
    th, en = (
        ("กล้องเห็นไพ่ที่", "The camera saw a card at")
        if seen.detail["leader"] == "terminal"
        else ("เครื่องโต๊ะมีไพ่ที่", "The terminal has a card at")
    )
    return Said(
        f"{th}{seen.where.th} ซึ่งไม่มีใครเล่น จึงไม่นับ — ดูภาพ",
        f"{en} {seen.where.en}, where nobody played; it does not count — look at the picture",
    )


def wrong_sheet_shown(seen: Seen) -> Said:
    shown, in_force = seen.detail["shown"][:8], seen.detail["in_force"][:8]
    return Said(
        f"โต๊ะแสดงกติกา {shown} แต่ใช้ {in_force} อยู่ คิดตาม {in_force} — แก้จอ และบอกผู้เล่น",
        f"The table showed sheet {shown} while {in_force} is in force; {in_force} counts"
        " — mend the display and tell the guests",
    )


def clock_drift_burst(seen: Seen) -> Said:
    device, count = seen.detail["device"], seen.detail["events"]
    return Said(
        f"{device} ส่ง {count} รายการย้อนหลังกว่า 2 ชั่วโมงใน 5 นาที วันบัญชีคิดจากเวลาที่แก้แล้ว — ตรวจนาฬิกา",
        f"{device} sent {count} events dated more than two hours back within 5 min; the gaming day follows the"
        " corrected time — check its clock",
    )
