"""Terminals and cameras: enrolment, tokens, and the numbers they give to what they report.

A device numbers its events 1, 2, 3 … without gaps, across rounds. Numbers that did not arrive are its holes; a
terminal's hole holds the rounds it could touch until it is filled or waived.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID, uuid4

from django.db import connection
from django.db.models import Q

from casino import events, people
from casino.events import Fact, Principal
from casino.models import Device, Enrolment, GapWaiver, Person, Role, Table
from casino.platform import refusals
from casino.platform.refusals import Refusal
from casino.record import Gap

refusals.register("device_known", 409, "A device has or had that code.", "มีเครื่องใช้หรือเคยใช้รหัสนี้แล้ว")

Range = tuple[int, int]

MOST_AHEAD = 1_000_000
"""How far above a device's highest known number its next may lie; beyond, somebody's counter has run wild."""
MOST_NUMBER = 2**63 - 1
"""The highest number that the database keeps."""
ENROLMENT = timedelta(minutes=10)
"""How long a code to enrol a device is good."""


def enrol(*, code: str, kind: str, table: Table, now: datetime) -> tuple[Device, str]:
    """Enrol a device at a table; return it and its token, which is shown this once (its SHA-256 is stored).

    A device whose store was cleared is enrolled anew under a new code and counts from 1.
    """
    token = "pdd_" + secrets.token_urlsafe(32)
    device = Device.objects.create(
        code=code, kind=kind, table=table, token_sha256=_hash(token), enrolled_at=now
    )
    told = {"id": str(device.id), "kind": kind, "token_sha256": _hash(token).hex()}
    events.announce([Fact("device.enrolled", f"devices/{code}", told, table=table.code)])
    return device, token


def admit(*, code: str, kind: str, table: Table, by: Person) -> tuple[Enrolment, str]:
    """Make a code by which one device comes to one table as ``code``, once and within ten minutes; return it and its
    text, shown this once. ``by`` is an administrator.

    Refuses ``forbidden``, ``table_ended``, and ``device_known`` where a device has or had that code. Must run in an
    act.
    """
    act = events.current()
    if not by.is_active or by.role != Role.ADMINISTRATOR:
        raise Refusal("forbidden")
    if table.ended_at is not None:
        raise Refusal("table_ended")
    if Device.objects.filter(code__in=[code]).exists():
        raise Refusal("device_known", fields={"code": "a device has or had it"})
    text = people.new_code()
    made = Enrolment.objects.create(
        id=events.uuid7(act.now),
        code=code,
        kind=kind,
        table=table,
        sha256=people.sha256_of(text),
        made_by=by,
        made_at=act.now,
        expires_at=act.now + ENROLMENT,
    )
    told = {
        "enrolment": str(made.id),
        "kind": kind,
        "sha256": bytes(made.sha256).hex(),
        "made_by": str(by.id),
    }
    events.announce([Fact("device.admitted", f"devices/{code}", told, table=table.code)])
    return made, text


def come_in(text: str) -> tuple[Device, str]:
    """Enrol the device that holds a code; return it and its token, shown this once.

    Refuses ``wrong_code`` with the same answer for a wrong, a used and an old code, and ``device_known`` and
    ``table_ended`` where that has become so meanwhile. Must run in an act.
    """
    act = events.current()
    held = Enrolment.objects.select_for_update(of=("self",)).select_related("table")
    found = held.filter(sha256=people.sha256_of(text)).first()
    if found is None or found.used_at is not None or found.expires_at <= act.now:
        raise Refusal("wrong_code")
    if found.table.ended_at is not None:
        raise Refusal("table_ended")
    if Device.objects.filter(code=found.code).exists():
        raise Refusal("device_known")
    device, token = enrol(code=found.code, kind=found.kind, table=found.table, now=act.now)
    found.used_at, found.device = act.now, device
    found.save(update_fields=["used_at", "device"])
    return device, token


def rotate(device: Device) -> str:
    """Make the token that takes the place of a device's own, shown this once: both are live until it is used for the
    first time. Asked again before that, the last one made counts. Must run in an act."""
    token = "pdd_" + secrets.token_urlsafe(32)
    Device.objects.filter(pk=device.pk).update(next_sha256=_hash(token))
    told = {"id": str(device.id), "next_sha256": _hash(token).hex()}
    events.announce([Fact("device.rotated", f"devices/{device.code}", told, table=device.table.code)])
    return token


def revoke(*, device: Device, now: datetime, by: Person | None = None) -> Device:
    """Take a device's word away from its next request on; once is enough, and the first time stands. ``by`` is an
    administrator, nobody where the service itself does it."""
    locked = Device.objects.select_for_update(of=("self",)).select_related("table").get(pk=device.pk)
    if locked.revoked_at is None:
        locked.revoked_at, locked.revoked_by = now, by
        locked.save(update_fields=["revoked_at", "revoked_by"])
        told = {"id": str(device.id), "revoked_by": str(by.id) if by else None}
        events.announce([Fact("device.revoked", f"devices/{device.code}", told)])
    return locked


def authenticate(token: str, *, now: datetime) -> Device:
    """Return the device whose token this is; refuse ``invalid_token``, at a table that ended too. One statement; the
    first use of a token that takes another's place writes that down in an act of its own."""
    sha256 = _hash(token)
    live = Device.objects.select_related("table").filter(revoked_at=None, table__ended_at=None)
    device = live.filter(Q(token_sha256=sha256) | Q(next_sha256=sha256)).first()
    if device is None:
        raise Refusal("invalid_token")
    if bytes(device.token_sha256) != sha256:
        events.attempt(
            lambda _: _replaced(device, sha256),
            actor=principal_of(device),
            request_id=f"token-{uuid4().hex}",
            now=now,
        )
    return device


