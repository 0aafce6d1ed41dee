"""Raise flags from what was sealed, and let people answer them.

A reader goes along the leaves of the log and never skips one: whatever an entry says happened to a round, the
round is looked at again as it stands now, and each finding becomes a flag once. Stopped anywhere and started again, it
raises the same flags. A flag is a question; it changes nothing that was judged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from audit import log
from audit.models import Flag, Reading
from casino import events, people, refusals
from casino.events import Fact
from casino.models import Device, Person, Role
from casino.record import Finding, findings_json
from casino.refusals import Refusal
from settlement import settle

refusals.register(
    "flag_answered", 409, "This flag was closed or became a dispute.", "ข้อสังเกตนี้ปิดหรือเป็นข้อพิพาทไปแล้ว"
)

READER = "flags"
MOST = 500
CLOSE_CODES = ("explained", "no_fault", "spoken_to", "device_seen_to", "duplicate")
"""Why a flag may be closed; the reason's text says more."""

LOOKED_AT = frozenset(
    {
        "round.recorded",
        "round.settled",
        "round.held",
        "round.corrected",
    }
)

BURST_EVENTS = 50
BURST_AGE_HOURS = 2
BURST_MINUTES = 5


@dataclass(frozen=True, slots=True)
class _Seen:
    """A sealed entry as far as the reader needs it."""

    index: int
    entry: int
    action: str
    subject: str
    round: UUID | None
    table: str
    device: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _New:
    kind: str
    subject: str
    detail: dict[str, Any]
    entry: int
    table: str = ""
    round: UUID | None = None
    device: str = ""


def read_on(*, limit: int = MOST) -> int:
    """Look at up to ``limit`` further leaves and raise what they show; return how many were looked at.

    The position moves in the same act as the flags. Must run in an act; one reader at a time, others wait.
    """
    act = events.current()
    origin = log.log_name()
    reading, _ = Reading.objects.get_or_create(
        name=READER, defaults={"origin": origin, "position": 0, "read_at": act.now}
    )
    reading = Reading.objects.select_for_update().get(pk=reading.pk)
    if reading.origin != origin:
        reading.origin, reading.position = origin, 0
    seen = _next(origin, reading.position, limit)
    if not seen:
        return 0
    found = [*_of_rounds(seen), *_of_devices(seen), *_bursts(seen)]
    _raise(found, now=act.now)
    reading.position, reading.read_at = seen[-1].index + 1, act.now
    reading.save()
    return len(seen)


def _next(origin: str, position: int, limit: int) -> list[_Seen]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT l.index, e.id, e.action, e.subject, e.round, e.table_code, e.device, e.bytes"
            " FROM audit_leaf l JOIN audit_logentry e ON e.id = l.entry_id"
            " WHERE l.origin = %s AND l.index >= %s ORDER BY l.index LIMIT %s",
            [origin, position, limit],
        )
        return [_Seen(*row[:7], json.loads(bytes(row[7]))["data"]) for row in cursor.fetchall()]


def _of_rounds(seen: Sequence[_Seen]) -> Iterable[_New]:
    """Findings of the rounds that these entries touched, once they are settled or held."""
    last: dict[UUID, _Seen] = {one.round: one for one in seen if one.round and one.action in LOOKED_AT}
    for reviewed in settle.reviewed_rounds(last):
        entry = last[reviewed.asked]
        for finding in reviewed.findings:
            yield _New(
                finding.kind,
                f"rounds/{reviewed.id}" + (f"#{finding.subject}" if finding.subject else ""),
                _detail(finding),
                entry.entry,
                table=reviewed.table,
                round=reviewed.id,
            )
    yield from _camera_gaps(last)


def _detail(finding: Finding) -> dict[str, Any]:
    (written,) = findings_json([finding])
    return dict(written.get("detail", {}))


def _camera_gaps(last: dict[UUID, _Seen]) -> Iterable[_New]:
    """Numbers of a camera that are missing although a later round of its table was settled or held."""
    tables = {entry.table: entry for entry in last.values() if entry.action != "round.recorded"}
    cameras = Device.objects.select_related("table").filter(
        kind="camera", table__code__in=tables, revoked_at=None
    )
    for camera in cameras.exclude(holes=[]):
        for first, end in camera.holes:
            yield _New(
                "camera_gap",
                f"devices/{camera.code}#{first}-{end}",
                {"device": camera.code, "first": first, "last": end},
                tables[camera.table.code].entry,
                table=camera.table.code,
                device=camera.code,
            )


def _of_devices(seen: Sequence[_Seen]) -> Iterable[_New]:
    """Numbers that were sent again with other contents."""
    for one in seen:
        if one.action not in ("round.recorded", "events.refused"):
            continue
        for refused in one.data.get("refused", ()):
            if refused["code"] == "sequence_reused":
                yield _New(
                    "sequence_reused",
                    f"devices/{one.device}#{refused['seq']}",
                    {"device": one.device, "number": refused["seq"], "sha256": refused["sha256"]},
                    one.entry,
                    table=one.table,
                    device=one.device,
                )


