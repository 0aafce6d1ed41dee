"""A gaming day is opened, closed and sealed by people, goes forward only, and once sealed nothing is dated in it."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from audit.models import LogEntry
from casino import tables
from casino.models import Round
from casino.platform.refusals import Refusal
from settlement import breaks, days, ledger, reports
from settlement.breaks import NewBreak
from settlement.ledger import NewJournal, Posting, accounts
from settlement.models import DayJob, GamingDay, Journal, Message, Report
from tests.audit.disputing import decided, raised, ruled
from tests.settlement import daybook, floor
from tests.settlement.daybook import (
    DAY,
    ENDS,
    EVENING,
    MORNING,
    NIGHT,
    WON,
    a_sealed_day,
    a_table_closed,
    accountant,
    auditor,
    closed,
    compared,
    listed,
    manager,
    sealed,
    unmet,
)
from tests.settlement.floor import a_person, a_table, act, outcome
from tests.world import counted

pytestmark = pytest.mark.django_db

NEXT = DAY + timedelta(days=1)


def refused(do: Any, *, now: Any = MORNING) -> str:
    with pytest.raises(Refusal) as refusal, act(now=now):
        do()
    return refusal.value.code


def a_deposit(day: date, *, key: str = "k") -> NewJournal:
    return NewJournal(
        kind="deposit",
        key=key,
        gaming_day=day,
        currency="THB",
        postings=(Posting("external:cash:C1", -100), Posting("cage:C1:vault", 100)),
    )


# -- opened and closed ---------------------------------------------------------------------------------------


def test_a_manager_opens_the_day_with_its_tables_and_their_sheets() -> None:
    table = a_table()
    with act(now=EVENING):
        row = days.open_day(day=DAY, tables=[table.table], by=manager())

    (named,) = row.tables
    assert (named["table"], len(named["sha256"])) == ("PD01", 64)
    assert (row.state, row.begins_at, row.ends_at) == ("open", *days.bounds(DAY))
    assert refused(lambda: days.open_day(day=DAY, tables=[], by=manager()), now=EVENING) == "day_opened"
    assert refused(lambda: days.open_day(day=NEXT, tables=[], by=manager()), now=EVENING) == "day_not_running"


def test_no_table_opens_in_a_day_that_is_closing_not_even_by_sql() -> None:
    table = a_table()
    a_table_closed(table, last_round=0)
    closed()

    assert refused(lambda: days.sessions_may_open(DAY), now=NIGHT) == "day_closing"
    with act(now=NIGHT), pytest.raises(IntegrityError, match="closing or sealed"), transaction.atomic():
        tables.open(table=table.table, dealer=table.dealer, supervisor=table.supervisor, now=NIGHT)


def test_a_table_opens_in_the_next_day_while_this_one_is_closing() -> None:
    table = a_table()
    a_table_closed(table, last_round=0)
    closed()
    with act(now=ENDS):
        days.sessions_may_open(NEXT)
        tables.open(table=table.table, dealer=table.dealer, supervisor=table.supervisor, now=ENDS)


def test_a_day_is_closed_once() -> None:
    closed()
    assert refused(lambda: days.close_day(day=DAY, by=manager())) == "day_closing"
    assert refused(lambda: days.close_day(day=NEXT, by=manager()), now=NIGHT) == "day_not_running"


# -- the checklist -------------------------------------------------------------------------------------------


def test_a_day_with_nothing_done_says_what_is_missing() -> None:
    table = a_table()
    table.tell(WON)
    with act(now=EVENING):
        days.begin(DAY)
    assert unmet(now=EVENING) == [
        "day_not_over",
        "day_not_closing",
        "table_open",
        "round_unsettled",
        "run_missing",
    ]
    assert listed("table_open", now=EVENING).found == ("tables/PD01",)
    assert listed("run_missing", now=EVENING).found == ("R0", "R1", "R2", "R3", "R4", "R5")


def test_a_day_of_which_everything_is_done_has_nothing_missing() -> None:
    table = a_table()
    outcome(table.tell(WON))
    a_table_closed(table, last_round=1)
    closed()
    compared()
    assert unmet() == []


@pytest.mark.parametrize(
    "levels",
    [(), ("R0", "R1", "R2", "R3", "R4")],
)
def test_a_level_that_was_not_compared_over_the_whole_day_is_missing(levels: tuple[str, ...]) -> None:
    closed()
    if levels:
        compared(levels=levels)
    missing = [level for level in ("R0", "R1", "R2", "R3", "R4", "R5") if level not in levels]
    assert list(listed("run_missing").found) == missing


def test_a_run_that_left_something_out_or_ended_early_does_not_count() -> None:
    closed()
    compared(outcome="incomplete")
    compared(until=ENDS - timedelta(minutes=1), id=floor.a_round_id(1))
    assert listed("run_missing").count == 6


def test_a_table_closed_without_a_count_is_uncounted_and_blocks_the_seal_closed_uncounted() -> None:
    table = a_table()
    with act(now=NIGHT):
        tables.close(session=table.session, last_round=0, carried_over_by=None, now=NIGHT)
    closed()
    compared()
    assert unmet() == ["uncounted"]
    assert refused(lambda: reports.seal_day(day=DAY, by=accountant(), second=auditor())) == "day_not_ready"


def test_a_box_that_was_not_counted_blocks_the_seal() -> None:
    table = a_table()
    a_table_closed(table, last_round=0, in_box=None)
    closed()
    compared()
    assert unmet() == ["drop_uncounted"]
    daybook.a_box_counted(table, 0)
    assert unmet() == []


def test_a_table_that_never_closes_is_counted_at_the_start_hour_open_across_the_start_hour() -> None:
    table = a_table()
    outcome(table.tell(WON))
    closed()
    compared()
    assert unmet() == ["table_open"]
    with act(now=ENDS + timedelta(minutes=5)):
        counted(table.table, "rollover", table.dealer, table.supervisor, pieces={})
    assert unmet() == []
    sealed()


def test_what_a_new_day_moved_before_a_late_count_is_not_in_the_old_days_sealed_report() -> None:
    """10,000 at the opening; each day's round paid a guest 100, and the count, of 06:14, came after both."""
    table = daybook.a_counted_table()
    outcome(table.tell(WON))
    outcome(table.tell(WON, at=ENDS + timedelta(minutes=8)), now=ENDS + timedelta(minutes=9))
    closed()
    compared()
    with act(now=ENDS + timedelta(minutes=14)):
        counted(table.table, "rollover", table.dealer, table.supervisor, pieces={100_00: 98})

    (told,) = json.loads(bytes(sealed().canonical))["tables"]

    figures = {name: one["value"] for name, one in told["figures"].items()}
    assert (figures["opener"], figures["pays"], figures["closer"], figures["variance"]) == (
        10_000_00,
        100_00,
        9_900_00,
        0,
    )
    assert (figures["new_day_before_count"], figures["old_day_after_count"]) == (100_00, 0)


