"""What the trays of a day's tables came to, from what people counted: the rundown, table by table.

    win = closer + credits + drop − opener − fills

While one of these was not counted, win is unknown; with recorded buy-ins in place of the drop it may stand beside it as
``estimated_win``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from settlement.reports import figures
from settlement.reports.figures import COUNTED, ESTIMATED, Moved, Session, Span, figure, unknown

_FLOATS = """
SELECT f.session_id, f.kind, c.amount, f.expected
  FROM settlement_float f JOIN settlement_count c ON c.id = f.count_id
 WHERE f.session_id = ANY(%(sessions)s)
"""
_CARRIED = """
SELECT t.code, s.kind, sum(p.amount)::bigint
  FROM settlement_slipstep p JOIN settlement_slip s ON s.id = p.slip_id JOIN casino_table t ON t.id = s.table_id
 WHERE p.step = 'received' AND p.taken_at >= %(begins)s AND p.taken_at < %(ends)s
 GROUP BY t.code, s.kind
"""


@dataclass(slots=True)
class Tray:
    """What was counted of one table within the span: sums over its sessions, and how many of them had each count."""

    sessions: int = 0
    amounts: dict[str, int] = field(default_factory=dict)
    counted: dict[str, int] = field(default_factory=dict)


def counted(span: Span, sessions: Sequence[Session]) -> tuple[dict[str, Tray], dict[UUID, dict[str, Any]]]:
    """Return the counted trays by table, and the counted floats of each session. Two statements."""
    trays: dict[str, Tray] = {}
    floats: dict[UUID, dict[str, Any]] = {one.id: {} for one in sessions}
    table_of = {one.id: one.table for one in sessions}
    for one in sessions:
        trays.setdefault(one.table, Tray()).sessions += 1
    for session, kind, amount, expected in _rows(_FLOATS, {"sessions": list(floats)}):
        floats[session][kind] = {"amount": amount, "expected": expected}
        tray = trays[table_of[session]]
        tray.amounts[kind] = tray.amounts.get(kind, 0) + amount
        tray.counted[kind] = tray.counted.get(kind, 0) + 1
    for code, kind, amount in _rows(_CARRIED, span.given):
        trays.setdefault(code, Tray()).amounts[f"{kind}s"] = amount
    return trays, floats


def lines(tray: Tray, *, table: str, moved: Sequence[Moved]) -> dict[str, dict[str, Any]]:
    """Return the rundown of one table as figures."""
    found: dict[str, dict[str, Any]] = {}
    for kind in ("opener", "closer"):
        known = tray.counted.get(kind, 0)
        found[kind] = (
            figure(tray.amounts[kind], grade=COUNTED, source="counts", known=known, of=tray.sessions)
            if known and known == tray.sessions
            else unknown(source="counts", why="uncounted" if tray.sessions else "no_session")
        )
    for kind in ("fills", "credits"):
        found[kind] = figure(tray.amounts.get(kind, 0), grade=COUNTED, source="slips")
    found["drop"] = _drop(table, moved)
    found["estimated_drop"] = figure(_buy_ins(table, moved), grade=ESTIMATED, source="buy_ins")
    found["win"] = _win(found, drop="drop", grade=COUNTED)
    found["estimated_win"] = _win(found, drop="estimated_drop", grade=ESTIMATED)
    found["hold_rate"] = _hold_rate(found)
    return found


def _win(found: Mapping[str, Mapping[str, Any]], *, drop: str, grade: str) -> dict[str, Any]:
    parts = {name: found[name]["value"] for name in ("closer", "credits", drop, "opener", "fills")}
    missing = [name for name, value in parts.items() if value is None]
    if missing:
        return unknown(source="rundown", why=" ".join(f"{name}_unknown" for name in missing))
    return figure(
        parts["closer"] + parts["credits"] + parts[drop] - parts["opener"] - parts["fills"],
        grade=grade,
        source="rundown",
    )


def _hold_rate(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    win, drop = found["win"]["value"], found["drop"]["value"]
    if win is None or drop is None:
        return unknown(source="rundown", why="win_unknown" if win is None else "drop_unknown")
    if drop <= 0:
        return unknown(source="rundown", why="no_drop")
    return figure(figures.rate_bp(win, drop), grade=COUNTED, source="rundown")


def _buy_ins(table: str, moved: Sequence[Moved]) -> int:
    return sum(one.amount for one in moved if one.account == f"table:{table}:drop" and one.kind == "buy_in")


def _drop(table: str, moved: Sequence[Moved]) -> dict[str, Any]:
    counted = [one for one in moved if one.account == f"table:{table}:drop" and one.kind == "drop_counted"]
    if not counted:
        return unknown(source="counts", why="drop_uncounted")
    return figure(-sum(one.amount for one in counted), grade=COUNTED, source="counts")


def _rows(statement: str, given: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
        return cursor.fetchall()
