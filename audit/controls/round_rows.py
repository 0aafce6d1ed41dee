"""Rounds as checks read them: each revision of a settlement, each held round, with all that it was judged on.

Events are read here by another way than settlement reads them, so that one fault in reading does not hide itself.
Rounds come in chunks; the memory a check needs does not grow with the house.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from audit.controls import independent_judge
from audit.controls.findings import Finding
from audit.controls.independent_judge import Judged, Move
from audit.controls.snapshot import Books
from casino import events, record
from casino.record import Event, Feed, RoundRecord
from settlement import settling
from settlement.rules import house_rules
from settlement.rules.house_rules import HouseRules

CHUNK = 200


@dataclass
class Case:
    """One revision of a round's settlement with all it was judged on; for a held round there is no revision."""

    round: UUID
    table: str
    currency: str
    standing: str
    reasons: list[str]
    cached: dict[str, Any] | None
    cards_seen: int
    settlement: UUID | None
    revision: int
    outcome: str
    effective: bool
    sheet: UUID | None
    upto: int
    cites: list[int]
    inputs: dict[str, Any]
    record_sha256: str
    house_net: int
    gaming_day: date | None
    round_day: date | None
    settled_at: datetime | None
    events: list[tuple[Event, bool]] = field(default_factory=list)
    lines: list[tuple[Any, ...]] = field(default_factory=list)
    rules: HouseRules | None = None
    sheet_sha256: str = ""
    canonical_sha256: str = ""
    approved_in_time: bool = False
    in_force: UUID | None = None
    held_sha256: str | None = None
    posted: Counter[Move] = field(default_factory=Counter)
    told: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        return f"rounds/{self.round}" + (f"/revisions/{self.revision}" if self.settlement else "")

    @cached_property
    def record(self) -> RoundRecord:
        """The fold of what counted then: all that did not come late, and the late acts that were cited."""
        cited = frozenset(self.cites)
        counted = [
            event
            for event, late in self.events
            if event.place in cited or (not late and (self.settlement is None or event.place <= self.upto))
        ]
        return record.fold(counted, currency=self.currency)

    @cached_property
    def written(self) -> dict[str, Any]:
        """The record as it is stored: through JSON and back."""
        return json.loads(events.canonical(record.to_json(self.record)))

    @cached_property
    def judged(self) -> Judged:
        """What the record comes to, judged the slow way."""
        return independent_judge.judge(self.record, self.rules, inputs=self.inputs, table=self.table)


RoundCheck = Callable[[Case], Iterator[Finding]]
"""A check of one round."""

_COLUMNS = "r.id, t.code, t.currency, r.standing, r.reasons, r.record, r.cards_seen"

_SETTLED = f"""
SELECT {_COLUMNS}, s.id, s.revision, s.outcome,
       NOT EXISTS (SELECT FROM settlement_settlement later WHERE later.supersedes_id = s.id), s.sheet_id, s.upto,
       s.cites, s.inputs, s.record_sha256, s.house_net, s.gaming_day, r.gaming_day, s.settled_at
  FROM settlement_settlement s JOIN casino_round r ON r.id = s.round_id JOIN casino_table t ON t.id = r.table_id
 WHERE s.id >= %(since_id)s ORDER BY s.id
"""  # noqa: S608

_CHOSEN = _SETTLED.replace("s.id >= %(since_id)s", "s.id = ANY (%(settlements)s)")

_HELD = f"""
SELECT {_COLUMNS}, NULL, 0, '', true, NULL, 0, '{{}}'::bigint[], '{{}}'::jsonb, '', 0, NULL,
       r.gaming_day, NULL
  FROM casino_round r JOIN casino_table t ON t.id = r.table_id WHERE r.standing = 'held'
"""  # noqa: S608

_EVENTS = """
SELECT coalesce(r.alias_of_id, r.id), e.id, e.kind, e.payload::text, e.source, d.kind, d.code, e.device_seq,
       e.signed <> '', floor(extract(epoch FROM e.happened_at) * 1000)::bigint,
       floor(extract(epoch FROM e.instant) * 1000)::bigint, e.jumped_from, e.late
  FROM casino_roundevent e JOIN casino_round r ON r.id = e.round_id LEFT JOIN casino_device d ON d.id = e.device_id
 WHERE r.id = ANY (%(rounds)s) OR r.alias_of_id = ANY (%(rounds)s) ORDER BY e.id
"""

_LINES = f"""
SELECT settlement_id, {", ".join(settling.LINE_FIELDS)} FROM settlement_line
 WHERE settlement_id = ANY (%(settlements)s) ORDER BY settlement_id, ordinal
"""  # noqa: S608

SHEETS = """
SELECT r.id, (SELECT rules.sheet_id FROM settlement_tablerules rules
               WHERE rules.table_id = r.table_id AND rules.in_force_from <= opening.instant
               ORDER BY rules.in_force_from DESC LIMIT 1)
  FROM casino_round r
 CROSS JOIN LATERAL (SELECT e.instant FROM casino_roundevent e
                      WHERE e.round_id = r.id AND e.kind = 'round_opened' AND NOT e.late ORDER BY e.id LIMIT 1) opening
 WHERE r.id = ANY (%(rounds)s)
"""

