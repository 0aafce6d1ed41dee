"""Screens asked to look at a gaming day: once, again, in pieces, and never at a day that still runs."""

from __future__ import annotations

import io
import itertools
import random
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit import analytics, tasks
from audit.analytics import day_reader
from audit.models import Analysis, AnalysisResult, Flag, LogEntry
from audit.statistics.round_sample import Late, PutRight, Seat
from casino.models import Person
from casino.platform.refusals import Refusal
from settlement import days
from tests import world
from tests.audit.test_analytics_decks import dealt, plays
from tests.database import Connection
from tests.settlement.books import taken_back
from tests.settlement.floor import NOW, a_table, act, outcome

DAY = date(2026, 3, 1)
AFTER = NOW + timedelta(days=1)

pytestmark = pytest.mark.django_db


_seconds = itertools.count()


def asked(day: date = DAY) -> list[Analysis]:
    """Ask for a day, each time a second later."""
    with act(now=AFTER + timedelta(seconds=next(_seconds))):
        return analytics.ask(day=day)


def done(day: date = DAY, *, chunk: int = 500) -> dict[str, AnalysisResult]:
    """Let the screens that are due look at a day; their newest results."""
    now = AFTER + timedelta(seconds=next(_seconds))
    analytics.work_on(day=day, now=now, request_id="looks", chunk=chunk)
    return {row.screen: result for row, result in analytics.newest(day=day) if result is not None}


def read(day: date = DAY) -> list[Any]:
    return list(day_reader.played(day, day_reader.of_day(day)))


# -- rounds as the screens see them ------------------------------------------------------------------------


def test_a_round_is_seen_with_its_hands_stakes_and_times() -> None:
    table = a_table()
    round_id = table.tell(
        """
        bet w1 p1 100
        bet w2 p2 200
        lock
        p1 stays
        p2 draws
        p1 3S 4D
        p2 2S 2D 5C
        check p1
        dealer draws
        dealer AC 2H 6D
        close
        """
    )
    assert outcome(round_id) == "settled"
    (one,) = read()
    assert (one.table, one.number, one.dealt_by, one.hour) == ("PD01", 1, str(table.dealer.id), 20)
    assert one.seats == (Seat("p1", 2, True, False), Seat("p2", 3, False, False))
    assert (one.draws, one.dealer_draws) == (((7, False), (4, True)), ((3, True),))
    assert [(stake.owner, stake.amount, stake.brought) for stake in one.stakes] == [
        ("seat:1", 10_000, 10_000),
        ("seat:2", 20_000, 0),
    ]
    assert one.steps == (1_000, 8_000, 3_000, 1_000, 16_000)
    assert one.cards_seen.bit_count() == 8


def test_a_late_raise_and_a_mispay_are_seen_with_what_they_were_about() -> None:
    table = a_table()
    round_id = table.tell(
        """
        bet w1 p1 100
        lock
        p1 3S 4D
        change w1 600
        dealer KC 6D
        p1 stays
        dealer stays
        mispay w1 300 100 signed
        close
        """
    )
    assert outcome(round_id) == "settled"
    (one,) = read()
    assert one.late == (Late("w1", "seat:1", "p1", True, 3_000, 1),)
    assert one.put_right == (PutRight("seat:1", 30_000, 10_000, 1),)


def test_a_mispay_that_nobody_signed_is_none(settings: Any) -> None:
    settings.SIGNATURES = "required"
    table = a_table()
    hand = "bet w1 p1 100\nlock\np1 3S 4D\ndealer KC 6D\np1 stays\ndealer stays\n"
    round_id = table.tell(hand + "mispay w1 300 100\nclose")
    assert outcome(round_id) == "settled"
    (one,) = read()
    assert one.put_right == ()


def test_mispay_on_the_layout() -> None:
    """300 paid where 200 was due: put right it moves no money, stays flagged, and counts in the dealer's rate."""
    table = a_table()
    text = """
        bet w1 p1 100
        lock
        p1 3S 4S
        dealer KC 6D
        p1 stays
        dealer stays
        mispay w1 300 200 signed
        close
        """
    round_id = table.tell(text)
    assert outcome(round_id) == "settled"
    assert [line.net for line in settled_lines(round_id)] == [20_000]
    asked()
    mispays = done()["mispays"].body
    assert mispays["counts"]["errors"] == {f"people/{table.dealer.id}": 1}
    assert mispays["sample"] == {"lines": 1, "errors": 1, "over_days": 1}
    assert {"money": f"people/{table.dealer.id} THB", "over": 10_000, "under": 0} in mispays["figures"]


def settled_lines(round_id: UUID) -> list[Any]:
    from settlement import settling
    from settlement.models import Line

    return list(Line.objects.filter(settlement=settling.effective(round_id)))


# -- a run -------------------------------------------------------------------------------------------------


def an_evening() -> None:
    table, chance = a_table(), random.Random(3)
    for number in range(6):
        plays(table, dealt(chance), at=NOW + timedelta(minutes=number))


