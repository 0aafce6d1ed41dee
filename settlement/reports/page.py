"""A report's page for people, Thai and English, from its tables alone."""

from __future__ import annotations

import functools
import importlib.util
import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import typst

from settlement.explanations.terms import MINUS
from settlement.reports.layout import GRADES, MINOR, Cell, Section

TEMPLATE = Path(__file__).with_name("page.typ")

MONEY = frozenset({"amount", "below", "house_net", "liability", "opener", "closer", "expected", "counted"})
"""Columns of the lists that hold minor units, of the currency in the same row."""

UNKNOWN = "ไม่ทราบ · unknown"


def pdf(
    sections: Sequence[Section], *, title: Sequence[str], day: str, sha256: str, made_at: datetime
) -> bytes:
    """Return the tables as PDF; the same tables made at the same moment give the same bytes. ``sha256`` is that of the
    report's JSON and stands under every page."""
    shown = {
        "title": list(title),
        "day": day,
        "sha256": sha256,
        "sections": [_section(section) for section in sections],
    }
    written: bytes = typst.compile(
        str(TEMPLATE),
        font_paths=[_fonts()],
        ignore_system_fonts=True,
        timestamp=int(made_at.timestamp()),
        sys_inputs={"report": json.dumps(shown, ensure_ascii=False)},
    )
    return written


@functools.cache
def _fonts() -> str:
    """Return the folder of the Thai letters that are shipped with the service."""
    found = importlib.util.find_spec("fontpkg_sarabun")
    assert found is not None
    assert found.origin is not None
    return str(Path(found.origin).parent / "files")


def _section(section: Section) -> dict[str, Any]:
    names = [heading.name for heading in section.headings]
    return {
        "thai": section.thai,
        "english": section.english,
        "headings": [
            f"{one.thai} · {one.english}".removeprefix(" · ") if one.thai else one.english
            for one in section.headings
        ],
        "numeric": [
            name in MONEY or any(isinstance(row[place], int) for row in section.rows)
            for place, name in enumerate(names)
        ],
        "rows": [_row(names, row) for row in section.rows],
    }


def _row(names: Sequence[str], row: Sequence[Cell]) -> list[str]:
    given = dict(zip(names, row, strict=True))
    return [_shown(name, value, given) for name, value in given.items()]


def _shown(name: str, value: Cell, row: dict[str, Cell]) -> str:
    unit = str(row.get("unit") or "")
    if name == "unit":
        return unit.removesuffix(MINOR)
    if name == "grade":
        return " · ".join(GRADES[str(value)])
    if name == "value" and "unit" in row:
        if value is None:
            return UNKNOWN
        return money(int(value)) if unit.endswith(MINOR) else number(int(value))
    if name in MONEY and isinstance(value, int):
        return money(value)
    return "" if value is None else number(value) if isinstance(value, int) else value


def money(amount: int) -> str:
    """Return minor units as people write them: ``−1,234.50``."""
    whole, part = divmod(abs(amount), 100)
    return f"{MINUS if amount < 0 else ''}{whole:,}.{part:02d}"


def number(value: int) -> str:
    """Return a whole number, with the sign that print uses."""
    return f"{MINUS if value < 0 else ''}{abs(value)}"