def _replaced(device: Device, sha256: bytes) -> None:
    """Let the token in use go; a request of the same moment may have done it before."""
    if Device.objects.filter(pk=device.pk, next_sha256=sha256).update(token_sha256=sha256, next_sha256=None):
        told = {"id": str(device.id), "token_sha256": sha256.hex()}
        events.announce(
            [Fact("device.token_replaced", f"devices/{device.code}", told, table=device.table.code)]
        )


def principal_of(device: Device, person: UUID | None = None) -> Principal:
    """Return the device as one who acts, with the person who acts on it where one is known."""
    return Principal(kind="device", id=device.id, code=device.code, role=device.kind, person=person)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def claim(*, last_seq: int, holes: Sequence[Range], numbers: Iterable[int]) -> tuple[int, list[Range]]:
    """Return the highest number and the holes after ``numbers`` arrived.

    Numbers that were no hole and lie below (repeats, or waived ones that came after all) change nothing.
    """
    left = [(first, last) for first, last in holes]
    for number in sorted(set(numbers)):
        if number > last_seq:
            if number > last_seq + 1:
                left.append((last_seq + 1, number - 1))
            last_seq = number
            continue
        left = without(left, [number])
    return last_seq, left


def without(holes: Iterable[Range], numbers: Iterable[int]) -> list[Range]:
    """Return the holes as they are once these numbers are there."""
    left = list(holes)
    for number in numbers:
        left = [part for hole in left for part in _without(hole, (number, number))]
    return left


def too_far(*, number: int, highest: int) -> bool:
    """Say whether a number lies too far above the highest one known; the device is enrolled anew then."""
    return number > min(highest + MOST_AHEAD, MOST_NUMBER)


def _without(hole: Range, taken: Range) -> list[Range]:
    first, last = hole
    if taken[1] < first or taken[0] > last:
        return [hole]
    return [part for part in ((first, taken[0] - 1), (taken[1] + 1, last)) if part[0] <= part[1]]


def waive(*, device: Device, first: int, last: int, person: Person, reason: str, now: datetime) -> None:
    """Give up waiting for numbers ``first``..``last`` of a device; they hold no round any more.

    They must all be missing (``gap_not_found``). Should a waived number arrive after all, it is recorded like any
    other. Called by ``rounds.waive_gap``, which makes the rounds they held due again.
    """
    locked = Device.objects.select_for_update().get(pk=device.pk)
    if not any(hole[0] <= first <= last <= hole[1] for hole in locked.holes):
        raise Refusal("gap_not_found")
    locked.holes = [list(part) for hole in locked.holes for part in _without(tuple(hole), (first, last))]
    locked.save(update_fields=["holes"])
    GapWaiver.objects.create(
        device=device, first=first, last=last, person=person, reason=reason, waived_at=now
    )
    events.announce(
        [
            Fact(
                "gap.waived",
                f"devices/{device.code}",
                {"first": first, "last": last, "reason_sha256": hashlib.sha256(reason.encode()).hexdigest()},
                table=device.table.code,
                person=person.id,
            )
        ]
    )


