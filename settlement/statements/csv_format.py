"""Statements as CSV (RFC 4180, UTF-8): a line of names, ``opening``, the lines, ``closing``. Pure."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from casino.platform import csv_cells
from casino.platform.csv_cells import Cell
from settlement.statements import statement_values
from settlement.statements.statement_values import (
    COLUMNS,
    Line,
    OutsideLine,
    OutsideStatement,
    Statement,
    Unreadable,
    check_sum,
    code_of,
)

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})\Z")

PLACES = statement_values.Places(
    statement=lambda _: "line 2, gaming_day",
    booked=lambda _, line: f"line {line + 2}, gaming_day",
    played=lambda _, line: f"line {line + 2}, gaming_day",
)


def written(statement: Statement) -> bytes:
    """Write a statement of ours."""
    return "".join(csv_cells.lines(_rows(statement))).encode()


def _rows(statement: Statement) -> Iterator[list[Cell]]:
    yield list(COLUMNS)
    yield _row(
        statement, 0, kind="opening", balance_after_minor=statement.opening, happened_at=_at(statement.begins)
    )
    for number, line in enumerate(statement.lines, start=1):
        yield _row(statement, number, **_cells(line))
    yield _row(
        statement,
        len(statement.lines) + 1,
        kind="closing",
        amount_minor=sum(line.amount for line in statement.lines),
        balance_after_minor=statement.closing,
        happened_at=_at(statement.ends),
    )


def _cells(line: Line) -> dict[str, Cell]:
    return {
        "gaming_day": line.gaming_day.isoformat(),
        "kind": line.kind,
        "journal": line.journal,
        "entry": line.entry,
        "counter_account": line.counter_account,
        "slip_no": line.slip_no,
        "round": line.round,
        "revision": line.revision,
        "reverses": line.reverses,
        "amount_minor": line.amount,
        "balance_after_minor": line.balance_after,
        "happened_at": _at(line.happened_at),
        "recorded_at": _at(line.recorded_at),
        "reference": line.reference,
    }


def _row(statement: Statement, number: int, **given: Cell) -> list[Cell]:
    usual: dict[str, Cell] = {
        "statement_no": statement.number,
        "line_no": number,
        "gaming_day": statement.gaming_day.isoformat(),
        "account": statement.account,
        "currency": statement.currency,
        "recorded_at": _at(statement.made_at),
    }
    row = usual | given
    return [row.get(name, "") for name in COLUMNS]


def _at(instant: datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")


def read(text: bytes) -> list[OutsideStatement]:
    """Read the statement of a file in this form; raise Unreadable for whatever is no such file.

    An apostrophe before what a spreadsheet would run is taken off again; lines are counted 1, 2, 3 …"""
    try:
        rows = list(csv.reader(io.StringIO(text.decode("utf-8-sig"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as fault:
        raise Unreadable("file", "no CSV in UTF-8") from fault
    if not rows or tuple(rows[0]) != COLUMNS:
        raise Unreadable("line 1", "other names than those of a statement")
    if len(rows) < 3 or any(len(row) != len(COLUMNS) for row in rows):
        raise Unreadable(
            "file", "a statement has an opening, a closing, and as many cells in every line as names"
        )
    named = [dict(zip(COLUMNS, map(_plain, row), strict=True)) for row in rows[1:]]
    first, *middle, last = named
    if first["kind"] != "opening" or last["kind"] != "closing":
        raise Unreadable("line 2", "a statement begins with its opening and ends with its closing")
    for number, row in enumerate(named):
        _require_same(first, row, number=number)
    return [
        check_sum(
            OutsideStatement(
                number=first["statement_no"],
                account=first["account"],
                currency=first["currency"],
                gaming_day=statement_values.day(first["gaming_day"], where="line 2, gaming_day"),
                opening=_whole(first["balance_after_minor"], "line 2"),
                closing=_whole(last["balance_after_minor"], f"line {len(rows)}"),
                lines=tuple(_line(row, number) for number, row in enumerate(middle, start=1)),
            )
        )
    ]


def _require_same(first: Mapping[str, str], row: Mapping[str, str], *, number: int) -> None:
    where = f"line {number + 2}"
    if _whole(row["line_no"], where) != number:
        raise Unreadable(where, f"line_no is not {number}")
    for name in ("account", "currency", "statement_no"):
        if row[name] != first[name]:
            raise Unreadable(where, f"another {name} than the opening's")


def _line(row: Mapping[str, str], number: int) -> OutsideLine:
    where = f"line {number + 2}"
    amount = _whole(row["amount_minor"], where)
    return OutsideLine(
        number=number,
        amount=amount,
        currency=row["currency"],
        booked=statement_values.day(row["gaming_day"], where=f"{where}, gaming_day"),
        played=statement_values.day(row["gaming_day"], where=f"{where}, gaming_day"),
        code=code_of(row["kind"], account=row["account"], amount=amount),
        journal=row["journal"].replace("-", "").lower(),
        reference=row["slip_no"] or row["reference"],
        reversal=bool(row["reverses"]),
        pending=False,
    )


def _plain(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and cell[1:2] in csv_cells.FORMULA else cell


def _whole(text: str, where: str) -> int:
    if not _WHOLE.match(text):
        raise Unreadable(where, f"{text[:40]!r} is no whole number")
    return int(text)
