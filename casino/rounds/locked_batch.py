"""What a batch of reports stands on: everything locked and read before the first of them is taken in.

Locks in the order of the service: the device's numbers, the session, the rounds by id.
A report that is refused makes no row: a round nobody may write to could never be finished.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from casino import devices, people
from casino.models import Device
from casino.platform.refusals import Refusal
from casino.rounds import instants
from casino.rounds.device_reports import CAMERA_KINDS, Report


@dataclass(slots=True)
class Row:
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
    session_opened_at: datetime
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """A number that was used before: by these bytes, recorded (no code) or refused."""

    sha256: bytes
    code: str
    fields: dict[str, str]
    extra: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Given:
    """A sign-off that was given: by whom, for which bytes, and whether it counts under a ruling here."""

    person: UUID
    sha256: bytes
    may_rule: bool


@dataclass(frozen=True, slots=True)
class Dealing:
    """A dealer's stretch on duty in the open session; ``off_at`` is None while it lasts."""

    person: UUID
    on_at: datetime
    off_at: datetime | None


class Ground:
    """The device's numbers, the open session with who is on duty, the rounds named, and what was heard before."""

    def __init__(self, *, device: Device, now: datetime, sent_at: datetime | None) -> None:
        self.device = device
        self.now = now
        self.sent_at = sent_at
        self.session: UUID | None = None
        self.opened_at = now
        self.dealers: list[Dealing] = []
        self.supervisor: UUID | None = None
        self.rows: dict[UUID, Row] = {}
        self.openings: dict[int, Row] = {}
        self.seen: dict[int, Seen] = {}
        self.kept: set[tuple[int, bytes]] = set()
        self.people: dict[UUID, people.Roles] = {}
        self.signatures: dict[UUID, Given] = {}
        self.last_seq = 0
        self.last_number = 0
        self.holes: list[devices.Range] = []

    def lock(self, reports: Sequence[Report]) -> None:
        """Lock and read. Six statements, whatever the number of reports and rounds."""
        with connection.cursor() as cursor:
            self._lock_device(cursor)
            self._lock_session(cursor)
            self._read_seen(cursor, [report.seq for report in reports if report.seq <= devices.MOST_NUMBER])
            self._read_people(cursor, reports)
            self._make_rounds(cursor, reports)
            self._lock_rounds(cursor, reports)

    def instant(self, report: Report, opened_at: datetime) -> tuple[datetime, bool]:
        """When a report's event happened, in a session opened then, and whether the device's clock was set aside."""
        happened_at = report.happened_at or self.now
        return instants.instant(happened_at, sent_at=self.sent_at, now=self.now, opened_at=opened_at)

    def refusal_of(self, report: Report, row: Row | None = None) -> Refusal | None:
        """Say what is wrong with a report by itself; a round that has no row yet is one of the open session."""
        if report.refusal is not None:
            return report.refusal
        if self.device.kind == Device.Kind.CAMERA and report.kind not in CAMERA_KINDS:
            return Refusal("kind_not_allowed", fields={"type": "a camera reads cards only"})
        if report.person is not None and report.person not in self.people:
            return Refusal("invalid_value", fields={"person": "no such person"})
        if report.person is not None:
            at, _ = self.instant(report, row.session_opened_at if row else self.opened_at)
            if not self.people[report.person].may_act_at_tables(at):
                return Refusal("invalid_value", fields={"person": "acted at no table then"})
        return None

    def dealer_of(self, row: Row, at: datetime) -> UUID | None:
        """Who dealt at that instant, where the round is of this session: who dealt an earlier one is not asked for."""
        if row.session != self.session:
            return None
        dealt = [one for one in self.dealers if one.on_at <= at and (one.off_at is None or at <= one.off_at)]
        return dealt[-1].person if dealt else None

    def _lock_device(self, cursor: Any) -> None:
        cursor.execute(
            "SELECT last_seq, holes FROM casino_device WHERE id = %s AND revoked_at IS NULL FOR UPDATE",
            [self.device.id],
        )
        found = cursor.fetchone()
        if found is None:
            raise Refusal("invalid_token")
        self.last_seq, holes = found[0], _json(found[1])
        self.holes = [(first, last) for first, last in holes]

    def _lock_session(self, cursor: Any) -> None:
        cursor.execute(
            "SELECT s.id, s.opened_at,"
            " (SELECT jsonb_agg(jsonb_build_array(person_id, on_at, off_at) ORDER BY on_at, id) FROM casino_duty"
            "   WHERE session_id = s.id AND role = 'dealer'),"
            " (SELECT person_id FROM casino_duty WHERE session_id = s.id AND role = 'supervisor'"
            "  AND off_at IS NULL),"
            " coalesce((SELECT max(number) FROM casino_round WHERE session_id = s.id AND alias_of_id IS NULL), 0)"
            " FROM casino_tablesession s WHERE s.table_id = %s AND s.closed_at IS NULL FOR UPDATE OF s",
            [self.device.table_id],
        )
        found = cursor.fetchone()
        if found is not None:
            self.session, self.opened_at, dealers, self.supervisor, self.last_number = found
            self.dealers = [_dealing(*one) for one in _json(dealers) or ()]

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
                self.seen[seq] = Seen(bytes(sha256), code, _json(fields), _json(extra))
            else:
                self.kept.add((seq, bytes(sha256)))

    def _read_people(self, cursor: Any, reports: Sequence[Report]) -> None:
        cursor.execute(
            "SELECT id, role, (SELECT jsonb_agg(jsonb_build_array(a.role, a.from_at, a.until_at) ORDER BY a.id)"
            "  FROM casino_appointment a WHERE a.person_id = p.id), NULL::uuid, NULL::bytea, NULL::boolean"
            "  FROM casino_person p WHERE id = ANY(%s::uuid[])"
            " UNION ALL SELECT id, NULL, NULL, person_id, sha256, may_rule AND session_id = %s FROM casino_signature"
            " WHERE id = ANY(%s::uuid[])",
            [
                [report.person for report in reports if report.person],
                self.session,
                [report.signature for report in reports if report.signature],
            ],
        )
        for key, role, appointed, person, sha256, may_rule in cursor.fetchall():
            if person is None:
                self.people[key] = people.Roles.read(role, _json(appointed) or ())
            else:
                self.signatures[key] = Given(person, bytes(sha256), bool(may_rule))

    def _make_rounds(self, cursor: Any, reports: Sequence[Report]) -> None:
        if self.session is None:
            return
        ids = sorted(self._rounds_to_write(reports))
        cursor.execute(
            "INSERT INTO casino_round (id, table_id, session_id, standing, reasons, in_dispute, created_at,"
            " event_count, cards_seen) SELECT id, %s, %s, '', '{}', false, %s, 0, 0 FROM unnest(%s::uuid[]) AS id"
            " ON CONFLICT (id) DO NOTHING",
            [self.device.table_id, self.session, self.now, ids],
        )

    def _rounds_to_write(self, reports: Sequence[Report]) -> set[UUID]:
        """The rounds of the reports that are the first to use their number and not refused."""
        found: set[UUID] = set()
        used, highest = set(self.seen), self.last_seq
        for report in reports:
            if report.seq in used or devices.too_far(number=report.seq, highest=highest):
                continue
            used.add(report.seq)
            highest = max(highest, report.seq)
            if report.round is not None and self.refusal_of(report) is None:
                found.add(report.round)
        return found

    def _lock_rounds(self, cursor: Any, reports: Sequence[Report]) -> None:
        """Lock the rounds named, those they are aliases of, those that have a number claimed here, and those of the
        session that wait for missing numbers of a device."""
        readable = [report for report in reports if report.refusal is None]
        ids = [report.round for report in reports if report.round]
        numbers = [report.data["number"] for report in readable if report.kind == "round_opened"]
        cursor.execute(
            "SELECT r.id, r.table_id, r.session_id, r.number, r.recorder_id, r.alias_of_id, r.standing, r.reasons,"
            " r.due_at, r.opened_at, r.closed_at, r.event_count, s.opened_at"
            " FROM casino_round r JOIN casino_tablesession s ON s.id = r.session_id"
            " WHERE r.id = ANY(%(ids)s::uuid[] || ARRAY(SELECT alias_of_id FROM casino_round"
            "                                   WHERE id = ANY(%(ids)s::uuid[]) AND alias_of_id IS NOT NULL))"
            # The number of an alias claims nothing; saying so lets the index of numbers serve.
            " OR (r.session_id = %(session)s AND r.number = ANY(%(numbers)s::int[]) AND r.alias_of_id IS NULL)"
            " OR (r.session_id = %(session)s AND r.standing = 'held' AND 'sequence_gap' = ANY(r.reasons))"
            " ORDER BY r.id FOR UPDATE OF r",
            {"ids": ids, "session": self.session, "numbers": numbers},
        )
        for found in cursor.fetchall():
            row = Row(*found)
            self.rows[row.id] = row
            if row.number is not None and row.session == self.session and row.alias_of is None:
                self.openings[row.number] = row


def _dealing(person: str, on_at: str, off_at: str | None) -> Dealing:
    return Dealing(
        UUID(person),
        datetime.fromisoformat(on_at),
        None if off_at is None else datetime.fromisoformat(off_at),
    )


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value
