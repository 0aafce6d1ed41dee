"""What a batch leaves behind: its events, its refusals, its rounds, the device's numbers, and word to the witness."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from casino import events
from casino.events import Fact
from casino.rounds import event_hash
from casino.rounds.device_reports import Answer, Report
from casino.rounds.locked_batch import Ground, Row


@dataclass(frozen=True, slots=True)
class Taken:
    """A report that is recorded: its ``place`` in the round, when it happened by our clock, and who signed."""

    report: Report
    row: Row
    place: int
    late: bool
    instant: datetime
    clock_off: bool
    signed: str
    signer: UUID | None
    person: UUID | None
    jumped_from: int | None


@dataclass(frozen=True, slots=True)
class Refused:
    """A report that changes no round; ``claims`` says whether it is what uses up its number, ``is_kept`` whether it has
    a row of its own."""

    report: Report
    claims: bool
    answer: Answer
    is_kept: bool = True


def write(
    *,
    ground: Ground,
    offset: timedelta | None,
    taken: Sequence[Taken],
    refused: Sequence[Refused],
    turned_away: Sequence[Refused],
) -> None:
    """Write what became of a batch and tell the witness, also of what was turned away without being kept.

    At most four statements.
    """
    with connection.cursor() as cursor:
        if taken:
            _insert_events(cursor, ground, offset, taken)
        if refused:
            _insert_refused(cursor, ground, refused)
        _update(cursor, ground)
    facts = _facts(ground, taken, refused, turned_away)
    if facts:
        events.announce(facts)


def _insert_events(cursor: Any, ground: Ground, offset: timedelta | None, taken: Sequence[Taken]) -> None:
    reports = [item.report for item in taken]
    columns: list[Any] = [
        [item.row.id for item in taken],
        [item.place for item in taken],
        [report.kind for report in reports],
        # One document: an array of documents would be escaped character by character on its way.
        json.dumps([report.data for report in reports], ensure_ascii=False),
        [report.event_id for report in reports],
        [report.seq for report in reports],
        [item.person for item in taken],
        [_signature_of(ground, report) for report in reports],
        [item.signer for item in taken],
        [item.signed for item in taken],
        [report.happened_at or ground.now for report in reports],
        [item.instant for item in taken],
        [item.clock_off for item in taken],
        [report.sha256 for report in reports],
        [item.late for item in taken],
        [item.jumped_from for item in taken],
    ]
    offset_ms = None if offset is None else int(offset.total_seconds() * 1000)
    cursor.execute(
        "INSERT INTO casino_roundevent (round_id, seq, kind, payload, event_id, device_seq, person_id, signature_id,"
        " signer_id, signed, happened_at, instant, clock_off, sha256, late, jumped_from, source, device_id,"
        " recorded_at, offset_ms)"
        " SELECT t.*, %s, %s, %s, %s FROM unnest(%s::uuid[], %s::int[], %s::text[],"
        " ARRAY(SELECT value FROM jsonb_array_elements(%s::jsonb) WITH ORDINALITY ORDER BY ordinality), %s::text[],"
        " %s::bigint[], %s::uuid[], %s::uuid[], %s::uuid[], %s::text[], %s::timestamptz[], %s::timestamptz[],"
        " %s::boolean[], %s::bytea[], %s::boolean[], %s::int[]) AS t",
        [f"/devices/{ground.device.code}", ground.device.id, ground.now, offset_ms, *columns],
    )


def _signature_of(ground: Ground, report: Report) -> UUID | None:
    return report.signature if report.signature in ground.signatures else None


def _stored(ground: Ground, item: Taken) -> str:
    return event_hash.sha256_of(
        kind=item.report.kind,
        payload=item.report.data,
        source=f"/devices/{ground.device.code}",
        device_seq=item.report.seq,
        person=item.person,
        signature=_signature_of(ground, item.report),
        signer=item.signer,
        signed=item.signed,
        happened_at=item.report.happened_at or ground.now,
        instant=item.instant,
        late=item.late,
        jumped_from=item.jumped_from,
    )


def _insert_refused(cursor: Any, ground: Ground, refused: Sequence[Refused]) -> None:
    cursor.execute(
        "INSERT INTO casino_refusedevent (device_seq, claims, sha256, code, fields, extra, round_id, device_id,"
        " recorded_at) SELECT t.*, %s, %s FROM unnest(%s::bigint[], %s::boolean[], %s::bytea[], %s::text[],"
        " %s::jsonb[], %s::jsonb[], %s::uuid[]) AS t",
        [
            ground.device.id,
            ground.now,
            [item.report.seq for item in refused],
            [item.claims for item in refused],
            [item.report.sha256 for item in refused],
            [item.answer.code for item in refused],
            [json.dumps(item.answer.fields) for item in refused],
            [json.dumps(item.answer.extra) for item in refused],
            [_round_of(ground, item.report) for item in refused],
        ],
    )


def _round_of(ground: Ground, report: Report) -> UUID | None:
    """The round that a refused report was about, where it is one of the device's table."""
    row = ground.rows.get(report.round) if report.round else None
    return row.id if row is not None and row.table == ground.device.table_id else None


