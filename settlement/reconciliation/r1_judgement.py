"""R1, judgement: every settlement of the window judged again from its events and its sheet, with its lines and entries.

The same pure path as settling takes, read without a lock: a finished round's events do not change, and what came late
counts only where the revision cites it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from settlement import settling
from settlement.breaks import NewBreak, fingerprint
from settlement.reconciliation.results import Single
from settlement.reconciliation.window import (
    MS_OF_ID,
    Found,
    Level,
    Piece,
    Slice,
    Window,
    cut_by,
    reading,
    rows_of,
)
from settlement.settling import judging, postings
from settlement.settling.judging import Inputs
from settlement.settling.round_inputs import Case, Gathered

BATCH = 200
"""Rounds folded at a time: what one chunk holds in memory does not grow with the chunk."""


def cut(window: Window, size: int) -> Iterator[Slice]:
    return cut_by(
        "settlements",
        window,
        at=MS_OF_ID.format(id="id"),
        rows="settlement_settlement WHERE id >= %(low)s AND id < %(high)s",
        size=size,
    )


@dataclass(frozen=True, slots=True)
class Stored:
    """A revision as it was settled: what it was judged on, its lines and the entries of its journal."""

    id: UUID
    round: UUID
    revision: int
    outcome: str
    sheet: UUID | None
    sheet_sha256: str | None
    canonical_sha256: str | None
    cites: tuple[int, ...]
    inputs: Mapping[str, Any]
    record_sha256: str
    house_net: int
    currency: str
    lines: list[list[Any]]
    entries: list[list[Any]]


_STORED = f"""
SELECT s.id, s.round_id, s.revision, s.outcome, s.sheet_id, sheet.sha256,
       encode(sha256(convert_to(sheet.canonical, 'UTF8')), 'hex'), s.cites, s.inputs::text, s.record_sha256,
       s.house_net, s.currency,
       coalesce((SELECT json_agg(json_build_array({", ".join("l." + name for name in settling.LINE_FIELDS)})
                                 ORDER BY l.ordinal)
                   FROM settlement_line l WHERE l.settlement_id = s.id), '[]')::text,
       coalesce((SELECT json_agg(json_build_array(a.code, e.amount, e.wager) ORDER BY e.ordinal)
                   FROM settlement_entry e JOIN settlement_account a ON a.id = e.account_id
                  WHERE e.journal_id = s.journal_id), '[]')::text
  FROM settlement_settlement s LEFT JOIN settlement_rulesheet sheet ON sheet.id = s.sheet_id
 WHERE s.id >= %(low)s AND s.id < %(high)s ORDER BY s.id LIMIT {BATCH}
