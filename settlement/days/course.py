"""The course of a gaming day: begun by the service, opened and closed by a manager, sealed by two people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Max

from casino import events, people
from casino.events import Fact
from casino.models import Person, Role, Table
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement import ledger, rule_sheets, webhooks
from settlement.days import calendar, start_hours
from settlement.models import DayState, Entry, GamingDay, Journal, RuleSheet
from settlement.webhooks import Owed

refusals.register("day_closing", 409, "The gaming day is being closed.", "วันทำการนี้กำลังปิด")
refusals.register("day_opened", 409, "The gaming day was opened before.", "วันทำการนี้เปิดไปแล้ว")
refusals.register("day_not_running", 409, "That gaming day is not running now.", "วันทำการนั้นไม่ใช่วันปัจจุบัน")
refusals.register("day_not_sealed", 409, "The gaming day is not sealed.", "วันทำการนี้ยังไม่ปิดผนึก")
refusals.register("day_not_closing", 409, "The gaming day is not being closed.", "วันทำการนี้ยังไม่ได้เริ่มปิด")

ACCOUNTING = "accounting"
"""The permission that one of the two who seal a day holds."""


def begin(day: date) -> bool:
    """See that the day has its row; say whether this act made it. Refuses ``day_sealed`` for a day that is sealed over.

    One statement where the row is there, three where it is made (and what the witness takes): the start hours are read
    anew for it. An act that makes the same row at this moment is waited for.
    """
    if _has_row(day):
        return False
    act = events.current()
    days = start_hours.for_a_new_day()
    in_force, begins, ends = days.in_force(day), days.start(day), days.end(day)
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO settlement_gamingday (day, zone, start_hour, begins_at, ends_at, begun_at, state, tables)
            VALUES (%(day)s, %(zone)s, %(hour)s, %(begins)s, %(ends)s, %(now)s, 'open', '[]')
                ON CONFLICT (day) DO NOTHING
            RETURNING day
            """,
            {
                "day": day,
                "zone": in_force.zone,
                "hour": in_force.hour,
                "begins": begins,
                "ends": ends,
                "now": act.now,
            },
        )
        made = cursor.fetchone() is not None
    if made:
        events.announce(
            [
                Fact(
                    "day.begun",
                    f"days/{day}",
                    {
                        "zone": in_force.zone,
                        "start_hour": in_force.hour,
                        "begins_at": begins.isoformat(),
                        "ends_at": ends.isoformat(),
                    },
                )
            ]
        )
    return made


def _has_row(day: date) -> bool:
    """Say whether a day has its row, or is sealed over and gets none. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM settlement_gamingday WHERE day = %(day)s) OR EXISTS ("
            "SELECT FROM settlement_gamingday WHERE state = 'sealed' AND day > %(day)s)",
            {"day": day},
        )
        (found,) = cursor.fetchone()
    return bool(found)


def of_day(day: date) -> GamingDay:
    """Return a day's row; refuse ``not_found``."""
    found = GamingDay.objects.filter(day=day).first()
    if found is None:
        raise Refusal("not_found")
    return found


