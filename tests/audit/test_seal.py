"""Entries get their leaves in the order of their transactions, and checkpoints are signed only of a tree that grew."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from audit import merkle, seal, signed_notes
from audit.checkpoints import Store
from audit.models import Checkpoint, Frontier, Leaf, LogEntry, Subtree
from casino import events
from casino.events import Fact
from deploy.local import paths as place
from tests.database import Connection

pytestmark = pytest.mark.django_db(transaction=True)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@contextmanager
def the_sealer() -> Iterator[None]:
    """Act as the sealer's role: the application may not number leaves."""
    before = {key: connection.settings_dict[key] for key in ("USER", "PASSWORD")}
    connection.close()
    connection.settings_dict.update(
        USER="pokdeng_sealer", PASSWORD=place.read("secrets.json")["pokdeng_sealer"]
    )
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(before)


def entries(count: int, *, action: str = "books.checked") -> None:
    with events.act(actor=events.SERVICE, request_id="test", now=NOW):
        events.announce([Fact(action, f"books/{place}", {"place": place}) for place in range(count)])


def number_once(limit: int = seal.MOST) -> int:
    with the_sealer():
        return seal.number(now=NOW, limit=limit)


def number_all(limit: int = seal.MOST) -> int:
    """Number until no entry waits: a writer in any database of the cluster may hold the horizon back a moment."""
    total = 0
    until = time.monotonic() + 20
    while Leaf.objects.count() < LogEntry.objects.count():
        total += number_once(limit)
        assert time.monotonic() < until, "entries wait for their leaves"
    return total


def until_all_are_below_the_horizon() -> None:
    """Wait until no other writer of the cluster is older than the newest entry."""
    until = time.monotonic() + 20
    with connection.cursor() as cursor:
        while True:
            cursor.execute("SELECT max(xid) < pg_snapshot_xmin(pg_current_snapshot()) FROM audit_logentry")
            if cursor.fetchone()[0]:
                return
            assert time.monotonic() < until, "an old writer holds the horizon back"
            time.sleep(0.05)


def leaves() -> list[bytes]:
    return [bytes(leaf.leaf_hash) for leaf in Leaf.objects.order_by("index")]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    return Store(folder=folder, key_file=tmp_path / "sealer" / "key")


def sign(store: Store) -> signed_notes.Head | None:
    with the_sealer():
        return seal.sign_checkpoint(store=store, now=NOW)


def test_entries_are_numbered_without_gaps_in_the_order_of_their_transactions() -> None:
    for _ in range(3):
        entries(4)
    assert number_all(limit=5) == 12
    found = list(Leaf.objects.order_by("index").values_list("index", "entry_id"))
    in_order = list(LogEntry.objects.order_by("xid", "id").values_list("id", flat=True))
    assert found == list(enumerate(in_order))
    assert seal.head().root == merkle.root(leaves())
    assert number_once() == 0


def test_transactions_are_ordered_as_numbers_also_where_a_digit_is_added(owner: Connection) -> None:
    entries(3)
    owner.execute("ALTER TABLE audit_logentry DISABLE TRIGGER USER")
    for xid, entry in zip(("9", "10", "101"), LogEntry.objects.order_by("id"), strict=True):
        owner.execute("UPDATE audit_logentry SET xid = %s::xid8 WHERE id = %s", [xid, entry.id])
    number_all(limit=1)
    in_order = Leaf.objects.order_by("index").values_list("entry__xid", flat=True)
    assert list(in_order) == [9, 10, 101]


def test_a_slow_writer_keeps_its_place_and_nothing_is_numbered_past_it(dsn: str) -> None:
    with psycopg.connect(dsn) as slow:
        slow.execute("SELECT pg_current_xact_id()")
        slow.execute("SELECT nextval('audit_logentry_id_seq')")
        entries(2)  # committed, with a higher transaction number than the one that is still open
        assert number_once() == 0
        slow.rollback()
    assert number_all() == 2


def test_without_the_horizon_a_slow_writer_is_skipped(dsn: str) -> None:
    """The control: a sealer that remembers the last id it saw never sees the lower one that commits later."""
    with psycopg.connect(dsn) as slow:
        slow.execute("SELECT pg_current_xact_id()")
        (reserved,) = slow.execute("SELECT nextval('audit_logentry_id_seq')").fetchone() or (0,)
        entries(2)
        last_seen = max(LogEntry.objects.values_list("id", flat=True))
        slow.rollback()
    assert reserved < last_seen


def test_two_sealers_never_fork() -> None:
    entries(500)
    gate = threading.Barrier(2)
    failures: list[Exception] = []

    def run() -> None:
        try:
            gate.wait()
            while seal.number(now=NOW, limit=50) > 0:
                pass
        except Exception as fault:  # noqa: BLE001 - told below
            failures.append(fault)
        finally:
            connection.close()

    with the_sealer():
        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    number_all()
    assert failures == []
    assert list(Leaf.objects.order_by("index").values_list("index", flat=True)) == list(range(500))
    assert seal.head().root == merkle.root(leaves())


