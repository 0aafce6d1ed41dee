"""Take a device's reports into the record.

``append`` runs the same statements for one event and for five hundred. It judges nothing: a card that should not
have been dealt is recorded like any other. What it refuses is what is no report of this device at all.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from casino import devices, events
from casino.events import Fact
from casino.models import Device, RoundEvent, Standing
from casino.refusals import Refusal

CAMERA_KINDS = frozenset({"card_dealt"})
NEEDS_SIGNATURE = frozenset(
    {"card_ruled", "card_removed", "round_voided", "hold_waived", "recorder_changed", "mispay_put_right"}
)
"""Kinds that count only with a sign-off (a bare draw mark may be removed without one: the fold knows)."""

CLOCK_TOLERANCE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Report:
    """One event as the door parsed it. ``refusal`` says what the door found wrong: the number is used up all the
    same, and number, hash and code are kept. ``sha256`` is of the envelope without its ``id``."""

    seq: int
    sha256: bytes
    event_id: str = ""
    kind: str = ""
    round: UUID | None = None
    data: dict[str, Any] = field(default_factory=dict)
    content_sha256: bytes = b""
    person: UUID | None = None
    signature: UUID | None = None
    happened_at: datetime | None = None
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one report: ``recorded``, ``duplicate``, or ``refused`` with the refusal."""

    seq: int
    outcome: str
    code: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)


def append(*, device: Device, reports: Sequence[Report], sent_at: datetime | None) -> list[Answer]:
    """Record a device's reports, in the order given; answer each one.

    ``sent_at`` is when the request was sent by the device's clock (UTC); without it an event's own time counts only
    within a minute of ours. Must run in an act. Ten statements, whatever the number of events and rounds.
    """
    batch = _Batch(device=device, sent_at=sent_at, now=events.current().now)
    batch.lock(reports)
    answers = [batch.take(report) for report in reports]
    batch.write()
    return answers


@dataclass(slots=True)
class _Row:
    """A round's row while a batch is taken in."""

    id: UUID
    table: UUID
    session: UUID | None
    number: int | None
    recorder: UUID | None
    alias_of: UUID | None
    standing: str
    reasons: list[str]
    due_at: datetime | None
    opened_at: datetime | None
    closed_at: datetime | None
    event_count: int
    fresh: bool = False
    changed: bool = False


@dataclass(slots=True)
class _Taken:
    report: Report
    row: _Row
    place: int
    late: bool
    instant: datetime
    clock_off: bool
    signed: str
    signer: UUID | None
    person: UUID | None


