"""Failed sign-ins in the log, and who may end a wait: nobody keeps trying unseen, and nobody waits without help.

A failure is told once its minute is over, with how many there were of that badge from that origin; five in a row are
told at once, and become a flag. Of the badge the log has the keyed hash: what was typed there may be a password.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.db import connection

from casino import events, origins
from casino.events import Fact
from casino.models import Device, Person
from casino.people import tries
from casino.people.tries import TRIES, Tried
from casino.platform.refusals import Refusal

MINUTE = timedelta(minutes=1)
MOST = 500
"""Rows told in one act."""


def alarm(tried: Tried, *, person: Person | None, now: datetime) -> None:
    """Tell of five wrong secrets in a row, in an act of its own; ``person`` is whose badge it is, if anybody's."""
    origin = origins.shown(tried.origin)
    told = {
        "badge": tried.badge,
        "origin": origin,
        "failures": TRIES,
        "at": now.isoformat(),
        "whose": str(person.id) if person else None,
    }
    with events.act(actor=events.SERVICE, request_id=f"sign-in-{uuid4().hex}", now=now):
        events.announce([_fact("person.sign_in_stopped", told, tables=_tables([origin]))])


_OVER = """
WITH over AS (
    SELECT id FROM casino_failedsignin WHERE minute <= %s ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED
)
DELETE FROM casino_failedsignin f USING over WHERE f.id = over.id
RETURNING f.badge, f.origin, f.minute, f.wrong, f.waited
"""


def tell(*, now: datetime) -> int:
    """Tell the log of the failures of minutes that are over; return how many entries that took. Must run in an act."""
    with connection.cursor() as cursor:
        cursor.execute(_OVER, [now - MINUTE, MOST])
        over = sorted(cursor.fetchall(), key=lambda row: (row[2], row[1], row[0]))
    if not over:
        return 0
    tables = _tables([origin for _, origin, *_ in over])
    events.announce(
        [
            _fact(
                "person.sign_in_failed",
                {
                    "badge": badge,
                    "origin": origin,
                    "minute": minute.isoformat(),
                    "wrong": wrong,
                    "waited": waited,
                },
                tables=tables,
            )
            for badge, origin, minute, wrong, waited in over
        ]
    )
    return len(over)


def unlock(*, badge: str, tables: Sequence[str] | None, reason: str, by: Person | None) -> Person:
    """Let a badge be tried again at once: at the terminals of ``tables`` (codes), everywhere where that is None.

    Also ends the wait of those terminals at which the badge failed. ``by`` is None for whoever sits at the machine.
    Refuses ``not_found`` for a badge that is nobody's and ``sod_violation`` for one's own. Must run in an act.
    """
    person = Person.objects.filter(badge=badge).first()
    if person is None:
        raise Refusal("not_found")
    if by is not None and by.id == person.id:
        raise Refusal("sod_violation")
    codes = None
    if tables is not None:
        codes = list(Device.objects.filter(table__code__in=tables).values_list("code", flat=True))
    ended = tries.forget(badge=badge, devices=codes)
    events.announce(
        [
            Fact(
                "person.unlocked",
                f"people/{person.id}",
                {
                    "waits": ended,
                    "tables": sorted(tables) if tables is not None else None,
                    "reason": {"code": "unlock", "text": reason},
                },
                person=by.id if by else None,
            )
        ]
    )
    return person


def _tables(shown: Sequence[str]) -> dict[str, str]:
    """Return the table's code of each origin that is a device."""
    return dict(Device.objects.filter(code__in=shown).values_list("code", "table__code"))


def _fact(action: str, told: dict[str, Any], *, tables: dict[str, str]) -> Fact:
    return Fact(action, f"origins/{told['origin']}", told, table=tables.get(told["origin"], ""))
