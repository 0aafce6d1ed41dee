"""Shifts: the parts of a day for which named people count and sign. The house has one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Max

from casino import events, people
from casino.events import Fact
from casino.models import Duty, Person, Role, Table
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement.days import calendar, course
from settlement.models import Count, CountKind, DayState, GamingDay, Shift
from settlement.models.closing import LONGEST_SHIFT

refusals.register("shift_running", 409, "A shift is running.", "มีกะที่ยังไม่ปิด")
refusals.register("shift_closed", 409, "The shift is over.", "กะนี้จบแล้ว")
refusals.register(
    "nobody_counted", 409, "One of the two who close a shift counted in it.", "ผู้ปิดกะคนหนึ่งต้องเป็นผู้นับ"
)

IN_CHARGE = (Role.SUPERVISOR, Role.MANAGER)
"""Who opens and closes shifts, two of them."""


def open_shift(*, tables: Sequence[Table], by: Person, second: Person) -> Shift:
    """Open the next shift of the running day for these tables. Refuses ``shift_running``, ``day_closing``,
    ``sod_violation``, ``forbidden``."""
    act = events.current()
    require_in_charge(by, second)
    today = calendar.running()
    course.begin(today)
    day = GamingDay.objects.select_for_update().get(day=today)
    if day.state != DayState.OPEN:
        raise Refusal("day_closing")
    if Shift.objects.filter(closed_at=None).exists():
        raise Refusal("shift_running")
    last = Shift.objects.filter(day=day).aggregate(last=Max("number"))["last"] or 0
    shift = Shift.objects.create(
        id=events.uuid7(act.now),
        day=day,
        number=last + 1,
        tables=sorted(table.code for table in tables),
        opened_by=by,
        opened_with=second,
        opened_at=act.now,
    )
    told = {
        "gaming_day": today.isoformat(),
        "number": shift.number,
        "tables": shift.tables,
        "opened_with": str(second.id),
    }
    events.announce([Fact("shift.opened", f"shifts/{shift.id}", told, person=by.id)])
    return shift


def hold(shift_id: UUID) -> Shift:
    """Return a running shift, locked; refuse ``not_found``, ``shift_closed``."""
    shift = Shift.objects.select_for_update(of=("self",)).select_related("day").filter(pk=shift_id).first()
    if shift is None:
        raise Refusal("not_found")
    if shift.closed_at is not None:
        raise Refusal("shift_closed")
    return shift


def close(shift: Shift, *, by: Person, second: Person, fixed: course.Fixed) -> None:
    """Close a shift held before, by two in charge who served in it, one of whom counted in it.

    Refuses ``sod_violation``, ``forbidden``, ``nobody_counted``; ``shift_closed`` where its 24 hours are over.
    """
    act = events.current()
    signers_may_close(shift, by=by, second=second)
    if act.now > shift.opened_at + LONGEST_SHIFT:
        raise Refusal("shift_closed")
    shift.closed_at, shift.closed_by, shift.closed_with = act.now, by, second
    shift.save(update_fields=["closed_at", "closed_by", "closed_with"])
    _announce_end(shift, fixed=fixed)


def signers_may_close(shift: Shift, *, by: Person, second: Person) -> None:
    """Refuse two who may not close this shift."""
    require_in_charge(by, second)
    served = set(
        Duty.objects.filter(on_at__lte=events.current().now, person__in=[by, second])
        .exclude(off_at__lt=shift.opened_at)
        .values_list("person", flat=True)
    )
    for person, code in ((by, "forbidden"), (second, "second_person_forbidden")):
        if person.role == Role.SUPERVISOR and person.id not in served:
            raise Refusal(code)
    counted = counters(shift)
    if counted and not counted & {by.id, second.id}:
        raise Refusal("nobody_counted")


def overdue(*, now: datetime) -> list[UUID]:
    """Return shifts that nobody closed within their 24 hours."""
    found = Shift.objects.filter(closed_at=None, opened_at__lte=now - LONGEST_SHIFT)
    return list(found.order_by("opened_at", "id").values_list("id", flat=True))


def hold_overdue(shift_id: UUID) -> Shift | None:
    """Return a shift that is still to be ended, locked; None where it is not, or where somebody else has it."""
    running = Shift.objects.filter(pk=shift_id, closed_at=None)
    return running.select_for_update(of=("self",), skip_locked=True).select_related("day").first()


def end_overdue(shift: Shift, *, fixed: course.Fixed) -> None:
    """End a shift as of its 24th hour: nobody signed, and it says so."""
    shift.closed_at, shift.overdue = shift.opened_at + LONGEST_SHIFT, True
    shift.save(update_fields=["closed_at", "overdue"])
    _announce_end(shift, fixed=fixed)


def counters(shift: Shift) -> set[UUID]:
    """Return who counted at the end of tables or of the shift itself, since it began. One statement."""
    found = Count.objects.filter(
        counting__kind__in=[CountKind.CLOSER, CountKind.SHIFT], counted_at__gte=shift.opened_at
    )
    return set(found.values_list("counted_by", flat=True))


def _announce_end(shift: Shift, *, fixed: course.Fixed) -> None:
    assert shift.closed_at is not None
    told = {
        "closed_at": shift.closed_at.isoformat(),
        "closed_with": str(shift.closed_with_id) if shift.closed_with_id else None,
        "overdue": int(shift.overdue),
        "report": str(fixed.report),
        "sha256": fixed.sha256,
        "files": fixed.files,
    }
    events.announce([Fact("shift.closed", f"shifts/{shift.id}", told, person=shift.closed_by_id)])


def require_in_charge(by: Person, second: Person) -> None:
    """Refuse two who open and close no shift: ``sod_violation``, ``forbidden``, ``second_person_forbidden``."""
    people.different(by.id, second.id)
    for person, code in ((by, "forbidden"), (second, "second_person_forbidden")):
        if person.role not in IN_CHARGE or not person.is_active:
            raise Refusal(code)