def test_a_table_that_played_on_uncounted_and_closed_later_leaves_an_estimate() -> None:
    table = daybook.a_counted_table()
    outcome(table.tell(WON))
    closed()
    compared()
    a_table_closed(table, last_round=1, baht=9_900, now=ENDS + timedelta(hours=1))
    assert (unmet(), listed("start_hour_uncounted").found) == ([], ("tables/PD01",))
    (told,) = json.loads(bytes(sealed().canonical))["tables"]
    assert (told["figures"]["win"]["grade"], told["figures"]["estimated_win"]["grade"]) == (
        "unknown",
        "estimated",
    )
    assert told["figures"]["estimated_win"]["value"] == -100_00


def test_an_earlier_day_with_postings_must_be_sealed_first() -> None:
    with act(now=EVENING):
        ledger.post([a_deposit(DAY - timedelta(days=3))])
        days.begin(DAY)
    closed()
    compared()
    assert unmet() == ["earlier_day_open"]
    assert listed("earlier_day_open").found == ("2026-02-26",)


def test_a_critical_break_blocks_and_another_is_listed() -> None:
    closed()
    compared()
    with act(now=NIGHT):
        breaks.found([NewBreak("CUTOFF", "journals/1", "1", {})])
    assert (unmet(), listed("break_open").count) == ([], 1)
    with act(now=NIGHT):
        breaks.found([NewBreak("BALANCE_DRIFT", "accounts/1", "1", {})])
    assert unmet() == ["critical_break"]


def test_held_rounds_and_disputes_are_listed_and_do_not_stop_a_seal() -> None:
    table = a_table(camera=True)
    held = table.tell(daybook.CONTESTED)
    assert outcome(held) == "held: reads_differ"
    Round.objects.filter(pk=held).update(in_dispute=True)
    a_table_closed(table, last_round=1)
    closed()
    compared()

    assert unmet() == []
    assert (listed("round_held").found, listed("dispute_open").found) == ((f"rounds/{held}",),) * 2
    sealed()


def test_chips_that_came_back_and_were_never_outside_are_listed_and_do_not_stop_a_seal() -> None:
    table = daybook.a_counted_table()
    outcome(table.tell("bet w1 p1 100\nlock\np1 2S 3D\ndealer KC 6D\np1 stays\ndealer stays\nclose"))
    a_table_closed(table, last_round=1, baht=10_100)
    closed()
    compared()
    assert (listed("chips_below_zero").found, unmet()) == (("THB -10000",), [])


def test_the_checklist_takes_as_many_statements_for_two_tables_as_for_none() -> None:
    with act(now=EVENING):
        days.begin(DAY)
    row = days.of_day(DAY)

    def statements() -> int:
        with CaptureQueriesContext(
            connection,
        ) as asked:
            daybook.checklist.of(row, now=MORNING)
        return len(asked)

    empty = statements()
    for code in ("PD01", "PD02"):
        a_table(code)
    a_table("PD03").tell(WON)
    assert statements() == empty == 22


# -- sealed --------------------------------------------------------------------------------------------------


