"""R3, hands-on: what people counted, carried and numbered, against the ledger."""

from __future__ import annotations

import json
from collections.abc import Iterator

from settlement import days
from settlement.breaks import NewBreak
from settlement.reconciliation.results import Single
from settlement.reconciliation.window import Found, Level, Piece, Slice, Window, first_id, rows_of


def cut(window: Window, size: int) -> Iterator[Slice]:  # noqa: ARG001 - a day's papers are few
    for part in PARTS:
        yield Slice(part, window.lower, window.upper)


_COUNTS = """
SELECT g.id, g.kind, t.code, g.state,
       json_agg(json_build_array(c.id, c.lines) ORDER BY c.ordinal)::text
  FROM settlement_counting g JOIN casino_table t ON t.id = g.table_id JOIN settlement_count c ON c.counting_id = g.id
 WHERE g.id IN (SELECT counting_id FROM settlement_count WHERE counted_at >= %(since)s AND counted_at < %(until)s)
   AND NOT EXISTS (SELECT FROM settlement_count later WHERE later.supersedes_id = c.id)
 GROUP BY g.id, g.kind, t.code, g.state ORDER BY g.id
"""


def counts(piece: Piece) -> Iterator[Found]:
    """Of every count two people came to the same pieces, or a third decided. While one is open no figure of it leaves
    this: a break names the counts, not what they said."""
    for id, kind, table, state, told in rows_of(_COUNTS, _between(piece)):
        made = json.loads(told)
        subject = f"countings/{id}"
        found: tuple[NewBreak, ...] = ()
        differ = len(made) > 1 and _pieces(made[0][1]) != _pieces(made[1][1])
        if state == "open" and differ:
            detail = {"table": table, "kind": kind, "counts": [count for count, _ in made]}
            found = (NewBreak("COUNT_MISMATCH", subject, "first and second", detail),)
        yield Single(subject, [count for count, _ in made], found, is_pending=state == "open" and not found)


def _pieces(lines: list[dict[str, int]]) -> dict[int, int]:
    return {line["denomination"]: line["pieces"] for line in lines if line["pieces"]}


_TAKEN = """
SELECT {what} || taken.id, t.code, c.currency, c.amount, taken.{expected},
       (SELECT coalesce(sum(e.amount), 0)::bigint
          FROM settlement_entry e JOIN settlement_account a ON a.id = e.account_id
         WHERE e.journal_id = taken.variance_id AND a.code = 'variance:' || t.code)
  FROM {table} taken JOIN settlement_count c ON c.id = taken.count_id
  JOIN casino_tablesession s ON s.id = taken.session_id JOIN casino_table t ON t.id = s.table_id
 WHERE taken.accepted_at >= %(since)s AND taken.accepted_at < %(until)s ORDER BY taken.id
"""
_FLOATS = _TAKEN.format(what="'floats/'", table="settlement_float", expected="expected")
_DROPS = _TAKEN.format(what="'drops/'", table="settlement_drop", expected="recorded")


def floats(piece: Piece) -> Iterator[Found]:
    """What an accepted count differs by from the books stands in the table's variance, once and whole."""
    for statement in (_FLOATS, _DROPS):
        for subject, table, currency, counted, expected, posted in rows_of(statement, _between(piece)):
            # A loss of the table is what its variance account has, and the other way round.
            left = 0 if expected is None else counted - expected + posted
            detail = {"table": table, "counted": counted, "expected": expected, "posted": posted}
            found = NewBreak("COUNT_VARIANCE", subject, "posted", detail, left, currency)
            yield Single(subject, [counted, expected, posted], (found,) if left else ())


_TRANSIT = """
SELECT a.code, a.currency, e.balance_after FROM settlement_account a
  JOIN LATERAL (SELECT balance_after FROM settlement_entry WHERE account_id = a.id AND journal_id < %(end)s
                 ORDER BY version DESC LIMIT 1) e ON TRUE
 WHERE a.code LIKE 'suspense:transit:%%' ORDER BY a.code
"""


def transit(piece: Piece) -> Iterator[Found]:
    """Nothing is under way between cage and table when the day is over."""
    is_over = piece.window.until >= days.bounds(piece.window.gaming_day)[1]
    for code, currency, left in rows_of(_TRANSIT, {"end": first_id(piece.window.upper)}):
        day = piece.window.gaming_day.isoformat()
        found = NewBreak("TRANSIT_LEFT", f"accounts/{code}", day, {"gaming_day": day}, left, currency)
        yield Single(
            f"transit/{code}",
            [left],
            (found,) if left and is_over else (),
            is_pending=bool(left) and not is_over,
        )


_SERIES = """
SELECT s.kind, s.year, s.last, coalesce((SELECT array_agg(n ORDER BY n) FROM generate_series(1, s.last) AS n
        WHERE NOT EXISTS (SELECT FROM settlement_slip p WHERE p.series_id = s.id AND p.number = n)
          AND NOT EXISTS (SELECT FROM settlement_payslip p WHERE p.series_id = s.id AND p.number = n)), '{}')
  FROM settlement_series s WHERE s.year = %(year)s ORDER BY s.kind
"""


def series(piece: Piece) -> Iterator[Found]:
    """Every number that was given stands on a slip; void ones are kept."""
    for kind, year, last, missing in rows_of(_SERIES, {"year": piece.window.gaming_day.year}):
        subject = f"series/{kind}/{year}"
        found = [NewBreak("SLIP_GAP", subject, f"number {n}", {"missing": n, "last": last}) for n in missing]
        yield Single(subject, [], tuple(found))


def _between(piece: Piece) -> dict[str, object]:
    return {"since": piece.begins, "until": piece.ends}


PARTS = {"counts": counts, "floats": floats, "transit": transit, "series": series}
LEVEL = Level(number=1, cut=cut, parts=PARTS)
