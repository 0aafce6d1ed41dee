"""The day before the built house's night, sealed, and a shift of today opened and closed: for the checks of days."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from audit import tasks
from casino import events, people
from casino.models import Person, Table
from settlement import days, reconciliation, reports, statements
from settlement.days import shifts
from settlement.models import Run


def write(*, manager: Person, supervisor: Person, auditors: tuple[Person, Person]) -> dict[str, UUID]:
    """Close and seal yesterday, make its statements, open and close a shift; return what has a story, by name."""
    yesterday = days.of(timezone.now()) - timedelta(days=1)
    with _acting(manager):
        days.close_day(day=yesterday, by=manager)
    with _acting(manager):
        run = reconciliation.begin(kind=Run.Kind.ASKED, gaming_day=yesterday)
    while (
        reconciliation.look_on(owner="built", now=timezone.now(), request_id="built", run=run.id) is not None
    ):
        pass
    while tasks.compare_log():
        pass
    with _acting(manager):
        reports.turn()
        days.open_day(day=days.running(), tables=list(Table.objects.all()), by=manager)
        shift = shifts.open_shift(tables=list(Table.objects.all()), by=manager, second=supervisor)
    with _acting(manager):
        reports.close_shift(shift=shift.id, by=supervisor, second=manager)
    with _acting(auditors[0]):
        sealed = reports.seal_day(day=yesterday, by=auditors[0], second=auditors[1])
    while True:
        with _acting(manager):
            if statements.make() is None:
                break
    return {"sealed_report": sealed.id, "shift": shift.id}


def _acting(person: Person) -> AbstractContextManager[events.Act]:
    return events.act(actor=people.principal_of(person), request_id="built", now=timezone.now())
