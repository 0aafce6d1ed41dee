"""What stands between a gaming day and its seal, item by item, each with a code that does not change its meaning.

Items are asked of the rows themselves, one statement each, whatever the size of the day. What does not block a seal is
listed all the same: a day with held rounds or open disputes may be sealed, and its report names them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from casino import events
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement.models import DayState, GamingDay

refusals.register(
    "day_not_ready", 409, "Something stands between the day and its seal.", "ยังมีเรื่องค้างก่อนปิดผนึกวัน"
)

LEVELS = ("R0", "R1", "R2", "R3", "R4", "R5")
"""Comparisons of the books that a day needs, each over the whole of it."""

SHOWN = 50
"""So many are named of each item; ``count`` says how many there are."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing looked at: nothing ``found`` means that it is met. ``blocking``: the seal waits for it."""

    code: str
    blocking: bool
    count: int
    found: tuple[str, ...]
    english: str
    thai: str

    @property
    def met(self) -> bool:
        return self.count == 0


@dataclass(frozen=True, slots=True)
class _Asked:
    """A statement that gives one text for whatever is found."""

    code: str
    blocking: bool
    english: str
    thai: str
    sql: str


# Sessions that played in the day. A round's own day is known once it is settled; before that it is the day of sessions
# and of its opening, by an index of the session.
_SESSIONS = """
    SELECT s.*, t.code FROM casino_tablesession s JOIN casino_table t ON t.id = s.table_id
     WHERE s.opened_at < %(ends)s AND (s.closed_at IS NULL OR s.closed_at >= %(begins)s)
"""
_ROUNDS = f"""
    SELECT r.*, s.code FROM ({_SESSIONS}) s JOIN casino_round r ON r.session_id = s.id
     WHERE r.alias_of_id IS NULL AND coalesce(r.opened_at, r.created_at) < %(ends)s
       AND coalesce(r.opened_at, r.created_at) >= %(begins)s
"""  # noqa: S608

