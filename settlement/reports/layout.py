"""A report as tables for people: what its JSON says, laid out the same way for every kind of file.

Pure: the same JSON gives the same tables. Headings are Thai and English; a figure that is unknown is written with its
reason, never as nought.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Cell = str | int | None

MINOR = " minor"
"""Behind the currency of an amount in minor units."""

GRADES = {
    "counted": ("นับแล้ว", "counted"),
    "ruled": ("ตามกติกา", "ruled"),
    "estimated": ("ประมาณ", "estimated"),
    "unknown": ("ไม่ทราบ", "unknown"),
}


@dataclass(frozen=True, slots=True)
class Heading:
    """A column: its name in the file, and what stands over it in Thai and English."""

    name: str
    thai: str
    english: str


@dataclass(frozen=True, slots=True)
class Section:
    """One table of a report."""

    name: str
    thai: str
    english: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]


FIGURES: dict[str, tuple[str, str]] = {
    "opener": ("ชิปเปิดโต๊ะ", "opener"),
    "fills": ("เบิกชิป", "fills"),
    "credits": ("คืนชิป", "credits"),
    "slips": ("ใบจ่าย", "pay slips"),
    "drop": ("เงินในกล่อง", "drop"),
    "closer": ("ชิปปิดโต๊ะ", "closer"),
    "new_day_before_count": ("หักรายการวันใหม่ก่อนการนับ", "less: new day before the count"),
    "old_day_after_count": ("บวกรายการวันเก่าหลังการนับ", "plus: old day after the count"),
    "takes": ("เก็บจากผู้เล่น", "takes"),
    "pays": ("จ่ายผู้เล่น", "pays"),
    "corrections": ("แก้ไขภายหลัง", "corrections"),
    "win": ("กำไร", "win"),
    "estimated_drop": ("เงินในกล่องโดยประมาณ", "estimated drop"),
    "estimated_win": ("กำไรโดยประมาณ", "estimated win"),
    "hold_rate": ("อัตรากำไร (bp)", "hold rate (bp)"),
    "turnover": ("ยอดเดิมพัน", "turnover"),
    "judged_win": ("กำไรตามผลที่ตัดสิน", "win as judged"),
    "tray_win": ("กำไรในถาดชิป", "tray win"),
    "wallet_win": ("กำไรจากกระเป๋าเงิน", "wallet win"),
    "commission": ("ค่าต๋ง", "commission"),
    "variance": ("ส่วนต่างจากการนับ", "variance"),
    "variance_posted": ("ส่วนต่างที่ลงบัญชี", "variance posted"),
    "rounds_settled": ("รอบที่คิดเงินแล้ว", "rounds settled"),
    "rounds_voided": ("รอบที่เป็นโมฆะ", "rounds voided"),
    "rounds_corrected": ("รอบที่แก้ไข", "rounds corrected"),
    "rounds_held": ("รอบที่ค้าง", "rounds held"),
    "cash_in": ("เงินสดรับ", "cash in"),
    "cash_out": ("เงินสดจ่าย", "cash out"),
}
"""Every figure of a report, Thai and English, in the order in which they are shown."""

_COLUMNS = {
    "place": ("ที่", "place"),
    "figure": ("รายการ", "figure"),
    "thai": ("ชื่อไทย", "Thai name"),
    "value": ("ค่า", "value"),
    "unit": ("หน่วย", "unit"),
    "grade": ("ระดับ", "grade"),
    "source": ("ที่มา", "source"),
    "known": ("มีแล้ว", "known"),
    "of": ("จาก", "of"),
    "why": ("เหตุ", "why"),
}


def sections(report: Mapping[str, Any]) -> list[Section]:
    """Return a report's tables, the header first."""
    return [
        _header(report),
        _figures(report),
        *(_listed(name, report[name]) for name in _LISTS if name in report),
    ]


