"""The log compared by a run: each act has its entry, each entry its leaf, and the trees that were signed are ours."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from audit import tasks
from audit.checkpoints import Store
from audit.models import Checkpoint
from casino import events
from settlement import days, reconciliation
from settlement.models import Break, Chunk, Run
from tests import world
from tests.audit import sealing
from tests.database import Connection
from tests.settlement.doors import Night

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def store(tmp_path: Path, settings: Any) -> Store:
    found = sealing.a_store(tmp_path)
    settings.CHECKPOINT_FOLDER, settings.SEAL_KEY_FILE = str(found.folder), str(found.key_file)
    settings.RECONCILE = settings.RECONCILE | {"margin_seconds": 0}
    return found


@pytest.fixture
def settled(store: Store) -> UUID:
    """A round settled, and all that was done for it sealed."""
    at = world.a_house().tables["PD01"]
    told = Night().told(at)
    world.at_terminal(at).settle(told.id)
    sealing.sealed(store)
    return UUID(str(told.id))


def compared(*, sealed_by: Store | None = None) -> Run:
    now = timezone.now()
    run = events.attempt(
        lambda _: reconciliation.begin(kind="asked", gaming_day=days.of(now), levels=("R5",), chunk_size=3),
        actor=events.SERVICE,
        request_id="test",
        now=now,
    )
    if sealed_by is not None:
        sealing.sealed(sealed_by)
    while tasks.compare_log():
        pass
    run.refresh_from_db()
    return run


def changed(administrator: Connection, table: str, statement: str, *parameters: object) -> None:
    administrator.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    administrator.execute(statement, parameters)
    administrator.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def test_a_sealed_night_agrees_with_its_log(settled: UUID) -> None:
    run = compared()
    assert (run.outcome, run.report["unseen"]) == ("matched", []), run.report
    assert run.report["compared"] > 10
    assert set(Chunk.objects.filter(run=run).values_list("part", flat=True)) == {"acts", "tree"}


def test_only_the_logs_own_worker_takes_chunks_of_the_log(settled: UUID) -> None:
    compared()
    now = timezone.now()
    events.attempt(
        lambda _: reconciliation.begin(kind="asked", gaming_day=days.of(now), levels=("R5",)),
        actor=events.SERVICE,
        request_id="test",
        now=now,
    )
    assert reconciliation.look_on(owner="another", now=now, request_id="test") is None


def test_an_entry_waits_for_its_leaf_for_a_while_and_not_longer(settled: UUID, settings: Any) -> None:
    with world.acting():
        world.a_wallet(ref="A17", amount=100)
    run = compared()
    assert run.report["pending"] > 0
    assert run.outcome == "matched"
    with world.acting(now=timezone.now() - timedelta(seconds=settings.RECONCILE["seal_lag_seconds"] + 1)):
        events.announce([events.Fact("log.read", "log", {"entries": 0})])
    run = compared()
    assert run.report["broken"] == {"SEAL_LAG": 1}


def test_an_entry_whose_bytes_were_changed_is_not_its_leaf(settled: UUID, administrator: Connection) -> None:
    changed(
        administrator,
        "audit_leaf",
        "UPDATE audit_leaf SET leaf_hash = sha256('x') WHERE entry_id = (SELECT max(id) FROM audit_logentry"
        " WHERE action = 'round.settled')",
    )
    assert compared().report["broken"]["LEAF_DIFF"] == 1


def test_an_act_without_its_entry_is_named(settled: UUID, administrator: Connection) -> None:
    changed(administrator, "audit_leaf", "DELETE FROM audit_leaf WHERE entry_id = (SELECT max(id) FROM audit_logentry"
                                         " WHERE action = 'round.settled')")  # fmt: skip
    changed(administrator, "audit_logentry", "DELETE FROM audit_logentry WHERE action = 'round.settled'")
    broken = compared().report["broken"]
    assert broken["MISSING_SOURCE"] == 2, "the journal and the settlement"
    assert broken["PROOF_FAIL"] >= 1, "and the tree lacks a leaf"


def test_an_entry_without_its_row_is_named(settled: UUID, administrator: Connection) -> None:
    for table in ("settlement_line", "settlement_settlement"):
        changed(administrator, table, f"DELETE FROM {table}")
    assert compared().report["broken"] == {"MISSING_LEDGER": 1}


def test_a_tree_that_was_signed_otherwise_is_a_fork(settled: UUID, administrator: Connection) -> None:
    changed(administrator, "audit_checkpoint", "UPDATE audit_checkpoint SET root = sha256('another')")
    found = compared().report["broken"]
    assert found == {"FORK": 1}
    assert Break.objects.get().subject == f"checkpoints/{Checkpoint.objects.get().size}"


def test_an_exported_tree_that_is_ahead_of_ours_is_a_fork(settled: UUID, store: Store) -> None:
    size = Checkpoint.objects.get().size
    kept = store.folder / f"pokdeng-{size:020d}.note"
    ahead = kept.read_text().replace(f"\n{size}\n", f"\n{size + 5}\n")
    (store.folder / f"pokdeng-{size + 5:020d}.note").write_text(ahead)
    assert compared().report["broken"] == {"FORK": 1}


def test_what_cannot_be_looked_at_is_not_called_clean(settled: UUID, store: Store, settings: Any) -> None:
    for note in store.folder.glob("*.note"):
        note.unlink()
    run = compared()
    assert (run.outcome, run.report["unseen"]) == (
        "incomplete",
        [["the exported checkpoint", "there is none yet"]],
    )