def _bursts(seen: Sequence[_Seen]) -> Iterable[_New]:
    """A device that sent more than fifty events, dated two hours back, within five minutes."""
    by_device = {one.device: one for one in seen if one.action == "round.recorded" and one.device}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT d.code, date_bin('5 minutes', e.recorded_at, 'epoch'), count(*)"
            " FROM casino_roundevent e JOIN casino_device d ON d.id = e.device_id"
            " WHERE d.code = ANY(%s) AND e.round_id = ANY(%s)"
            " AND e.instant < e.recorded_at - make_interval(hours => %s)"
            " GROUP BY 1, 2 HAVING count(*) > %s",
            [
                list(by_device),
                [one.round for one in seen if one.round],
                BURST_AGE_HOURS,
                BURST_EVENTS,
            ],
        )
        for code, since, count in cursor.fetchall():
            one = by_device[code]
            yield _New(
                "clock_drift_burst",
                f"devices/{code}#{since:%Y-%m-%dT%H:%MZ}",
                {"device": code, "events": count},
                one.entry,
                table=one.table,
                device=code,
            )


def _raise(found: Sequence[_New], *, now: datetime) -> None:
    """Write what is new, by one statement, and witness it."""
    if not found:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_flag (id, kind, subject, table_id, round_id, device_id, detail, entry_id, raised_at,"
            " state, close_code, close_reason)"
            " SELECT n.id, n.kind, n.subject, t.id, n.round, d.id, n.detail, n.entry, %s, 'open', '', ''"
            " FROM unnest(%s::uuid[], %s::text[], %s::text[], %s::text[], %s::uuid[], %s::text[], %s::jsonb[],"
            " %s::bigint[]) AS n (id, kind, subject, table_code, round, device, detail, entry)"
            " LEFT JOIN casino_table t ON t.code = n.table_code LEFT JOIN casino_device d ON d.code = n.device"
            " ON CONFLICT (kind, subject) DO NOTHING RETURNING id, kind, subject",
            [
                now,
                [events.uuid7(now) for _ in found],
                [one.kind for one in found],
                [one.subject for one in found],
                [one.table for one in found],
                [one.round for one in found],
                [one.device for one in found],
                [json.dumps(one.detail) for one in found],
                [one.entry for one in found],
            ],
        )
        raised = cursor.fetchall()
    by_subject = {(one.kind, one.subject): one for one in found}
    facts = [
        Fact(
            "flag.raised",
            f"flags/{flag_id}",
            {
                "kind": kind,
                "about": subject,
                "detail": by_subject[kind, subject].detail,
                "entry": by_subject[kind, subject].entry,
            },
            table=by_subject[kind, subject].table,
            round=by_subject[kind, subject].round,
        )
        for flag_id, kind, subject in raised
    ]
    if facts:
        events.announce(facts)


# -- people ---------------------------------------------------------------------------------------------------

ANSWERED_BY = (Role.SURVEILLANCE, Role.AUDITOR)


def close(*, flag: UUID, by: Person, code: str, reason: str) -> Flag:
    """Close an open flag with a reason; refuses ``not_found``, ``flag_answered``, ``sod_violation`` to whoever dealt
    the round. Must run in an act."""
    act = events.current()
    found = locked(flag)
    if code not in CLOSE_CODES:
        raise Refusal("invalid_value", fields={"code": " · ".join(CLOSE_CODES)})
    if found.round is not None and by.id in people.dealers_of(found.round):
        raise Refusal("sod_violation")
    found.state, found.closed_by, found.closed_at = Flag.State.CLOSED, by, act.now
    found.close_code, found.close_reason = code, reason
    found.save(update_fields=["state", "closed_by", "closed_at", "close_code", "close_reason"])
    events.announce([_answered("flag.closed", found, {"reason": {"code": code, "text": reason}})])
    return found


def disputed(*, flag: Flag, dispute: UUID) -> None:
    """Mark a locked flag as having become a dispute."""
    flag.state, flag.dispute = Flag.State.DISPUTED, dispute
    flag.save(update_fields=["state", "dispute"])
    events.announce([_answered("flag.disputed", flag, {"dispute": str(dispute)})])


def locked(flag: UUID) -> Flag:
    """Return an open flag, locked; refuse ``not_found`` or ``flag_answered``."""
    found = (
        Flag.objects.select_for_update(of=("self",)).select_related("round", "table").filter(pk=flag).first()
    )
    if found is None:
        raise Refusal("not_found")
    if found.state != Flag.State.OPEN:
        raise Refusal("flag_answered", state=found.state)
    return found


def _answered(action: str, flag: Flag, data: dict[str, Any]) -> Fact:
    return Fact(
        action,
        f"flags/{flag.id}",
        {"kind": flag.kind, "about": flag.subject, **data},
        table=flag.table.code if flag.table else "",
        round=flag.round_id,
    )
