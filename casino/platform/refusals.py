"""How the service says no.

A refusal is foreseen: it has a stable code, a plain sentence in Thai and English, and the fields it is about.
It is never a fault of ours, and it leaves nothing half-done. Codes have one home, this registry; they are never
renumbered or reused. ``deploy.errors`` turns a refusal into problem+json.
"""

from dataclasses import dataclass
from typing import Any

from casino.platform import values
from casino.platform.values import Between, Value


@dataclass(frozen=True, slots=True)
class Code:
    """A way of saying no: HTTP status, and the sentence in English and Thai."""

    status: int
    english: str
    thai: str


CODES: dict[str, Code] = {}


def register(code: str, status: int, english: str, thai: str) -> None:
    """Add a code; raise ValueError for one that exists, so that no code ever means two things."""
    if code in CODES:
        raise ValueError(f"refusal code {code!r} is registered twice")
    CODES[code] = Code(status, english, thai)


class Refusal(Exception):
    """The service says no. ``fields`` maps a path in the request (``data.stake.amount``) to what is wrong there;
    ``extra`` are further members of the problem document, JSON values only."""

    def __init__(self, code: str, *, fields: dict[str, str] | None = None, **extra: Any) -> None:
        if code not in CODES:
            raise KeyError(f"refusal code {code!r} is not registered")
        super().__init__(code)
        self.code = code
        self.fields = fields or {}
        self.extra = extra
        self.witnessed = False
        """Whether the witness was told already, by the act that refused."""

    @property
    def status(self) -> int:
        return CODES[self.code].status

    def sentence(self, language: str) -> str:
        """Return the plain sentence, Thai where the language asks for it, else English."""
        entry = CODES[self.code]
        return entry.thai if language.startswith("th") else entry.english


def of_value(wrong: values.Wrong, field: str) -> Refusal:
    """Return the refusal of a value from outside, naming its field: ``malformed``, or ``invalid_value`` for one that
    lies out of bounds."""
    code = "malformed" if isinstance(wrong, values.Unreadable) else "invalid_value"
    return Refusal(code, fields={field: wrong.why})


def require_within(bounds: Between[Value], value: Value, field: str) -> Value:
    """Return the value; refuse ``invalid_value`` where it lies out of bounds, naming the field and the bounds."""
    try:
        return bounds.require(value)
    except values.OutOfBounds as wrong:
        raise of_value(wrong, field) from None


