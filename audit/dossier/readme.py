"""What stands in a dossier's README.txt, for whoever receives it and knows nothing of the house's systems."""

TEXT = """\
แฟ้มหลักฐานของรอบไพ่ป๊อกเด้ง
============================

dossier.json    เหตุการณ์ทุกรายการ การอ่านไพ่ของทุกเครื่อง กติกา ผลตัดสิน การจ่ายเงิน และหลักฐานการลงบันทึก
dossier.pdf     เนื้อหาเดียวกันสำหรับอ่าน (ไม่ถูกตรวจ ให้ยึดตาม dossier.json)
manifest.json   SHA-256 ของไฟล์อื่น ยกเว้น dossier.pdf
verify.pyz      โปรแกรมตรวจสอบ ใช้เพียง Python 3.11 ขึ้นไป ไม่ต้องต่อเครือข่าย

วิธีตรวจ
    python3 verify.pyz dossier.json --key กุญแจของบ่อน
หรือชี้ไปที่ไฟล์ ZIP หรือโฟลเดอร์ที่แตกออกมา

กุญแจต้องเป็นกุญแจที่ท่านมีอยู่ก่อนแล้วหรือได้จากแหล่งอื่น กุญแจที่เขียนในแฟ้มนี้เองไม่พิสูจน์อะไร
ถ้าท่านเก็บจุดตรวจ (checkpoint) ไว้ ให้เพิ่ม --checkpoint ไฟล์นั้น โปรแกรมจะตรวจว่าบันทึกมีแต่เพิ่ม ไม่ถูกเขียนใหม่
ถ้าขาดหลักฐานสำหรับจุดตรวจนั้น ขอได้จากบ่อนที่ /api/v1/audit/consistency แล้วใช้ --consistency ไฟล์คำตอบ

สิ่งที่ตรวจ: V1 ไบต์ของรายการตรงกับค่าแฮช · V2 รายการอยู่ในต้นไม้ของบันทึก · V3 บันทึกมีแต่เพิ่ม · V4 ลายเซ็น
V5 พับเหตุการณ์ ตัดสิน และบวกเงินใหม่ทั้งหมด ต้องได้เท่าที่จ่าย
ผลลัพธ์: 0 ตรวจผ่าน · 1 มีแถวที่ผิด (บอกแถวแรก) · 2 สอดคล้องในตัวเอง แต่ท่านยังไม่ได้ให้กุญแจ

สิ่งที่ผู้รับแฟ้มไม่มีสิทธิ์เห็นจะเขียนไว้ว่า withheld และแฟ้มยังตรวจได้เท่าที่เหลือ
ชื่อคน บันทึก และข้อความที่พนักงานพิมพ์ ไม่อยู่ในรายการที่ปิดผนึก ความครบถ้วนของส่วนนี้พิสูจน์ด้วยรายการของแฟ้มเอง
(This copy's own entry) ซึ่งบ่อนยืนยันได้ที่ /api/v1/audit/proof?hash=...


Dossier of a round of Pok Deng
==============================

dossier.json    every event, what each device read, the rules, the judgement, the money, and the proofs of the log
dossier.pdf     the same for reading (not checked: dossier.json counts)
manifest.json   the SHA-256 of the other files, dossier.pdf excepted
verify.pyz      the check; needs Python 3.11 or newer and nothing else, no network

To check it
    python3 verify.pyz dossier.json --key KEY_OF_THE_HOUSE
or name the ZIP, or the folder it was unpacked to.

The key must be one that you had before, or have from elsewhere: the key written in here proves nothing by itself.
If you kept a checkpoint, add --checkpoint FILE: the log must only have grown from it. If the proof for it is not in
here, ask the house at /api/v1/audit/consistency and add --consistency FILE with the answer.

What is checked: V1 the bytes of entries have their hashes · V2 entries stand in the log's tree · V3 the log only grew
V4 the signature · V5 everything is folded, judged and added up again and must give what was paid.
Result: 0 verified · 1 a row is wrong (the first is named) · 2 in itself consistent, but you gave no key

What its reader may not see is said to be withheld, and the rest can still be checked.
Names, notes and texts that people typed are in no sealed entry. That they are as they were handed out is fixed by this
copy's own entry, which the house proves at /api/v1/audit/proof?hash=...
"""