def test_a_day_that_still_runs_is_not_looked_at() -> None:
    with pytest.raises(Refusal, match="day_not_over"), act(now=NOW):
        analytics.ask(day=DAY)
    assert not Analysis.objects.exists()


def test_each_screen_leaves_one_row_and_one_result_that_the_log_tells_of() -> None:
    an_evening()
    asked()
    found = done()
    assert set(found) == set(analytics.SCREENS)
    assert {result.rounds for result in found.values()} == {6}
    told = LogEntry.objects.filter(action="analysis.done").values_list("subject", flat=True)
    assert set(told) == {f"analytics/{DAY}/{screen}" for screen in analytics.SCREENS}
    assert analytics.due_days() == []


def test_asked_again_it_comes_to_the_same_digest_and_adds_nothing() -> None:
    an_evening()
    asked()
    first = done()
    asked()
    assert analytics.due_days() == [DAY]
    again = done(chunk=2)
    assert {name: result.pk for name, result in again.items()} == {
        name: result.pk for name, result in first.items()
    }
    assert set(Analysis.objects.values_list("repeats", flat=True)) == {1}
    assert LogEntry.objects.filter(action="analysis.repeated").count() == len(analytics.SCREENS)


def test_what_was_settled_meanwhile_makes_another_revision() -> None:
    table, chance = a_table(), random.Random(3)
    plays(table, dealt(chance), at=NOW)
    asked()
    done()
    plays(table, dealt(chance), at=NOW + timedelta(minutes=1))
    asked()
    found = done()
    assert (found["cards"].revision, found["cards"].rounds) == (2, 2)
    assert AnalysisResult.objects.filter(analysis__screen="cards").count() == 2


def test_killed_between_two_screens_the_rest_is_still_due(monkeypatch: pytest.MonkeyPatch) -> None:
    an_evening()
    asked()
    whole = {name: result.digest for name, result in done().items()}
    with taken_back():
        asked()
        write, left = analytics.runs._write, [3]

        def dies(*given: Any, **more: Any) -> AnalysisResult:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return write(*given, **more)

        monkeypatch.setattr("audit.analytics.runs._write", dies)
        with pytest.raises(KeyboardInterrupt):
            done()
        monkeypatch.undo()
        assert Analysis.objects.filter(repeats=1).count() == 3
        assert analytics.due_days() == [DAY]
        assert {name: result.digest for name, result in done().items()} == whole
        assert set(Analysis.objects.values_list("repeats", flat=True)) == {1}


def test_while_one_looks_at_a_day_another_does_not(dsn: str) -> None:
    an_evening()
    asked()
    with psycopg.connect(dsn, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [f"analytics:{DAY}"])
        assert done() == {}
        other.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [f"analytics:{DAY}"])
    assert set(done()) == set(analytics.SCREENS)


def test_ended_days_are_asked_for_once_by_themselves() -> None:
    an_evening()
    for _ in range(2):
        with act(now=AFTER):
            days = analytics.ask_for_ended_days()
    assert days == []
    assert set(Analysis.objects.values_list("gaming_day", flat=True)) == {DAY}
    assert LogEntry.objects.filter(action="analysis.asked").count() == 1


def test_the_tasks_do_what_waits_and_nothing_when_nothing_does() -> None:
    an_evening()
    asked()
    assert tasks.analyse() == len(analytics.SCREENS)
    assert tasks.analyse() == 0
    assert tasks.ask_analytics() == []
    assert tasks.watch_decks() == []


def test_what_goes_on_for_days_is_one_flag() -> None:
    """An alarm of the day before keeps its beginning; one that paused begins anew."""
    table = a_table()
    slow = "bet w1 p1 100\nlock\np1 3S 4D\ndealer KC 6D\np1 stays\ndealer stays\nclose"
    for day in range(3):
        for number in range(5):
            at = NOW + timedelta(days=day, minutes=10 * number + 5)
            round_id = table.tell(slow, at=at)
            assert outcome(round_id, now=at + timedelta(seconds=5)) == "settled"
    for looked_at in (DAY, DAY + timedelta(days=1)):
        with act(now=NOW + timedelta(days=3)):
            analytics.ask(day=looked_at)
        pace = done(looked_at)["pace"]
        assert [(alarm["detail"]["ms"], alarm["since"]) for alarm in pace.body["alarms"]] == [
            (9_000, DAY.isoformat())
        ]
    assert list(Flag.objects.filter(kind="pace").values_list("subject", flat=True)) == [
        f"tables/PD01#21@{DAY}"
    ]


def test_reading_takes_the_same_statements_for_few_rounds_and_for_many() -> None:
    an_evening()
    ids = day_reader.of_day(DAY)
    counts = []
    for some in (ids[:1], ids):
        with CaptureQueriesContext(connection) as ran:
            list(day_reader.played(DAY, some))
        counts.append(len(ran))
    assert counts == [4, 4]


