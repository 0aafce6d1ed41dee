"""What each break means: how much difference is allowed, whether it may clear itself, how bad it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from settlement.models import BreakCode, Severity


class Lasts(Enum):
    """When a break of a code ends without a person."""

    NEVER = "never"
    ON_ARRIVAL = "when what was missing arrives"
    WHEN_DONE = "when what it waited for is done"
    NEXT_DAY = "with its pair in the next gaming day"
    BY_RULE = "by a dated rule, whose id is written down"


@dataclass(frozen=True, slots=True)
class Kind:
    """``tolerance`` in words: tolerance exists for hands and outside files, never inside the ledger. ``english`` and
    ``thai`` say in a sentence what differs."""

    severity: str
    tolerance: str
    lasts: Lasts
    english: str
    thai: str

    @property
    def clears_itself(self) -> bool:
        return self.lasts is not Lasts.NEVER


_LOW, _MEDIUM, _HIGH, _CRITICAL = Severity.LOW, Severity.MEDIUM, Severity.HIGH, Severity.CRITICAL

CATALOGUE: dict[str, Kind] = {
    BreakCode.SEQ_GAP: Kind(
        _HIGH,
        "none",
        Lasts.ON_ARRIVAL,
        "A round's or a device's number is missing, or the stated last round was not reached.",
        "เลขรอบหรือเลขของเครื่องขาดหาย หรือไปไม่ถึงรอบสุดท้ายที่แจ้งไว้",
    ),
    BreakCode.MISSING_LEDGER: Kind(
        _HIGH,
        "the grace of the property",
        Lasts.ON_ARRIVAL,
        "Something happened that the ledger does not know.",
        "มีรายการเกิดขึ้นแต่ไม่มีในบัญชีแยกประเภท",
    ),
    BreakCode.MISSING_SOURCE: Kind(
        _HIGH,
        "the grace of the property",
        Lasts.ON_ARRIVAL,
        "The ledger knows something that nobody reported.",
        "มีในบัญชีแยกประเภทแต่ไม่มีใครรายงาน",
    ),
    BreakCode.AMOUNT: Kind(
        _HIGH,
        "none",
        Lasts.NEVER,
        "Both sides have it, with different amounts.",
        "มีทั้งสองฝั่ง แต่จำนวนเงินไม่ตรงกัน",
    ),
    BreakCode.CURRENCY: Kind(
        _HIGH, "none", Lasts.NEVER, "Both sides have it, in different currencies.", "มีทั้งสองฝั่ง แต่สกุลเงินต่างกัน"
    ),
    BreakCode.DUPLICATE: Kind(_HIGH, "none", Lasts.NEVER, "One side has it twice.", "ฝั่งหนึ่งมีรายการนี้ซ้ำ"),
    BreakCode.JUDGE_DIFF: Kind(
        _CRITICAL,
        "none",
        Lasts.NEVER,
        "Judged again, the round comes to other lines or entries than were stored.",
        "ตัดสินซ้ำแล้วได้ผลหรือรายการบัญชีไม่ตรงกับที่เก็บไว้",
    ),
    BreakCode.SHEET_UNKNOWN: Kind(
        _CRITICAL,
        "none",
        Lasts.NEVER,
        "The round was judged by a rule sheet that is not known, or was not in force when it opened.",
        "รอบนี้ตัดสินด้วยกติกาที่ไม่รู้จัก หรือไม่ได้ใช้อยู่ตอนเปิดรอบ",
    ),
    BreakCode.BALANCE_DRIFT: Kind(
        _CRITICAL,
        "none",
        Lasts.NEVER,
        "An account's balance, its last entry and the sum of its entries do not agree.",
        "ยอดคงเหลือ รายการล่าสุด และผลรวมของบัญชีไม่ตรงกัน",
    ),
    BreakCode.VERSION_GAP: Kind(
        _CRITICAL,
        "none",
        Lasts.NEVER,
        "A version of an account is missing or stands twice.",
        "ลำดับรายการของบัญชีขาดหายหรือซ้ำ",
    ),
    BreakCode.HOLD_STALE: Kind(
        _HIGH,
        "the grace of the property",
        Lasts.WHEN_DONE,
        "Money is still set aside for a round that is settled or void.",
        "ยังกันเงินไว้ให้รอบที่จ่ายแล้วหรือเป็นโมฆะแล้ว",
    ),
    BreakCode.SEAL_LAG: Kind(
        _CRITICAL,
        "the stated lag",
        Lasts.WHEN_DONE,
        "An act is in the log but has waited too long for its leaf.",
        "รายการในบันทึกยังไม่ถูกผนึกเกินเวลาที่กำหนด",
    ),
    BreakCode.FORK: Kind(
        _CRITICAL, "none", Lasts.NEVER, "The log has two histories.", "บันทึกมีประวัติสองสายที่ขัดกัน"
    ),
    BreakCode.LEAF_DIFF: Kind(
        _CRITICAL,
        "none",
        Lasts.NEVER,
        "An entry's bytes are not those of its leaf, or an act has no entry.",
        "ข้อมูลในบันทึกไม่ตรงกับใบที่ผนึกไว้ หรือรายการไม่มีบันทึก",
    ),
    BreakCode.PROOF_FAIL: Kind(
        _CRITICAL, "none", Lasts.NEVER, "A proof of the log fails.", "หลักฐานพิสูจน์ของบันทึกไม่ผ่าน"
    ),
    BreakCode.CUTOFF: Kind(
        _LOW,
        "none",
        Lasts.NEXT_DAY,
        "The amount is right and stands in another gaming day.",
        "จำนวนถูกต้องแต่อยู่คนละวันทำการ",
    ),
    BreakCode.COUNT_VARIANCE: Kind(
        _MEDIUM,
        "by denomination and table, dated",
        Lasts.BY_RULE,
        "What was counted is not what the ledger says.",
        "จำนวนที่นับได้ไม่ตรงกับบัญชี",
    ),
    BreakCode.COUNT_MISMATCH: Kind(
        _MEDIUM, "none", Lasts.NEVER, "Two counts of the same chips differ.", "นับชิปชุดเดียวกันสองครั้งได้ไม่เท่ากัน"
    ),
    BreakCode.SLIP_GAP: Kind(
        _MEDIUM, "none", Lasts.NEVER, "A slip's number is missing from its series.", "เลขใบเบิกในชุดขาดหาย"
    ),
    BreakCode.TRANSIT_LEFT: Kind(
        _MEDIUM,
        "none",
        Lasts.NEVER,
        "Chips were still under way when the shift ended.",
        "ชิปยังอยู่ระหว่างทางตอนสิ้นกะ",
    ),
    BreakCode.EXT_FEE: Kind(
        _LOW, "by rule", Lasts.BY_RULE, "An outside file took a fee.", "ไฟล์ภายนอกหักค่าธรรมเนียม"
    ),
    BreakCode.EXT_ROUNDING: Kind(
        _LOW, "by rule", Lasts.BY_RULE, "An outside file rounded otherwise.", "ไฟล์ภายนอกปัดเศษต่างกัน"
    ),
    BreakCode.POISONED: Kind(
        _CRITICAL,
        "none",
        Lasts.WHEN_DONE,
        "A part of the books could not be compared after five tries.",
        "เทียบบัญชีส่วนหนึ่งไม่สำเร็จหลังลองห้าครั้ง",
    ),
}
"""Every code in use; one is never renumbered, and never means another thing."""
