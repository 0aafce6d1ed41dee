"""Questions about the house itself in words: who tries to come in, and what it cannot work with."""

from __future__ import annotations

from settlement.explanations.flag_figures import Seen
from settlement.explanations.terms import Said


def signin_failures(seen: Seen) -> Said:
    """``origin`` is a terminal's code or an address; ``failures`` counts those of one badge from there, in a row."""
    origin, failures = seen.detail["origin"], seen.detail["failures"]
    return Said(
        f"เข้าสู่ระบบผิด {failures} ครั้งติดกันจาก {origin} — ถามเจ้าของบัตร",
        f"{failures} wrong sign-ins in a row came from {origin} — ask whose badge it is",
    )


def uncomputable(seen: Seen) -> Said:
    """``what`` names the item (``statements/…``), ``work`` what met it there (``statement matching``)."""
    what, work = seen.detail["what"], seen.detail["work"]
    return Said(
        f"ระบบคำนวณกับ {what} ไม่ได้ ({work}) รายการนี้ค้าง รายการอื่นเดินต่อ — ดูรายการนี้",
        f"Item {what} cannot be computed with ({work}); it stands still while all else goes on — look at it",
    )