_ASKED = (
    _Asked(
        "earlier_day_open",
        True,
        "An earlier gaming day is not sealed.",
        "วันทำการก่อนหน้ายังไม่ปิดผนึก",
        """
        SELECT day::text FROM settlement_gamingday WHERE day < %(day)s AND state <> 'sealed'
         UNION
        SELECT DISTINCT gaming_day::text FROM settlement_journal WHERE gaming_day < %(day)s AND gaming_day > coalesce(
            (SELECT max(day) FROM settlement_gamingday WHERE state = 'sealed'), '-infinity')
        """,
    ),
    _Asked(
        "shift_running",
        True,
        "A shift of the day is not closed.",
        "กะของวันนี้ยังไม่ปิด",
        "SELECT 'shifts/' || id FROM settlement_shift WHERE day_id <= %(day)s AND closed_at IS NULL",
    ),
    _Asked(
        "second_shift_missing",
        True,
        "The day lasts over 24 hours and had fewer than two shifts.",
        "วันนี้ยาวกว่า 24 ชั่วโมงแต่มีไม่ถึงสองกะ",
        """
        SELECT 'shifts/' || had FROM (SELECT count(*) AS had FROM settlement_shift WHERE day_id = %(day)s) s
         WHERE had < 2 AND %(ends)s::timestamptz - %(begins)s::timestamptz > interval '24 hours'
        """,
    ),
    _Asked(
        "table_open",
        True,
        "A table of the day is open and was not counted at the start hour.",
        "โต๊ะยังเปิดอยู่และไม่ได้นับตอนเริ่มวันใหม่",
        f"""
        SELECT 'tables/' || code FROM ({_SESSIONS}) s WHERE closed_at IS NULL AND NOT EXISTS (
            SELECT FROM settlement_float f
             WHERE f.session_id = s.id AND f.kind = 'rollover' AND f.gaming_day = %(day)s)
        """,  # noqa: S608
    ),
    _Asked(
        "uncounted",
        True,
        "A table was closed without a count of its float.",
        "โต๊ะปิดโดยยังไม่ได้นับชิป",
        f"""
        SELECT 'tables/' || code FROM ({_SESSIONS}) s WHERE closed_at < %(ends)s AND NOT EXISTS (
            SELECT FROM settlement_float f WHERE f.session_id = s.id AND f.kind = 'closer')
        """,  # noqa: S608
    ),
    _Asked(
        "drop_uncounted",
        True,
        "The last drop box of a table was not counted.",
        "กล่องเงินสุดท้ายของโต๊ะยังไม่ได้นับ",
        f"""
        SELECT 'tables/' || code FROM ({_SESSIONS}) s JOIN settlement_float f ON f.session_id = s.id
         WHERE f.kind = 'closer' AND f.gaming_day = %(day)s
           AND NOT EXISTS (SELECT FROM settlement_drop d WHERE d.until_id = f.id AND d.withdrawn_at IS NULL)
        """,  # noqa: S608
    ),
    _Asked(
        "round_unsettled",
        True,
        "A round is being played, or waits to be settled.",
        "ยังมีรอบที่เล่นอยู่หรือรอคิดเงิน",
        f"SELECT 'rounds/' || id FROM ({_ROUNDS}) r WHERE standing IN ('', 'due') ORDER BY id",  # noqa: S608
    ),
    _Asked(
        "round_gap",
        True,
        "A round number of a table is missing.",
        "เลขรอบของโต๊ะขาดหาย",
        f"""
        SELECT 'tables/' || s.code || ': ' || lower(hole)
               || CASE WHEN upper(hole) - lower(hole) > 1 THEN '-' || upper(hole) - 1 ELSE '' END
          FROM ({_SESSIONS}) s
         CROSS JOIN LATERAL (
               SELECT max(r.number)::bigint AS last, range_agg(int8range(r.number, r.number::bigint + 1)) AS numbers
                 FROM casino_round r WHERE r.session_id = s.id AND r.alias_of_id IS NULL AND r.number > 0) AS told
         CROSS JOIN LATERAL unnest(
               int8multirange(int8range(1, greatest(s.last_round, told.last, 0) + 1)) - coalesce(told.numbers, '{{}}')
               - coalesce((SELECT range_agg(int8range(w.first, w.last::bigint + 1)) FROM casino_roundwaiver w
                            WHERE w.session_id = s.id), '{{}}')) AS hole
         ORDER BY s.code, hole
        """,  # noqa: S608
    ),
    _Asked(
        "slip_gap",
        True,
        "A slip's number is missing from its series.",
        "เลขใบเบิกในชุดขาดหาย",
        """
        SELECT s.kind || ' ' || s.year || ': ' || n.number FROM settlement_series s
         CROSS JOIN LATERAL generate_series(1, s.last) AS n (number)
         WHERE s.year IN (extract(year FROM %(day)s::date), extract(year FROM %(day)s::date - 1))
           AND NOT EXISTS (SELECT FROM settlement_slip p WHERE p.series_id = s.id AND p.number = n.number)
           AND NOT EXISTS (SELECT FROM settlement_payslip p WHERE p.series_id = s.id AND p.number = n.number)
        """,
    ),
    _Asked(
        "slip_under_way",
        True,
        "A fill or credit of the day has not arrived.",
        "ใบเบิกหรือใบคืนชิปของวันยังไม่ถึงปลายทาง",
        """
        SELECT 'slips/' || id FROM settlement_slip
         WHERE state IN ('requested', 'issued', 'in_transit') AND gaming_day <= %(day)s ORDER BY id
        """,
    ),
    _Asked(
        "device_numbers_missing",
        True,
        "Numbers of a terminal are missing and were not waived.",
        "เลขเหตุการณ์ของเครื่องขาดหายและยังไม่ได้ยกเว้น",
        """
        SELECT 'devices/' || code || ': ' || (h.value ->> 0) || '-' || (h.value ->> 1)
          FROM casino_device d CROSS JOIN LATERAL jsonb_array_elements(d.holes) AS h
         WHERE d.revoked_at IS NULL AND d.kind = 'terminal' ORDER BY 1
        """,
    ),
    _Asked(
        "run_missing",
        True,
        "The books of the day were not compared to the end at a level.",
        "ยังเทียบบัญชีของวันไม่ครบทุกระดับ",
        """
        SELECT level FROM unnest(%(levels)s::text[]) AS level WHERE NOT EXISTS (
            SELECT FROM settlement_run r WHERE r.gaming_day = %(day)s AND r.outcome IN ('matched', 'breaks')
               AND r.since <= %(begins)s AND r.until >= %(ends)s AND ' ' || r.rules LIKE '%% ' || level || '.%%')
         ORDER BY level
        """,
    ),
    _Asked(
        "critical_break",
        True,
        "A critical difference of the books is open.",
        "มีผลต่างร้ายแรงในบัญชีที่ยังไม่ปิด",
        """
        SELECT 'breaks/' || id FROM settlement_break
         WHERE severity = 'critical' AND state NOT IN ('matched', 'approved')
           AND coalesce(gaming_day, %(day)s) <= %(day)s ORDER BY id
        """,
    ),
    _Asked(
        "trial_balance",
        True,
        "The accounts do not add up to nothing.",
        "ยอดรวมทุกบัญชีไม่เป็นศูนย์",
        """
        SELECT currency || ' ' || sum(balance) FROM settlement_account GROUP BY currency HAVING sum(balance) <> 0
        """,
    ),
    _Asked(
        "chips_below_zero",
        False,
        "More chips came back than were outside: some are not the house's, or were never sold.",
        "ชิปที่กลับมามากกว่าที่อยู่ข้างนอก บางส่วนอาจไม่ใช่ของบ้านหรือไม่เคยขายออกไป",
        """
        SELECT currency || ' ' || sum(balance) FROM settlement_account
         WHERE kind = 'guests' OR (kind = 'suspense' AND code LIKE 'suspense:chips:%%')
         GROUP BY currency HAVING sum(balance) < 0
        """,
    ),
    _Asked(
        "start_hour_changed",
        False,
        "The next day starts at another hour: this one is longer or shorter than others.",
        "วันถัดไปเริ่มชั่วโมงอื่น วันนี้จึงยาวหรือสั้นกว่าปกติ",
        """
        SELECT 'start-hours/' || id FROM settlement_starthour
         WHERE from_day = %(day)s::date + 1 AND approved_at IS NOT NULL
        """,
    ),
    _Asked(
        "start_hour_uncounted",
        False,
        "A table went on over the start hour without a count: its day is estimated.",
        "โต๊ะเล่นข้ามเวลาเริ่มวันโดยไม่ได้นับ ตัวเลขของวันเป็นค่าประมาณ",
        f"""
        SELECT 'tables/' || code FROM ({_SESSIONS}) s WHERE closed_at >= %(ends)s AND NOT EXISTS (
            SELECT FROM settlement_float f
             WHERE f.session_id = s.id AND f.kind = 'rollover' AND f.gaming_day = %(day)s)
        """,  # noqa: S608
    ),
    _Asked(
        "provisional_close",
        False,
        "A table was closed over device numbers that had not arrived.",
        "โต๊ะปิดทั้งที่เลขเหตุการณ์ของเครื่องยังมาไม่ครบ",
        f"""
        SELECT 'tables/' || code FROM ({_SESSIONS}) s JOIN settlement_float f ON f.session_id = s.id
         WHERE f.kind = 'closer' AND f.gaming_day = %(day)s AND f.missing <> '{{}}'
        """,  # noqa: S608
    ),
    _Asked(
        "round_held",
        False,
        "A round is held.",
        "มีรอบที่ค้าง",
        f"SELECT 'rounds/' || id FROM ({_ROUNDS}) r WHERE standing = 'held' ORDER BY id",  # noqa: S608
    ),
    _Asked(
        "dispute_open",
        False,
        "A round is in dispute.",
        "มีรอบที่มีข้อโต้แย้ง",
        f"SELECT 'rounds/' || id FROM ({_ROUNDS}) r WHERE in_dispute ORDER BY id",  # noqa: S608
    ),
    _Asked(
        "pay_slip_open",
        False,
        "A pay slip is neither paid nor void.",
        "มีใบจ่ายเงินที่ยังไม่จ่ายและไม่ยกเลิก",
        """
        SELECT 'pay-slips/' || id FROM settlement_payslip WHERE state = 'issued' AND gaming_day <= %(day)s ORDER BY id
        """,
    ),
    _Asked(
        "break_open",
        False,
        "A difference of the books is open.",
        "มีผลต่างในบัญชีที่ยังไม่ปิด",
        """
        SELECT 'breaks/' || id FROM settlement_break
         WHERE severity <> 'critical' AND state NOT IN ('matched', 'approved')
           AND coalesce(gaming_day, %(day)s) <= %(day)s ORDER BY id
        """,
    ),
)


