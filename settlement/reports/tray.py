"""What a table's tray came to in a gaming day, as figures: its rundown, and how well each part of it is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from settlement.reports.figures import COUNTED, ESTIMATED, RULED, Session, figure, rate_bp, unknown
from settlement.table_floats.rundown import OfDay, Stretch

COUNTED_PARTS = ("opener", "closer", "drop", "win", "estimated_win", "variance", "hold_rate")
"""What nobody can say of a table of which nothing was counted."""

_FLOATS = """
SELECT f.session_id, f.kind, c.amount, f.expected, f.missing <> '{}'
  FROM settlement_float f JOIN settlement_count c ON c.id = f.count_id
 WHERE f.session_id = ANY(%s) AND f.kind IN ('opener', 'closer')
"""


def floats_of(sessions: Sequence[Session]) -> dict[UUID, dict[str, dict[str, Any]]]:
    """Return the counted opener and closer of sessions. One statement."""
    found: dict[UUID, dict[str, dict[str, Any]]] = {one.id: {} for one in sessions}
    with connection.cursor() as cursor:
        cursor.execute(_FLOATS, [list(found)])
        for session, kind, amount, expected, provisional in cursor.fetchall():
            found[session][kind] = {"amount": amount, "expected": expected, "provisional": provisional}
    return found


def lines(rundown: OfDay) -> dict[str, dict[str, Any]]:
    """Return the rundown of a table's gaming day as figures; what was not counted is unknown, with the reason."""
    stretches = rundown.stretches
    if not stretches:
        return {name: unknown(source="counts", why="not_counted") for name in COUNTED_PARTS}
    found = {name: _counted(stretches, name) for name in ("opener", "closer", "drop")}
    for name, part, grade, source in (
        ("fills", "fills", COUNTED, "slips"),
        ("credits", "credits", COUNTED, "slips"),
        ("slips", "slips", COUNTED, "slips"),
        ("estimated_drop", "buy_ins", ESTIMATED, "buy_ins"),
        ("takes", "takes", RULED, "lines"),
        ("pays", "pays", RULED, "lines"),
        ("corrections", "corrections", RULED, "lines"),
    ):
        total = sum(getattr(one.rundown.figures, part) for one in stretches)
        found[name] = figure(total, grade=grade, source=source)
    found |= _brought_back(stretches)
    totals = rundown.totals
    found["win"] = _or_unknown(totals["win"], stretches, "win", grade=COUNTED)
    by_lines = any(one.rundown.by_lines for one in stretches)
    assert totals["estimated_win"] is not None
    found["estimated_win"] = figure(
        totals["estimated_win"], grade=ESTIMATED, source="lines" if by_lines else "rundown"
    )
    found["variance"] = _or_unknown(totals["variance"], stretches, "variance", grade=COUNTED)
    found["hold_rate"] = _hold_rate(found)
    return found


def _brought_back(stretches: Sequence[Stretch]) -> dict[str, dict[str, Any]]:
    """Return by how much the count of the start hour, which ended the day some minutes after it, was brought back;
    nothing where another count ended it."""
    ended = [one.closer for one in stretches if one.closer is not None]
    if not ended:
        return {}
    sums = {
        "new_day_before_count": -sum(one.new_day_before for one in ended),
        "old_day_after_count": sum(one.old_day_after for one in ended),
    }
    return {name: figure(total, grade=RULED, source="ledger") for name, total in sums.items()}


def _counted(stretches: Sequence[Stretch], name: str) -> dict[str, Any]:
    values = [getattr(one.rundown.figures, name) for one in stretches]
    total = None if None in values else sum(values)
    return _or_unknown(total, stretches, name, grade=COUNTED, source="counts")


def _or_unknown(
    total: int | None, stretches: Sequence[Stretch], name: str, *, grade: str, source: str = "rundown"
) -> dict[str, Any]:
    missing = [one for one in stretches if name in one.rundown.unknown]
    known, of = len(stretches) - len(missing), len(stretches)
    if total is None:
        why = missing[0].rundown.unknown[name]
        return unknown(source=source, why=why) | {"known": known, "of": of}
    return figure(total, grade=grade, source=source, known=known, of=of)


def _hold_rate(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    win, drop = found["win"], found["drop"]
    if win["value"] is None or drop["value"] is None:
        return unknown(source="rundown", why=win["why"] or drop["why"])
    if drop["value"] <= 0:
        return unknown(source="rundown", why="no_drop")
    return figure(rate_bp(win["value"], drop["value"]), grade=COUNTED, source="rundown")
