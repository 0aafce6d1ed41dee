"""Write settlements, their lines and what was uncovered: one statement, whatever their number."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db import connection

from settlement.ledger import NewJournal
from settlement.rules.payouts import Verdict
from settlement.settling import line_rows as lines
from settlement.settling.round_inputs import Case


@dataclass(slots=True)
class Revision:
    """One settlement about to be written."""

    id: UUID
    case: Case
    number: int
    verdict: Verdict
    lines: str
    gaming_day: date
    inputs: dict[str, Any]
    journals: dict[str, NewJournal]
    uncovered: list[tuple[str, str, int, str]]
    cites: list[int] = field(default_factory=list)
    supersedes: UUID | None = None
    because: UUID | None = None
    acted_by: UUID | None = None
    approved_by: UUID | None = None
    kept: dict[str, tuple[UUID, NewJournal]] | None = None
    unmoved: frozenset[str] = frozenset()
    told_as: Mapping[str, UUID | None] = field(default_factory=dict)

    @property
    def changes_nothing(self) -> bool:
        """Every line is what it was: the journals of the revision before (``kept``, by part) stand, and nobody is told.
        Where lines change, only the owners whose sum does are told: not those of the accounts ``unmoved``."""
        return self.kept is not None


_TYPES = {
    "stake": "bigint",
    "hand_taem": "smallint",
    "hand_deng": "smallint",
    "dealer_taem": "smallint",
    "dealer_deng": "smallint",
    "multiple": "smallint",
    "gross": "bigint",
    "uncovered": "bigint",
    "commission": "bigint",
    "net": "bigint",
    "rounding_bp": "bigint",
}


def _column(place: int, name: str) -> str:
    if name in ("cards", "dealer_cards"):
        return f"ARRAY(SELECT jsonb_array_elements_text(l.line->{place}))"
    return f"(l.line->>{place})::{_TYPES.get(name, 'text')}"


# Documents, not arrays: a document travels as it was hashed, where an array is escaped element by element.
_INSERT = f"""
WITH settled AS (
    INSERT INTO settlement_settlement (id, round_id, revision, outcome, sheet_id, journal_id, shortfall_id, reversal_id,
        shortfall_reversal_id, supersedes_id, because, acted_by_id, approved_by_id, upto, cites, inputs, record_sha256,
        house_net, currency, gaming_day, settled_at, changes_nothing)
    SELECT n.id, n.round, n.revision, n.outcome, n.sheet, n.journal, n.shortfall, n.reversal, n.shortfall_reversal,
           n.supersedes, n.because, n.acted_by, n.approved_by, n.upto,
           ARRAY(SELECT jsonb_array_elements_text(n.cites)::bigint), n.inputs, n.record_sha256, n.house_net, n.currency,
           n.gaming_day, %(now)s, n.changes_nothing
      FROM jsonb_to_recordset(%(settlements)s::jsonb) AS n (id uuid, round uuid, revision int, outcome text, sheet uuid,
           journal uuid, shortfall uuid, reversal uuid, shortfall_reversal uuid, supersedes uuid, because uuid,
           acted_by uuid, approved_by uuid, upto bigint, cites jsonb, inputs jsonb, record_sha256 text,
           house_net bigint, currency text, gaming_day date, changes_nothing boolean)
), uncovered AS (
    INSERT INTO settlement_uncovered (round_id, wager, account_code, exposure, reason, recorded_at)
    SELECT n.round, n.wager, n.account, n.exposure, n.reason, %(now)s
      FROM jsonb_to_recordset(%(uncovered)s::jsonb)
        AS n (round uuid, wager text, account text, exposure bigint, reason text)
)
INSERT INTO settlement_line (settlement_id, ordinal, {", ".join(lines.LINE_FIELDS)})
SELECT (s.item->>0)::uuid, l.ordinal - 1, {", ".join(map(_column, range(len(lines.LINE_FIELDS)), lines.LINE_FIELDS))}
  FROM jsonb_array_elements(%(lines)s::jsonb) AS s (item),
       jsonb_array_elements(s.item->1) WITH ORDINALITY AS l (line, ordinal)
"""  # noqa: S608 - only names of columns


def insert(revisions: Sequence[Revision], ids: Mapping[tuple[UUID, str], UUID], *, now: datetime) -> None:
    """Write settlements, their lines and what was uncovered, by one statement."""
    uncovered = [
        {
            "round": str(revision.case.id),
            "wager": wager,
            "account": account,
            "exposure": exposure,
            "reason": reason,
        }
        for revision in revisions
        for wager, account, exposure, reason in revision.uncovered
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT,
            {
                "now": now,
                "settlements": json.dumps([_described(revision, ids) for revision in revisions]),
                "uncovered": json.dumps(uncovered),
                "lines": _listed(f'["{revision.id}",{revision.lines}]' for revision in revisions),
            },
        )


def _listed(documents: Iterable[str]) -> str:
    return f"[{','.join(documents)}]"


def _described(revision: Revision, ids: Mapping[tuple[UUID, str], UUID]) -> dict[str, Any]:
    def text(value: UUID | None) -> str | None:
        return str(value) if value is not None else None

    return {
        "id": str(revision.id),
        "round": str(revision.case.id),
        "revision": revision.number,
        "outcome": revision.verdict.outcome,
        "sheet": text(revision.case.sheet_id),
        **{
            part: text(ids.get((revision.id, part)))
            for part in ("journal", "shortfall", "reversal", "shortfall_reversal")
        },
        "supersedes": text(revision.supersedes),
        "because": text(revision.because),
        "acted_by": text(revision.acted_by),
        "approved_by": text(revision.approved_by),
        "upto": revision.case.upto,
        "cites": revision.cites,
        "inputs": revision.inputs,
        "record_sha256": revision.case.record_sha256,
        "house_net": revision.verdict.house_net,
        "currency": revision.case.currency,
        "gaming_day": revision.gaming_day.isoformat(),
        "changes_nothing": revision.changes_nothing,
    }