def _update(cursor: Any, ground: Ground) -> None:
    """Bring the rounds and the device's numbers up to date, in one statement."""
    rows = [row for row in ground.rows.values() if row.changed]
    cursor.execute(
        "WITH told AS (UPDATE casino_round AS r SET number = v.number, recorder_id = v.recorder,"
        " alias_of_id = v.alias_of, standing = v.standing,"
        " reasons = CASE WHEN v.standing = 'held' THEN r.reasons ELSE '{}' END,"
        " due_at = v.due_at, opened_at = v.opened_at, closed_at = v.closed_at, event_count = v.event_count"
        " FROM unnest(%s::uuid[], %s::int[], %s::uuid[], %s::uuid[], %s::text[], %s::timestamptz[],"
        " %s::timestamptz[], %s::timestamptz[], %s::int[])"
        " AS v(id, number, recorder, alias_of, standing, due_at, opened_at, closed_at, event_count)"
        " WHERE r.id = v.id)"
        " UPDATE casino_device SET last_seq = %s, holes = %s, last_contact_at = %s WHERE id = %s",
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
            ground.last_seq,
            json.dumps(ground.holes),
            ground.now,
            ground.device.id,
        ],
    )


def _facts(
    ground: Ground, taken: Sequence[Taken], refused: Sequence[Refused], turned_away: Sequence[Refused]
) -> list[Fact]:
    """One fact for each round that the batch touched, one for what it refused beside any round.

    What was ``refused`` has its row, by which the same event gets the same refusal; what was ``turned_away`` has used
    up no number of the device, or had none, and has no row.
    """
    by_round: dict[UUID | None, dict[str, list[Any]]] = {}
    for item in taken:
        told = by_round.setdefault(item.row.id, {"events": [], "refused": []})
        told["events"].append(
            {
                "seq": item.report.seq,
                "place": item.place,
                "kind": item.report.kind,
                "sha256": item.report.sha256.hex(),
                "stored_sha256": _stored(ground, item),
            }
        )
    for no in (*refused, *turned_away):
        told = by_round.setdefault(_round_of(ground, no.report), {"events": [], "refused": []})
        said = {"seq": no.report.seq, "sha256": no.report.sha256.hex(), "code": no.answer.code}
        if no.is_kept:
            told["refused"].append(said)
        else:
            told.setdefault("turned_away", []).append(said | no.answer.extra)
    return [
        Fact(
            "round.recorded" if key else "events.refused",
            f"rounds/{key}" if key else f"devices/{ground.device.code}",
            told,
            table=ground.device.table.code,
            round=key,
        )
        for key, told in by_round.items()
    ]
