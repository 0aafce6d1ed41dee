"""At which hour gaming days start: dated rows, each proposed by one manager and approved by another.

A change takes effect at a day so far off that neither it nor the day before it has begun, so nothing that is stored
changes: the day before it is longer or shorter. The first row is the one of the installation, from its settings; once
it is there, the settings are asked no more.

Each act asks which day it is, so the rows are kept in memory and read anew once a minute. A change has an hour at least
between its approval and the first instant of which it says another day (the shortest day has one); and the row of a
day is made with the rows as they are then (``for_a_new_day``).
"""

from __future__ import annotations

import time
import zoneinfo
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from casino import events, gaming_day, people
from casino.events import Fact
from casino.gaming_day import Calendar
from casino.models import Person
from casino.platform import refusals, values
from casino.platform.refusals import Refusal
from casino.platform.values import Between
from settlement.models import GamingDay, StartHour

refusals.register("start_hour_approved", 409, "That start hour is approved already.", "ชั่วโมงเริ่มวันนี้อนุมัติแล้ว")
refusals.register(
    "start_hour_too_late",
    409,
    "That day, or the day before it, has begun, or a later change is approved.",
    "วันทำการนั้นหรือวันก่อนหน้าเริ่มไปแล้ว หรือมีการเปลี่ยนที่หลังกว่าอนุมัติแล้ว",
)

SHORTEST, LONGEST = timedelta(hours=1), timedelta(hours=36)
"""What a day before a change may last; over 24 hours it has two shifts at least (``checklist``)."""

_KEPT_FOR = 60.0
_LOCK = 1_145_132_357
"""The class of the advisory lock between an approval and the row of a day; the database takes it too."""


@dataclass(frozen=True, slots=True)
class _Known:
    rows: tuple[gaming_day.StartHour, ...]
    until: float


_known: _Known | None = None


def calendar() -> Calendar:
    """Return the house's calendar. One statement where the rows were read a minute ago or never, else none."""
    known = _known
    if known is None or time.monotonic() >= known.until:
        known = _remember(_approved())
    return Calendar(known.rows or (_installed(),))


def forget() -> None:
    """Read the rows anew when they are asked for next."""
    global _known
    _known = None


