"""Our statements: one per account that moved and sealed gaming day, with a number that has no holes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db import connection

from casino import events
from casino.events import Fact
from settlement import days, webhooks
from settlement.models import Account, Statement, StatementDay
from settlement.statements import camt053, csv_format, ledger_lines, statement_values
from settlement.statements.ledger_lines import Span
from settlement.webhooks import Owed

BATCH = 100
"""Accounts that one act writes statements of."""

_LOCK = 0x53544D54
_EVER = date(1, 1, 1)

# What moved since the day before whose statements are complete; each with its statement before.
_WAITING = """
SELECT a.id, a.code, a.currency, p.id, coalesce(p.number, 0), coalesce(p.gaming_day, %(ever)s),
       coalesce(p.closing, 0), coalesce(p.covered_version, 0),
       coalesce((SELECT min(e.version) - 1 FROM settlement_entry e JOIN settlement_journal j ON j.id = e.journal_id
                  WHERE e.account_id = a.id AND e.version > coalesce(p.covered_version, 0)
                    AND j.gaming_day > %(day)s), a.version)
  FROM (SELECT DISTINCT e.account_id FROM settlement_journal j JOIN settlement_entry e ON e.journal_id = j.id
         WHERE (j.gaming_day > %(after)s
                OR e.account_id IN (SELECT l.id FROM settlement_account l WHERE l.code = ANY(%(late)s)))
           AND j.gaming_day <= %(day)s) moved
  JOIN settlement_account a ON a.id = moved.account_id
  LEFT JOIN LATERAL (SELECT * FROM settlement_statement s WHERE s.account_id = a.id ORDER BY s.number DESC LIMIT 1) p
       ON true
 WHERE p.gaming_day IS DISTINCT FROM %(day)s AND a.code <> ALL(%(but)s) AND (%(only)s = '' OR a.code = %(only)s)
 ORDER BY a.id LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class _Waiting:
    account: int
    code: str
    currency: str
    previous: UUID | None
    number: int
    after_day: date
    closing: int
    after_version: int
    covered_version: int

    def span(self, up_to: date) -> Span:
        return Span(self.account, self.code, self.after_version, self.after_day, up_to)


def make(*, but: Sequence[str] = (), late: Sequence[str] = (), only: str = "") -> int | None:
    """Make statements of accounts that moved up to the oldest sealed day that is not finished; return how many, None
    where every sealed day is finished. An act that finds nothing more to make finishes the day, and returns 0.

    ``but`` these accounts, by code; ``late`` ones moved in a day that was finished without them; ``only`` one: then no
    day is finished. Must run in an act; seven statements, and what the witness takes, whatever the number of lines.
    """
    act = events.current()
    gaming_day, after = _next_day()
    if gaming_day is None:
        return None
    waiting = _waiting(gaming_day, after=after, but=but, late=late, only=only)
    if only and not waiting:
        return 0
    if not waiting:
        made = Statement.objects.filter(gaming_day=gaming_day).count()
        StatementDay.objects.create(gaming_day=gaming_day, statements=made, finished_at=act.now)
        events.announce([Fact("statements.finished", f"days/{gaming_day}", {"statements": made})])
        return 0
    rows = _write(waiting, gaming_day=gaming_day)
    events.announce([_fact(row, one) for row, one in zip(rows, waiting, strict=True)])
    webhooks.owe([_owed(row, one) for row, one in zip(rows, waiting, strict=True)])
    return len(rows)


def waiting_accounts(*, late: Sequence[str] = ()) -> list[str]:
    """Return the codes of accounts that wait for a statement of the oldest sealed day that is not finished, ``late``
    ones too; up to a hundred. Two statements, and no more than looked at."""
    gaming_day, after = _next_day()
    if gaming_day is None:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT code FROM ({_WAITING}) AS found (id, code)",  # noqa: S608
            {
                "day": gaming_day,
                "after": after,
                "ever": _EVER,
                "limit": BATCH,
                "but": [],
                "late": list(late),
                "only": "",
            },
        )
        return [code for (code,) in cursor.fetchall()]


def draft(account: Account, gaming_day: date, *, now: datetime) -> statement_values.Statement:
    """Return what a statement of a day that is not sealed would say now: without a number, and nothing is written."""
    before = Statement.objects.filter(account=account, gaming_day__lt=gaming_day).order_by("-number").first()
    one = _Waiting(
        account=account.id,
        code=account.code,
        currency=account.currency,
        previous=before.id if before else None,
        number=0,
        after_day=before.gaming_day if before else _EVER,
        closing=before.closing if before else 0,
        after_version=before.covered_version if before else 0,
        covered_version=0,
    )
    (lines,) = ledger_lines.read([one.span(gaming_day)], openings=[one.closing])
    return _form(one, lines, gaming_day=gaming_day, number=None, made_at=now)


