"""Entries of the ledger with everything a statement says of them: papers, rounds, revisions. Reads only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import connection

from settlement.slips import numbers
from settlement.statements import statement_values
from settlement.statements.statement_values import Line


@dataclass(frozen=True, slots=True)
class Span:
    """Entries of one account behind ``after_version``, posted in the days behind ``after_day`` up to ``up_to``."""

    account: int
    code: str
    after_version: int
    after_day: date
    up_to: date


_READ = """
SELECT g.place, e.id, e.amount, j.id, j.kind, j.gaming_day, coalesce(j.orig_day, j.gaming_day), j.round, j.reverses_id,
       j.recorded_at, j.key, s.revision, c.document, coalesce(c.happened_at, st.taken_at, r.closed_at, j.recorded_at),
       sl.kind, ss.year, sl.number, ps.year, p.number,
       (SELECT CASE WHEN min(o.account_id) = max(o.account_id)
                    THEN (SELECT a.code FROM settlement_account a WHERE a.id = min(o.account_id)) END
          FROM settlement_entry o WHERE o.journal_id = j.id AND o.account_id <> e.account_id)
  FROM unnest(%(accounts)s::bigint[], %(versions)s::bigint[], %(after)s::date[], %(up_to)s::date[]) WITH ORDINALITY
       AS g (account, version, after_day, up_to, place)
  JOIN settlement_entry e ON e.account_id = g.account AND e.version > g.version
  JOIN settlement_journal j ON j.id = e.journal_id AND j.gaming_day > g.after_day AND j.gaming_day <= g.up_to
  LEFT JOIN settlement_cashact c ON c.journal_id = j.id
  LEFT JOIN casino_round r ON r.id = j.round
  LEFT JOIN LATERAL (
       SELECT t.revision FROM settlement_settlement t
        WHERE t.round_id = j.round AND NOT t.changes_nothing
          AND j.id IN (t.journal_id, t.shortfall_id, t.reversal_id, t.shortfall_reversal_id)) s ON true
  LEFT JOIN settlement_slipstep st ON st.journal_id = j.id
  LEFT JOIN settlement_slip sl ON sl.id = st.slip_id
  LEFT JOIN settlement_series ss ON ss.id = sl.series_id
  LEFT JOIN settlement_payslip p ON j.kind IN ('pay_slip_issued', 'pay_slip_paid', 'pay_slip_void', 'slip_clearing')
       AND (p.issue_journal_id = j.id OR p.payment_journal_id = j.id OR p.void_journal_id = j.id
            OR p.void_clearing_id = j.id)
  LEFT JOIN settlement_series ps ON ps.id = p.series_id
 ORDER BY g.place, e.version
"""


def read(spans: Sequence[Span], *, openings: Sequence[int]) -> list[list[Line]]:
    """Return the lines of each span, in the order of the account's versions; ``balance_after`` begins at its opening.

    A statement's balance is that of its own lines: the ledger's may hold entries of the next day already, when a round
    of this one was settled after midnight. One statement for all spans.
    """
    found: list[list[Line]] = [[] for _ in spans]
    balances = list(openings)
    for place, row in _rows(spans):
        balances[place] += row[1]
        found[place].append(_line(row, account=spans[place].code, balance_after=balances[place]))
    return found


def _rows(spans: Sequence[Span]) -> Iterator[tuple[int, tuple[Any, ...]]]:
    with connection.cursor() as cursor:
        cursor.execute(
            _READ,
            {
                "accounts": [span.account for span in spans],
                "versions": [span.after_version for span in spans],
                "after": [span.after_day for span in spans],
                "up_to": [span.up_to for span in spans],
            },
        )
        for row in cursor.fetchall():
            yield row[0] - 1, row[1:]


def _line(row: tuple[Any, ...], *, account: str, balance_after: int) -> Line:
    (
        entry, amount, journal, kind, gaming_day, played, round, reverses, recorded_at, key, revision, document,
        happened_at, slip_kind, slip_year, slip_number, pay_year, pay_number, counter,
    ) = row  # fmt: skip
    slip_no = ""
    if slip_number is not None:
        slip_no = numbers.written(kind=slip_kind, year=slip_year, number=slip_number)
    elif pay_number is not None:
        slip_no = numbers.written(kind="pay_slip", year=pay_year, number=pay_number)
    return Line(
        gaming_day=gaming_day,
        played=played,
        kind=kind,
        code=statement_values.code_of(kind, account=account, amount=amount),
        journal=str(journal),
        entry=entry,
        counter_account=counter or "",
        slip_no=slip_no,
        round=str(round) if round else "",
        revision=revision,
        reverses=str(reverses) if reverses else "",
        amount=amount,
        balance_after=balance_after,
        happened_at=happened_at,
        recorded_at=recorded_at,
        reference=document or key,
    )
