"""Any number of workers, stopped anywhere: a run comes to one result, and who comes back late changes nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from django.db import DatabaseError, IntegrityError, connection
from django.utils import timezone

from casino import events, record
from deploy.local import paths
from settlement import reconciliation
from settlement.models import Break, Chunk, Result, Run
from settlement.reconciliation import Claim, Tally, chunks
from settlement.settling import round_inputs
from tests import world
from tests.races import together
from tests.races.together import Unlocked
from tests.settlement.doors import Night
from tests.settlement.reconciling import OURS, afterwards, begun, today, worked

pytestmark = pytest.mark.django_db(transaction=True)

FENCE = (" AND attempts = %(attempt)s AND owner = %(owner)s", "")


@pytest.fixture(autouse=True)
def told(settings: Any) -> None:
    """Four rounds settled; a lease is over as soon as it is given, and what is written is in the window."""
    settings.RECONCILE = settings.RECONCILE | {"margin_seconds": 0, "lease_seconds": 0}
    at = world.a_house().tables["PD01"]
    night = Night()
    for number in range(1, 5):
        world.at_terminal(at).settle(night.told(at, bets={"p1": 100_00 * number}).id)


def swept() -> int:
    return together.act(reconciliation.sweep, now=timezone.now())()


def claimed(run: Run, owner: str) -> Claim:
    (claim,) = reconciliation.claim(owner=owner, levels=OURS, run=run.id)
    return claim


def finished(claim: Claim) -> Callable[[], Any]:
    return together.act(lambda: reconciliation.finish(claim, Tally(claim.level)), now=timezone.now())


# -- controls: what happens without what is shown below ------------------------------------------------------------


def test_control_without_the_number_only_the_database_stands_before_a_late_worker() -> None:
    run = begun(levels=("R0",))
    late = claimed(run, "frozen")
    swept()
    claimed(run, "another")
    unlocked = connection.execute_wrapper(Unlocked(instead=(FENCE,)))
    with unlocked, pytest.raises(IntegrityError, match="was not finished by that claim"):
        finished(late)()


def test_control_without_the_runs_lock_nobody_closes_it() -> None:
    run = begun(levels=("R3",), size=1000)
    last = list(reconciliation.claim(owner="both", levels=OURS, limit=100, run=run.id))
    for claim in last[:-2]:
        finished(claim)()
    answers = together.at_once(
        finished(last[-2]),
        finished(last[-1]),
        behind='FROM "settlement_chunk"',
        unlocked=Unlocked(tables=("settlement_run",)),
    )
    run.refresh_from_db()
    assert (answers, run.done_at) == ([True, True], None)


# -- what holds ------------------------------------------------------------------------------------------------


def test_a_worker_that_thaws_after_its_lease_is_refused_by_its_number() -> None:
    run = begun(levels=("R0",))
    late = claimed(run, "frozen")
    assert swept() == 1
    again = claimed(run, "another")
    assert (again.chunk, again.attempt) == (late.chunk, late.attempt + 1)
    assert finished(late)() is False
    assert not Result.objects.exists()
    assert finished(again)() is True
    assert finished(late)() is False
    assert Result.objects.get().attempt == again.attempt


def test_a_worker_whose_chunk_was_given_back_is_refused_before_anybody_took_it() -> None:
    run = begun(levels=("R0",))
    late = claimed(run, "frozen")
    swept()
    assert finished(late)() is False


def test_the_last_of_two_who_finish_at_once_closes_the_run() -> None:
    run = begun(levels=("R3",), size=1000)
    last = list(reconciliation.claim(owner="both", levels=OURS, limit=100, run=run.id))
    for claim in last[:-2]:
        finished(claim)()
    answers = together.at_once(finished(last[-2]), finished(last[-1]), behind='FROM "settlement_chunk"')
    run.refresh_from_db()
    assert answers == [True, True]
    assert run.done_at is not None


def test_two_beats_begin_one_nightly_run() -> None:
    def beat() -> UUID:
        return reconciliation.begin(kind="nightly", gaming_day=today(), levels=("R0",)).id

    first, second = together.at_once(
        together.act(beat, now=afterwards()),
        together.act(beat, now=afterwards()),
        behind='INTO "settlement_run"',
    )
    assert first == second
    assert Run.objects.count() == 1


def test_many_workers_take_each_chunk_once_and_come_to_what_one_does() -> None:
    alone = worked(begun(size=1000))
    run = begun(size=1)

    def work() -> int:
        done = 0
        while reconciliation.look_on(owner=f"w{id(work)}", now=timezone.now(), request_id="race", run=run.id):
            done += 1
        return done

    answers = together.all_at_once([work] * 4)
    run.refresh_from_db()
    assert run.digest == alone.digest
    assert (
        sum(answers) == Chunk.objects.filter(run=run).count() == Result.objects.filter(chunk__run=run).count()
    )
    assert set(Chunk.objects.filter(run=run).values_list("attempts", flat=True)) == {1}


class Killed(BaseException):
    """The process is gone: nothing after this statement happens, and what was not committed is taken back."""


def test_a_worker_killed_at_any_statement_costs_a_lease_and_nothing_else() -> None:
    digest = worked(begun(levels=("R0", "R2"), size=2)).digest
    statement, was_killed = 0, True
    while was_killed:
        statement += 3
        run = begun(levels=("R0", "R2"), size=2)
        was_killed = _killed_behind(statement, run)
        for _ in range(2):
            swept()
            worked(run)
        assert (run.outcome, run.digest) == ("matched", digest), statement
    assert statement > 20, "it was killed in the middle of things"
    assert not Break.objects.exists()


def _killed_behind(statement: int, run: Run) -> bool:
    left = statement

    def count(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal left
        found = execute(sql, params, many, context)
        left -= 1
        if left == 0:
            raise Killed
        return found

    try:
        with connection.execute_wrapper(count):
            for _ in range(4):
                reconciliation.look_on(owner="killed", now=timezone.now(), request_id="race", run=run.id)
    except Killed:
        connection.close()
        return True
    return False


def test_a_chunk_that_fails_five_times_is_poisoned_and_the_run_says_what_it_did_not_see() -> None:
    run = begun(levels=("R3",), size=1000)
    doomed = claimed(run, "w")
    for attempt in range(1, reconciliation.ATTEMPTS + 1):
        assert doomed.attempt == attempt
        gave_up(doomed)
        if attempt < reconciliation.ATTEMPTS:
            (doomed,) = (
                one
                for one in reconciliation.claim(owner="w", levels=OURS, limit=9, run=run.id)
                if one.chunk == doomed.chunk
            )
            swept_back(doomed)
    worked(run)
    assert (run.outcome, run.report["verified_through"]) == ("incomplete", None)
    assert run.report["unseen"] == [[f"R3 {doomed.part} {doomed.lower}-{doomed.upper}", "poisoned"]]
    assert Break.objects.get().code == "POISONED"
    assert worked(begun(levels=("R3",), size=1000)).outcome == "matched"
    assert Break.objects.get().state == "matched", "what was poisoned has been looked at"


def gave_up(claim: Claim) -> None:
    together.act(lambda: reconciliation.failed(claim, trouble="out of memory"), now=timezone.now())()


def swept_back(kept: Claim) -> None:
    """Give every other claim of this moment back, as their leases are over."""
    others = Chunk.objects.filter(state="claimed").exclude(pk=kept.chunk)
    for other in others:
        Chunk.objects.filter(pk=other.pk).update(state="waiting", owner="", lease_until=None)


def test_a_run_whose_process_was_killed_is_taken_up_by_the_next(dsn: str, settings: Any) -> None:
    environment = os.environ | {
        "DATABASE_URL": dsn,
        "REDIS_URL": settings.REDIS_URL,
        "RECONCILE_MARGIN_SECONDS": "0",
        "RECONCILE_LEASE_SECONDS": "1",
    }
    command = [
        sys.executable, "manage.py", "reconcile", "--day", today().isoformat(), "--levels", "R0,R1,R2",
        "--chunk", "1", "--json",
    ]  # fmt: skip
    first = subprocess.Popen(
        command, cwd=paths.CLONE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    until = time.monotonic() + together.PATIENCE * 3
    while not Result.objects.exists():
        assert time.monotonic() < until, first.stderr and first.stderr.read()
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    run = Run.objects.get()
    assert run.done_at is None, "it was killed in the middle"
    second = subprocess.run(
        command, cwd=paths.CLONE, env=environment, capture_output=True, timeout=100, check=False
    )
    run.refresh_from_db()
    assert (second.returncode, run.outcome) == (0, "matched"), second.stderr
    assert run.digest in second.stdout.decode()
    assert Result.objects.count() == Chunk.objects.count()


def test_the_bell_rings_when_the_run_is_committed_and_not_before() -> None:
    rung: list[bool] = []
    before = list(reconciliation.runs._ringer)
    reconciliation.ring_with(lambda: rung.append(connection.in_atomic_block))
    try:
        with events.act(actor=events.SERVICE, request_id="race", now=afterwards()):
            reconciliation.begin(kind="asked", gaming_day=today(), levels=("R3",))
            assert rung == []
        assert rung == [False]
    finally:
        reconciliation.runs._ringer[:] = before


# -- a machine that is busy with something else --------------------------------------------------------------------


@contextmanager
def slow_folding(settings: Any, between: Callable[[], Any]) -> Iterator[list[int]]:
    """Folding a round takes longer than the database lets a transaction idle, and half a lease; ``between`` happens
    meanwhile. Yields how many rounds were folded."""
    settings.RECONCILE = settings.RECONCILE | {"lease_seconds": 1}
    folded: list[int] = []

    def slowly(*told: Any, **how: Any) -> Any:
        folded.append(len(folded))
        time.sleep(0.5)
        between()
        return record.fold(*told, **how)

    connection.ensure_connection()
    connection.cursor().execute("SET idle_in_transaction_session_timeout = '200ms'")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(round_inputs, "record", SimpleNamespace(fold=slowly, to_json=record.to_json))
        yield folded


def test_control_a_claim_that_nobody_prolongs_is_given_back_while_it_is_compared(settings: Any) -> None:
    run = begun(levels=("R1",), size=1000)
    swept_away: list[int] = []
    with slow_folding(settings, lambda: swept_away.append(swept())), pytest.MonkeyPatch.context() as patched:
        patched.setattr(chunks, "prolong", lambda claim: True)
        look = reconciliation.look_on(owner="slow", now=timezone.now(), request_id="race", run=run.id)
    assert look is not None
    assert not look.taken_in
    assert sum(swept_away) == 1


def test_a_slow_machine_compares_a_day_slower_and_gives_nothing_up(settings: Any) -> None:
    digest = worked(begun(levels=("R1",), size=1000)).digest
    run = begun(levels=("R1",), size=1000)
    swept_away: list[int] = []
    with slow_folding(settings, lambda: swept_away.append(swept())) as folded:
        worked(run)
    assert (run.outcome, run.digest) == ("matched", digest)
    assert (len(folded), sum(swept_away)) == (4, 0)
    assert set(Chunk.objects.filter(run=run).values_list("attempts", flat=True)) == {1}


def test_a_claim_that_was_lost_is_not_prolonged(settings: Any) -> None:
    run = begun(levels=("R0",))
    late = claimed(run, "frozen")
    swept()
    assert chunks.prolong(late) is False
    again = claimed(run, "another")
    assert chunks.prolong(late) is False
    assert chunks.prolong(again) is True


@pytest.mark.parametrize(
    "forged",
    [
        "owner = 'thief'",
        "attempts = attempts + 1",
        "lease_until = lease_until - interval '1 s'",
        "upper = upper + 1",
    ],
)
def test_prolonging_a_claim_changes_nothing_but_its_end(forged: str) -> None:
    claimed(begun(levels=("R0",)), "holder")
    with pytest.raises(DatabaseError), connection.cursor() as cursor:
        cursor.execute(f"UPDATE settlement_chunk SET {forged} WHERE state = 'claimed'")