def state(*, device: Device, stated: dict[str, object], now: datetime) -> None:
    """Keep what a device says of itself, also when idle: its next number, unsent events, the sheet it shows."""
    Device.objects.filter(pk=device.pk).update(stated=stated, last_contact_at=now)


@dataclass(frozen=True, slots=True)
class _Around:
    """What a device reported around a hole: the rounds of the last event before it and of the first after it, the kind
    of the latter, and the nearest round numbers that are known on either side, with their sessions."""

    before: UUID | None
    after: UUID | None
    after_kind: str | None
    low_session: UUID | None
    low: int | None
    high_session: UUID | None
    high: int | None


_GAPS = """
WITH told AS (
    SELECT e.device_id, e.device_seq, e.kind, r.session_id,
           coalesce(w.id, r.id) AS round, coalesce(w.number, r.number) AS number
      FROM casino_roundevent e JOIN casino_round r ON r.id = e.round_id
      LEFT JOIN casino_round w ON w.id = r.alias_of_id
)
SELECT d.code, (hole->>0)::bigint, (hole->>1)::bigint,
       before.round, after.round, after.kind, low.session_id, low.number, high.session_id, high.number
  FROM casino_device d
 CROSS JOIN LATERAL jsonb_array_elements(d.holes) AS hole
  LEFT JOIN LATERAL (SELECT * FROM told WHERE device_id = d.id AND device_seq < (hole->>0)::bigint
                      ORDER BY device_seq DESC LIMIT 1) AS before ON TRUE
  LEFT JOIN LATERAL (SELECT * FROM told WHERE device_id = d.id AND device_seq > (hole->>1)::bigint
                      ORDER BY device_seq LIMIT 1) AS after ON TRUE
  LEFT JOIN LATERAL (SELECT * FROM told WHERE device_id = d.id AND device_seq < (hole->>0)::bigint
                        AND number IS NOT NULL ORDER BY device_seq DESC LIMIT 1) AS low ON TRUE
  LEFT JOIN LATERAL (SELECT * FROM told WHERE device_id = d.id AND device_seq > (hole->>1)::bigint
                        AND number IS NOT NULL ORDER BY device_seq LIMIT 1) AS high ON TRUE
 WHERE d.kind = 'terminal' AND d.table_id = ANY(%s) AND d.holes <> '[]'
"""


class Numbered(Protocol):
    """What must be known of a round to say whether a hole touches it: a row, or whatever stands for one."""

    @property
    def id(self) -> UUID: ...
    @property
    def table_id(self) -> UUID: ...
    @property
    def session_id(self) -> UUID: ...
    @property
    def number(self) -> int | None: ...


def gaps_touching(rounds: Sequence[Numbered]) -> dict[UUID, list[Gap]]:
    """Return, for each round that a terminal's hole could touch, these holes. One statement.

    A hole touches the round of the last number before it, the round of the first number after it unless that is
    the round's opening, and every round number between the two. Where the opening of such a round is itself missing,
    its number lies somewhere before the next that is known.
    """
    touching: dict[UUID, list[Gap]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_GAPS, [sorted({row.table_id for row in rounds})])
        for code, first, last, *around in cursor.fetchall():
            gap = Gap(source=code, first=first, last=last)
            for row in rounds:
                if _touches(row, _Around(*around)):
                    touching.setdefault(row.id, []).append(gap)
    return touching


def _touches(row: Numbered, around: _Around) -> bool:
    if row.id == around.before:
        return True
    if row.id == around.after:
        return around.after_kind != "round_opened"
    if row.number is None:
        return False
    low = around.low if around.low_session == row.session_id else None
    high = around.high if around.high_session == row.session_id else None
    if low is None and high is None:
        return False
    return (low is None or low < row.number) and (high is None or row.number < high)
