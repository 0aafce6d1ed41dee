"""I7, I8 and I9 round by round: judged again from its events, and compared with everything that was stored of it.

Events are read here by another way than settlement reads them, so that one fault in reading does not hide itself.
Rounds come in chunks; the memory a check needs does not grow with the house.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from audit.books.findings import Finding
from audit.books.reading import Books
from casino import cards, events, record
from casino.record import Event, Feed, RoundRecord
from settlement import settle
from settlement.rules import hands, house, payouts
from settlement.rules.house import HouseRules
from settlement.rules.payouts import Verdict

CHUNK = 200
MOST_HANDS = 17
BANK = "bank"
"""Wager of the line that carries the result of a player who banks."""


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
    def verdict(self) -> Verdict:
        assert self.rules is not None
        judged = self.record
        if judged.banker is not None and self.inputs.get("bank") is None:
            # A bank without a wallet is no bank.
            judged = replace(judged, banker=None)
        without = frozenset(self.inputs.get("not_in_play", ()))
        return payouts.judge(judged, self.rules, bank=self.inputs.get("bank"), not_in_play=without)


RoundCheck = Callable[[Case], Iterator[Finding]]
"""A check of one round."""


# -- the checks ------------------------------------------------------------------------------------------------


def judged_the_same(case: Case) -> Iterator[Finding]:
    """I7: judging again gives the stored lines, and the record the stored hash."""
    if case.settlement is None:
        return
    sha256 = _sha256(case.written)
    if sha256 != case.record_sha256:
        yield Finding(case.name, f"judged on a record {case.record_sha256}", f"{sha256} by its events")
    if case.outcome == "voided" and case.record.state == "voided":
        return
    if case.rules is None:
        yield Finding(case.name, "no sheet", "the sheet that judged it")
        return
    if case.verdict.outcome != case.outcome:
        why = f" ({', '.join(case.verdict.reasons)})" if case.verdict.reasons else ""
        yield Finding(case.name, case.outcome, f"{case.verdict.outcome}{why} by its events")
    if case.verdict.house_net != case.house_net:
        yield Finding(case.name, f"house net {case.house_net}", f"{case.verdict.house_net} by its events")
    expected = [settle.of_line(line, table=case.table) for line in case.verdict.lines]
    if case.verdict.bank is not None:
        expected.append(settle.of_bank(case.verdict.bank))
    for stored, judged in itertools.zip_longest(case.lines, expected):
        if stored != judged:
            wager = (stored or judged)[0]
            yield Finding(f"{case.name}/{wager}", *_difference(stored, judged))


def judged_by_the_sheet_in_force(case: Case) -> Iterator[Finding]:
    """I7: the sheet has its hash, two people agreed on it, and it was in force when the round opened."""
    if case.settlement is None or case.sheet is None:
        return
    if case.canonical_sha256 != case.sheet_sha256:
        yield Finding(f"rule-sheets/{case.sheet}", f"sha256 {case.sheet_sha256}", case.canonical_sha256)
    if not case.approved_in_time:
        yield Finding(
            case.name, f"sheet {case.sheet_sha256[:12]} not approved when it was put in force", "approved"
        )
    if case.in_force != case.sheet:
        yield Finding(case.name, f"judged by sheet {case.sheet}", f"{case.in_force}, in force when it opened")


def record_is_the_fold(case: Case) -> Iterator[Finding]:
    """I8: the cached record and the cards seen are what the events say."""
    if not case.effective or case.cached is None:
        if case.effective:
            yield Finding(case.name, "no cached record", "the fold of its events")
        return
    if case.settlement is None and "sequence_gap" in case.reasons:
        # What a gap leaves uncertain is not written down; the log knows what the record was.
        expected: Any = None
    else:
        expected = case.written
        if case.cached != expected:
            names = sorted(
                name
                for name in case.cached.keys() | expected.keys()
                if case.cached.get(name) != expected.get(name)
            )
            shown = {name: case.cached.get(name) for name in names}
            yield Finding(case.name, f"record has {shown}", str({name: expected.get(name) for name in names}))
        if case.cards_seen != case.record.cards_seen:
            yield Finding(case.name, f"cards seen {case.cards_seen}", str(case.record.cards_seen))
    if case.settlement is None and case.held_sha256 != _sha256(case.cached):
        yield Finding(
            case.name, f"held on a record {_sha256(case.cached)}", f"{case.held_sha256}, as the log says"
        )


def camera_saw_every_face(case: Case) -> Iterator[Finding]:
    """I8: where the sheet requires the camera, no round settled with a face it had not read, unless waived."""
    if case.rules is None or case.outcome != "settled" or not case.rules.requires.camera:
        return
    unread = record.led(case.record, lead=case.rules.feed_lead).unread_by_camera
    if unread and "awaiting_camera" not in case.record.waived:
        faces = ", ".join(f"{hand}.{position}" for hand, position in unread)
        yield Finding(case.name, f"settled without a camera's read of {faces}", "held, or waived")


def possible(case: Case) -> Iterator[Finding]:
    """I9: of an effective round, what the stored record and lines say can be true."""
    if case.settlement is None or not case.effective or case.outcome != "settled" or case.rules is None:
        return
    led = record.led(case.record, lead=case.rules.feed_lead)
    for found, expected in itertools.chain(
        _impossible_hands(_hands_of(case.cached or {}), case.rules),
        _impossible_hands({hand.name: [cards.text(card) for card in hand.cards] for hand in (*led.hands, led.dealer)},
                          case.rules),
        _impossible_lines(case, led),
    ):  # fmt: skip
        yield Finding(case.name, found, expected)
    for slot in led.slots:
        if slot.contested and not slot.removed and slot.card is None:
            yield Finding(
                f"{case.name}/{slot.hand}.{slot.position}", "reads differ", "ruled, or a feed leads"
            )


def _hands_of(cached: dict[str, Any]) -> dict[str, list[str]]:
    named = [*cached.get("hands", ()), *([cached["dealer"]] if "dealer" in cached else [])]
    return {hand["name"]: list(hand.get("cards", ())) for hand in named}


def _impossible_hands(held: dict[str, list[str]], rules: HouseRules) -> Iterator[tuple[str, str]]:
    if len(held) > MOST_HANDS:
        yield f"{len(held)} hands", f"at most {MOST_HANDS}"
    times = Counter(card for dealt in held.values() for card in dealt)
    twice = sorted(card for card, count in times.items() if count > 1)
    if twice:
        yield f"{', '.join(twice)} more than once", "no card twice"
    for name, dealt in held.items():
        if len(dealt) not in (2, 3):
            yield f"{len(dealt)} cards in {name}", "two or three"
        elif len(dealt) == 3 and _is_pok(dealt[:2], rules):
            yield f"three cards in {name}, whose first two are a pok", "two"


def _is_pok(dealt: list[str], rules: HouseRules) -> bool:
    return dealt[0] != dealt[1] and hands.classify([cards.parse(card) for card in dealt], rules).kind == "pok"


def _impossible_lines(case: Case, led: RoundRecord) -> Iterator[tuple[str, str]]:
    lines = [line for line in case.lines if line[0] != BANK]
    outside = set(case.inputs.get("not_in_play", ()))
    wagers = sorted(wager.id for wager in led.wagers if wager.id not in outside)
    if sorted(line[0] for line in lines) != wagers:
        yield f"lines for {sorted(line[0] for line in lines)}", f"one for each of {wagers}"
    for line in lines:
        if line[1] == "dealer" or line[1].startswith("junk"):
            yield f"wager {line[0]} on {line[1]}", "no wager on a junk hand or the dealer's"
    dealt = {line[1]: line[6] for line in lines}
    yield from _impossible_hands(dealt, case.rules) if case.rules else ()


def _difference(stored: tuple[Any, ...] | None, judged: tuple[Any, ...] | None) -> tuple[str, str]:
    if stored is None or judged is None:
        return ("no line" if stored is None else f"a line {stored}"), (
            "no line" if judged is None else f"{judged}"
        )
    named = list(zip(settle.LINE_FIELDS, stored, judged, strict=True))
    found = {name: ours for name, ours, theirs in named if ours != theirs}
    return str(found), str({name: theirs for name, ours, theirs in named if ours != theirs})


def _sha256(written: dict[str, Any]) -> str:
    return hashlib.sha256(events.canonical(written)).hexdigest()


# -- reading rounds, a chunk at a time -------------------------------------------------------------------------

_COLUMNS = "r.id, t.code, t.currency, r.standing, r.reasons, r.record, r.cards_seen"

_SETTLED = f"""
SELECT {_COLUMNS}, s.id, s.revision, s.outcome,
       NOT EXISTS (SELECT FROM settlement_settlement later WHERE later.supersedes_id = s.id), s.sheet_id, s.upto,
       s.cites, s.inputs, s.record_sha256, s.house_net, s.gaming_day, r.gaming_day, s.settled_at
  FROM settlement_settlement s JOIN casino_round r ON r.id = s.round_id JOIN casino_table t ON t.id = r.table_id
 WHERE s.id >= %(since_id)s ORDER BY s.id
