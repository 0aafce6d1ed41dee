"""The log's tree read again from its leaves: from any leaf on, by a key and a checkpoint from outside."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import call_command

from audit import controls, merkle, signed_notes
from audit.controls import Books, Scope, tree
from audit.models import Leaf, LogEntry
from audit.signed_notes import Head
from tests.audit.conftest import Played
from tests.audit.test_controls import run, spoil


@pytest.fixture
def late(played: Played) -> Scope:
    """All since an entry beyond the first kept subtree."""
    leaf = Leaf.objects.select_related("entry").get(index=300)
    return Scope(since=leaf.entry.recorded_at)


def found(scope: Scope, *ids: str) -> list[str]:
    with controls.opened(scope=scope) as house:
        return [finding.subject for _, finding in controls.check(house, ids=ids)]


def test_a_quick_look_begins_at_the_subtree_of_what_is_new_and_is_clean(played: Played, late: Scope) -> None:
    with controls.opened(scope=late) as house:
        (log,) = tree._logs(house)
    assert 0 <= log.first <= 300
    assert log.first % 256 == 0
    assert found(late, "I18", "I19") == []


@pytest.mark.parametrize(
    ("altered", "table"),
    [
        ("UPDATE audit_leaf SET leaf_hash = sha256('x') WHERE index = {last}", "audit_leaf"),
        ("DELETE FROM audit_leaf WHERE index = {last}", "audit_leaf"),
        ("UPDATE audit_checkpoint SET root = sha256('x')", "audit_checkpoint"),
        ("UPDATE audit_frontier SET peaks[1] = sha256('x')", "audit_frontier"),
    ],
)
def test_a_quick_look_finds_what_was_altered_of_what_is_new(
    played: Played, late: Scope, altered: str, table: str
) -> None:
    spoil(played, altered.format(last=Leaf.objects.count() - 1), table=table)
    assert found(late, "I18", "I19")


def test_the_edge_of_any_tree_is_read_from_what_was_kept_of_it(played: Played) -> None:
    administrator = played.administrator
    for table in ("audit_leaf", "audit_subtree"):
        administrator.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
    leaves = [hashlib.sha256(str(place).encode()).digest() for place in range(66_000)]
    grown, edges, kept = merkle.Frontier(), {}, []
    wanted = (1, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, 65_999, 66_000)
    for index, leaf in enumerate(leaves):
        kept += [(h, index >> h, root) for h, root in enumerate(grown.add(leaf), start=1) if h % 8 == 0]
        if grown.size in wanted:
            edges[grown.size] = list(grown.peaks)
    administrator.execute("DELETE FROM audit_leaf")
    administrator.execute("DELETE FROM audit_subtree")
    administrator.execute(
        "INSERT INTO audit_leaf (origin, index, entry_id, leaf_hash, numbered_at)"
        " SELECT 'big', n.index - 1, n.index + 10^9, n.hash, now()"
        " FROM unnest(%s::bytea[]) WITH ORDINALITY AS n (hash, index)",
        [leaves],
    )
    administrator.execute(
        "INSERT INTO audit_subtree (origin, height, index, hash) SELECT 'big', n.* FROM"
        " unnest(%s::smallint[], %s::bigint[], %s::bytea[]) AS n",
        [list(column) for column in zip(*kept, strict=True)],
    )
    house = Books(reader=administrator, scope=Scope(None))
    for size, peaks in edges.items():
        edge = tree._edge_at(house, "big", size)
        assert edge is not None
        assert (edge.size, edge.peaks) == (size, peaks)
    assert tree._edge_at(house, "big", 66_001) is None
    administrator.execute("DELETE FROM audit_subtree WHERE height = 16")
    assert tree._edge_at(house, "big", 65_537) is None


def kept(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_without_a_key_from_outside_the_log_is_not_checked(
    played: Played, tmp_path: Path, settings: Any
) -> None:
    settings.CHECKPOINT_FOLDER = str(tmp_path / "nowhere")
    code, said = run("--full", "--only", "I19")
    assert code == 2
    assert said.splitlines()[-1].startswith("not checked (full): there is no verifier key of pokdeng")


def test_a_reader_brings_a_key_of_their_own(played: Played, tmp_path: Path, settings: Any) -> None:
    settings.CHECKPOINT_FOLDER = str(tmp_path / "nowhere")
    own = played.store.verifier_key("pokdeng")
    assert own is not None
    assert run("--full", "--only", "I19", "--key", kept(tmp_path / "own.vkey", own))[0] == 0
    strange = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    another = kept(tmp_path / "another.vkey", signed_notes.verifier_key("pokdeng", strange))
    code, said = run("--full", "--only", "I19", "--key", another)
    assert code == 1
    assert "this key has not signed the note" in said


def test_a_kept_checkpoint_must_be_of_this_tree_and_not_ahead_of_it(played: Played, tmp_path: Path) -> None:
    key = played.store.signing_key("pokdeng", may_make=False)
    leaves = [bytes(leaf) for leaf in Leaf.objects.order_by("index").values_list("leaf_hash", flat=True)]
    for size, root, clean in (
        (len(leaves), merkle.root(leaves), True),
        (100, merkle.root(leaves[:100]), True),
        (100, merkle.root(leaves[:99]), False),
        (len(leaves) + 1, merkle.root(leaves), False),
    ):
        note = signed_notes.sign(Head("pokdeng", size, root), name="pokdeng", key=key)
        code, said = run("--full", "--only", "I19", "--checkpoint", kept(tmp_path / "kept.note", note))
        assert code == (0 if clean else 1), (size, said)


def test_a_kept_file_that_nobody_signed_or_that_is_not_there_passes_for_nothing(
    played: Played, tmp_path: Path
) -> None:
    forged = signed_notes.sign(
        Head("pokdeng", 1, b"\0" * 32), name="pokdeng", key=Ed25519PrivateKey.generate()
    )
    for text in ("", "no note at all", forged):
        if text:
            assert run("--full", "--only", "I19", "--checkpoint", kept(tmp_path / "kept.note", text))[0] == 1
    with pytest.raises(Exception, match="No such file") as ended:
        call_command("check_books", "--full", "--checkpoint", str(tmp_path / "gone.note"))
    assert getattr(ended.value, "returncode", 0) == 2


def test_an_entry_that_has_just_been_written_waits_for_nobody(played: Played) -> None:
    assert run("--full", "--only", "I1")[0] == 0
    assert LogEntry.objects.latest("id").action == "books.checked"
    assert not Leaf.objects.filter(entry=LogEntry.objects.latest("id")).exists()
    assert run("--full", "--only", "I18")[0] == 0
