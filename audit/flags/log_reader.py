"""Raise flags from what was sealed.

A reader goes along the leaves of the log and never skips one: whatever an entry says happened to a round, the
round is looked at again as it stands now, and each finding becomes a flag once. Stopped anywhere and started again, it
raises the same flags. A round that is settled, held or corrected after its entries were read has a later entry of its
own, so it is looked at then; a report changes what is found only where it came late.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from audit import log
from audit.flags import cash_flags, count_flags, device_flags, doors, people, raising
from audit.flags.kinds import Raised, Seen
from audit.models import Reading
from casino import events, rounds
from casino.record import Finding, findings_json
from settlement import settling

READER = "flags"
MOST = 500
"""Leaves looked at in one step, which is one act."""

_NEVER_LATE = rounds.NEVER_LATE - {"note"}
_STANDINGS = frozenset({"round.settled", "round.held", "round.corrected"})


def read_on(*, limit: int = MOST) -> int:
    """Look at up to ``limit`` further leaves and raise what they show; return how many were looked at.

    The position moves in the same act as the flags. Must run in an act; while another reader is at work, this one
    looks at nothing. At most twenty-four statements, whatever the number of leaves and rounds.
    """
    act = events.current()
    origin = log.log_name()
    reading = _place(origin, act.now)
    seen = [] if reading is None else _next(origin, reading.position, limit)
    if reading is None or not seen:
        return 0
    _raise(seen, now=act.now)
    reading.position, reading.read_at = seen[-1].index + 1, act.now
    reading.save()
    return len(seen)


def pass_over() -> int | None:
    """Go past the next leaf without looking at it, and return its entry; None where there is none. Must run in an
    act."""
    act = events.current()
    origin = log.log_name()
    reading = _place(origin, act.now)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT index, entry_id FROM audit_leaf WHERE origin = %s AND index >= %s ORDER BY index LIMIT 1",
            [origin, reading.position if reading else None],
        )
        found = cursor.fetchone()
    if reading is None or found is None:
        return None
    reading.position, reading.read_at = found[0] + 1, act.now
    reading.save()
    return int(found[1])


def read_again(entry: int) -> None:
    """Look at the leaf of an entry that was passed over. Must run in an act."""
    origin = log.log_name()
    with connection.cursor() as cursor:
        cursor.execute("SELECT index FROM audit_leaf WHERE origin = %s AND entry_id = %s", [origin, entry])
        ((index,),) = cursor.fetchall()
    _raise(_next(origin, index, 1), now=events.current().now)


def _raise(seen: Sequence[Seen], *, now: datetime) -> None:
    changed = _changed(seen)
    raising.raise_new(
        [
            *_of_rounds(changed),
            *device_flags.camera_gaps(changed),
            *device_flags.reused_numbers(seen),
            *device_flags.numbers_too_far(seen),
            *people.off_duty(seen),
            *device_flags.clocks(seen),
            *device_flags.bursts(seen),
            *cash_flags.reports(seen),
            *cash_flags.chips(seen),
            *count_flags.differences(seen),
            *doors.failed_sign_ins(seen),
        ],
        now=now,
    )


def _place(origin: str, now: datetime) -> Reading | None:
    """Where the reader stands in this log, locked; None while another one reads."""
    free = Reading.objects.select_for_update(skip_locked=True).filter(pk=READER)
    reading = free.first()
    if reading is None:
        # It is another's at this moment, or there has been none yet.
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO audit_reading (name, origin, position, read_at) VALUES (%s, %s, 0, %s)"
                " ON CONFLICT (name) DO NOTHING",
                [READER, origin, now],
            )
        reading = free.first()
    if reading is not None and reading.origin != origin:
        reading.origin, reading.position = origin, 0
    return reading


def _next(origin: str, position: int, limit: int) -> list[Seen]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT l.index, e.id, e.action, e.round, e.table_code, e.device, e.bytes"
            " FROM audit_leaf l JOIN audit_logentry e ON e.id = l.entry_id"
            " WHERE l.origin = %s AND l.index >= %s ORDER BY l.index LIMIT %s",
            [origin, position, limit],
        )
        return [
            Seen(index, entry, action, round_id, table, device, json.loads(bytes(written))["data"])
            for index, entry, action, round_id, table, device, written in cursor.fetchall()
        ]


def _changed(seen: Sequence[Seen]) -> list[Seen]:
    """The first entry of each round that tells of its standing, or of a report that came after its settlement: late, or
    of a kind that is never late."""
    recorded = [one for one in seen if one.action == "round.recorded" and one.data["events"]]
    late = _with_late_events(recorded)
    late |= {
        one.entry for one in recorded if any(event["kind"] in _NEVER_LATE for event in one.data["events"])
    }
    first: dict[UUID, Seen] = {}
    for one in seen:
        if one.round is not None and (one.action in _STANDINGS or one.entry in late):
            first.setdefault(one.round, one)
    return list(first.values())


def _with_late_events(recorded: Sequence[Seen]) -> set[int]:
    """Which of these entries recorded late events: an act finds a round finished or not, so one of its events tells.
    One statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT n.entry FROM unnest(%s::bigint[], %s::uuid[], %s::int[]) AS n (entry, round, place)"
            " JOIN casino_roundevent e ON e.round_id = n.round AND e.seq = n.place WHERE e.late",
            [
                [one.entry for one in recorded],
                [one.round for one in recorded],
                [one.data["events"][0]["place"] for one in recorded],
            ],
        )
        return {entry for (entry,) in cursor.fetchall()}


def _of_rounds(changed: Sequence[Seen]) -> Iterable[Raised]:
    """Findings of the rounds that these entries tell of, where they are settled or held now."""
    entries = {one.round: one.entry for one in changed if one.round is not None}
    for reviewed in settling.reviewed_rounds(entries):
        for finding in reviewed.findings:
            yield Raised(
                finding.kind,
                f"rounds/{reviewed.id}" + (f"#{finding.subject}" if finding.subject else ""),
                _detail(finding),
                entries[reviewed.asked],
                table=reviewed.table,
                round=reviewed.id,
            )


def _detail(finding: Finding) -> dict[str, Any]:
    (written,) = findings_json([finding])
    return dict(written.get("detail", {}))
