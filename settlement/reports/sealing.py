"""Seal a day, close a shift: what each came to is fixed in the act that ends it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any
from uuid import UUID

from casino import events
from casino.events import Fact
from casino.models import Person, TableSession
from settlement import days
from settlement.days import Fixed, checklist, shifts
from settlement.models import DayJob, GamingDay, Report, ReportFile, Shift
from settlement.models.closing import LONGEST_SHIFT
from settlement.reports import content, layout, page, spreadsheet
from settlement.slips import under_way


def seal_day(*, day: date, by: Person, second: Person) -> Report:
    """Seal a gaming day with its report; return the report.

    Every act that posts in the day, or before it, is waited for first, so what the report says is what the day has for
    ever. Refuses ``day_not_closing``, ``day_sealed``, ``day_not_ready`` with what is not met, ``forbidden`` and
    ``sod_violation``. The statements are the same few for any day.
    """
    days.require_two_auditors(by=by, second=second)
    row = days.hold_alone(day)
    days.signers_may_seal(row, by=by, second=second)
    checklist.require_met(row)
    report, fixed = _fix(content.of_day(row, signed=(by, second)), kind=Report.Kind.DAY, day=row)
    days.seal(row, by=by, second=second, fixed=fixed)
    return report


def close_shift(*, shift: UUID, by: Person, second: Person) -> Report:
    """Close the running shift with its report; return the report. Refuses as ``days.shifts.close`` does, and
    ``slip_in_transit`` while chips of any table are under way."""
    shifts.require_in_charge(by, second)
    row = shifts.hold(shift)
    shifts.signers_may_close(row, by=by, second=second)
    under_way.require_no_chips_in_transit()
    now = events.current().now
    told = content.of_shift(row, signed=(by, second), until=now)
    report, fixed = _fix(told, kind=Report.Kind.SHIFT, day=row.day, shift=row)
    shifts.close(row, by=by, second=second, fixed=fixed)
    return report


TURN = "turn"
"""The job that is done once for each gaming day, when it begins."""


def turn() -> bool:
    """Begin the running gaming day and end shifts that nobody closed in time; say whether this act turned the day.

    Asked twice, by two schedulers or after it was killed half-way, it does each thing once.
    """
    for shift in overdue_shifts(now=events.current().now):
        end_overdue(shift)
    return begin_day()


def overdue_shifts(*, now: datetime) -> list[UUID]:
    """Return shifts that nobody closed within their 24 hours. One statement."""
    return shifts.overdue(now=now)


def end_overdue(shift: UUID) -> None:
    """End a shift that nobody closed in time, with its report; nothing where it has ended, or somebody is at it. Must
    run in an act."""
    row = shifts.hold_overdue(shift)
    if row is None:
        return
    told = content.of_shift(row, signed=(), until=row.opened_at + LONGEST_SHIFT)
    _, fixed = _fix(told, kind=Report.Kind.SHIFT, day=row.day, shift=row)
    shifts.end_overdue(row, fixed=fixed)


def begin_day() -> bool:
    """Begin the running gaming day; say whether this act turned the day. Must run in an act."""
    act = events.current()
    today = days.running()
    if DayJob.objects.filter(job=TURN, gaming_day=today).exists():
        return False
    begun = days.begin(today)
    return _turned(today, now=act.now) or begun


def _turned(today: date, *, now: datetime) -> bool:
    open_tables = sorted(
        TableSession.objects.filter(closed_at=None, opened_at__lt=days.bounds(today)[0]).values_list(
            "table__code", flat=True
        )
    )
    _, made = DayJob.objects.get_or_create(
        job=TURN, gaming_day=today, defaults={"found": {"tables_open": open_tables}, "done_at": now}
    )
    if made:
        events.announce(
            [Fact("day.turned", f"days/{today}", {"job": TURN, "found": {"tables_open": open_tables}})]
        )
    return made


# -- the fixing ----------------------------------------------------------------------------------------------


def _fix(
    told: Mapping[str, Any], *, kind: str, day: GamingDay, shift: Shift | None = None
) -> tuple[Report, Fixed]:
    now = events.current().now
    canonical = events.canonical(told)
    report = Report.objects.create(
        id=events.uuid7(now),
        kind=kind,
        day=day,
        shift=shift,
        version=content.VERSION,
        canonical=canonical,
        sha256=hashlib.sha256(canonical).hexdigest(),
        made_at=now,
    )
    made = files(json.loads(canonical), sha256=report.sha256)
    stored = ReportFile.objects.bulk_create(
        [
            ReportFile(report=report, format=name, content=bytes_, sha256=hashlib.sha256(bytes_).hexdigest())
            for name, bytes_ in made.items()
        ]
    )
    return report, Fixed(report.id, report.sha256, {one.format: one.sha256 for one in stored})


def files(told: Mapping[str, Any], *, sha256: str) -> dict[str, bytes]:
    """Return a report's files by format, made from its content alone: the same content gives the same bytes."""
    sections = layout.sections(told)
    made_at = datetime.fromisoformat(told["made_at"])
    title: Sequence[str] = (told["title"]["th"], told["title"]["en"])
    return {
        "csv": spreadsheet.csv(sections),
        "xlsx": spreadsheet.xlsx(sections, made_at=made_at),
        "pdf": page.pdf(
            sections, title=title, day=told["period"]["gaming_day"], sha256=sha256, made_at=made_at
        ),
    }
