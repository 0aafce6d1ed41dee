"""What the log can prove of itself: a signed checkpoint, an entry's place under it, and that it only grew.

Everything is proved against the newest signed checkpoint, never against a root that nobody signed. Reads the tree and
touches no key.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from django.db.models import QuerySet

from audit import log, merkle, seal
from audit.models import Checkpoint, Leaf, LogEntry
from casino import events, people
from casino.events import Fact, Principal
from casino.models import Role, Table
from casino.platform import refusals
from casino.platform.refusals import Refusal

refusals.register(
    "not_sealed_yet",
    409,
    "No signed checkpoint covers this yet; ask again in a few seconds.",
    "ยังไม่มีจุดตรวจที่ลงนามครอบคลุมรายการนี้ ลองใหม่ในไม่กี่วินาที",
)
refusals.register(
    "tree_damaged",
    409,
    "The log's tree lacks leaves; it must be inspected before anything is proved by it.",
    "ต้นไม้ของบันทึกขาดบางส่วน ต้องตรวจสอบก่อนออกหลักฐาน",
)


@dataclass(frozen=True, slots=True)
class Inclusion:
    """What an entry's bytes are (``written``), and the way from their hash (``leaf``) to the root that ``note`` signs.

    ``index`` and ``size`` are the leaf's place and the tree's leaves; ``proof`` goes from the leaf up.
    """

    entry: int
    written: bytes
    leaf: bytes
    index: int
    size: int
    proof: tuple[bytes, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Consistency:
    """The tree of ``size`` leaves begins with that of ``old``; ``note`` is the newest checkpoint."""

    origin: str
    old: int
    size: int
    proof: tuple[bytes, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Footer:
    """What is printed under a report, outside the bytes that ``sha256`` fixes: the ``leaf`` hash of the entry that
    fixed it, and a signed checkpoint (``note``) that covers the entry."""

    sha256: str
    leaf: bytes
    note: str


def footer(*, action: str, subject: str) -> Footer:
    """Return the footer of the report that an act fixed (``day.sealed``, ``days/{day}``).

    Refuses ``not_found`` where there was no such act, ``not_sealed_yet`` until a checkpoint covers its entry. A few
    statements. It holds a hash of the entry and nothing that the entry says.
    """
    entry = (
        LogEntry.objects.filter(subject=subject, action=action, origin=log.log_name()).order_by("-id").first()
    )
    if entry is None:
        raise Refusal("not_found")
    checkpoint = newest()
    (sealed,) = under(checkpoint, [entry])
    return Footer(json.loads(bytes(entry.bytes))["data"]["sha256"], sealed.leaf, checkpoint.note)


def newest() -> Checkpoint:
    """Return the newest signed checkpoint; refuse ``not_sealed_yet`` while there is none. One statement."""
    found = Checkpoint.objects.filter(origin=log.log_name()).order_by("-size").first()
    if found is None:
        raise Refusal("not_sealed_yet")
    return found


def of_entry(entry: int) -> Inclusion:
    """Prove one entry, by its id. Refuses ``not_found`` out of the reader's scope, ``not_sealed_yet``.

    Reading evidence is an act, so this must run in one.
    """
    return _proved(_visible(events.current().actor).filter(pk=entry).first())


def of_hash(leaf: bytes) -> Inclusion:
    """Prove the entry with this leaf hash, the receipt that slips and answers print. As ``of_entry``."""
    return _proved(_visible(events.current().actor).filter(leaf_hash=leaf).order_by("id").first())


def consistency(*, old: int, size: int) -> Consistency:
    """Prove that the tree of ``size`` leaves begins with that of ``old``.

    Refuses ``invalid_value`` for the empty tree and for sizes in the wrong order, ``not_sealed_yet`` beyond the newest
    checkpoint.
    """
    if old < 1:
        raise Refusal("invalid_value", fields={"from": "the empty tree proves nothing"})
    if old > size:
        raise Refusal("invalid_value", fields={"from": "is larger than to"})
    checkpoint = newest()
    if size > checkpoint.size:
        raise Refusal("not_sealed_yet")
    try:
        proof = seal.consistency(old, size=size, origin=checkpoint.origin)
    except merkle.BadProof as fault:
        raise Refusal("tree_damaged") from fault
    return Consistency(checkpoint.origin, old, size, tuple(proof), checkpoint.note)


@dataclass(frozen=True, slots=True)
class Sealed:
    """An entry of the log with its leaf, both as they are stored: that they agree is for the reader to see."""

    entry: LogEntry
    index: int
    leaf: bytes
    proof: tuple[bytes, ...]


def under(checkpoint: Checkpoint, entries: list[LogEntry]) -> list[Sealed]:
    """Prove these entries under one checkpoint, in the order of their leaves.

    Refuses ``not_sealed_yet`` where one of them lies beyond it, ``tree_damaged`` where leaves that a proof needs are
    gone. Whether what is stored agrees is not asked here: whoever checks the proof finds out.
    """
    leaves = {
        leaf.entry_id: leaf
        for leaf in Leaf.objects.filter(
            origin=checkpoint.origin, entry__in=entries, index__lt=checkpoint.size
        )
    }
    if len(leaves) < len(entries):
        raise Refusal("not_sealed_yet")
    tree = seal.Tree(checkpoint.origin)
    found = [
        Sealed(
            entry,
            leaves[entry.id].index,
            bytes(leaves[entry.id].leaf_hash),
            _path(tree, leaves[entry.id].index, checkpoint.size),
        )
        for entry in entries
    ]
    return sorted(found, key=lambda one: one.index)


def _path(tree: seal.Tree, index: int, size: int) -> tuple[bytes, ...]:
    try:
        return tuple(merkle.inclusion(index=index, size=size, subtree=tree.subtree))
    except merkle.BadProof as fault:
        raise Refusal("tree_damaged") from fault


def _visible(reader: Principal) -> QuerySet[LogEntry]:
    """The entries that a reader of the log may see: of all tables or of those on duty; security entries alone for who
    grants rights."""
    found = LogEntry.objects.filter(origin=log.log_name())
    tables = people.tables_in_scope(reader, "read_log")
    if tables is not None:
        found = found.filter(table_code__in=Table.objects.filter(id__in=tables).values("code"))
    if reader.role == Role.ADMINISTRATOR:
        found = found.filter(action__in=log.SECURITY_ACTIONS)
    return found


def _proved(entry: LogEntry | None) -> Inclusion:
    if entry is None:
        raise Refusal("not_found")
    checkpoint = newest()
    (sealed,) = under(checkpoint, [entry])
    events.announce(
        [
            Fact(
                "evidence.read",
                f"log/{entry.id}",
                {"what": "proof", "hash": sealed.leaf.hex(), "size": checkpoint.size},
                table=entry.table_code,
            )
        ]
    )
    return Inclusion(
        entry=entry.id,
        written=bytes(entry.bytes),
        leaf=sealed.leaf,
        index=sealed.index,
        size=checkpoint.size,
        proof=sealed.proof,
        note=checkpoint.note,
    )
