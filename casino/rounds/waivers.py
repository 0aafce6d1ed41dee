"""Giving up on numbers that did not come: what they held may settle."""

from __future__ import annotations

from datetime import datetime

from django.db import connection

from casino import devices, people, tables
from casino.models import Device, Person
from casino.refusals import Refusal


def waive_gap(*, device: Device, first: int, last: int, person: Person, reason: str, now: datetime) -> None:
    """Waive numbers ``first``..``last`` of a device; the rounds of the session that waited for numbers are due again.

    Refuses ``not_on_duty`` where the person may not rule at the device's table, ``table_closed``, and
    ``gap_not_found`` where not all of these numbers are missing. Must run in an act.
    """
    Device.objects.select_for_update().get(pk=device.pk)
    session = tables.lock_session(device.table)
    if not people.may_rule(person, session):
        raise Refusal("not_on_duty")
    devices.waive(device=device, first=first, last=last, person=person, reason=reason, now=now)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE casino_round SET standing = 'due', reasons = '{}', due_at = %s"
            " WHERE id IN (SELECT id FROM casino_round WHERE session_id = %s AND standing = 'held'"
            "              AND 'sequence_gap' = ANY(reasons) ORDER BY id FOR UPDATE)",
            [now, session.id],
        )