class _Batch:
    """One call of ``append``: what it locked, what it will write."""

    def __init__(self, *, device: Device, sent_at: datetime | None, now: datetime) -> None:
        self.device = device
        self.now = now
        self.offset = None if sent_at is None else now - sent_at
        self.session: UUID | None = None
        self.session_opened_at = now
        self.dealer: UUID | None = None
        self.supervisor: UUID | None = None
        self.rows: dict[UUID, _Row] = {}
        self.openings: dict[int, _Row] = {}
        self.seen: dict[int, tuple[bytes, str, dict[str, str], dict[str, Any]]] = {}
        self.kept: set[tuple[int, bytes]] = set()
        self.people: set[UUID] = set()
        self.signatures: dict[UUID, tuple[UUID, bytes, bool]] = {}
        self.taken: list[_Taken] = []
        self.refused: list[tuple[Report, bool, Answer]] = []
        self.last_seq = 0
        self.holes: list[devices.Range] = []

    # Locks and reads, in the order of the service: the device's numbers, the session, the rounds by id.

    def lock(self, reports: Sequence[Report]) -> None:
        with connection.cursor() as cursor:
            self._lock_device(cursor)
            self._lock_session(cursor)
            self._make_rounds(cursor, reports)
            self._lock_rounds(cursor, reports)
            self._read_seen(cursor, [report.seq for report in reports])
            self._read_people(cursor, reports)

    def _lock_device(self, cursor: Any) -> None:
        cursor.execute(
            "SELECT last_seq, holes FROM casino_device WHERE id = %s AND revoked_at IS NULL FOR UPDATE",
            [self.device.id],
        )
        found = cursor.fetchone()
        if found is None:
            raise Refusal("invalid_token")
        self.last_seq, holes = found[0], json.loads(found[1]) if isinstance(found[1], str) else found[1]
        self.holes = [(first, last) for first, last in holes]

    def _lock_session(self, cursor: Any) -> None:
        cursor.execute(
            "SELECT s.id, s.opened_at,"
            " (SELECT person_id FROM casino_duty WHERE session_id = s.id AND role = 'dealer' AND off_at IS NULL),"
            " (SELECT person_id FROM casino_duty WHERE session_id = s.id AND role = 'supervisor' AND off_at IS NULL)"
            " FROM casino_tablesession s WHERE s.table_id = %s AND s.closed_at IS NULL FOR UPDATE OF s",
            [self.device.table_id],
        )
        found = cursor.fetchone()
        if found is not None:
            self.session, self.session_opened_at, self.dealer, self.supervisor = found

    def _make_rounds(self, cursor: Any, reports: Sequence[Report]) -> None:
        if self.session is None:
            return
        ids = sorted({report.round for report in reports if report.round and report.refusal is None})
        cursor.execute(
            "INSERT INTO casino_round (id, table_id, session_id, standing, reasons, in_dispute, created_at, event_count,"
            " cards_seen) SELECT id, %s, %s, '', '{}', false, %s, 0, 0 FROM unnest(%s::uuid[]) AS id"
            " ON CONFLICT (id) DO NOTHING",
            [self.device.table_id, self.session, self.now, ids],
        )

    def _lock_rounds(self, cursor: Any, reports: Sequence[Report]) -> None:
        ids = [report.round for report in reports if report.round and report.refusal is None]
        numbers = [
            report.data["number"]
            for report in reports
            if report.kind == "round_opened" and report.refusal is None
        ]
        # The rounds named, those they are aliases of, those that have a number claimed here, and those of the session
        # that wait for missing numbers of a device.
        cursor.execute(
            "SELECT id, table_id, session_id, number, recorder_id, alias_of_id, standing, reasons, due_at, opened_at,"
            " closed_at, event_count FROM casino_round"
            " WHERE id = ANY(%(ids)s::uuid[] || ARRAY(SELECT alias_of_id FROM casino_round"
            "                                 WHERE id = ANY(%(ids)s::uuid[]) AND alias_of_id IS NOT NULL))"
            " OR (session_id = %(session)s AND number = ANY(%(numbers)s::int[]))"
            " OR (session_id = %(session)s AND standing = 'held' AND 'sequence_gap' = ANY(reasons))"
            " ORDER BY id FOR UPDATE",
            {"ids": ids, "session": self.session, "numbers": numbers},
        )
        for found in cursor.fetchall():
            row = _Row(*found)
            row.fresh = row.event_count == 0
            self.rows[row.id] = row
            if row.number is not None and row.session == self.session and row.alias_of is None:
                self.openings[row.number] = row

    def _read_seen(self, cursor: Any, numbers: Sequence[int]) -> None:
        cursor.execute(
            "SELECT device_seq, sha256, '', '{}'::jsonb, '{}'::jsonb, true FROM casino_roundevent"
            " WHERE device_id = %(device)s AND device_seq = ANY(%(numbers)s::bigint[])"
            " UNION ALL SELECT device_seq, sha256, code, fields, extra, claims FROM casino_refusedevent"
            " WHERE device_id = %(device)s AND device_seq = ANY(%(numbers)s::bigint[])",
            {"device": self.device.id, "numbers": list(numbers)},
        )
        for seq, sha256, code, fields, extra, claims in cursor.fetchall():
            if claims:
                self.seen[seq] = (bytes(sha256), code, _json(fields), _json(extra))
            else:
                self.kept.add((seq, bytes(sha256)))

    def _read_people(self, cursor: Any, reports: Sequence[Report]) -> None:
        cursor.execute(
            "SELECT id, NULL::uuid, NULL::bytea, NULL::boolean FROM casino_person WHERE id = ANY(%s::uuid[])"
            " UNION ALL SELECT id, person_id, sha256, may_rule AND session_id = %s FROM casino_signature"
            " WHERE id = ANY(%s::uuid[])",
            [
                [report.person for report in reports if report.person],
                self.session,
                [report.signature for report in reports if report.signature],
            ],
        )
        for key, person, sha256, may_rule in cursor.fetchall():
            if person is None:
                self.people.add(key)
            else:
                self.signatures[key] = (person, bytes(sha256), bool(may_rule))

    # One report after the other, in memory.

    def take(self, report: Report) -> Answer:
        if report.seq < 1 and report.refusal is not None:
            # It has no number of this device, so there is nothing to keep it under.
            return Answer(report.seq, "refused", report.refusal.code, report.refusal.fields)
        seen = self.seen.get(report.seq)
        if seen is not None:
            return self._again(report, seen)
        refusal = report.refusal or self._refusal_of(report)
        if refusal is not None and refusal.code == "table_closed":
            # The number stays free: sent again once the table is open, the event is recorded.
            return Answer(report.seq, "refused", refusal.code)
        if refusal is not None:
            return self._refuse(report, refusal, claims=True)
        self._record(report)
        return Answer(report.seq, "recorded")

    def _again(self, report: Report, seen: tuple[bytes, str, dict[str, str], dict[str, Any]]) -> Answer:
        sha256, code, fields, extra = seen
        if sha256 != report.sha256:
            return self._refuse(report, Refusal("sequence_reused"), claims=False)
        if code:
            return Answer(report.seq, "refused", code, fields, extra)
        return Answer(report.seq, "duplicate")

    def _refuse(self, report: Report, refusal: Refusal, *, claims: bool) -> Answer:
        answer = Answer(report.seq, "refused", refusal.code, refusal.fields, refusal.extra)
        if claims:
            self.seen[report.seq] = (report.sha256, refusal.code, refusal.fields, refusal.extra)
        elif (report.seq, report.sha256) in self.kept:
            return answer
        self.kept.add((report.seq, report.sha256))
        self.refused.append((report, claims, answer))
        return answer

    def _refusal_of(self, report: Report) -> Refusal | None:
        if self.device.kind == Device.Kind.CAMERA and report.kind not in CAMERA_KINDS:
            return Refusal("kind_not_allowed", fields={"type": "a camera reads cards only"})
        row = self.rows.get(report.round) if report.round else None
        if row is None:
            return Refusal("table_closed")
        if row.table != self.device.table_id:
            return Refusal(
                "other_tables_round", fields={"subject": "this round is not of the device's table"}
            )
        if report.person is not None and report.person not in self.people:
            return Refusal("invalid_value", fields={"person": "no such person"})
        if report.kind == "round_opened":
            return self._open(report, row)
        return None

    def _open(self, report: Report, row: _Row) -> Refusal | None:
        """Give the round its number. The same number opened as another round becomes that round's alias."""
        if row.number is not None or row.alias_of is not None or row.session != self.session:
            return None
        number = report.data["number"]
        winner = self.openings.get(number)
        if winner is not None:
            row.alias_of, row.changed = winner.id, True
            return Refusal(
                "round_exists", fields={"data.number": "taken"}, round=str(winner.id), number=number
            )
        row.number, row.recorder, row.opened_at, row.changed = (
            number,
            self.device.id,
            self._instant(report)[0],
            True,
        )
        self.openings[number] = row
        return None

    def _instant(self, report: Report) -> tuple[datetime, bool]:
        """Return when it happened by our clock, and whether the device's word had to be set aside."""
        happened_at = report.happened_at or self.now
        clock_off = False
        if self.offset is not None:
            instant = happened_at + self.offset
        elif abs(happened_at - self.now) <= CLOCK_TOLERANCE:
            instant = happened_at
        else:
            instant, clock_off = self.now, True
        return min(max(instant, self.session_opened_at), self.now), clock_off

    def _record(self, report: Report) -> None:
        row = self.rows[report.round]  # type: ignore[index]
        stands = self.rows[row.alias_of] if row.alias_of else row
        late = stands.standing in (Standing.SETTLED, Standing.VOIDED)
        instant, clock_off = self._instant(report)
        signed, signer = self._sign_off(report)
        row.event_count += 1
        row.changed = True
        self.seen[report.seq] = (report.sha256, "", {}, {})
        self.taken.append(
            _Taken(
                report,
                row,
                row.event_count,
                late,
                instant,
                clock_off,
                signed,
                signer,
                report.person or self.dealer,
            )
        )
        if not late and self.device.kind == Device.Kind.TERMINAL:
            self._advance(stands, report.kind, instant)
        elif not late and stands.standing == Standing.HELD:
            self._make_due(stands, self.now)

    def _advance(self, row: _Row, kind: str, instant: datetime) -> None:
        if kind in ("round_closed", "round_voided"):
            grace = timedelta(
                milliseconds=self.device.table.camera_grace_ms if self.device.table.camera else 0
            )
            row.closed_at = row.closed_at or instant
            self._make_due(row, self.now + (grace if kind == "round_closed" else timedelta(0)))
        elif row.standing == Standing.HELD:
            self._make_due(row, self.now)

    def _make_due(self, row: _Row, due_at: datetime) -> None:
        row.standing, row.reasons, row.due_at, row.changed = Standing.DUE, [], due_at, True

    def _sign_off(self, report: Report) -> tuple[str, UUID | None]:
        """Return how the report was signed, and by whom; ("", None) where no sign-off counts."""
        if report.kind not in NEEDS_SIGNATURE:
            return RoundEvent.Signed.NOT, None
        given = self.signatures.get(report.signature) if report.signature else None
        if given is not None:
            person, sha256, may_rule = given
            if may_rule and sha256 == report.content_sha256 and person != (report.person or self.dealer):
                return RoundEvent.Signed.SIGNATURE, person
        elif settings.SIGNATURES == "on_duty" and self.supervisor is not None:
            return RoundEvent.Signed.ON_DUTY, self.supervisor
        return RoundEvent.Signed.NOT, None

    # Writes.

    def write(self) -> None:
        numbers = [item.report.seq for item in self.taken] + [
            r.seq for r, claims, _ in self.refused if claims
        ]
        last_seq, holes = devices.claim(last_seq=self.last_seq, holes=self.holes, numbers=numbers)
        filled = bool(self.holes) and holes != self.holes
        for row in self.rows.values():
            if filled and row.standing == Standing.HELD and "sequence_gap" in row.reasons:
                self._make_due(row, self.now)
        with connection.cursor() as cursor:
            if self.taken:
                self._insert_events(cursor)
            if self.refused:
                self._insert_refused(cursor)
            self._update_rounds(cursor)
            cursor.execute(
                "UPDATE casino_device SET last_seq = %s, holes = %s, last_contact_at = %s WHERE id = %s",
                [last_seq, json.dumps(holes), self.now, self.device.id],
            )
        facts = self._facts()
        if facts:
            events.announce(facts)

    def _insert_events(self, cursor: Any) -> None:
        offset_ms = None if self.offset is None else int(self.offset.total_seconds() * 1000)
        columns: list[list[Any]] = [
            [item.row.id for item in self.taken],
            [item.place for item in self.taken],
            [item.report.kind for item in self.taken],
            [json.dumps(item.report.data, ensure_ascii=False) for item in self.taken],
            [item.report.event_id for item in self.taken],
            [item.report.seq for item in self.taken],
            [item.person for item in self.taken],
            [
                item.report.signature if item.report.signature in self.signatures else None
                for item in self.taken
            ],
            [item.signer for item in self.taken],
            [item.signed for item in self.taken],
            [item.report.happened_at or self.now for item in self.taken],
            [item.instant for item in self.taken],
            [item.clock_off for item in self.taken],
            [item.report.sha256 for item in self.taken],
            [item.late for item in self.taken],
        ]
        cursor.execute(
            "INSERT INTO casino_roundevent (round_id, seq, kind, payload, event_id, device_seq, person_id, signature_id,"
            " signer_id, signed, happened_at, instant, clock_off, sha256, late, source, device_id, recorded_at, offset_ms)"
            " SELECT t.*, %s, %s, %s, %s FROM unnest(%s::uuid[], %s::int[], %s::text[], %s::jsonb[], %s::text[],"
            " %s::bigint[], %s::uuid[], %s::uuid[], %s::uuid[], %s::text[], %s::timestamptz[], %s::timestamptz[],"
            " %s::boolean[], %s::bytea[], %s::boolean[]) AS t",
            [f"/devices/{self.device.code}", self.device.id, self.now, offset_ms, *columns],
        )

    def _insert_refused(self, cursor: Any) -> None:
        known = [
            report.round
            if report.round in self.rows and self.rows[report.round].table == self.device.table_id
            else None
            for report, _, _ in self.refused
        ]
        cursor.execute(
            "INSERT INTO casino_refusedevent (device_seq, claims, sha256, code, fields, extra, round_id, device_id,"
            " recorded_at) SELECT t.*, %s, %s FROM unnest(%s::bigint[], %s::boolean[], %s::bytea[], %s::text[],"
            " %s::jsonb[], %s::jsonb[], %s::uuid[]) AS t",
            [
                self.device.id,
                self.now,
                [report.seq for report, _, _ in self.refused],
                [claims for _, claims, _ in self.refused],
                [report.sha256 for report, _, _ in self.refused],
                [answer.code for _, _, answer in self.refused],
                [json.dumps(answer.fields) for _, _, answer in self.refused],
                [json.dumps(answer.extra) for _, _, answer in self.refused],
                known,
            ],
        )

    def _update_rounds(self, cursor: Any) -> None:
        rows = [row for row in self.rows.values() if row.changed]
        cursor.execute(
            "UPDATE casino_round AS r SET number = v.number, recorder_id = v.recorder, alias_of_id = v.alias_of,"
            " standing = v.standing, reasons = CASE WHEN v.standing = 'held' THEN r.reasons ELSE '{}' END,"
            " due_at = v.due_at, opened_at = v.opened_at, closed_at = v.closed_at, event_count = v.event_count"
            " FROM unnest(%s::uuid[], %s::int[], %s::uuid[], %s::uuid[], %s::text[], %s::timestamptz[],"
            " %s::timestamptz[], %s::timestamptz[], %s::int[])"
            " AS v(id, number, recorder, alias_of, standing, due_at, opened_at, closed_at, event_count)"
            " WHERE r.id = v.id",
            [
                [row.id for row in rows],
                [row.number for row in rows],
                [row.recorder for row in rows],
                [row.alias_of for row in rows],
                [str(row.standing) for row in rows],
                [row.due_at for row in rows],
                [row.opened_at for row in rows],
                [row.closed_at for row in rows],
                [row.event_count for row in rows],
            ],
        )

    def _facts(self) -> list[Fact]:
        """One fact for each round that the batch touched, one for what it refused beside any round."""
        by_round: dict[UUID | None, dict[str, list[Any]]] = {}
        for item in self.taken:
            told = by_round.setdefault(item.row.id, {"events": [], "refused": []})
            told["events"].append(
                {
                    "seq": item.report.seq,
                    "place": item.place,
                    "kind": item.report.kind,
                    "sha256": item.report.sha256.hex(),
                }
            )
        for report, _, answer in self.refused:
            known = report.round if report.round in self.rows else None
            told = by_round.setdefault(known, {"events": [], "refused": []})
            told["refused"].append({"seq": report.seq, "sha256": report.sha256.hex(), "code": answer.code})
        return [
            Fact(
                "round.recorded" if key else "events.refused",
                f"rounds/{key}" if key else f"devices/{self.device.code}",
                told,
                table=self.device.table.code,
                round=key,
            )
            for key, told in by_round.items()
        ]


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value
