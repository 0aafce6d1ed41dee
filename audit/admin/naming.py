"""What rows and columns are called in the admin, in Thai; the English names are those of the models themselves.

Names are given to the models when their pages are registered and are shown there alone: nothing stored knows them.
"""

from __future__ import annotations

from typing import Any

from audit.admin.words import either

APPS = {
    "casino": "โต๊ะ: สิ่งที่เกิดขึ้น",
    "settlement": "การเงิน: คิดและลงบัญชี",
    "audit": "ตรวจสอบ: พยาน",
}

MODELS = {
    "person": ("people", "พนักงาน"),
    "table": ("tables", "โต๊ะ"),
    "device": ("devices", "เครื่อง"),
    "tablesession": ("table sessions", "ช่วงเปิดโต๊ะ"),
    "duty": ("duties", "เวร"),
    "round": ("rounds", "รอบ"),
    "roundevent": ("round events", "เหตุการณ์ในรอบ"),
    "refusedevent": ("refused events", "เหตุการณ์ที่ไม่รับ"),
    "signature": ("signatures", "ลายเซ็น"),
    "gapwaiver": ("gap waivers", "การปล่อยลำดับที่ขาด"),
    "roundwaiver": ("round waivers", "การยกเว้นเลขรอบที่ขาด"),
    "apikey": ("keys of other systems", "คีย์ของระบบอื่น"),
    "rulesheet": ("rule sheets", "ใบกติกา"),
    "tablerules": ("table rules", "กติกาของโต๊ะ"),
    "account": ("accounts", "บัญชี"),
    "journal": ("journals", "รายการบัญชี"),
    "entry": ("entries", "บรรทัดบัญชี"),
    "hold": ("holds", "เงินกัน"),
    "cashiersystem": ("cashier systems with wallets", "ระบบแคชเชียร์ที่เก็บกระเป๋า"),
    "externalhold": ("holds kept elsewhere", "เงินกันที่อื่น"),
    "externalcall": ("calls to cashier systems", "การแจ้งระบบแคชเชียร์"),
    "uncovered": ("uncovered wagers", "เดิมพันไม่มีเงินกัน"),
    "settlement": ("settlements", "ผลคิดเงิน"),
    "line": ("lines", "บรรทัดผล"),
    "cashact": ("acts of cash", "รายการเงินสด"),
    "series": ("series", "ชุดเลข"),
    "slip": ("slips", "ใบส่งชิป"),
    "slipstep": ("steps of slips", "ขั้นของใบส่งชิป"),
    "payslip": ("pay slips", "ใบจ่าย"),
    "count": ("counts", "การนับ"),
    "float": ("floats", "เงินประจำโต๊ะ"),
    "counting": ("countings", "การขอนับ"),
    "drop": ("drops", "เงินในกล่อง"),
    "gamingday": ("gaming days", "วันทำการ"),
    "shift": ("shifts", "กะ"),
    "report": ("reports", "รายงาน"),
    "approvedtarget": ("webhook targets", "ปลายทางที่อนุมัติ"),
    "endpoint": ("webhook endpoints", "ปลายทางเว็บฮุก"),
    "endpointchange": ("changes of endpoints", "การเปลี่ยนปลายทาง"),
    "message": ("messages", "ข้อความแจ้ง"),
    "delivery": ("deliveries", "การส่ง"),
    "attempt": ("tries", "การลองส่ง"),
    "run": ("reconciliations", "การกระทบยอด"),
    "chunk": ("chunks of reconciliations", "ส่วนของการกระทบยอด"),
    "break": ("breaks", "รายการต่าง"),
    "breakstep": ("steps of breaks", "ขั้นของรายการต่าง"),
    "cage": ("cages", "ห้องแคชเชียร์"),
    "appointment": ("appointments", "การแต่งตั้ง"),
    "handover": ("codes of people", "รหัสรับบัญชี"),
    "enrolment": ("codes of devices", "รหัสลงทะเบียนเครื่อง"),
    "flag": ("flags", "ข้อสังเกต"),
    "dispute": ("disputes", "ข้อพิพาท"),
    "inspection": ("inspections", "การตรวจซ้ำ"),
    "discrepancy": ("discrepancies", "สิ่งที่ไม่ตรง"),
    "analysis": ("analyses", "การวิเคราะห์"),
    "analysisresult": ("results of analyses", "ผลการวิเคราะห์"),
    "logentry": ("log entries", "บันทึก"),
}