def for_a_new_day() -> Calendar:
    """Return the calendar by which the row of a gaming day is made: read now, and with the first row of all where there
    is none yet. One statement, in a new house two (and what the witness takes). Must run in an act.

    Until the act ends, nobody approves a change.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT from_day, hour, zone FROM settlement_start_hours()")
        rows = [gaming_day.StartHour(*row) for row in cursor.fetchall()] or [_install()]
    _remember(rows)
    return Calendar(rows)


def propose(*, from_day: date, hour: int, zone: str, by: Person) -> StartHour:
    """Put another start hour up for approval; refuse what ``approve`` would refuse of it. Must run in an act."""
    act = events.current()
    people.require(people.principal_of(by), "propose_start_hour")
    _require_possible(from_day, hour=hour, zone=zone, now=act.now)
    row = StartHour(
        id=events.uuid7(act.now), from_day=from_day, hour=hour, zone=zone, proposed_by=by, proposed_at=act.now
    )
    row.save(force_insert=True)
    events.announce([Fact("start_hour.proposed", _subject(row), _told(row), person=by.id)])
    return row


def approve(*, start_hour: UUID, read: tuple[date, int, str], by: Person) -> StartHour:
    """Let a proposed start hour count from its day on; by another manager than the proposer, who ``read`` its day, hour
    and zone.

    Refuses ``not_found``, ``sod_violation``, ``stale_proposal``, ``start_hour_approved``, ``start_hour_too_late``, and
    ``invalid_value`` where the day before would last over 36 hours or under one. Must run in an act.
    """
    act = events.current()
    people.require(people.principal_of(by), "approve_start_hour")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, 0)", [_LOCK])
    row = StartHour.objects.select_for_update().filter(pk=start_hour).first()
    if row is None or row.proposed_by_id is None:
        raise Refusal("not_found")
    people.different(row.proposed_by_id, by.id)
    if read != (row.from_day, row.hour, row.zone):
        raise Refusal("stale_proposal")
    if row.approved_at is not None:
        raise Refusal("start_hour_approved")
    _require_possible(row.from_day, hour=row.hour, zone=row.zone, now=act.now)
    row.approved_by, row.approved_at = by, act.now
    row.save(update_fields=["approved_by", "approved_at"])
    events.announce([Fact("start_hour.approved", _subject(row), _told(row), person=by.id)])
    transaction.on_commit(forget)
    return row


def listed() -> Sequence[StartHour]:
    """Return every start hour, approved or proposed, the latest day first."""
    return list(StartHour.objects.order_by("-from_day", "-proposed_at")[:200])


def day_before(row: StartHour) -> tuple[date, datetime, datetime]:
    """Return the gaming day before a change, and when it begins and ends with it."""
    before = row.from_day - timedelta(days=1)
    earlier = [one for one in calendar().start_hours if one.from_day < row.from_day]
    return before, Calendar(earlier).start(before), gaming_day.start(row.from_day, row.zone, row.hour)


def _require_possible(from_day: date, *, hour: int, zone: str, now: datetime) -> None:
    if not 0 <= hour <= 23:
        raise Refusal("invalid_value", fields={"hour": "0 to 23"})
    if zone not in zoneinfo.available_timezones():
        raise Refusal("invalid_value", fields={"zone": "no zone of that name"})
    rows = _approved() or [_installed()]
    days = Calendar(rows)
    today, last = days.gaming_day(now), days.gaming_day(values.takes_effect(now=now).last)
    refusals.require_within(Between(date.min, last), from_day, "from_day")
    before = from_day - timedelta(days=1) if from_day > today else today
    begun = GamingDay.objects.filter(day__gte=before).exists()
    if before <= today or begun or from_day <= rows[-1].from_day:
        raise Refusal("start_hour_too_late", fields={"from_day": f"{today + timedelta(days=2)} or later"})
    lasts = gaming_day.start(from_day, zone, hour) - days.start(before)
    if not SHORTEST <= lasts <= LONGEST:
        raise Refusal(
            "invalid_value", fields={"hour": f"{before} would last {lasts}; 1 to 36 hours are possible"}
        )


# -- rows --------------------------------------------------------------------------------------------------


def _approved() -> list[gaming_day.StartHour]:
    rows = StartHour.objects.filter(approved_at__isnull=False).order_by("from_day")
    return [gaming_day.StartHour(*row) for row in rows.values_list("from_day", "hour", "zone")]


def _remember(rows: Sequence[gaming_day.StartHour]) -> _Known:
    global _known
    _known = _Known(tuple(rows), time.monotonic() + _KEPT_FOR)
    return _known


def _installed() -> gaming_day.StartHour:
    house = settings.PROPERTY
    return gaming_day.StartHour(date.min, house["day_start_hour"], house["zone"])


def _install() -> gaming_day.StartHour:
    act = events.current()
    first = _installed()
    row = StartHour(id=events.uuid7(act.now), from_day=first.from_day, hour=first.hour, zone=first.zone)
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO settlement_starthour (id, from_day, hour, zone, proposed_at, approved_at)
            VALUES (%(id)s, %(from_day)s, %(hour)s, %(zone)s, %(now)s, %(now)s) ON CONFLICT DO NOTHING RETURNING id
            """,
            {"id": row.id, "from_day": row.from_day, "hour": row.hour, "zone": row.zone, "now": act.now},
        )
        made = cursor.fetchone() is not None
    if made:
        events.announce([Fact("start_hour.installed", _subject(row), _told(row))])
    return first


def _subject(row: StartHour) -> str:
    return f"start-hours/{row.id}"


def _told(row: StartHour) -> dict[str, object]:
    return {"from_day": row.from_day.isoformat(), "hour": row.hour, "zone": row.zone}
