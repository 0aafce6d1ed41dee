"""What people complained of elsewhere: a task that runs twice, a slow writer, books that do not balance."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.core.management import call_command
from django.utils import timezone

from casino import tables
from settlement import ledger, reconciliation, tasks
from settlement.ledger import NewJournal, Posting
from settlement.models import Journal, Run
from tests import world
from tests.database import Connection
from tests.races import together
from tests.settlement.doors import Night
from tests.settlement.reconciling import afterwards, begun, reconciled, today, worked
from tests.world import AtTable

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_margin(settings: Any) -> None:
    settings.RECONCILE = settings.RECONCILE | {"margin_seconds": 0}


def a_fill(key: str, *, table: str, amount: int) -> NewJournal:
    return NewJournal(
        kind="fill",
        key=key,
        gaming_day=today(),
        currency="THB",
        postings=(Posting(f"suspense:chips:{table}", -amount), Posting(f"variance:{table}", amount)),
    )


@pytest.fixture
def two_tables() -> None:
    with world.acting():
        for code in ("PD01", "PD02"):
            tables.add(code=code, currency="THB", camera=False)


def posted(key: str, *, table: str, amount: int) -> UUID:
    return ledger.post([a_fill(key, table=table, amount=amount)])[0]


def test_task_runs_twice(at: AtTable, night: Night) -> None:
    """The worker is killed after its commit and before it said so; the message comes again."""
    told = night.told(at)
    assert [tasks.sweep(), tasks.sweep()] == [1, 0]
    assert Journal.objects.filter(round=told.id).count() == 1
    with world.acting():
        first = posted("fill:1", table="PD01", amount=500)
    with world.acting():
        assert posted("fill:1", table="PD01", amount=500) == first
    run = begun(levels=("R0",), size=1000)
    tasks.compare()
    tasks.compare()
    digest = worked(run).digest
    tasks.compare()
    run.refresh_from_db()
    assert (run.digest, Run.objects.count()) == (digest, 1)


@pytest.mark.usefixtures("two_tables")
def test_slow_writer(settings: Any) -> None:
    """A is open with lower ids, B commits higher ones, a run is begun, A commits: the balance has A, and so has the
    next run; the first did not look where A was still being written."""
    settings.RECONCILE = settings.RECONCILE | {"margin_seconds": 1}
    seen: list[Run] = []

    def second() -> int:
        together.act(lambda: posted("fill:b", table="PD02", amount=70), now=timezone.now())()
        seen.append(worked(begun(levels=("R0",), now=timezone.now())))
        return seen[0].report["levels"]["R0"]["compared"]

    slow = together.act(lambda: posted("fill:a", table="PD01", amount=50), now=timezone.now())
    together.at_once(slow, second, behind="INSERT INTO settlement_journal")
    assert ledger.balances(["variance:PD01"])["variance:PD01"].balance == 50
    (run,) = seen
    a = Journal.objects.get(key="fill:a")
    assert run.outcome == "matched"
    assert run.until < a.recorded_at
    whole = reconciled(levels=("R0",))
    assert (whole.outcome, whole.report["levels"]["R0"]["compared"]) == ("matched", 2 + 4 + 1)


UNBALANCED = """
WITH journal AS (
    INSERT INTO settlement_journal (id, kind, key, gaming_day, currency, entry_count, recorded_at)
    VALUES (gen_random_uuid(), 'fill', 'unbalanced', '2026-03-01', 'THB', 2, now()) RETURNING id)
INSERT INTO settlement_entry (journal_id, ordinal, account_id, amount, currency, version, balance_after, wager)
SELECT journal.id, n.ordinal, (SELECT id FROM settlement_account WHERE code = 'variance:PD01'), n.amount, 'THB',
       2 + n.ordinal, 0, ''
  FROM journal CROSS JOIN (VALUES (0, 3), (1, -2)) AS n (ordinal, amount)
"""


@pytest.mark.usefixtures("two_tables")
def test_unbalanced_by_sql(dsn: str, owner: Connection) -> None:
    """Entries that add up to 1 are refused by the database itself, whoever asks."""
    with world.acting():
        posted("fill:1", table="PD01", amount=500)
    with psycopg.connect(dsn) as application:
        for connection in (application, owner):
            with pytest.raises(psycopg.errors.CheckViolation) as refused:
                connection.execute(UNBALANCED)
            assert refused.value.sqlstate == "23514"
    assert reconciled(levels=("R0",)).outcome == "matched"


def test_a_run_of_a_day_that_just_ended_waits_for_its_time(settings: Any) -> None:
    assert afterwards() > timezone.now()
    with world.acting(now=afterwards()):
        first = reconciliation.begin_nightly()
    with world.acting(now=afterwards()):
        assert reconciliation.begin_nightly() == first
    assert first is not None
    assert (first.kind, first.gaming_day) == ("nightly", today())
    settings.RECONCILE = settings.RECONCILE | {"nightly_after_minutes": 61}
    with world.acting(now=afterwards()):
        assert reconciliation.begin_nightly() is None


def exit_code(**options: Any) -> int:
    with pytest.raises(SystemExit) as ended:
        call_command("reconcile", day=today(), **options)
    return int(ended.value.code or 0)


@pytest.mark.usefixtures("two_tables")
def test_the_command_says_by_its_exit_whether_the_books_agree(
    administrator: Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    with world.acting():
        posted("fill:1", table="PD01", amount=500)
    assert exit_code(levels="R0,R3", chunk=1) == 0
    said = capsys.readouterr().out
    assert Run.objects.get().digest in said
    administrator.execute("UPDATE settlement_account SET balance = balance + 5 WHERE code = 'variance:PD01'")
    assert exit_code(levels="R0") == 1
    assert "BALANCE_DRIFT 2" in capsys.readouterr().out


@pytest.mark.usefixtures("two_tables")
def test_the_command_says_when_nobody_compared_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    with world.acting():
        posted("fill:1", table="PD01", amount=500)
    assert exit_code(levels="R5", wait=0) == 2
    assert "not finished" in capsys.readouterr().err
