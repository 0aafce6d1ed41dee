"""A report's tables as CSV and XLSX, in bytes that depend on the tables alone."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import openpyxl
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter

from casino.platform import csv_cells
from settlement.reports.layout import Cell, Section

_WIDEST = 60
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""What a ZIP can date first; the moment of packing is nobody's business."""


def csv(sections: Sequence[Section]) -> bytes:
    """Return the tables one below the other, each with its name and its headings above it (RFC 4180, UTF-8)."""
    return "".join(csv_cells.lines(_csv_rows(sections))).encode()


def _csv_rows(sections: Iterable[Section]) -> Iterable[Sequence[Cell]]:
    for place, section in enumerate(sections):
        if place:
            yield [""]
        yield [section.name, section.english, section.thai]
        if section.headings:
            yield [heading.name for heading in section.headings]
        yield from section.rows


def xlsx(sections: Sequence[Section], *, made_at: datetime) -> bytes:
    """Return the tables as a workbook, one sheet each: numbers are numbers, and text is never a formula.

    The same tables made at the same moment give the same bytes: the library's own stamps are taken out again.
    """
    book = openpyxl.Workbook()
    for empty in book.worksheets:
        book.remove(empty)
    for section in sections:
        sheet = book.create_sheet(section.name[:31])
        sheet.append([_text(f"{section.english} · {section.thai}")])
        sheet["A1"].font = Font(bold=True)
        if section.headings:
            sheet.append(
                [_text(f"{one.english} · {one.thai}".removesuffix(" · ")) for one in section.headings]
            )
        for row in section.rows:
            sheet.append([_cell(value) for value in row])
        # What stands as text stays text: the library takes a leading equals sign for a formula.
        for line in sheet.iter_rows():
            for cell in line:
                if isinstance(cell.value, str):
                    cell.data_type = "s"
        for column in range(1, len(section.headings) + 1):
            sheet.column_dimensions[get_column_letter(column)].width = _width(section, column - 1)
        sheet.freeze_panes = "A3"
    book.properties.creator = "pokdeng"
    book.properties.created = made_at.astimezone(UTC).replace(tzinfo=None, microsecond=0)
    written = io.BytesIO()
    book.save(written)
    return _without_stamps(written.getvalue(), made_at=made_at)


def _width(section: Section, column: int) -> int:
    longest = max((len(str(row[column] or "")) for row in section.rows), default=0)
    return min(_WIDEST, max(10, len(section.headings[column].english) + 2, longest + 2))


def _cell(value: Cell) -> Cell:
    return _text(value) if isinstance(value, str) else value


_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def _text(value: str) -> str:
    safe = f"'{value}" if value[:1] in csv_cells.FORMULA else value
    return _UNPRINTABLE.sub("␀", safe)


_MODIFIED = re.compile(rb"(<dcterms:modified[^>]*>)[^<]*(</dcterms:modified>)")


def _without_stamps(written: bytes, *, made_at: datetime) -> bytes:
    stamp = made_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(written)) as before, zipfile.ZipFile(packed, "w") as after:
        for name in before.namelist():
            content = before.read(name)
            if name == "docProps/core.xml":
                content = _MODIFIED.sub(rb"\g<1>" + stamp + rb"\g<2>", content)
            # Stored, not packed: how well a machine's library packs shall not show.
            after.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_STORED)
    return packed.getvalue()