def sessions_may_open(day: date) -> None:
    """Refuse to open a table in a day that is closing (``day_closing``) or sealed (``day_sealed``).

    The row is held shared until the act ends, so that nobody closes the day meanwhile. One statement.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT state FROM settlement_gamingday WHERE day = %s FOR SHARE", [day])
        row = cursor.fetchone()
    if row is not None and row[0] != DayState.OPEN:
        raise Refusal("day_sealed" if row[0] == DayState.SEALED else "day_closing")


def open_day(*, day: date, tables: Sequence[Table], by: Person) -> GamingDay:
    """Open the running day as its manager: the tables that are to play, each with its rule sheet in force.

    Refuses ``day_not_running``, ``day_opened``, ``day_closing``.
    """
    act = events.current()
    if day != calendar.running():
        raise Refusal("day_not_running")
    begin(day)
    row = _locked(day)
    if row.state != DayState.OPEN:
        raise Refusal("day_closing")
    if row.opened_at is not None:
        raise Refusal("day_opened")
    row.tables = named(tables)
    row.opened_by, row.opened_at = by, act.now
    row.save(update_fields=["tables", "opened_by", "opened_at"])
    events.announce([Fact("day.opened", f"days/{day}", {"tables": row.tables}, person=by.id)])
    return row


def named(tables: Sequence[Table]) -> list[dict[str, Any]]:
    """Return these tables by code, each with the rule sheet in force there now and its hash (None: no sheet). Two
    statements, whatever the number of tables."""
    now = events.current().now
    by_code = sorted(tables, key=lambda table: table.code)
    in_force = rule_sheets.in_force([(table.id, now) for table in by_code])
    hashes = dict(RuleSheet.objects.filter(pk__in=[id for id in in_force if id]).values_list("id", "sha256"))
    return [
        {"table": table.code, "sheet": str(id) if id else None, "sha256": hashes[id] if id else None}
        for table, id in zip(by_code, in_force, strict=True)
    ]


def close_day(*, day: date, by: Person) -> GamingDay:
    """Begin to close a day: from now on no table opens in it; open ones end.

    Refuses ``day_not_running`` for a day that is yet to come, ``day_closing`` and ``day_sealed``.
    """
    act = events.current()
    if day > calendar.running():
        raise Refusal("day_not_running")
    begin(day)
    row = _locked(day)
    if row.state != DayState.OPEN:
        raise Refusal("day_sealed" if row.state == DayState.SEALED else "day_closing")
    row.state, row.closing_by, row.closing_at = DayState.CLOSING, by, act.now
    row.save(update_fields=["state", "closing_by", "closing_at"])
    events.announce([Fact("day.closing", f"days/{day}", {}, person=by.id)])
    return row


def _locked(day: date) -> GamingDay:
    row = GamingDay.objects.select_for_update().filter(day=day).first()
    if row is None:  # not made, because a later day is sealed
        raise Refusal("day_sealed")
    return row


@dataclass(frozen=True, slots=True)
class Fixed:
    """What a seal fixes beside the day's state: its report's id and hashes, as told to the witness."""

    report: UUID
    sha256: str
    files: dict[str, str]


def hold_alone(day: date) -> GamingDay:
    """Wait for every act that posts in this day, or in an earlier one that is not sealed, and keep others out until the
    act ends; return the day's row, locked.

    Refuses ``day_sealed``, ``day_not_closing`` (also for a day without a row).
    """
    row = GamingDay.objects.filter(day=day).first()
    if row is None or row.state == DayState.OPEN:
        raise Refusal("day_not_closing")
    ledger.hold_days_alone(first=_first_unsealed(until=day), last=day)
    row = _locked(day)
    if row.state == DayState.SEALED:
        raise Refusal("day_sealed")
    return row


def _first_unsealed(*, until: date) -> date:
    """Return the day behind the last sealed one, or the first that has a posting, where that is no later."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT least(%(until)s::date, coalesce(
                (SELECT max(day) + 1 FROM settlement_gamingday WHERE state = 'sealed'),
                (SELECT min(gaming_day) FROM settlement_journal)))
            """,
            {"until": until},
        )
        (first,) = cursor.fetchone()
    found: date = first
    return found


def seal(row: GamingDay, *, by: Person, second: Person, fixed: Fixed) -> None:
    """Seal a day held alone: from now on nothing is dated in it or before it.

    ``by`` and ``second`` are two auditors, of whom one keeps the accounts; neither closed the day. Refuses
    ``forbidden``, ``sod_violation``.
    """
    act = events.current()
    signers_may_seal(row, by=by, second=second)
    row.state, row.sealed_at = DayState.SEALED, act.now
    row.sealed_by, row.seconded_by = by, second
    row.last_entry = Entry.objects.aggregate(last=Max("id"))["last"] or 0
    row.journals = Journal.objects.filter(gaming_day=row.day).count()
    row.save(update_fields=["state", "sealed_at", "sealed_by", "seconded_by", "last_entry", "journals"])
    told = {
        "seconded_by": str(second.id),
        "last_entry": row.last_entry,
        "journals": row.journals,
        "report": str(fixed.report),
        "sha256": fixed.sha256,
        "files": fixed.files,
    }
    events.announce([Fact("day.sealed", f"days/{row.day}", told, person=by.id)])
    webhooks.owe(
        [
            Owed(
                "day.sealed",
                {"gaming_day": row.day.isoformat(), "report": str(fixed.report), "sha256": fixed.sha256},
                subject=f"days/{row.day}",
            )
        ]
    )


def require_two_auditors(*, by: Person, second: Person) -> None:
    """Refuse two who seal no day, whichever: ``sod_violation``, ``forbidden``, ``second_person_forbidden``."""
    people.different(by.id, second.id)
    for person, code in ((by, "forbidden"), (second, "second_person_forbidden")):
        if person.role != Role.AUDITOR or not person.is_active:
            raise Refusal(code)
    if not (by.has_duty(ACCOUNTING) or second.has_duty(ACCOUNTING)):
        raise Refusal("second_person_forbidden")


def signers_may_seal(row: GamingDay, *, by: Person, second: Person) -> None:
    """Refuse two who may not seal this day (``forbidden``, ``sod_violation``)."""
    require_two_auditors(by=by, second=second)
    if row.closing_by_id in (by.id, second.id):
        raise Refusal("sod_violation")