def test_two_auditors_seal_a_day_of_whom_one_keeps_the_accounts() -> None:
    a_sealed_day()
    row = GamingDay.objects.get(day=DAY)
    assert (row.state, row.sealed_by_id, row.seconded_by_id) == ("sealed", accountant().id, auditor().id)
    # opener-less table: the deposits of the day are two rounds, what is left in chips, the closer and its variance
    assert row.journals == Journal.objects.filter(gaming_day=DAY).count() > 0
    assert Message.objects.get(type="day.sealed").subject == f"days/{DAY}"


def test_who_may_not_seal_is_told_so() -> None:
    closed()
    compared()
    pairs = {
        "one person twice": (accountant(), accountant(), "sod_violation"),
        "nobody of accounting": (auditor(), a_person("A03", "auditor"), "second_person_forbidden"),
        "a manager": (accountant(), manager(), "second_person_forbidden"),
        "a manager first": (manager(), accountant(), "forbidden"),
    }
    for by, second, code in pairs.values():
        assert refused(lambda by=by, second=second: reports.seal_day(day=DAY, by=by, second=second)) == code


def test_a_sealed_day_is_sealed_once() -> None:
    a_sealed_day()
    assert refused(lambda: reports.seal_day(day=DAY, by=accountant(), second=auditor())) == "day_sealed"
    assert refused(lambda: days.close_day(day=DAY, by=manager())) == "day_sealed"
    assert Report.objects.filter(kind="day").count() == 1


def test_nothing_is_posted_on_a_sealed_day_or_before_it() -> None:
    a_sealed_day()
    for day in (DAY, DAY - timedelta(days=1), date(2020, 1, 1)):
        assert refused(lambda day=day: ledger.post([a_deposit(day)])) == "day_sealed"
    with act(now=MORNING):
        ledger.post([a_deposit(NEXT)])


def test_a_day_cannot_begin_before_a_sealed_one() -> None:
    a_sealed_day()
    with act(now=MORNING):
        assert not days.begin(DAY - timedelta(days=1))
    assert refused(lambda: days.close_day(day=DAY - timedelta(days=1), by=manager())) == "day_sealed"


def test_a_round_settled_after_the_seal_is_posted_in_the_running_day_and_names_its_own() -> None:
    table = a_table(camera=True)
    held = table.tell(daybook.CONTESTED)
    assert outcome(held) == "held: reads_differ"
    a_table_closed(table, last_round=1)
    closed()
    compared()
    sealed()
    decided(raised(held, now=MORNING), ruled("p1.2", "4D"), now=MORNING)

    journal = Journal.objects.get(kind="round")
    assert (journal.gaming_day, journal.orig_day) == (NEXT, DAY)
    assert Round.objects.get(pk=held).gaming_day == DAY
    assert [one["journal"] for one in reports.posted_later_about(DAY)] == [str(journal.id)]


def test_the_same_key_of_days_in_the_database_and_in_the_ledger() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT prosrc FROM pg_proc WHERE proname = 'settlement_share_days'")
        (source,) = cursor.fetchone()
    assert f"({accounts.DAYS_LOCK}, one - date '0001-01-01' + 1)" in source
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::date - date '0001-01-01' + 1", [DAY])
        assert cursor.fetchone() == (DAY.toordinal(),)


def test_a_seal_takes_as_many_statements_for_many_rounds_as_for_one() -> None:
    """One table on either day, with one round on the first and five on the second."""
    table = a_table()
    outcome(table.tell(WON))
    a_table_closed(table, last_round=1)
    closed()
    compared()
    signers = {accountant().badge, auditor().badge}
    with CaptureQueriesContext(connection) as of_one:
        sealed()

    other = a_table("PD02", opened_at=MORNING)
    later = MORNING + timedelta(hours=1)
    for _ in range(5):
        outcome(other.tell(WON, at=later), now=later + timedelta(seconds=5))
    a_table_closed(other, last_round=5, now=MORNING + timedelta(hours=2))
    closed(NEXT, now=MORNING + timedelta(hours=3))
    compared(NEXT, id=floor.a_round_id(9))
    with CaptureQueriesContext(connection) as of_many:
        sealed(NEXT, now=MORNING + timedelta(days=1))
    assert len(signers) == 2
    # One of them asks from which day on the house counts by the second formula.
    assert len(of_many) == len(of_one) == 57


# -- the job -------------------------------------------------------------------------------------------------


def test_the_job_begins_each_day_once() -> None:
    for now, turned in ((EVENING, True), (NIGHT, False), (ENDS, True), (MORNING, False)):
        with act(now=now):
            assert reports.turn() is turned
    assert list(GamingDay.objects.order_by("day").values_list("day", "state")) == [
        (DAY, "open"),
        (NEXT, "open"),
    ]
    assert DayJob.objects.count() == 2
    assert LogEntry.objects.filter(action="day.begun").count() == 2


def test_the_job_names_tables_that_play_across_the_start_hour_open_across_the_start_hour() -> None:
    table = a_table()
    with act(now=ENDS):
        reports.turn()
    assert DayJob.objects.get().found == {"tables_open": [table.table.code]}