FIELDS = {
    "staff_no": "เลขประจำตัวพนักงาน", "turns_at": "สิทธิ์เปลี่ยนเมื่อ", "from_at": "ตั้งแต่", "until_at": "จนถึง",
    "made_by": "ผู้ทำ", "used_at": "ใช้เมื่อ",
    "added_by": "ผู้เพิ่ม", "added_with": "ผู้เพิ่มร่วม", "added_at": "เพิ่มเมื่อ", "ended_by": "ผู้เลิกใช้",
    "ended_with": "ผู้เลิกใช้ร่วม", "wallets": "กระเป๋าเงิน", "chips_outside": "ชิปที่อยู่ข้างนอก",
    "camera_grace_ms": "รอกล้อง (มิลลิวินาที)",
    "assigned_to": "ผู้รับผิดชอบ", "begun_by": "ผู้เริ่ม", "chunk_size": "ขนาดส่วน",
    "edition": "ครั้งที่", "fell_due_at": "ครบกำหนดเมื่อ", "fingerprint": "ลักษณะที่ต่าง",
    "level": "ระดับ", "lower": "ตั้งแต่", "of": "รายการต่าง", "part": "ส่วน", "report": "รายงาน",
    "resolution": "วิธีจบ", "resolved_by": "ผู้จบเรื่อง", "rule": "กฎ", "rules": "กฎ",
    "run": "การกระทบยอด", "scope": "ขอบเขต", "seen_at": "พบล่าสุด", "seen_run": "การกระทบยอดล่าสุด",
    "severity": "ความรุนแรง", "since": "ตั้งแต่", "steps": "จำนวนขั้น", "trouble": "ปัญหา",
    "upper": "ถึง",
    "acknowledged_at": "ยืนยันเมื่อ", "answered_at": "ตอบเมื่อ", "dialect": "ภาษาระบบ",
    "enabled": "ใช้งานอยู่", "hold": "เงินกัน", "moves": "เปลี่ยนยอด", "path": "ที่อยู่",
    "place": "ลำดับ", "prefix": "คำนำหน้า", "reverses": "ย้อนรายการ", "verb": "สั่ง",
    "written_at": "เขียนเมื่อ",
    "as_of_change": "ตามรายชื่อครั้งที่", "attempts": "จำนวนครั้ง", "body": "เนื้อความ", "booked_at": "บันทึกเมื่อ",
    "changed_at": "เปลี่ยนเมื่อ", "changed_by": "ผู้เปลี่ยน", "delivery": "การส่ง", "due_at": "กำหนดเวลา",
    "endpoint": "ปลายทาง", "failures": "ล้มเหลว", "finished_at": "เสร็จเมื่อ", "host": "โฮสต์", "last_result": "ผลล่าสุด",
    "lease_until": "จองถึง", "message": "ข้อความแจ้ง", "milliseconds": "มิลลิวินาที", "not_before": "ไม่ส่งก่อน",
    "opens": "เปิด", "owner": "ผู้จอง", "port": "พอร์ต", "previous_until": "ความลับเดิมใช้ถึง", "ranges": "ช่วงเครือข่าย",
    "result": "ผล", "sent_at": "ส่งเมื่อ", "slots": "ส่งพร้อมกัน", "status": "รหัสตอบ", "type": "ประเภท", "types": "ประเภท",
    "url": "ที่อยู่", "withdrawn_at": "ถอนเมื่อ", "withdrawn_by": "ผู้ถอน",
    "begins_at": "เริ่มเมื่อ", "ends_at": "สิ้นสุดเมื่อ", "opened_by": "ผู้เปิด",
    "closing_by": "ผู้เริ่มปิด", "closing_at": "เริ่มปิดเมื่อ", "sealed_by": "ผู้ปิดผนึก",
    "seconded_by": "ผู้ปิดผนึกร่วม", "sealed_at": "ปิดผนึกเมื่อ", "journals": "จำนวนรายการบัญชี",
    "opened_with": "ผู้เปิดร่วม", "closed_with": "ผู้ปิดร่วม", "overdue": "เลยกำหนด",
    "day": "วันทำการ", "shift": "กะ", "zone": "เขตเวลา", "start_hour": "ชั่วโมงเริ่มวัน",
    "last_entry": "บรรทัดบัญชีสุดท้าย",
    "addresses": "ช่วงที่อยู่", "cages": "ห้องแคชเชียร์", "created_at": "สร้างเมื่อ", "created_by": "ผู้สร้าง",
    "expires_at": "หมดอายุ", "last_used_at": "ใช้ล่าสุด", "revoked_by": "ผู้เพิกถอน", "scopes": "ขอบเขต",
    "system": "ระบบ", "tables": "โต๊ะ", "cage": "ห้องแคชเชียร์", "direction": "เข้าออก", "document": "เอกสาร",
    "means": "วิธีจ่าย", "till": "ลิ้นชัก", "lines": "ชิปแยกมูลค่า",
    "alarms": "ข้อสังเกต", "analysis": "การวิเคราะห์", "asked_at": "ขอเมื่อ", "digest": "ลายนิ้วมือ",
    "made_at": "ทำเมื่อ", "repeats": "ได้ผลเดิม", "rounds": "รอบ", "screen": "หัวข้อ",
    "by": "ผู้ลงนาม", "second": "คนที่สอง", "slip": "ใบส่งชิป", "series": "ชุดเลข", "year": "ปี",
    "property": "กิจการ", "manual_number": "เลขใบกระดาษ", "requested_at": "ขอเมื่อ", "taken_at": "ทำเมื่อ",
    "issued_by": "ผู้ออก", "issued_at": "ออกเมื่อ", "paid_by": "ผู้จ่าย", "paid_at": "จ่ายเมื่อ",
    "voided_by": "ผู้ยกเลิก", "voided_at": "ยกเลิกเมื่อ", "settled_before": "ได้แล้วก่อนนั้น", "journal": "รายการบัญชี",
    "account": "บัญชี", "account_code": "บัญชี", "acted_by": "ผู้ทำ", "action": "การกระทำ",
    "actor": "ผู้กระทำ", "actor_kind": "ชนิดผู้กระทำ", "amount": "จำนวนเงิน",
    "approved_at": "อนุมัติเมื่อ", "approved_by": "ผู้อนุมัติ", "badge": "รหัสบัตร",
    "balance": "ยอด", "balance_after": "ยอดหลังรายการ", "because": "เพราะ",
    "begun_at": "เริ่มเมื่อ", "camera": "กล้อง", "cards": "ไพ่", "cards_seen": "ไพ่ที่เห็น",
    "claim_until": "รับเรื่องถึง", "claimed_by": "ผู้รับเรื่อง", "claims": "ใช้ลำดับ",
    "clock_off": "นาฬิกาคลาด", "close_code": "รหัสเหตุผล", "close_reason": "เหตุผล",
    "closed_at": "ปิดเมื่อ", "closed_by": "ผู้ปิด", "code": "รหัส", "commission": "ค่าต๋ง",
    "accepted": "ผลที่ยืนยัน", "asked_by": "ผู้ขอ", "box": "กล่อง",
    "carried_by": "ผู้ถือ", "counting": "การขอนับ", "grade": "ระดับ", "recorded": "ที่บันทึกไว้",
    "supersedes": "แทนที่", "until": "พร้อมการนับ",
    "count": "การนับ", "counted_at": "นับเมื่อ", "counted_by": "ผู้นับ",
    "currency": "สกุลเงิน", "deadline_at": "ครบกำหนด", "dealer_cards": "ไพ่เจ้ามือ",
    "detail": "รายละเอียด", "device": "เครื่อง", "device_seq": "ลำดับของเครื่อง",
    "display_name": "ชื่อ", "done_at": "เสร็จเมื่อ", "ended_at": "สิ้นสุดเมื่อ",
    "enrolled_at": "ลงทะเบียนเมื่อ", "entry": "บันทึก", "entry_count": "จำนวนบรรทัด",
    "expected": "ที่ควรเป็น", "exposure": "เสียได้สูงสุด", "first": "แรก",
    "floor": "ขั้นต่ำ", "follows": "ต่อจาก", "found": "ที่พบ", "found_at": "พบเมื่อ",
    "gaming_day": "วันทำการ", "gross": "ก่อนหัก", "hand": "มือ", "hand_deng": "เด้ง",
    "hand_kind": "ชนิดไพ่", "hand_taem": "แต้ม", "happened_at": "เกิดเมื่อ (เครื่องบอก)",
    "held": "กันไว้", "holes": "ลำดับที่ขาด", "house_net": "ผลของบ้าน",
    "in_dispute": "มีข้อพิพาท", "in_force_from": "ใช้ตั้งแต่", "inspection": "การตรวจซ้ำ",
    "instant": "เวลาจริง", "invariant": "ข้อตรวจ", "is_active": "ใช้งานอยู่",
    "key": "กุญแจ", "kind": "ชนิด", "last": "สุดท้าย", "last_contact_at": "ติดต่อล่าสุด",
    "jumped_from": "กระโดดจากเลข", "last_round": "รอบสุดท้าย", "last_seq": "ลำดับล่าสุด", "late": "มาช้า",
    "may_rule": "ชี้ขาดได้", "money_at_risk": "เงินที่เกี่ยว", "moved_at": "เดินเมื่อ",
    "multiple": "เท่า", "name": "ชื่อ", "needs_two": "ต้องสองคน", "net": "สุทธิ",
    "number": "เลข", "off_at": "ออกเวร", "offending": "ไม่ตรง", "on_at": "เข้าเวร",
    "opened_at": "เปิดเมื่อ", "ordinal": "ลำดับที่", "origin": "บันทึกชื่อ",
    "outcome": "ผล", "payload": "เนื้อหา", "permissions": "สิทธิ์", "person": "คน",
    "position": "ตำแหน่ง", "proposed_at": "เสนอเมื่อ", "proposed_by": "ผู้เสนอ",
    "raised_at": "ยกขึ้นเมื่อ", "raised_by": "ผู้ยก", "reason": "เหตุผล",
    "reason_code": "รหัสเหตุผล", "reasons": "เหตุที่ค้าง", "recorded_at": "บันทึกเมื่อ",
    "request_id": "คำขอ", "revision": "ฉบับ", "revoked_at": "เพิกถอนเมื่อ",
    "role": "หน้าที่", "round": "รอบ", "seq": "ลำดับ", "session": "ช่วงเปิดโต๊ะ",
    "set_at": "ตั้งเมื่อ", "set_by": "ผู้ตั้ง", "settled_at": "คิดเงินเมื่อ",
    "settlement": "ผลคิดเงิน", "settlements": "จำนวนผล", "sheet": "ใบกติกา",
    "signature": "ลายเซ็น", "signed": "การลงนาม", "signed_at": "ลงนามเมื่อ",
    "signer": "ผู้ลงนาม", "snoozed_until": "เลื่อนถึง", "source": "แหล่ง",
    "stake": "เดิมพัน", "standing": "สถานะ", "state": "สถานะ", "step": "ขั้นที่ตัดสิน",
    "stop_reason": "เหตุที่หยุด", "subject": "เรื่อง", "table": "โต๊ะ",
    "table_code": "โต๊ะ", "uncovered": "จ่ายไม่ถึง", "verified_through": "ตรวจแล้วถึง",
    "version": "รุ่น", "wager": "เดิมพัน", "waived_at": "ปล่อยเมื่อ", "xid": "ธุรกรรม",
}  # fmt: skip

STATES = {
    "open": either("open", "เปิด"),
    "closed": either("closed", "ปิดแล้ว"),
    "disputed": either("disputed", "เป็นข้อพิพาท"),
    "claimed": either("claimed", "มีผู้รับเรื่อง"),
    "proposed": either("proposed", "มีข้อเสนอ"),
    "decided": either("decided", "ตัดสินแล้ว"),
}


def in_both_languages(opts: Any) -> None:
    """Let a model, its columns and its app be called by their names in the reader's language."""
    if opts.model_name in MODELS and not hasattr(opts, "named_in_english"):
        many, thai = MODELS[opts.model_name]
        opts.named_in_english = str(opts.verbose_name)
        opts.verbose_name = either(opts.named_in_english, thai)
        opts.verbose_name_plural = either(many, thai)
        for field in opts.fields:
            if field.name in FIELDS:
                field.verbose_name = either(str(field.verbose_name), FIELDS[field.name])
        if opts.app_label in APPS and isinstance(opts.app_config.verbose_name, str):
            opts.app_config.verbose_name = either(opts.app_config.verbose_name, APPS[opts.app_label])
