"""What a dossier's page calls things, in Thai and in English."""

from __future__ import annotations

from collections.abc import Mapping

STANDING: Mapping[str, tuple[str, str]] = {
    "": ("กำลังเล่น", "being played"),
    "due": ("รอคิดเงิน", "waits to be settled"),
    "held": ("ค้าง ยังไม่คิดเงิน", "held, no money has moved"),
    "settled": ("คิดเงินแล้ว", "settled"),
    "voided": ("ยกเลิก", "voided"),
}
ROLES: Mapping[str, tuple[str, str]] = {
    "dealer": ("เจ้ามือ", "dealer"),
    "supervisor": ("หัวหน้า", "supervisor"),
    "manager": ("ผู้จัดการ", "manager"),
    "surveillance": ("ห้องกล้อง", "surveillance"),
    "cashier": ("แคชเชียร์", "cashier"),
    "auditor": ("ผู้ตรวจสอบ", "auditor"),
    "administrator": ("ผู้ดูแลระบบ", "administrator"),
    "service": ("ระบบของบ่อน", "the house's own service"),
}
WITHHELD: Mapping[str, tuple[str, str]] = {
    "balances": ("ยอดคงเหลือของบัญชี", "what accounts held"),
    "log": ("ข้อความของรายการที่ปิดผนึก", "the text of sealed entries"),
    "names": ("ชื่อและรหัสพนักงาน", "names and badges of staff"),
}
EVENTS: Mapping[str, tuple[str, str]] = {
    "round_opened": ("เปิดรอบ", "round opened"),
    "bet_placed": ("วางเดิมพัน", "bet placed"),
    "bet_changed": ("เปลี่ยนเดิมพัน", "bet changed"),
    "bet_withdrawn": ("ถอนเดิมพัน", "bet withdrawn"),
    "bets_locked": ("ปิดเดิมพัน", "bets locked"),
    "card_dealt": ("ไพ่", "card dealt"),
    "pok_shown": ("เปิดป๊อก", "pok shown"),
    "hand_stayed": ("อยู่", "hand stayed"),
    "hand_drew": ("จั่ว", "hand drew"),
    "hand_checked": ("เช็ค", "hand checked"),
    "dealer_drew": ("เจ้ามือจั่ว", "dealer drew"),
    "dealer_stayed": ("เจ้ามืออยู่", "dealer stayed"),
    "result_declared": ("ประกาศผล", "result declared"),
    "round_closed": ("ปิดรอบ", "round closed"),
    "round_voided": ("ยกเลิกรอบ", "round voided"),
    "card_corrected": ("แก้ไพ่", "card corrected"),
    "card_removed": ("เอาไพ่ออก", "card removed"),
    "card_ruled": ("ชี้ขาดไพ่", "card ruled"),
    "bet_ruled": ("ชี้ขาดเดิมพัน", "bet ruled"),
    "hold_waived": ("ยกเว้นการรอ", "hold waived"),
    "recorder_changed": ("เปลี่ยนเครื่องบันทึก", "recorder changed"),
    "mispay_put_right": ("แก้การจ่ายผิด", "mispay put right"),
    "mispay_found": ("พบว่าจ่ายผิด", "mispay found"),
    "note": ("หมายเหตุ", "note"),
}