def of(row: GamingDay, *, now: datetime) -> list[Item]:
    """Return every item of a day, in a fixed order. A constant number of statements."""
    found = [
        Item(
            "day_not_over",
            True,
            int(now < row.ends_at),
            (row.ends_at.isoformat(),) if now < row.ends_at else (),
            "The gaming day is not over.",
            "วันทำการยังไม่จบ",
        ),
        Item(
            "day_not_closing",
            True,
            int(row.state == DayState.OPEN),
            (),
            "Nobody has begun to close the gaming day.",
            "ยังไม่มีใครเริ่มปิดวันทำการ",
        ),
    ]
    given = {"day": row.day, "begins": row.begins_at, "ends": row.ends_at, "levels": list(LEVELS)}
    return found + [_ask(asked, given) for asked in _ASKED]


def require_met(row: GamingDay) -> list[Item]:
    """Return the items of a day; refuse ``day_not_ready`` with the codes that are not met and what was found."""
    items = of(row, now=events.current().now)
    unmet = [item for item in items if item.blocking and not item.met]
    if unmet:
        raise Refusal("day_not_ready", unmet=[described(item) for item in unmet])
    return items


def described(item: Item) -> dict[str, Any]:
    """Return an item as answers write it."""
    return {
        "code": item.code,
        "met": item.met,
        "blocking": item.blocking,
        "count": item.count,
        "found": list(item.found),
        "en": item.english,
        "th": item.thai,
    }


def _ask(asked: _Asked, given: dict[str, Any]) -> Item:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT found, count(*) OVER () FROM ({asked.sql}) x (found) LIMIT {SHOWN}", given)  # noqa: S608
        rows = cursor.fetchall()
    count = rows[0][1] if rows else 0
    return Item(asked.code, asked.blocking, count, tuple(row[0] for row in rows), asked.english, asked.thai)
