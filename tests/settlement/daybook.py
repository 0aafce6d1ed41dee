"""A gaming day at the table of ``tests.settlement.floor``, from its first round to its seal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from casino import devices, events, tables
from casino.models import Person
from settlement import days, reports, table_floats
from settlement.days import checklist, shifts
from settlement.models import Report, Run, Shift
from settlement.table_floats import Box
from tests.casino.telling import TWO_HANDS
from tests.settlement import floor
from tests.settlement.floor import AtTable, a_person, act
from tests.world import counted

DAY = date(2026, 3, 1)
BEGINS, ENDS = days.bounds(DAY)
HOUR = timedelta(hours=1)
EVENING = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
"""21:00 at the tables, in the gaming day of 1 March."""
NIGHT = datetime(2026, 3, 1, 21, 0, tzinfo=UTC)
"""04:00 at the tables: tables close."""
MORNING = ENDS + timedelta(hours=3)
"""09:00 at the tables: the day is over, and people have slept."""
WON = TWO_HANDS + "close"
"""p1 wins 100 baht."""
CONTESTED = TWO_HANDS + "camera: p1.2 AD\nclose"


def accountant() -> Person:
    return a_person("A01", "auditor", permissions=["accounting"])


def auditor() -> Person:
    return a_person("A02", "auditor")


def manager() -> Person:
    return a_person("M03", "manager")


def a_counted_table(code: str = "PD01", *, baht: int = 10_000, now: datetime = EVENING - HOUR) -> AtTable:
    """A table opened with a float that two people counted, its sheet in force, a tablet enrolled."""
    with act(now=now):
        table = tables.add(code=code, currency="THB", camera=False)
        floor.put_in_force(table, preset="seed_base", options={}, from_=now)
        dealer, supervisor = a_person(f"D-{code}", "dealer"), a_person(f"S-{code}", "supervisor")
        counted(table, "opener", dealer, supervisor, pieces={100_00: baht // 100})
        session = table_floats.open_table(table=table, dealer=dealer, supervisor=supervisor, cage="C1")
        tablet, _ = devices.enrol(code=f"{code}-terminal", kind="terminal", table=table, now=now)
    table.refresh_from_db()
    return AtTable(table, session, dealer, supervisor, {"tablet": tablet})


def a_table_closed(
    table: AtTable, *, last_round: int, baht: int = 0, now: datetime = NIGHT, in_box: int | None = 0
) -> None:
    """Count the float of a table twice, close it with that, and count its box (``in_box`` baht; None: not yet)."""
    held = (table.supervisor, a_person("M01", "manager"))
    with act(now=now):
        counted(table.table, "closer", table.dealer, table.supervisor, pieces={100_00: baht // 100})
        table_floats.close_table(table=table.table, last_round=last_round, cage="C1", carried_over_by=held)
    if in_box is not None:
        a_box_counted(table, in_box, now=now)


def a_box_counted(table: AtTable, baht: int, *, now: datetime = NIGHT) -> None:
    box = Box(carried_by=table.supervisor, cage="C1")
    counters = (a_person("M05", "manager"), a_person("M06", "manager"))
    with act(now=now):
        counted(table.table, "drop", *counters, pieces={100_00: baht // 100}, box=box)


def compared(day: date = DAY, *, levels: Sequence[str] = checklist.LEVELS, **more: Any) -> Run:
    """A run over the whole of the day at these levels that found nothing."""
    begins, ends = days.bounds(day)
    made: dict[str, Any] = {
        "id": events.uuid7(ends + timedelta(minutes=30)),
        "kind": "asked",
        "scope": "POKDENG",
        "gaming_day": day,
        "since": begins,
        "until": ends,
        "rules": " ".join(f"{level}.1" for level in levels),
        "chunk_size": 1000,
        "begun_at": ends + timedelta(minutes=30),
        "done_at": ends + timedelta(minutes=31),
        "outcome": "matched",
        "digest": "0" * 64,
        "report": {"records": 0},
    } | more
    return Run.objects.create(**made)


def closed(day: date = DAY, *, now: datetime = NIGHT) -> None:
    with act(now=now):
        days.close_day(day=day, by=manager())


def sealed(day: date = DAY, *, now: datetime = MORNING) -> Report:
    with act(now=now):
        return reports.seal_day(day=day, by=accountant(), second=auditor())


def a_sealed_day(*, rounds: int = 2, baht: int = 10_000, short: int = 0) -> tuple[AtTable, Report]:
    """A day in which PD01 opened with so many baht, lost 100 in each of its rounds, was counted (``short`` baht short)
    and sealed."""
    table = a_counted_table(baht=baht)
    for _ in range(rounds):
        assert floor.outcome(table.tell(WON)) == "settled"
    a_table_closed(table, last_round=rounds, baht=baht - 100 * rounds - short)
    closed()
    compared()
    return table, sealed()


def unmet(day: date = DAY, *, now: datetime = MORNING) -> list[str]:
    """The codes that stand between the day and its seal."""
    return [item.code for item in checklist.of(days.of_day(day), now=now) if item.blocking and not item.met]


def listed(code: str, day: date = DAY, *, now: datetime = MORNING) -> checklist.Item:
    (item,) = [item for item in checklist.of(days.of_day(day), now=now) if item.code == code]
    return item


def a_shift(*, now: datetime = EVENING, tables: Sequence[AtTable] = ()) -> Shift:
    with act(now=now):
        return shifts.open_shift(
            tables=[one.table for one in tables],
            by=a_person("S-PD01", "supervisor"),
            second=a_person("S02", "supervisor"),
        )