@pytest.mark.parametrize("count", [1, 2, 255, 256, 257, 511, 513, 1000])
def test_proofs_from_kept_subtrees_are_those_of_the_whole_tree(count: int) -> None:
    entries(count)
    number_all(limit=300)
    whole = leaves()
    root = merkle.root(whole)
    assert Subtree.objects.filter(height=8).count() == count // 256
    for index in {0, count // 2, count - 1}:
        proof = seal.inclusion(index, size=count)
        merkle.check_inclusion(leaf=whole[index], index=index, size=count, proof=proof, root=root)
    for old in {1, (count + 1) // 2, count}:
        assert seal.root_at(old) == merkle.root(whole[:old])
        proof = seal.consistency(old, size=count)
        merkle.check_consistency(
            old=old, size=count, old_root=merkle.root(whole[:old]), root=root, proof=proof
        )


def test_the_empty_tree_proves_nothing() -> None:
    entries(1)
    number_all()
    for ask in (
        lambda: seal.root_at(0),
        lambda: seal.consistency(0, size=1),
        lambda: seal.inclusion(1, size=1),
    ):
        with pytest.raises(merkle.BadProof):
            ask()


def test_numbering_takes_the_same_statements_for_one_entry_and_for_a_thousand(
    django_assert_num_queries: Callable[[int], AbstractContextManager[object]],
) -> None:
    entries(1)
    until_all_are_below_the_horizon()
    with the_sealer(), django_assert_num_queries(8):  # six, and the transaction's two
        seal.number(now=NOW)
    entries(200)
    until_all_are_below_the_horizon()
    with the_sealer(), django_assert_num_queries(8):
        seal.number(now=NOW)


@pytest.mark.full
@pytest.mark.timeout(300)
def test_a_hundred_thousand_entries_are_caught_up_in_under_a_minute() -> None:
    for _ in range(100):
        entries(1_000)
    began = time.monotonic()
    assert number_all() == 100_000
    assert time.monotonic() - began < 60
    assert seal.head().size == 100_000


def test_the_application_numbers_no_leaf_and_signs_nothing() -> None:
    entries(1)
    with pytest.raises(Exception, match="permission denied"):
        seal.number(now=NOW)


@pytest.mark.parametrize("table", ["audit_leaf", "audit_subtree", "audit_checkpoint"])
@pytest.mark.parametrize(
    "attack", ["UPDATE {} SET origin = 'other'", "DELETE FROM {}", "TRUNCATE {} CASCADE"]
)
def test_the_tree_is_never_changed_not_by_its_owner_either(
    owner: Connection, store: Store, table: str, attack: str
) -> None:
    entries(256)
    number_all()
    sign(store)
    with pytest.raises(psycopg.Error) as refused:
        owner.execute(sql.SQL(attack).format(sql.Identifier(table)))
    assert refused.value.sqlstate == "PD001"


def test_a_checkpoint_is_signed_exported_and_checked_by_a_stranger(store: Store) -> None:
    entries(3)
    number_all()
    head = sign(store)
    assert head is not None
    exported = store.newest("pokdeng")
    key = store.verifier_key("pokdeng")
    assert exported is not None
    assert key is not None
    assert signed_notes.check(exported, key=key) == signed_notes.Head("pokdeng", 3, merkle.root(leaves()))
    assert Checkpoint.objects.get().note == exported
    assert store.key_file.stat().st_mode & 0o777 == 0o400
    assert sign(store) is None, "with nothing new, nothing is signed"


def test_a_tree_that_lost_its_tail_is_never_signed(store: Store, owner: Connection) -> None:
    entries(4)
    number_all()
    sign(store)
    _spoil(owner, "DELETE FROM audit_leaf WHERE index >= 2", "audit_leaf")
    edge = merkle.Frontier()
    for leaf in leaves():
        edge.add(leaf)
    owner.execute("UPDATE audit_frontier SET size = %s, peaks = %s", [edge.size, edge.peaks])
    with pytest.raises(seal.Stopped, match="behind"):
        sign(store)
    assert Frontier.objects.get().stopped == "behind"
    assert len(list(store.folder.glob("*.note"))) == 1


def test_a_tree_with_another_root_is_never_signed_and_leaves_go_on(store: Store, owner: Connection) -> None:
    entries(4)
    number_all()
    sign(store)
    _spoil(owner, "UPDATE audit_leaf SET leaf_hash = sha256('other') WHERE index = 1", "audit_leaf")
    entries(2)
    assert number_all() == 2
    with pytest.raises(seal.Stopped, match="different"):
        sign(store)
    assert Frontier.objects.get().stopped == "different"


def _spoil(owner: Connection, statement: str, table: str) -> None:
    owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    owner.execute(statement)
    owner.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_rows")


def test_a_key_that_is_gone_is_not_replaced(store: Store) -> None:
    entries(1)
    number_all()
    sign(store)
    store.key_file.unlink()
    entries(1)
    number_all()
    with pytest.raises(seal.Stopped, match="key_missing"):
        sign(store)


def test_a_store_out_of_reach_stops_signing_and_is_caught_up(store: Store, tmp_path: Path) -> None:
    entries(1)
    number_all()
    sign(store)
    store.folder.rename(tmp_path / "away")
    entries(1)
    number_all()
    with pytest.raises(seal.Stopped):
        sign(store)
    (tmp_path / "away").rename(store.folder)
    head = sign(store)
    assert head is not None
    assert head.size == 2
    assert Frontier.objects.get().stopped == ""


def test_an_export_whose_row_was_lost_is_taken_over(store: Store, owner: Connection) -> None:
    entries(1)
    number_all()
    sign(store)
    _spoil(owner, "DELETE FROM audit_checkpoint", "audit_checkpoint")
    assert sign(store) is None
    assert Checkpoint.objects.get().note == store.newest("pokdeng")
