"""A round's revisions as they are stored: lines, journals, and the entries that moved the money."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from audit import log
from settlement import settling
from settlement.models import Entry, Journal, Line, Settlement

PARTS = ("shortfall", "reversal", "shortfall_reversal", "journal")
"""The journals of a revision, by what each is for, in the order in which they are shown."""


def revisions_of(settlements: Sequence[Settlement], *, balances: bool) -> list[dict[str, Any]]:
    """Return revisions in their order; ``balances`` says whether entries show what their accounts held. Three
    statements."""
    lines: dict[UUID, list[list[Any]]] = {}
    stored = Line.objects.filter(settlement__in=settlements).order_by("settlement", "ordinal")
    for settlement_id, *line in stored.values_list("settlement_id", *settling.LINE_FIELDS):
        lines.setdefault(settlement_id, []).append(line)
    journals = _journals(settlements, balances=balances)
    return [_revision(one, lines.get(one.id, []), journals) for one in settlements]


def _revision(
    settlement: Settlement, lines: list[list[Any]], journals: dict[UUID, dict[str, Any]]
) -> dict[str, Any]:
    def text(key: UUID | None) -> str | None:
        return None if key is None else str(key)

    return {
        "id": str(settlement.id),
        "revision": settlement.revision,
        "outcome": str(settlement.outcome),
        "sheet_sha256": settlement.sheet.sha256 if settlement.sheet else "",
        "record_sha256": settlement.record_sha256,
        "house_net": settlement.house_net,
        "currency": settlement.currency,
        "gaming_day": settlement.gaming_day.isoformat(),
        "settled_at": log.stamp(settlement.settled_at),
        "upto": settlement.upto,
        "cites": list(settlement.cites),
        "inputs": settlement.inputs,
        "because": text(settlement.because),
        "acted_by": text(settlement.acted_by_id),
        "approved_by": text(settlement.approved_by_id),
        "lines": lines,
        "said": [],
        "journals": [
            {"part": part, **journals[key]}
            for part, key in _parts(settlement)
            if key is not None and key in journals
        ],
    }


def _parts(settlement: Settlement) -> Iterable[tuple[str, UUID | None]]:
    return [(part, getattr(settlement, f"{part}_id")) for part in PARTS]


def _journals(settlements: Sequence[Settlement], *, balances: bool) -> dict[UUID, dict[str, Any]]:
    ids = [key for one in settlements for _, key in _parts(one) if key is not None]
    entries: dict[UUID, list[dict[str, Any]]] = {}
    for entry in (
        Entry.objects.filter(journal__in=ids).select_related("account").order_by("journal", "ordinal")
    ):
        entries.setdefault(entry.journal_id, []).append(
            {
                "ordinal": entry.ordinal,
                "account": entry.account.code,
                "amount": entry.amount,
                "wager": entry.wager,
                "version": entry.version if balances else None,
                "after": entry.balance_after if balances else None,
            }
        )
    return {
        journal.id: {
            "id": str(journal.id),
            "kind": str(journal.kind),
            "key": journal.key,
            "gaming_day": journal.gaming_day.isoformat(),
            "orig_day": journal.orig_day.isoformat() if journal.orig_day else None,
            "currency": journal.currency,
            "reverses": str(journal.reverses_id) if journal.reverses_id else None,
            "entries": entries.get(journal.id, []),
        }
        for journal in Journal.objects.filter(pk__in=ids)
    }
