"""What a comparison found, written down once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db import connection

from casino import events
from casino.events import Fact
from settlement import webhooks
from settlement.breaks.break_kinds import CATALOGUE
from settlement.webhooks import Owed


@dataclass(frozen=True, slots=True)
class NewBreak:
    """Two books differ about ``subject`` (``accounts/{code}``, ``rounds/{uuid}``).

    ``fingerprint`` says in which way, in up to 64 characters: the same difference found again has the same one.
    ``amount`` is how far they differ in minor units, of either sign. ``fell_due_at`` in the future makes the break
    *expected*, not yet *mismatched*; None is the moment of the act. ``detail`` holds ids, integers and strings. A run
    that finds it says so, with its level and the gaming day it looks at.
    """

    code: str
    subject: str
    fingerprint: str
    detail: dict[str, Any]
    amount: int = 0
    currency: str = ""
    fell_due_at: datetime | None = None
    run: UUID | None = None
    level: str = ""
    gaming_day: date | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.code, self.subject, self.fingerprint


def fingerprint(*parts: object) -> str:
    """Return a fingerprint of what differs: 64 hexadecimal digits, whatever the parts' length."""
    return hashlib.sha256(events.canonical([str(part) for part in parts])).hexdigest()


# A known break is only seen again, unless it had cleared itself or has fallen due meanwhile; then it takes a step. A
# step's ordinal is the break's count of steps, so a break that did not move has it already and gets none.
_FOUND = """
WITH given AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(codes)s::text[], %(subjects)s::text[], %(fingerprints)s::text[],
                         %(severities)s::text[], %(details)s::jsonb[], %(amounts)s::bigint[], %(currencies)s::text[],
                         %(runs)s::uuid[], %(levels)s::text[], %(days)s::date[], %(due)s::timestamptz[])
        AS g (id, code, subject, fingerprint, severity, detail, amount, currency, run, level, gaming_day, due)
), written AS (
    INSERT INTO settlement_break AS b
        (id, code, subject, fingerprint, severity, detail, amount, currency, run, level, gaming_day, fell_due_at,
         found_at, seen_at, seen_run, state, steps, resolution, rule)
    SELECT id, code, subject, fingerprint, severity, detail, amount, currency, run, level, gaming_day, due, %(now)s,
           %(now)s, run,
           CASE WHEN due > %(now)s THEN 'expected' ELSE 'mismatched' END, 1, '', ''
      FROM given ORDER BY code, subject, fingerprint
        ON CONFLICT (code, subject, fingerprint) DO UPDATE SET
           seen_at = greatest(b.seen_at, excluded.seen_at), seen_run = coalesce(excluded.seen_run, b.seen_run),
           state = CASE WHEN b.state = 'matched' OR (b.state = 'expected' AND b.fell_due_at <= %(now)s)
                        THEN 'mismatched' ELSE b.state END,
           steps = CASE WHEN b.state = 'matched' OR (b.state = 'expected' AND b.fell_due_at <= %(now)s)
                        THEN b.steps + 1 ELSE b.steps END
    RETURNING *
), stepped AS (
    INSERT INTO settlement_breakstep (of_id, ordinal, state, reason, taken_at)
    SELECT id, steps, state, '', %(now)s FROM written
        ON CONFLICT (of_id, ordinal) DO NOTHING
    RETURNING of_id
)
SELECT w.code, w.subject, w.fingerprint, w.id, w.severity, w.detail, w.amount, w.currency, w.run, w.level,
       w.gaming_day, w.fell_due_at, w.state, w.steps, s.of_id IS NOT NULL
  FROM written w LEFT JOIN stepped s ON s.of_id = w.id
"""


def found(breaks: Sequence[NewBreak]) -> list[UUID]:
    """Write down what a comparison found and return the breaks' ids, in this order; the same one again is the same
    break, which gets no step but for one that had cleared itself or has fallen due.

    One statement for the breaks, whatever their number; none for none. Must run in an act; raises KeyError for an
    unknown code.
    """
    act = events.current()
    first = {one.key: one for one in reversed(breaks)}
    if not first:
        return []
    given = list(first.values())
    parameters: dict[str, Any] = {
        "now": act.now,
        "ids": [events.uuid7(act.now) for _ in given],
        "codes": [one.code for one in given],
        "subjects": [one.subject for one in given],
        "fingerprints": [one.fingerprint for one in given],
        "severities": [str(CATALOGUE[one.code].severity) for one in given],
        "details": [events.canonical(one.detail).decode() for one in given],
        "amounts": [one.amount for one in given],
        "currencies": [one.currency for one in given],
        "runs": [one.run for one in given],
        "levels": [one.level for one in given],
        "days": [one.gaming_day for one in given],
        "due": [one.fell_due_at or act.now for one in given],
    }
    with connection.cursor() as cursor:
        cursor.execute(_FOUND, parameters)
        rows = cursor.fetchall()
    fresh = [row[:-1] for row in rows if row[-1]]
    if fresh:
        events.announce([_fact(*row) for row in fresh])
    owed = [_owed(*row) for row in fresh if row[-2] == "mismatched"]
    if owed:
        webhooks.owe(owed)
    ids = {tuple(row[:3]): row[3] for row in rows}
    return [ids[one.key] for one in breaks]


def _owed(code: str, subject: str, fingerprint: str, id: UUID, severity: str, *rest: Any) -> Owed:
    _, amount, currency, *_ = rest
    data: dict[str, Any] = {
        "break": str(id),
        "code": code,
        "severity": severity,
        "about": subject,
        "fingerprint": fingerprint,
    }
    if currency:
        data["difference"] = {"amount": amount, "currency": currency}
    return Owed("break.opened", data, subject=f"breaks/{id}")


def _fact(
    code: str,
    subject: str,
    fingerprint: str,
    id: UUID,
    severity: str,
    detail: str,
    amount: int,
    currency: str,
    run: UUID | None,
    level: str,
    gaming_day: date | None,
    fell_due_at: datetime,
    state: str,
    step: int,
) -> Fact:
    told = {
        "step": step,
        "state": state,
        "by": None,
        "code": code,
        "about": subject,
        "fingerprint": fingerprint,
        "severity": severity,
        "detail": json.loads(detail),
        "amount": amount,
        "currency": currency,
        "run": str(run) if run else None,
        "level": level,
        "gaming_day": gaming_day.isoformat() if gaming_day else None,
        "fell_due_at": fell_due_at.isoformat(),
    }
    return Fact("break.opened", f"breaks/{id}", told)