_REGISTERED_HERE = (
    # The request itself
    ("malformed", 400, "The request cannot be read.", "อ่านคำขอไม่ได้"),
    ("unknown_field", 400, "A field is not known here.", "มีช่องที่ระบบไม่รู้จัก"),
    ("missing_field", 400, "A field is missing.", "ขาดช่องที่จำเป็น"),
    ("second_person_needed", 403, "This takes a second person's signature.", "ต้องมีคนที่สองลงชื่อ"),
    ("invalid_value", 422, "A value is not allowed here.", "ค่านี้ใช้ไม่ได้"),
    ("body_too_large", 413, "The body is over 256 kB.", "ข้อมูลเกิน 256 kB"),
    ("batch_too_large", 422, "A batch holds at most 500 events.", "ส่งได้ไม่เกิน 500 เหตุการณ์ต่อครั้ง"),
    ("not_found", 404, "There is no such thing here.", "ไม่พบรายการนี้"),
    ("method_not_allowed", 405, "This address does not take that method.", "ที่อยู่นี้ไม่รับคำสั่งนั้น"),
    ("unsupported_media_type", 415, "This media type is not read here.", "ไม่รับข้อมูลชนิดนี้"),
    ("not_acceptable", 406, "The answer cannot be given in that form.", "ตอบในรูปแบบนั้นไม่ได้"),
    # Who asks
    ("not_signed_in", 401, "Sign in first.", "กรุณาเข้าสู่ระบบก่อน"),
    ("invalid_token", 401, "The device's token is not valid.", "โทเคนของเครื่องใช้ไม่ได้"),
    ("wrong_secret", 401, "The badge or the secret is wrong.", "รหัสบัตรหรือรหัสลับไม่ถูกต้อง"),
    ("too_many_tries", 429, "Too many wrong tries. Wait and try again.", "ลองผิดหลายครั้งเกินไป รอแล้วลองใหม่"),
    (
        "csrf_failed",
        403,
        "The form's token is missing or old; load the page again.",
        "โทเคนของแบบฟอร์มหมดอายุ โหลดหน้าใหม่",
    ),
    ("forbidden", 403, "Your role may not do this.", "หน้าที่ของคุณทำรายการนี้ไม่ได้"),
    ("sod_violation", 403, "The same person may not do both.", "คนเดียวกันทำทั้งสองอย่างไม่ได้"),
    (
        "second_person_forbidden",
        403,
        "The second person's role may not sign this.",
        "ผู้ลงชื่อคนที่สองไม่มีหน้าที่ลงชื่อรายการนี้",
    ),
    ("not_yours", 403, "Only whoever made this may take it back.", "เฉพาะผู้ที่ทำรายการนี้เท่านั้นที่ถอนได้"),
    ("not_on_duty", 403, "You are not on duty at this table.", "คุณไม่ได้เข้าเวรที่โต๊ะนี้"),
    # Idempotency
    ("idempotency_key_missing", 400, "Idempotency-Key is missing.", "ขาด Idempotency-Key"),
    ("idempotency_key_reused", 422, "This key was used with other contents.", "คีย์นี้ใช้ไปแล้วกับข้อมูลอื่น"),
    (
        "idempotency_key_running",
        409,
        "The first request with this key is still running.",
        "คำขอแรกของคีย์นี้ยังทำงานอยู่",
    ),
    # The floor
    ("table_closed", 409, "The table has no open session.", "โต๊ะนี้ยังไม่เปิด"),
    ("table_open", 409, "The table already has an open session.", "โต๊ะนี้เปิดอยู่แล้ว"),
    ("table_stopped", 409, "The table is stopped; a supervisor lets it go on.", "โต๊ะหยุด ให้หัวหน้าเปิดโต๊ะต่อ"),
    ("rounds_unfinished", 409, "Rounds of this session are not finished.", "ยังมีรอบที่ไม่เสร็จในช่วงเปิดโต๊ะนี้"),
    ("device_numbers_missing", 409, "Numbers of a device are missing.", "ลำดับของเครื่องขาดหาย"),
    (
        "round_numbers_missing",
        409,
        "Round numbers of this session are missing; a supervisor waives them, or two people close over them.",
        "เลขรอบของช่วงเปิดโต๊ะนี้ขาดหาย ให้หัวหน้ายกเว้น หรือสองคนลงชื่อปิด",
    ),
    ("rounds_not_missing", 404, "These round numbers are not missing.", "เลขรอบเหล่านี้ไม่ได้ขาด"),
    (
        "last_round_differs",
        422,
        "The stated last round is not the last recorded.",
        "รอบสุดท้ายที่แจ้งไม่ตรงกับที่บันทึก",
    ),
    (
        "sequence_reused",
        422,
        "This number was used with other contents; the first stands.",
        "ลำดับนี้ใช้ไปแล้วกับข้อมูลอื่น อันแรกยังใช้",
    ),
    (
        "sequence_too_far",
        422,
        "This number is far above the device's last. It was not used up; enrol the device anew.",
        "ลำดับนี้ไกลเกินจากลำดับล่าสุดของเครื่อง ยังไม่ถูกใช้ ให้ลงทะเบียนเครื่องใหม่",
    ),
    (
        "round_finished",
        409,
        "The round was settled or voided; what must change goes by a dispute.",
        "รอบนี้คิดเงินหรือยกเลิกไปแล้ว ถ้าต้องแก้ ให้แจ้งข้อพิพาท",
    ),
    ("round_exists", 409, "This round was opened by another terminal.", "มีเครื่องอื่นเปิดรอบนี้แล้ว"),
    ("other_tables_round", 422, "This round belongs to another table.", "รอบนี้เป็นของโต๊ะอื่น"),
    ("number_used", 422, "Another round of this session has that number.", "เลขรอบนี้ใช้ไปแล้ว"),
    ("opened_twice", 422, "The round is open already.", "รอบนี้เปิดไปแล้ว"),
    ("kind_not_allowed", 422, "This device does not report such events.", "เครื่องนี้ไม่รายงานเหตุการณ์ชนิดนี้"),
    ("device_not_found", 404, "There is no such device.", "ไม่พบเครื่องนี้"),
    ("gap_not_found", 404, "These numbers are not missing.", "ลำดับเหล่านี้ไม่ได้ขาด"),
    ("signature_mismatch", 422, "The signature is for other contents.", "ลายเซ็นนี้เป็นของข้อมูลอื่น"),
)
for _entry in _REGISTERED_HERE:
    register(*_entry)