def of_row(row: Statement) -> statement_values.Statement:
    """Return a statement that was made, with its lines: the same bytes in either form as when it was made."""
    before = row.previous
    one = _Waiting(
        account=row.account_id,
        code=row.account.code,
        currency=row.currency,
        previous=row.previous_id,
        number=row.number - 1,
        after_day=before.gaming_day if before else _EVER,
        closing=row.opening,
        after_version=before.covered_version if before else 0,
        covered_version=row.covered_version,
    )
    (lines,) = ledger_lines.read([one.span(row.gaming_day)], openings=[row.opening])
    return _form(one, lines, gaming_day=row.gaming_day, number=row.number, made_at=row.made_at)


# -- the steps of it -----------------------------------------------------------------------------------------


def _next_day() -> tuple[date | None, date]:
    """Return the oldest sealed day that is not finished, and the last that is; who else makes some is waited for."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        cursor.execute(
            """
            SELECT (SELECT min(g.day) FROM settlement_gamingday g WHERE g.state = 'sealed' AND g.day > f.day), f.day
              FROM (SELECT coalesce(max(gaming_day), %s) AS day FROM settlement_statementday) f
            """,
            [_EVER],
        )
        row: tuple[date | None, date] = cursor.fetchone()
    return row


def _waiting(
    gaming_day: date, *, after: date, but: Sequence[str], late: Sequence[str], only: str
) -> list[_Waiting]:
    given: dict[str, Any] = {"but": list(but), "late": list(late), "only": only}
    with connection.cursor() as cursor:
        cursor.execute(_WAITING, {"day": gaming_day, "after": after, "ever": _EVER, "limit": BATCH, **given})
        return [_Waiting(*row) for row in cursor.fetchall()]


def _write(waiting: Sequence[_Waiting], *, gaming_day: date) -> list[Statement]:
    act = events.current()
    read = ledger_lines.read(
        [one.span(gaming_day) for one in waiting], openings=[one.closing for one in waiting]
    )
    rows = []
    for one, lines in zip(waiting, read, strict=True):
        form = _form(one, lines, gaming_day=gaming_day, number=one.number + 1, made_at=act.now)
        rows.append(
            Statement(
                id=events.uuid7(act.now),
                account_id=one.account,
                number=one.number + 1,
                previous_id=one.previous,
                gaming_day=gaming_day,
                currency=one.currency,
                opening=form.opening,
                closing=form.closing,
                lines=len(lines),
                covered_version=one.covered_version,
                csv_sha256=hashlib.sha256(csv_format.written(form)).digest(),
                camt_sha256=hashlib.sha256(camt053.written(form)).digest(),
                made_at=act.now,
            )
        )
    return Statement.objects.bulk_create(rows)


def _form(
    one: _Waiting,
    lines: Sequence[statement_values.Line],
    *,
    gaming_day: date,
    number: int | None,
    made_at: datetime,
) -> statement_values.Statement:
    begins, ends = days.bounds(gaming_day)
    return statement_values.Statement(
        id=f"{one.account}-{gaming_day:%Y%m%d}",
        account=one.code,
        currency=one.currency,
        number=number,
        gaming_day=gaming_day,
        begins=begins,
        ends=ends,
        made_at=made_at,
        opening=one.closing,
        closing=one.closing + sum(line.amount for line in lines),
        lines=tuple(lines),
    )


def _fact(row: Statement, one: _Waiting) -> Fact:
    return Fact(
        "statement.made",
        f"statements/{row.id}",
        {
            "account": one.code,
            "number": row.number,
            "gaming_day": row.gaming_day.isoformat(),
            "opening": row.opening,
            "closing": row.closing,
            "currency": row.currency,
            "lines": row.lines,
            "csv_sha256": bytes(row.csv_sha256).hex(),
            "camt_sha256": bytes(row.camt_sha256).hex(),
        },
    )


def _owed(row: Statement, one: _Waiting) -> Owed:
    def money(amount: int) -> dict[str, object]:
        return {"amount": amount, "currency": row.currency}

    return Owed(
        "statement.ready",
        {
            "statement": str(row.id),
            "account": one.code,
            "number": row.number,
            "gaming_day": row.gaming_day.isoformat(),
            "opening": money(row.opening),
            "closing": money(row.closing),
        },
        subject=f"statements/{row.id}",
    )