_RULES = """
SELECT s.id, s.canonical, s.sha256, encode(sha256(convert_to(s.canonical, 'UTF8')), 'hex'),
       s.approved_by_id IS NOT NULL AND s.approved_by_id <> s.proposed_by_id AND s.approved_at <= coalesce(
           (SELECT min(rules.set_at) FROM settlement_tablerules rules WHERE rules.sheet_id = s.id), s.approved_at)
  FROM settlement_rulesheet s WHERE s.id = ANY (%(sheets)s)
"""

_TOLD_HELD = """
SELECT DISTINCT ON (l.round) l.round, convert_from(l.bytes, 'UTF8')::jsonb #>> '{data,record_sha256}'
  FROM audit_logentry l WHERE l.action = 'round.held' AND l.round = ANY (%(rounds)s) ORDER BY l.round, l.id DESC
"""


_POSTED = """
SELECT s.id, a.code, e.wager, e.amount FROM settlement_settlement s
  JOIN settlement_entry e ON e.journal_id = s.journal_id JOIN settlement_account a ON a.id = e.account_id
 WHERE s.id = ANY (%(settlements)s)
"""

_TOLD = """
SELECT l.bytes FROM audit_logentry l
 WHERE l.round = ANY (%(rounds)s) AND l.action IN ('round.settled', 'round.voided', 'round.corrected') ORDER BY l.id
"""


def count(books: Books) -> int:
    """Return how many cases ``walk`` is going to read, for a progress bar."""
    (settled,) = books.all("SELECT count(*) FROM settlement_settlement WHERE id >= %(since_id)s")
    (held,) = books.all("SELECT count(*) FROM casino_round WHERE standing = 'held'")
    return int(settled[0] + held[0])


def walk(books: Books) -> Iterator[Case]:
    """Read every settlement in scope and every held round, each with its events, lines and sheet."""
    rules: dict[UUID, tuple[HouseRules | None, str, str, bool]] = {}
    for statement in (_SETTLED, _HELD):
        rows = books.rows(statement)
        while chunk := [Case(*row) for row in itertools.islice(rows, CHUNK)]:
            _fill(books, chunk, rules)
            yield from chunk


def events_of(books: Books, rounds: Sequence[UUID]) -> dict[UUID, list[tuple[Event, bool]]]:
    """Return the events of rounds, those of their aliases among them, in the order recorded; each with whether it came
    late."""
    found: dict[UUID, list[tuple[Event, bool]]] = {id: [] for id in rounds}
    for row in books.all(_EVENTS, {"rounds": rounds}):
        found[row[0]].append((_event(row), row[-1]))
    return found


def chosen(books: Books, settlements: Sequence[UUID]) -> list[Case]:
    """Read these settlements, in the order of their ids, and no others."""
    cases = [Case(*row) for row in books.all(_CHOSEN, {"settlements": list(settlements)})]
    _fill(books, cases, {})
    return cases


def _fill(
    books: Books, chunk: Sequence[Case], rules: dict[UUID, tuple[HouseRules | None, str, str, bool]]
) -> None:
    rounds = list({case.round for case in chunk})
    by_round = events_of(books, rounds)
    settlements = {"settlements": [case.settlement for case in chunk if case.settlement]}
    lines: dict[UUID, list[tuple[Any, ...]]] = {}
    for settlement, *line in books.all(_LINES, settlements):
        lines.setdefault(settlement, []).append(tuple(line))
    posted: dict[UUID, Counter[Move]] = {}
    for settlement, account, wager, amount in books.all(_POSTED, settlements):
        posted.setdefault(settlement, Counter())[account, wager, amount] += 1
    sealed = [json.loads(bytes(row[0]))["data"] for row in books.all(_TOLD, {"rounds": rounds})]
    entries = {str(data["settlement"]): data for data in sealed}
    in_force = dict(books.all(SHEETS, {"rounds": rounds}))
    told = dict(books.all(_TOLD_HELD, {"rounds": [case.round for case in chunk if case.settlement is None]}))
    _read_rules(books, {case.sheet for case in chunk if case.sheet} - rules.keys(), rules)
    for case in chunk:
        case.events = by_round[case.round]
        case.in_force = in_force.get(case.round)
        case.held_sha256 = told.get(case.round)
        if case.settlement is not None:
            case.lines = lines.get(case.settlement, [])
            case.posted = posted.get(case.settlement, Counter())
            case.told = entries.get(str(case.settlement))
        if case.sheet is not None:
            case.rules, case.sheet_sha256, case.canonical_sha256, case.approved_in_time = rules[case.sheet]


def _read_rules(
    books: Books, sheets: set[UUID], rules: dict[UUID, tuple[HouseRules | None, str, str, bool]]
) -> None:
    if not sheets:
        return
    for id, canonical, stated, found, approved in books.all(_RULES, {"sheets": list(sheets)}):
        try:
            sheet: HouseRules | None = house_rules.stored(canonical)
        except house_rules.InvalidSheet:
            sheet = None
        rules[id] = (sheet, stated, found, approved)


def _event(row: tuple[Any, ...]) -> Event:
    _, place, kind, payload, source, feed, code, seq, signed, time_ms, instant_ms, jumped, _ = row
    if feed is None:
        feed = "decision" if source.startswith("/disputes/") else "page"
    found: Feed = feed
    return Event(
        kind=kind,
        data=json.loads(payload),
        source=code or source,
        feed=found,
        seq=seq or 0,
        place=place,
        signed=signed,
        time_ms=int(time_ms),
        instant_ms=int(instant_ms),
        jumped_from=jumped,
    )