# -- doors and the command ---------------------------------------------------------------------------------


def signed_in(role: str) -> Client:
    client = Client()
    person, _ = Person.objects.get_or_create(badge=role, defaults={"display_name": role, "role": role})
    client.force_login(person)
    return client


def test_a_day_is_asked_for_read_and_told_by_screen() -> None:
    an_evening()
    # The doors read the clock; the day of the evening is long over.
    body = f'{{"gaming_day":"{DAY}"}}'
    manager = signed_in("manager")
    answer = manager.post(
        "/api/v1/analytics/runs", body, content_type="application/json", headers={"Idempotency-Key": "again"}
    )
    assert answer.status_code == 202, answer.content
    assert {row["done_at"] for row in answer.json()["screens"]} == {None}
    tasks.analyse()

    listed = signed_in("auditor").get(f"/api/v1/analytics?gaming_day={DAY}").json()
    assert [row["screen"] for row in listed["screens"]] == sorted(analytics.SCREENS)
    assert {(row["rounds"], row["revision"]) for row in listed["screens"]} == {(6, 1)}
    decks = signed_in("surveillance").get(f"/api/v1/analytics/decks?gaming_day={DAY}").json()
    assert decks["sample"] == {"rounds": 6, "decks": 1, "cards_a_round": 18}
    assert (decks["power"], decks["expected"], decks["findings"]) == (
        {"limit": "0.02", "rounds": 19},
        "0.034",
        [],
    )


@pytest.mark.parametrize(
    ("address", "status"),
    [
        (f"/api/v1/analytics/decks?gaming_day={DAY}", 404),
        (f"/api/v1/analytics/nothing?gaming_day={DAY}", 404),
        ("/api/v1/analytics?gaming_day=yesterday", 400),
        ("/api/v1/analytics", 400),
        (f"/api/v1/analytics/decks/{UUID(int=7)}/rounds", 404),
    ],
)
def test_what_is_not_there_is_said_to_be_so(address: str, status: int) -> None:
    world.founded(at=NOW)
    assert signed_in("auditor").get(address).status_code == status


def test_a_running_day_is_refused_at_the_door() -> None:
    answer = signed_in("auditor").post(
        "/api/v1/analytics/runs", f'{{"gaming_day":"{days.of(timezone.now())}"}}', content_type="application/json",
        headers={"Idempotency-Key": "k"},
    )  # fmt: skip
    assert (answer.status_code, answer.json()["code"]) == (409, "day_not_over")


def printed(*options: str) -> str:
    out = io.StringIO()
    call_command("analytics", "--day", str(DAY), *options, stdout=out)
    return out.getvalue()


def test_the_command_prints_every_screen_and_what_it_found() -> None:
    an_evening()
    told = printed()
    assert all(screen in told for screen in analytics.SCREENS)
    assert "usual_pok_bp 1900" in told
    assert printed("--again") == told
    assert "โดยบังเอิญ" in printed("--language", "th")
    assert set(Analysis.objects.values_list("repeats", flat=True)) == {1}


def test_the_command_knows_no_such_day() -> None:
    today = days.of(timezone.now()).isoformat()
    with pytest.raises(CommandError, match=r"^--day 'yesterday': a day, 2026-03-01$"):
        call_command("analytics", "--day", "yesterday")
    with pytest.raises(CommandError, match=f"^--day '2999-01-01': {today} to {today}$"):
        call_command("analytics", "--day", "2999-01-01")
    with pytest.raises(CommandError, match="not over yet"):
        call_command("analytics", "--day", today)


TWICE = (
    "INSERT INTO audit_analysis (screen, gaming_day, asked_at, repeats)"
    " SELECT screen, gaming_day, asked_at, 0 FROM audit_analysis"
)


@pytest.mark.parametrize(
    ("attack", "met"),
    [
        ("UPDATE audit_analysisresult SET alarms = 0", "PD001"),
        ("DELETE FROM audit_analysisresult", "PD001"),
        ("TRUNCATE audit_analysisresult", "PD001"),
        ("DELETE FROM audit_analysis", "PD001"),
        ("TRUNCATE audit_analysis CASCADE", "PD001"),
        ("UPDATE audit_analysis SET repeats = -1", "23514"),
        (TWICE, "23505"),
    ],
)  # fmt: skip
@pytest.mark.django_db(transaction=True)
def test_what_was_found_stays_whoever_would_change_it(
    attack: str, met: str, dsn: str, owner: Connection
) -> None:
    an_evening()
    asked()
    done()
    with psycopg.connect(dsn, autocommit=True) as application:
        refused = {sqlstate(application, attack), sqlstate(owner, attack)}
    assert refused <= {met, "42501"}
    assert met in refused


def sqlstate(connection: Connection, attack: str) -> str:
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(attack)
    except psycopg.Error as error:
        return error.sqlstate or ""
    return "done"
