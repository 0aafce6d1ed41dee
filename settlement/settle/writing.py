"""Write settlements, their lines and what was uncovered: one statement, whatever their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db import connection

from casino import events
from settlement.ledger import NewJournal
from settlement.rules.payouts import Verdict
from settlement.settle import lines
from settlement.settle.cases import Case


@dataclass(slots=True)
class Revision:
    """One settlement about to be written."""

    id: UUID
    case: Case
    number: int
    verdict: Verdict
    stored: list[tuple[Any, ...]]
    gaming_day: date
    inputs: dict[str, Any]
    journals: dict[str, NewJournal]
    uncovered: list[tuple[str, str, int, str]]
    cites: list[int] = field(default_factory=list)
    supersedes: UUID | None = None
    because: UUID | None = None
    acted_by: UUID | None = None
    approved_by: UUID | None = None


_INSERT = """
WITH settled AS (
    INSERT INTO settlement_settlement (id, round_id, revision, outcome, sheet_id, journal_id, shortfall_id, reversal_id,
        shortfall_reversal_id, supersedes_id, because, acted_by_id, approved_by_id, upto, cites, inputs, record_sha256,
        house_net, currency, gaming_day, settled_at)
    SELECT n.id, n.round, n.revision, n.outcome, n.sheet, n.journal, n.shortfall, n.reversal, n.shortfall_reversal,
           n.supersedes, n.because, n.acted_by, n.approved_by, n.upto,
           ARRAY(SELECT jsonb_array_elements_text(n.cites)::bigint), n.inputs, n.record_sha256, n.house_net, n.currency,
           n.gaming_day, %(now)s
      FROM jsonb_to_recordset(%(settlements)s::jsonb) AS n (id uuid, round uuid, revision int, outcome text, sheet uuid,
           journal uuid, shortfall uuid, reversal uuid, shortfall_reversal uuid, supersedes uuid, because uuid,
           acted_by uuid, approved_by uuid, upto bigint, cites jsonb, inputs jsonb, record_sha256 text,
           house_net bigint, currency text, gaming_day date)
), uncovered AS (
    INSERT INTO settlement_uncovered (round_id, wager, account_code, exposure, reason, recorded_at)
    SELECT n.*, %(now)s FROM unnest(%(u_rounds)s::uuid[], %(u_wagers)s::text[], %(u_accounts)s::text[],
           %(u_exposures)s::bigint[], %(u_reasons)s::text[]) AS n
)
INSERT INTO settlement_line (settlement_id, ordinal, wager, hand, owner_kind, owner_ref, account, stake, cards,
    hand_kind, hand_taem, hand_deng, dealer_cards, dealer_kind, dealer_taem, dealer_deng, step, multiple, gross,
    uncovered, commission, net, rounding_bp)
SELECT n.settlement, n.ordinal, n.wager, n.hand, n.owner_kind, n.owner_ref, n.account, n.stake,
       string_to_array(n.cards, ' '), n.hand_kind, n.hand_taem, n.hand_deng, string_to_array(n.dealer_cards, ' '),
       n.dealer_kind, n.dealer_taem, n.dealer_deng, n.step, n.multiple, n.gross, n.uncovered, n.commission, n.net,
       n.rounding_bp
  FROM unnest(%(l_settlements)s::uuid[], %(l_ordinals)s::int[], %(wager)s::text[], %(hand)s::text[],
       %(owner_kind)s::text[], %(owner_ref)s::text[], %(account)s::text[], %(stake)s::bigint[], %(cards)s::text[],
       %(hand_kind)s::text[], %(hand_taem)s::smallint[], %(hand_deng)s::smallint[], %(dealer_cards)s::text[],
       %(dealer_kind)s::text[], %(dealer_taem)s::smallint[], %(dealer_deng)s::smallint[], %(step)s::text[],
       %(multiple)s::smallint[], %(gross)s::bigint[], %(uncovered)s::bigint[], %(commission)s::bigint[],
       %(net)s::bigint[], %(rounding_bp)s::bigint[])
       AS n (settlement, ordinal, wager, hand, owner_kind, owner_ref, account, stake, cards, hand_kind, hand_taem,
             hand_deng, dealer_cards, dealer_kind, dealer_taem, dealer_deng, step, multiple, gross, uncovered,
             commission, net, rounding_bp)
"""


def insert(revisions: Sequence[Revision], ids: Mapping[tuple[UUID, str], UUID], *, now: datetime) -> None:
    """Write settlements, their lines and what was uncovered, by one statement."""
    values: dict[str, Any] = {"now": now, "settlements": _settlements_json(revisions, ids)}
    uncovered = [(revision.case.id, *row) for revision in revisions for row in revision.uncovered]
    for place, name in enumerate(("u_rounds", "u_wagers", "u_accounts", "u_exposures", "u_reasons")):
        values[name] = [row[place] for row in uncovered]
    stored = [
        (revision.id, ordinal, line) for revision in revisions for ordinal, line in enumerate(revision.stored)
    ]
    values["l_settlements"] = [settlement for settlement, _, _ in stored]
    values["l_ordinals"] = [ordinal for _, ordinal, _ in stored]
    for place, name in enumerate(lines.LINE_FIELDS):
        column = [line[place] for _, _, line in stored]
        # unnest() would flatten arrays of arrays: lists of cards travel as text.
        values[name] = [" ".join(item) for item in column] if name in ("cards", "dealer_cards") else column
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, values)


def _settlements_json(revisions: Sequence[Revision], ids: Mapping[tuple[UUID, str], UUID]) -> str:
    def text(value: UUID | None) -> str | None:
        return str(value) if value is not None else None

    rows = [
        {
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
        }
        for revision in revisions
    ]
    return events.canonical(rows).decode()
