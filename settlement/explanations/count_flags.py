"""Questions about counts in words."""

from __future__ import annotations

from settlement.explanations.flag_figures import Seen
from settlement.explanations.terms import Said

_WHAT = {
    "opener": Said("เงินเปิดโต๊ะ", "The opener"),
    "closer": Said("เงินปิดโต๊ะ", "The closer"),
    "shift": Said("เงินโต๊ะตอนเปลี่ยนกะ", "The float at the shift's end"),
    "rollover": Said("เงินโต๊ะตอนเริ่มวันทำการ", "The float at the start hour"),
    "drop": Said("เงินในกล่อง", "The drop box"),
}


def count_variance(seen: Seen) -> Said:
    what, amount = _WHAT[seen.detail["kind"]], seen.amount("difference")
    told = Said("", "")
    if seen.detail["grade"] == "notify":
        told = Said(" และแจ้งหน่วยงานกำกับ", ", and the regulator gets a copy")
    return Said(
        f"{what.th}ต่างจากที่ควรเป็น {amount} — ตรวจสอบ{told.th}",
        f"{what.en} is {amount} off what was expected — investigate{told.en}",
    )