_LISTS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "sessions": (
        "การเปิดโต๊ะ",
        "Sessions",
        (
            "table",
            "session",
            "opened_at",
            "closed_at",
            "last_round",
            "opener",
            "expected",
            "closer",
            "provisional",
            "currency",
        ),
    ),
    "counts": (
        "การนับชิป",
        "Counts",
        ("table", "kind", "accepted_at", "counted", "expected", "graded", "currency"),
    ),
    "shifts": ("กะ", "Shifts", ("number", "opened_at", "closed_at", "overdue", "sha256")),
    "wallets": ("กระเป๋าเงินลูกค้า", "Wallets", ("currency", "wallets", "liability")),
    "slips": (
        "เลขเอกสาร",
        "Slips by number",
        ("series", "first", "last", "papers", "void", "amount", "currency"),
    ),
    "held": ("รอบที่ค้าง", "Held rounds", ("round", "table", "number", "reasons")),
    "disputes": ("ข้อโต้แย้ง", "Rounds in dispute", ("round", "table", "number", "standing")),
    "breaks": (
        "ผลต่างที่ยังไม่ปิด",
        "Open breaks",
        ("id", "code", "severity", "subject", "state", "amount", "currency"),
    ),
    "about_earlier_days": (
        "รายการของวันก่อน",
        "Posted about earlier days",
        ("journal", "kind", "posted_in", "orig_day", "round", "revision", "outcome", "house_net", "currency"),
    ),
    "movements": ("รายการบัญชี", "Ledger", ("account", "kind", "entries", "amount", "below", "currency")),
}
"""Every list of a report: its names, and the members of its rows that are shown, in this order."""


def _header(report: Mapping[str, Any]) -> Section:
    period, as_of = report["period"], report["as_of"]
    rows: list[tuple[Cell, ...]] = [
        ("title", report["title"]["th"], report["title"]["en"]),
        ("version", "รุ่นของรายงาน", report["version"]),
        ("house", "บ่อน", report["house"]["code"]),
        ("gaming_day", "วันทำการ", period["gaming_day"]),
        ("begins_at", "เริ่ม", period["begins_at"]),
        ("ends_at", "สิ้นสุด", period["ends_at"]),
        ("made_at", "ทำเมื่อ", report["made_at"]),
        ("as_of_entry", "ถึงรายการบัญชีที่", as_of["entry"]),
        ("as_of_event", "ถึงเหตุการณ์ที่", as_of["event"]),
        ("journals", "จำนวนสมุดรายวัน", as_of["journals"]),
        ("signed", "ลงนาม", ", ".join(report["signed"]) or "-"),
        ("uncounted", "โต๊ะที่ไม่ได้นับ", ", ".join(report["uncounted"]) or "-"),
    ]
    if report.get("formula"):
        rows.append(("formula", "สูตรกำไร", f"{report['formula']['version']} ({report['formula']['since']})"))
    return Section(
        "report",
        report["title"]["th"],
        report["title"]["en"],
        (Heading("name", "รายการ", "item"), Heading("thai", "ไทย", "Thai"), Heading("value", "ค่า", "value")),
        tuple(rows),
    )


def _figures(report: Mapping[str, Any]) -> Section:
    rows = []
    for place in [*report["tables"], report["house_totals"]]:
        for name, (thai, _) in FIGURES.items():
            for found in _as_list(place["figures"].get(name)):
                unit = _unit(name, currency=place["currency"])
                rows.append(_figure_row(place["place"], name, thai, unit, found))
    headings = tuple(Heading(name, *words) for name, words in _COLUMNS.items())
    return Section("figures", "ตัวเลข", "Figures", headings, tuple(rows))


def _unit(name: str, *, currency: str) -> str:
    """Money stands in minor units, and says so: nobody shall read satang as baht."""
    if name.startswith("rounds_"):
        return "rounds"
    return "bp" if name == "hold_rate" else f"{currency}{MINOR}"


def _figure_row(place: str, name: str, thai: str, unit: str, found: Mapping[str, Any]) -> tuple[Cell, ...]:
    return (
        place,
        name,
        thai,
        found["value"],
        unit,
        found["grade"],
        found["source"],
        found["known"],
        found["of"],
        found["why"],
    )


def _as_list(found: Mapping[str, Any] | None) -> Iterable[Mapping[str, Any]]:
    return () if found is None else (found,)


def _listed(name: str, rows: Sequence[Mapping[str, Any]]) -> Section:
    """A list of the report as it is, a figure in it by its value."""
    thai, english, columns = _LISTS[name]
    return Section(
        name,
        thai,
        english,
        tuple(Heading(one, "", one) for one in columns),
        tuple(tuple(_cell(row[one]) for one in columns) for row in rows),
    )


def _cell(value: Any) -> Cell:
    if isinstance(value, Mapping) and "grade" in value:
        return value["value"] if value["value"] is not None else f"unknown: {value['why']}"
    if isinstance(value, list):
        return " ".join(str(item) for item in value)
    if isinstance(value, bool):
        return str(value).lower()
    assert value is None or isinstance(value, str | int)
    return value
