"""What anybody may ask the log to prove, and what only its readers may."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit import merkle, signed_notes
from audit.checkpoints import Store
from audit.models import Checkpoint, Leaf, LogEntry
from casino import events
from casino.events import Fact
from casino.models import Duty, Person, Table, TableSession
from tests.audit import sealing

pytestmark = pytest.mark.django_db(transaction=True)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return sealing.a_store(tmp_path)


def entries(count: int, *, action: str = "books.checked", table: str = "") -> list[LogEntry]:
    with events.act(actor=events.SERVICE, request_id="test", now=NOW):
        events.announce(
            [Fact(action, f"books/{place}", {"place": place}, table=table) for place in range(count)]
        )
    return list(LogEntry.objects.order_by("-id")[:count])[::-1]


def signed_in(role: str) -> Client:
    person = Person.objects.create(badge=f"{role}-1", display_name=role, role=role, password="!", pin="!")
    client = Client()
    client.force_login(person)
    return client


def proof_of(entry: LogEntry, client: Client) -> Any:
    return client.get(f"/api/v1/audit/entries/{entry.id}/proof")


def follow(proof: dict[str, Any], *, key: str) -> signed_notes.Head:
    """Check a proof as a stranger would, from its bytes to the signature."""
    head = signed_notes.check(proof["checkpoint"], key=key)
    leaf = merkle.leaf_hash(proof["bytes"].encode())
    assert leaf.hex() == proof["hash"]
    merkle.check_inclusion(
        leaf=leaf,
        index=proof["index"],
        size=proof["size"],
        proof=[bytes.fromhex(node) for node in proof["proof"]],
        root=head.root,
    )
    assert head.size == proof["size"]
    return head


def test_anybody_gets_the_newest_note_byte_for_byte(store: Store) -> None:
    entries(3)
    sealing.sealed(store)
    entries(1)
    note = sealing.sealed(store)
    answer = Client().get("/api/v1/audit/checkpoint")

    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert answer.content == note.encode()
    assert answer.content == max(store.folder.glob("*.note")).read_bytes()
    assert LogEntry.objects.count() == 4, "a public reading leaves no entry"


def test_a_client_that_accepts_text_alone_gets_the_note_and_its_problems_all_the_same(store: Store) -> None:
    client = Client(headers={"Accept": "text/plain"})
    early = client.get("/api/v1/audit/checkpoint")
    assert (early.status_code, early.headers["Content-Type"]) == (409, "application/problem+json")
    assert json.loads(early.content)["code"] == "not_sealed_yet"
    entries(1)
    assert client.get("/api/v1/audit/checkpoint").status_code == 409
    note = sealing.sealed(store)
    assert client.get("/api/v1/audit/checkpoint").content == note.encode()


def test_a_note_that_is_known_is_not_sent_again(store: Store) -> None:
    entries(1)
    sealing.sealed(store)
    first = Client().get("/api/v1/audit/checkpoint")
    tag = first.headers["ETag"]
    again = Client().get("/api/v1/audit/checkpoint", headers={"If-None-Match": f'"other", {tag}'})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    entries(1)
    sealing.sealed(store)
    newer = Client().get("/api/v1/audit/checkpoint", headers={"If-None-Match": tag})
    assert (newer.status_code, newer.headers["ETag"] == tag) == (200, False)


def test_a_checkpoint_is_answered_without_the_key(store: Store) -> None:
    entries(1)
    note = sealing.sealed(store)
    store.key_file.unlink()
    assert Client().get("/api/v1/audit/checkpoint").content == note.encode()


@pytest.mark.parametrize("count", [1, 2, 7, 256, 300])
def test_an_entry_is_proved_from_its_bytes_to_the_signature(store: Store, count: int) -> None:
    made = entries(count)
    sealing.sealed(store)
    key = store.verifier_key("pokdeng")
    assert key is not None
    auditor = signed_in("auditor")
    for entry in {made[0], made[count // 2], made[-1]}:
        answer = proof_of(entry, auditor)
        assert answer.status_code == 200, answer.content
        proof = answer.json()
        assert follow(proof, key=key).size == count
        assert (proof["id"], proof["bytes"]) == (entry.id, bytes(entry.bytes).decode())
        assert auditor.get("/api/v1/audit/proof", {"hash": proof["hash"]}).json() == proof


def test_a_proof_is_against_the_newest_checkpoint_and_waits_for_one(store: Store) -> None:
    (first,) = entries(1)
    auditor = signed_in("auditor")
    early = proof_of(first, auditor)
    assert (early.status_code, early.json()["code"]) == (409, "not_sealed_yet")
    sealing.sealed(store)
    (second,) = entries(1)
    assert proof_of(second, auditor).status_code == 409
    size = proof_of(first, auditor).json()["size"]
    sealing.sealed(store)
    assert proof_of(first, auditor).json()["size"] > size
    assert proof_of(second, auditor).status_code == 200


def test_an_altered_entry_is_answered_as_it_is_stored_and_its_proof_fails(store: Store, owner: Any) -> None:
    made = entries(4)
    sealing.sealed(store)
    owner.execute("ALTER TABLE audit_leaf DISABLE TRIGGER USER")
    owner.execute("UPDATE audit_leaf SET leaf_hash = sha256('other') WHERE index = 2")
    proof = proof_of(made[2], signed_in("auditor")).json()
    key = store.verifier_key("pokdeng") or ""
    with pytest.raises(AssertionError):
        follow(proof, key=key)
    with pytest.raises(merkle.BadProof):
        follow(proof_of(made[3], signed_in("surveillance")).json(), key=key)


def test_where_leaves_are_gone_nothing_is_proved(store: Store, owner: Any) -> None:
    made = entries(4)
    sealing.sealed(store)
    owner.execute("ALTER TABLE audit_leaf DISABLE TRIGGER USER")
    owner.execute("DELETE FROM audit_leaf WHERE index = 2")
    answer = proof_of(made[3], signed_in("auditor"))
    assert (answer.status_code, answer.json()["code"]) == (409, "tree_damaged")
    growth = Client().get("/api/v1/audit/consistency", {"from": 3, "to": 4})
    assert (growth.status_code, growth.json()["code"]) == (409, "tree_damaged")


def test_reading_a_proof_is_an_act(store: Store) -> None:
    (entry,) = entries(1, table="PD01")
    sealing.sealed(store)
    proof = proof_of(entry, signed_in("auditor")).json()
    read = LogEntry.objects.latest("id")
    assert (read.action, read.subject, read.table_code, read.role) == (
        "evidence.read", f"log/{entry.id}", "PD01", "auditor",
    )  # fmt: skip
    assert json.loads(bytes(read.bytes))["data"] == {"what": "proof", "hash": proof["hash"], "size": 1}


def test_who_reads_no_log_gets_no_proof_and_what_is_out_of_scope_does_not_exist(store: Store) -> None:
    (money,) = entries(1, action="round.settled", table="PD01")
    (rights,) = entries(1, action="person.created")
    sealing.sealed(store)
    for role in ("dealer", "cashier"):
        assert proof_of(money, signed_in(role)).status_code == 403
    assert proof_of(money, Client()).status_code == 401
    administrator, supervisor = signed_in("administrator"), signed_in("supervisor")
    assert proof_of(rights, administrator).status_code == 200
    assert proof_of(money, administrator).json()["code"] == "not_found"
    receipt = {"hash": bytes(money.leaf_hash).hex()}
    assert administrator.get("/api/v1/audit/proof", receipt).status_code == 404
    assert proof_of(money, supervisor).status_code == 404
    table = Table.objects.create(code="PD01", currency="THB")
    session = TableSession.objects.create(id=uuid4(), table=table, opened_at=NOW)
    Duty.objects.create(
        session=session, person=Person.objects.get(badge="supervisor-1"), role="supervisor", on_at=NOW
    )
    assert proof_of(money, supervisor).status_code == 200
    assert proof_of(rights, supervisor).status_code == 404


def test_an_unknown_entry_and_an_unknown_hash_do_not_exist(store: Store) -> None:
    entries(1)
    sealing.sealed(store)
    auditor = signed_in("auditor")
    assert auditor.get("/api/v1/audit/entries/999999/proof").status_code == 404
    assert auditor.get("/api/v1/audit/proof", {"hash": "0" * 64}).status_code == 404
    assert auditor.get("/api/v1/audit/proof", {"hash": "x"}).status_code == 400
    assert (
        auditor.get("/api/v1/audit/proof", {"hash": "0" * 64, "as_of": "1"}).json()["code"] == "unknown_field"
    )


def test_anybody_sees_that_the_tree_only_grew(store: Store) -> None:
    sizes = []
    for count in (1, 4, 8, 300):
        entries(count)
        sizes.append(signed_notes.read(sealing.sealed(store)).size)
    leaves = [bytes(leaf.leaf_hash) for leaf in Leaf.objects.order_by("index")]
    for old in sizes:
        for size in [size for size in sizes if size >= old]:
            answer = Client().get("/api/v1/audit/consistency", {"from": old, "to": size}).json()
            merkle.check_consistency(
                old=old,
                size=size,
                old_root=merkle.root(leaves[:old]),
                root=merkle.root(leaves[:size]),
                proof=[bytes.fromhex(node) for node in answer["proof"]],
            )
            assert (answer["origin"], answer["from"], answer["to"]) == ("pokdeng", old, size)
            assert answer["checkpoint"] == Checkpoint.objects.latest("size").note
    assert LogEntry.objects.count() == sum((1, 4, 8, 300))


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ({"from": 0, "to": 3}, 422, "invalid_value"),
        ({"from": 0, "to": 0}, 422, "invalid_value"),
        ({"from": 3, "to": 2}, 422, "invalid_value"),
        ({"from": 1, "to": 4}, 409, "not_sealed_yet"),
        ({"from": 1}, 400, "missing_field"),
        ({"from": -1, "to": 2}, 422, "invalid_value"),
        ({"from": "x", "to": 2}, 400, "malformed"),
        ({"from": 1, "to": 2, "as_of": 1}, 400, "unknown_field"),
    ],
)
def test_no_growth_is_proved_from_nothing_backwards_or_beyond_what_was_signed(
    store: Store, asked: dict[str, Any], status: int, code: str
) -> None:
    entries(3)
    sealing.sealed(store)
    answer = Client().get("/api/v1/audit/consistency", asked)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_proof_costs_a_few_statements_however_large_the_tree(store: Store) -> None:
    counts = []
    auditor = signed_in("auditor")
    for count in (600, 1800):
        (entry,) = entries(1)
        entries(count)
        sealing.sealed(store)
        with CaptureQueriesContext(
            connection,
        ) as asked:
            assert proof_of(entry, auditor).status_code == 200
        counts.append(len(asked))
    assert max(counts) < 40, counts