"""  # noqa: S608 - only names of columns


def settlements(piece: Piece) -> Iterator[Found]:
    """Each revision settled in the slice comes to what was stored of it."""
    low, high = piece.ids["low"], piece.ids["high"]
    while True:
        with reading():
            batch = _read(low, high)
            gathered = list(_with_rounds(batch))
        if not batch:
            return
        for by_round, rounds in gathered:
            for case in rounds.each():
                yield _judged(by_round.pop(case.id), case)
            for stored in by_round.values():
                yield _judged(stored, None)
        low = UUID(int=batch[-1].id.int + 1)


def _read(low: UUID, high: UUID) -> list[Stored]:
    return [
        Stored(*[*row[:7], tuple(row[7]), *map(_plain, row[8:])])
        for row in rows_of(_STORED, {"low": low, "high": high})
    ]


def _plain(column: Any) -> Any:
    """JSON comes as text: what is stored there is compared, not what a driver makes of it."""
    return json.loads(column) if isinstance(column, str) and column[:1] in ("[", "{") else column


def _with_rounds(batch: Sequence[Stored]) -> Iterator[tuple[dict[UUID, Stored], Gathered]]:
    """Read what each was judged on; a round with several revisions in the batch is read once for each of them."""
    left = list(batch)
    while left:
        now: dict[UUID, Stored] = {}
        again = [stored for stored in left if now.setdefault(stored.round, stored) is not stored]
        yield (
            now,
            settling.gather(list(now), lock=False, cites={round: one.cites for round, one in now.items()}),
        )
        left = again


def _judged(stored: Stored, case: Case | None) -> Single:
    key = f"rounds/{stored.round}/revisions/{stored.revision}"
    value = [stored.outcome, stored.record_sha256, stored.house_net, stored.lines, stored.entries]
    if case is None or case.record is None:
        return Single(key, value, (NewBreak("MISSING_SOURCE", key, "round", {"settlement": str(stored.id)}),))
    found = list(_sheet_differs(key, stored, case))
    if not found:
        found = list(_judgement_differs(key, stored, case))
    return Single(key, value, tuple(found))


def _sheet_differs(key: str, stored: Stored, case: Case) -> Iterator[NewBreak]:
    judged_without = stored.outcome == "voided" and stored.sheet is None
    in_force = case.sheet_id
    if judged_without and in_force is None:
        return
    if (
        stored.sheet_sha256 is None
        or stored.sheet_sha256 != stored.canonical_sha256
        or stored.sheet != in_force
    ):
        detail = {
            "sheet": str(stored.sheet),
            "in_force": str(in_force),
            "sha256": stored.sheet_sha256 or "",
            "canonical_sha256": stored.canonical_sha256 or "",
        }
        yield NewBreak("SHEET_UNKNOWN", key, fingerprint(*detail.values()), detail)


def _judgement_differs(key: str, stored: Stored, case: Case) -> Iterator[NewBreak]:
    try:
        inputs = Inputs.read(stored.inputs)
        verdict = judging.judge(case, inputs)
    except (ValueError, LookupError, TypeError) as impossible:
        yield NewBreak("JUDGE_DIFF", key, "cannot be judged", {"fault": type(impossible).__name__})
        return
    theirs = inputs.elsewhere
    lines = [list(settling.of_line(line, table=case.table, elsewhere=theirs)) for line in verdict.lines]
    if verdict.bank is not None:
        lines.append(list(settling.of_bank(verdict.bank, table=case.table, elsewhere=theirs)))
    entries = []
    if verdict.outcome == "settled":
        moving = postings.postings_of(verdict, table=case.table, elsewhere=theirs)
        entries = [[posting.account, posting.amount, posting.wager] for posting in moving]
    judged = {
        "outcome": verdict.outcome,
        "record_sha256": case.record_sha256,
        "house_net": verdict.house_net,
        "lines": hashed(lines),
        "entries": hashed(entries),
    }
    was = {
        "outcome": stored.outcome,
        "record_sha256": stored.record_sha256,
        "house_net": stored.house_net,
        "lines": hashed(stored.lines),
        "entries": hashed(stored.entries),
    }
    differing = sorted(name for name in judged if judged[name] != was[name])
    if differing:
        detail = {
            "differs": differing,
            "stored": {name: was[name] for name in differing},
            "judged": {name: judged[name] for name in differing},
        }
        at_risk = _apart(lines, stored.lines) or _moved(entries, stored.entries)
        yield NewBreak(
            "JUDGE_DIFF",
            key,
            fingerprint(differing, judged, was),
            detail,
            amount=at_risk,
            currency=stored.currency,
        )


def hashed(value: Any) -> str:
    """Return the SHA-256, in hexadecimal, of lines or entries as JSON."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()


def _apart(judged: Sequence[Sequence[Any]], stored: Sequence[Sequence[Any]]) -> int:
    """What lies between two sets of lines: the sum over their wagers, in minor units."""
    net = settling.LINE_FIELDS.index("net")
    ours, theirs = ({line[0]: line[net] for line in lines} for lines in (judged, stored))
    return sum(abs(ours.get(wager, 0) - theirs.get(wager, 0)) for wager in {*ours, *theirs})


def _moved(judged: Sequence[Sequence[Any]], stored: Sequence[Sequence[Any]]) -> int:
    """What lies between two sets of entries: the sum over their accounts, in minor units."""
    apart: dict[str, int] = {}
    for sign, entries in ((1, judged), (-1, stored)):
        for account, amount, _ in entries:
            apart[account] = apart.get(account, 0) + sign * amount
    return sum(abs(amount) for amount in apart.values()) // 2


LEVEL = Level(number=1, cut=cut, parts={"settlements": settlements})
