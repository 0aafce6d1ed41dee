"""Giving up on numbers that did not come, a device's or a session's rounds': what they held may settle."""

from __future__ import annotations

import hashlib
from datetime import datetime
from uuid import UUID

from django.db import connection

from casino import devices, events, people, tables
from casino.events import Fact
from casino.models import Device, Person, RoundWaiver, Table, TableSession
from casino.platform.refusals import Refusal


def waive_gap(*, device: Device, first: int, last: int, person: Person, reason: str, now: datetime) -> None:
    """Waive numbers ``first``..``last`` of a device; the rounds of the session that waited for numbers are due again.

    Refuses ``second_person_forbidden`` and ``not_on_duty`` where the person may not rule at the device's table,
    ``table_closed``, and ``gap_not_found`` where not all of these numbers are missing. Must run in an act.
    """
    Device.objects.select_for_update().get(pk=device.pk)
    session = tables.lock_session(device.table)
    people.require_ruler(person, session)
    devices.waive(device=device, first=first, last=last, person=person, reason=reason, now=now)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE casino_round SET standing = 'due', reasons = '{}', due_at = %s"
            " WHERE id IN (SELECT id FROM casino_round WHERE session_id = %s AND standing = 'held'"
            "              AND 'sequence_gap' = ANY(reasons) ORDER BY id FOR UPDATE)",
            [now, session.id],
        )


def waive_rounds(
    *, table: Table, session: UUID | None, first: int, last: int, person: Person, reason: str, now: datetime
) -> RoundWaiver:
    """Waive round numbers ``first``..``last``: nobody waits for these rounds any more.

    Of the open session, or of the table's last where it is closed; ``session`` names another. Refuses ``not_found``,
    ``not_on_duty`` where the person may not rule there, and ``rounds_not_missing`` where not all of these numbers are
    missing. Must run in an act.
    """
    sessions = TableSession.objects.select_for_update().filter(table=table)
    found = sessions.filter(pk=session).first() if session else sessions.order_by("-opened_at", "-id").first()
    if found is None:
        raise Refusal("not_found")
    people.require_ruler(person, found)
    missing = tables.missing_rounds([found.id]).get(found.id, [])
    if not any(low <= first <= last <= high for low, high in missing):
        raise Refusal("rounds_not_missing", missing=missing)
    waiver = RoundWaiver.objects.create(
        session=found, first=first, last=last, person=person, reason=reason, waived_at=now
    )
    events.announce(
        [
            Fact(
                "rounds.waived",
                f"tables/{table.code}",
                {
                    "session": str(found.id),
                    "first": first,
                    "last": last,
                    "reason_sha256": hashlib.sha256(reason.encode()).hexdigest(),
                },
                table=table.code,
                person=person.id,
            )
        ]
    )
    return waiver