"""  # noqa: S608

_HELD = f"""
SELECT {_COLUMNS}, NULL, 0, '', true, NULL, 0, '{{}}'::bigint[], '{{}}'::jsonb, '', 0, NULL,
       r.gaming_day, NULL
  FROM casino_round r JOIN casino_table t ON t.id = r.table_id WHERE r.standing = 'held'
"""  # noqa: S608

_EVENTS = """
SELECT coalesce(r.alias_of_id, r.id), e.id, e.kind, e.payload::text, e.source, d.kind, d.code, e.device_seq,
       e.signed <> '', (extract(epoch FROM e.happened_at) * 1000)::numeric,
       (extract(epoch FROM e.instant) * 1000)::numeric, e.late
  FROM casino_roundevent e JOIN casino_round r ON r.id = e.round_id LEFT JOIN casino_device d ON d.id = e.device_id
 WHERE r.id = ANY (%(rounds)s) OR r.alias_of_id = ANY (%(rounds)s) ORDER BY e.id
"""

_LINES = f"""
SELECT settlement_id, {", ".join(settle.LINE_FIELDS)} FROM settlement_line
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


def _fill(
    books: Books, chunk: Sequence[Case], rules: dict[UUID, tuple[HouseRules | None, str, str, bool]]
) -> None:
    rounds = list({case.round for case in chunk})
    by_round = events_of(books, rounds)
    lines: dict[UUID, list[tuple[Any, ...]]] = {}
    for settlement, *line in books.all(
        _LINES, {"settlements": [case.settlement for case in chunk if case.settlement]}
    ):
        lines.setdefault(settlement, []).append(tuple(line))
    in_force = dict(books.all(SHEETS, {"rounds": rounds}))
    told = dict(books.all(_TOLD_HELD, {"rounds": [case.round for case in chunk if case.settlement is None]}))
    _read_rules(books, {case.sheet for case in chunk if case.sheet} - rules.keys(), rules)
    for case in chunk:
        case.events = by_round[case.round]
        case.in_force = in_force.get(case.round)
        case.held_sha256 = told.get(case.round)
        if case.settlement is not None:
            case.lines = lines.get(case.settlement, [])
        if case.sheet is not None:
            case.rules, case.sheet_sha256, case.canonical_sha256, case.approved_in_time = rules[case.sheet]


def _read_rules(
    books: Books, sheets: set[UUID], rules: dict[UUID, tuple[HouseRules | None, str, str, bool]]
) -> None:
    if not sheets:
        return
    for id, canonical, stated, found, approved in books.all(_RULES, {"sheets": list(sheets)}):
        try:
            sheet: HouseRules | None = house.parse(canonical)
        except house.InvalidSheet:
            sheet = None
        rules[id] = (sheet, stated, found, approved)


def _event(row: tuple[Any, ...]) -> Event:
    _, place, kind, payload, source, feed, code, seq, signed, time_ms, instant_ms, _ = row
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
    )
