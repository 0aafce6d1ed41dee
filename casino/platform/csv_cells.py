"""Tables as CSV (RFC 4180) that a spreadsheet shows and never runs.

Numbers stay numbers, negative ones too. Text always stands in quotes, and where it begins as a formula does, an
apostrophe goes before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

Cell = str | int | None

FORMULA = frozenset("=+-@\t\r\0＝＋－＠")
"""What a spreadsheet takes for the beginning of a formula, in full width too."""


def lines(rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Write rows line by line, each ended as RFC 4180 ends it."""
    for row in rows:
        yield ",".join(map(cell, row)) + "\r\n"


def cell(value: Cell) -> str:
    """Write one value. None is an empty cell, which is not the text of length nothing."""
    if value is None:
        return ""
    if isinstance(value, int):
        return str(int(value))
    text = f"'{value}" if value[:1] in FORMULA else value
    escaped = text.replace("\0", "␀").replace('"', '""')
    return f'"{escaped}"'
