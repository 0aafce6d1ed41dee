"""One poisoned item among good ones, for every bell of the witness; what stands still is a flag that names it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from audit import analytics, tasks
from audit.models import Analysis, AnalysisResult, Flag, Inspection, LogEntry, Reading
from casino import upkeep
from casino.models import Aside
from settlement import tasks as of_settlement
from tests import database
from tests.audit import flagged
from tests.casino.telling import TWO_HANDS
from tests.database import Connection, House
from tests.settlement.floor import a_table, outcome
from tests.settlement.test_tasks import a_round_that_cannot_be_judged

pytestmark = pytest.mark.django_db(transaction=True)

LATE = TWO_HANDS + "change w1 900\nclose"


@pytest.fixture
def spoil(administrator: Connection) -> Callable[[int, bytes], None]:
    """Put other bytes into an entry of the log, as nobody but a superuser can."""

    def write(entry: int, written: bytes) -> None:
        administrator.execute("ALTER TABLE audit_logentry DISABLE TRIGGER ALL")
        for (name,) in administrator.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = 'audit_logentry'::regclass AND contype = 'c'"
        ).fetchall():
            administrator.execute(f'ALTER TABLE audit_logentry DROP CONSTRAINT "{name}"')
        administrator.execute("UPDATE audit_logentry SET bytes = %s WHERE id = %s", [written, entry])

    return write


def aside() -> list[tuple[str, str, int]]:
    return list(Aside.objects.order_by("work", "subject").values_list("work", "subject", "times"))


def test_a_leaf_that_cannot_be_read_is_passed_over_and_the_flags_behind_it_are_raised(spoil: Any) -> None:
    table = a_table()
    before = table.tell(LATE)
    assert outcome(before) == "settled"
    bad = table.tell(TWO_HANDS)
    behind = table.tell(LATE)
    assert outcome(behind) == "settled"
    flagged.number_all()
    entry = LogEntry.objects.filter(action="round.recorded", round=bad).latest("id").id
    spoil(entry, b'{"data":{"events":[{}]}}')

    for _ in range(2):
        tasks.read_flags()

    late = Flag.objects.filter(kind="late_bet").values_list("round", flat=True)
    assert set(late) == {before, behind}
    assert aside() == [("reading for flags", f"entries/{entry}", 1)]
    assert list(Flag.objects.filter(kind="uncomputable").values_list("subject", "detail")) == [
        (f"entries/{entry}", {"what": f"entries/{entry}", "work": "reading for flags"})
    ]
    assert Reading.objects.get().position > 0


def test_a_leaf_that_can_be_read_again_later_is(spoil: Any) -> None:
    round_id = a_table().tell(LATE)
    assert outcome(round_id) == "settled"
    flagged.number_all()
    entry = LogEntry.objects.get(action="round.settled")
    written = bytes(entry.bytes)
    spoil(entry.id, b"{}")
    tasks.read_flags()
    assert not Flag.objects.filter(kind="late_bet").exists()
    spoil(entry.id, written)
    Aside.objects.update(due_at=timezone.now())

    tasks.read_flags()

    assert Flag.objects.filter(kind="late_bet", round=round_id).exists()
    assert Aside.objects.get().solved_at is not None


def test_a_leaf_that_the_second_look_cannot_read_stops_only_what_it_vouches_for(
    spoil: Any, house: House, settings: Any
) -> None:
    settings.DATABASE_READER_URL = database.at(
        house.addresses.reader_url, database=connection.settings_dict["NAME"]
    )
    table = a_table()
    first, second = table.tell(TWO_HANDS + "close"), table.tell(TWO_HANDS + "close")
    assert outcome(first) == outcome(second) == "settled"
    flagged.number_all()
    entry = LogEntry.objects.filter(action="round.settled").earliest("id").id
    spoil(entry, b"no JSON at all")

    for _ in range(2):
        tasks.look_on()

    row = Inspection.objects.get()
    assert (row.settlements, row.offending) == (1, 1)
    assert aside() == [("inspection", f"entries/{entry}", 1)]


@pytest.mark.parametrize("bad", [date(1, 1, 1), date(9999, 12, 31)], ids=str)
def test_a_day_at_an_end_of_the_calendar_keeps_no_other_day_waiting(bad: date) -> None:
    for day in (bad, date(2026, 3, 1)):
        Analysis.objects.create(screen="cards", gaming_day=day, asked_at=timezone.now(), repeats=0)

    assert tasks.analyse() == 1
    assert tasks.analyse() == 0

    assert list(AnalysisResult.objects.values_list("analysis__gaming_day", flat=True)) == [date(2026, 3, 1)]
    assert [(work, times) for work, _, times in aside()] == [("analytics", 1)]


def test_a_day_that_cannot_be_looked_at_keeps_no_other_day_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    work_on, days = analytics.work_on, (date(2026, 2, 1), date(2026, 3, 1))

    def looked(*, day: date, **more: Any) -> Any:
        if day == days[0]:
            raise ZeroDivisionError("no rounds")
        return work_on(day=day, **more)

    monkeypatch.setattr(analytics, "work_on", looked)
    for day in days:
        Analysis.objects.create(screen="cards", gaming_day=day, asked_at=timezone.now(), repeats=0)

    assert [tasks.analyse(), tasks.analyse()] == [1, 0]
    assert aside() == [("analytics", "analytics/2026-02-01", 1)]


def test_a_round_that_cannot_be_judged_is_a_flag_that_names_it_once() -> None:
    table = a_table()
    bad = a_round_that_cannot_be_judged(table)
    for _ in range(2):
        of_settlement.sweep()
        tasks.read_flags()

    flag = Flag.objects.get(kind="uncomputable")
    assert (flag.subject, flag.round_id, flag.table.code if flag.table else "") == (
        f"rounds/{bad}",
        bad,
        "PD01",
    )
    assert LogEntry.objects.filter(action="flag.raised", round=bad).count() == 1
    assert upkeep.shown(now=timezone.now()).asides == 1


def test_a_table_whose_deck_cannot_be_watched_keeps_no_other_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from audit.analytics import deck_watch

    good, bad = a_table("PD01"), a_table("PD02")
    for table in (good, bad):
        assert outcome(table.tell(TWO_HANDS + "close", at=timezone.now())) == "settled"
    looked_at: list[str] = []
    shown = deck_watch._shown

    def of(now: Any, *, only: str) -> Any:
        found = shown(now, only=only)
        if bad.table.code in found:
            raise ArithmeticError("a deck of no cards")
        looked_at.extend(found)
        return found

    monkeypatch.setattr(deck_watch, "_shown", of)
    tasks.watch_decks()
    assert (looked_at, aside()) == (["PD01"], [("watching decks", "tables/PD02", 1)])
