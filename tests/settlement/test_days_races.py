"""Whoever posts while a day is being sealed is in its figures, or in another day: never in between."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection

from audit import disputes
from audit.models import Dispute
from casino import events, people
from casino.platform.refusals import Refusal
from settlement import cashier, days, reports
from settlement.days import shifts
from settlement.models import DayJob, GamingDay, Journal, Report, Shift
from tests.audit.disputing import auditor as examiner
from tests.audit.disputing import claimed, raised, ruled
from tests.database import Connection
from tests.races import together
from tests.races.together import Unlocked
from tests.settlement import daybook, floor
from tests.settlement.daybook import (
    DAY,
    ENDS,
    EVENING,
    MORNING,
    WON,
    a_table_closed,
    accountant,
    auditor,
    closed,
    compared,
)
from tests.settlement.floor import a_person, a_table, outcome

pytestmark = pytest.mark.django_db(transaction=True)

NEXT = DAY + timedelta(days=1)
SHARED = "settlement_share_days"
ALONE = "SELECT count(pg_advisory_xact_lock("
UNSHARED = Unlocked(
    instead=(
        (
            "settlement_share_days(%s::date[])",
            "max(day) FROM settlement_gamingday WHERE state = 'sealed' AND %s::date[] IS NOT NULL",
        ),
    )
)


def a_held_round_in_dispute() -> tuple[Dispute, Callable[[], Any]]:
    """A day ready to be sealed with one held round, and the decision that settles it in the morning."""
    table = a_table(camera=True)
    held = table.tell(daybook.CONTESTED)
    assert outcome(held) == "held: reads_differ"
    a_table_closed(table, last_round=1)
    closed()
    compared()
    accountant(), auditor()
    dispute = raised(held, now=MORNING)
    who = examiner("A09")
    token = claimed(dispute, by=who, now=MORNING)

    def decide() -> str:
        decision = disputes.propose_and_decide(
            dispute=dispute.id,
            by=who,
            token=token,
            facts=ruled("p1.2", "4D"),
            reason_code="seen_on_video",
            note="",
        )
        return str(decision.outcome)

    return dispute, lambda: events.attempt(
        lambda _: decide(), actor=people.principal_of(who), request_id="race", now=MORNING
    )


def seal() -> str:
    return events.attempt(
        lambda _: reports.seal_day(day=DAY, by=accountant(), second=auditor()).sha256,
        actor=events.SERVICE,
        request_id="race",
        now=MORNING,
    )


def in_figures() -> int:
    """How many rounds of PD01 the sealed report says were settled."""
    told = json.loads(bytes(Report.objects.get(kind="day").canonical))
    (table,) = told["tables"]
    return int(table["figures"]["rounds_settled"]["value"])


def posted_in() -> list[tuple[date, date | None]]:
    return list(Journal.objects.filter(kind="round").values_list("gaming_day", "orig_day"))


def test_control_without_the_locks_a_round_comes_into_a_sealed_day(owner: Connection) -> None:
    owner.execute("ALTER TABLE settlement_journal DISABLE TRIGGER journals_in_open_days")
    _, decide = a_held_round_in_dispute()

    answers = together.at_once(decide, seal, behind=SHARED, time=2, unlocked=UNSHARED)

    assert answers[0] == "settled"
    assert (posted_in(), in_figures()) == ([(DAY, None)], 0)


def test_what_began_before_the_seal_is_in_the_sealed_figures() -> None:
    _, decide = a_held_round_in_dispute()

    answers = together.at_once(decide, seal, behind=SHARED)

    assert answers == ["settled", Report.objects.get(kind="day").sha256]
    assert (posted_in(), in_figures()) == ([(DAY, None)], 1)


def test_what_comes_after_the_seal_is_posted_in_the_next_day() -> None:
    _, decide = a_held_round_in_dispute()

    answers = together.at_once(seal, decide, behind=ALONE)

    assert answers[1] == "settled"
    assert (posted_in(), in_figures()) == ([(NEXT, DAY)], 0)


def test_an_act_that_forgot_to_keep_its_day_open_is_refused_by_the_database() -> None:
    _, decide = a_held_round_in_dispute()

    answers = together.at_once(decide, seal, behind=SHARED, time=2, unlocked=UNSHARED)

    assert answers[0] == "day_sealed"
    assert (posted_in(), in_figures()) == ([], 0)


def a_deposit_of_the_last_second() -> Callable[[], Any]:
    def take() -> int:
        return cashier.deposit(ref="A17", amount=100_00, cage="C1", document="late").account.balance

    return lambda: events.attempt(
        lambda _: take(), actor=events.SERVICE, request_id="race", now=ENDS - timedelta(seconds=1)
    )


def a_day_ready() -> None:
    floor.a_wallet("A17")
    closed()
    compared()
    accountant(), auditor()


def test_cash_of_the_last_second_is_in_the_figures_or_refused() -> None:
    a_day_ready()
    answers = together.at_once(a_deposit_of_the_last_second(), seal, behind=SHARED)
    assert answers[0] == 100_00
    told = json.loads(bytes(Report.objects.get(kind="day").canonical))
    assert told["house_totals"]["figures"]["cash_in"]["value"] == 100_00


def test_cash_that_comes_too_late_is_refused() -> None:
    a_day_ready()
    answers = together.at_once(seal, a_deposit_of_the_last_second(), behind=ALONE)
    assert answers[1] == "day_sealed"
    assert not Journal.objects.exists()


# -- by hand -------------------------------------------------------------------------------------------------

BY_HAND = (
    """
    UPDATE settlement_account SET version = version + 1, balance = balance + CASE kind WHEN 'wallet' THEN 5 ELSE -5 END
     WHERE code IN ('player:A17:wallet', 'external:cash:C1')
    """,
    """
    WITH posted AS (
        INSERT INTO settlement_journal (id, kind, key, gaming_day, currency, entry_count, recorded_at)
        VALUES (gen_random_uuid(), 'deposit', 'by hand', %s, 'THB', 2, now()) RETURNING id
    )
    INSERT INTO settlement_entry (journal_id, ordinal, account_id, amount, currency, version, balance_after, wager)
    SELECT posted.id, row_number() OVER () - 1, a.id, CASE kind WHEN 'wallet' THEN 5 ELSE -5 END, 'THB', a.version,
           a.balance, ''
      FROM posted, settlement_account a WHERE a.code IN ('player:A17:wallet', 'external:cash:C1')
    """,
)


def written_by_hand(connection: Connection, day: date) -> None:
    """Move five satang as somebody would who knows how: accounts first, then a whole journal."""
    moving, posting = BY_HAND
    connection.execute(moving)
    connection.execute(posting, [day])


@pytest.fixture
def by_hand(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn) as opened:
        yield opened


def test_a_journal_written_by_hand_keeps_its_day_from_being_sealed_until_it_is_there(
    by_hand: Connection,
) -> None:
    floor.paid_in("A17", 100)
    a_day_ready_without_wallet()
    written_by_hand(by_hand, DAY)
    done = threading.Event()
    found: list[Any] = []

    def sealing() -> None:
        try:
            found.append(seal())
        finally:
            done.set()
            connection.close()

    thread = threading.Thread(target=sealing)
    thread.start()
    assert not done.wait(0.5), "sealed while somebody was writing in the day"
    by_hand.commit()
    thread.join(20)

    assert len(found) == 1
    assert GamingDay.objects.get(day=DAY).journals == 2


def a_day_ready_without_wallet() -> None:
    closed()
    compared()
    accountant(), auditor()


@pytest.mark.parametrize("day", [DAY, DAY - timedelta(days=1), date(2001, 1, 1)])
def test_no_journal_is_written_by_hand_in_a_sealed_day_or_before(owner: Connection, day: date) -> None:
    floor.paid_in("A17", 100)
    a_day_ready_without_wallet()
    seal()
    with pytest.raises(psycopg.Error) as refused, owner.transaction():
        written_by_hand(owner, day)
    assert (refused.value.sqlstate, refused.value.diag.constraint_name) == ("23514", "journal_in_an_open_day")
    with owner.transaction():
        written_by_hand(owner, NEXT)


# -- twice ---------------------------------------------------------------------------------------------------


def test_two_who_seal_one_day_seal_it_once() -> None:
    a_day_ready()
    answers = together.at_once(seal, seal, behind=ALONE)
    assert min(answers, key=len) == "day_sealed"
    assert Report.objects.filter(kind="day").count() == 1


def test_the_job_started_by_two_schedulers_is_done_once() -> None:
    def turn() -> bool:
        return events.attempt(lambda _: reports.turn(), actor=events.SERVICE, request_id="beat", now=MORNING)

    answers = together.at_once(turn, turn, behind="INSERT INTO settlement_gamingday")
    assert answers == [True, False]
    assert (DayJob.objects.count(), GamingDay.objects.count()) == (1, 1)


def test_the_job_killed_half_way_leaves_nothing_and_is_done_the_next_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from settlement.reports import sealing

    def killed(*_: Any, **__: Any) -> bool:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(sealing, "_turned", killed)
        with pytest.raises(SystemExit):
            events.attempt(lambda _: reports.turn(), actor=events.SERVICE, request_id="beat", now=MORNING)
    assert (DayJob.objects.count(), GamingDay.objects.count()) == (0, 0)
    assert events.attempt(lambda _: reports.turn(), actor=events.SERVICE, request_id="beat", now=MORNING)


def test_a_shift_closed_twice_at_once_is_closed_once() -> None:
    table = a_table()
    outcome(table.tell(WON))
    shift = daybook.a_shift(tables=[table])
    second = a_person("M04", "manager")

    def close() -> str:
        return events.attempt(
            lambda _: reports.close_shift(shift=shift.id, by=table.supervisor, second=second).sha256,
            actor=events.SERVICE,
            request_id="race",
            now=EVENING + timedelta(hours=4),
        )

    answers = together.at_once(close, close, behind='FROM "settlement_shift"')
    assert min(answers, key=len) == "shift_closed"
    assert Report.objects.filter(kind="shift").count() == 1
    assert Shift.objects.get().closed_at == EVENING + timedelta(hours=4)


def test_an_overdue_shift_that_two_schedulers_find_is_ended_once() -> None:
    daybook.a_shift()
    late = EVENING + timedelta(hours=24, minutes=1)

    def turn() -> bool:
        return events.attempt(lambda _: reports.turn(), actor=events.SERVICE, request_id="beat", now=late)

    assert sorted(together.at_once(turn, turn, behind='FROM "settlement_shift"')) == [False, True]
    shift = Shift.objects.get()
    assert (shift.overdue, shift.closed_at, shift.closed_by_id) == (True, EVENING + timedelta(hours=24), None)
    assert Report.objects.filter(kind="shift").count() == 1


def test_no_two_shifts_run_at_once() -> None:
    table = a_table()
    people_ = (table.supervisor, a_person("S02", "supervisor"))
    with floor.act(now=EVENING):
        days.begin(DAY)

    def open_one() -> str:
        return str(
            events.attempt(
                lambda _: shifts.open_shift(tables=[], by=people_[0], second=people_[1]).number,
                actor=events.SERVICE,
                request_id="race",
                now=EVENING,
            )
        )

    answers = together.at_once(open_one, open_one, behind="FOR UPDATE")
    assert sorted(answers) == ["1", "shift_running"]
    with pytest.raises(Refusal), floor.act(now=EVENING):
        shifts.open_shift(tables=[], by=people_[0], second=people_[1])
