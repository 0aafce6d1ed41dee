"""Give committed entries their leaves, and sign checkpoints of the tree.

One sealer at a time (an advisory lock); it runs in a process and with a database role of its own, and is the only one
that reads the signing key. Numbering never depends on signing: while a checkpoint cannot be signed, leaves go on.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from audit import log, merkle, signed_notes
from audit.checkpoints import Store, Unreachable
from audit.models import Checkpoint
from audit.signed_notes import Head

alerts = logging.getLogger("pokdeng.seal")

LOCK = 7_309_334_001
"""The advisory lock of the one sealer."""

STEP = 8
"""Complete subtrees are kept at every eighth height; the 255 nodes between are worked out when a proof needs them."""

MOST = 10_000


@dataclass(frozen=True, slots=True)
class _Edge:
    frontier: merkle.Frontier
    last_xid: int
    last_id: int


def number(*, now: datetime, limit: int = MOST) -> int:
    """Give up to ``limit`` committed entries their leaves, oldest transaction first; return how many.

    Reads below the snapshot's horizon, never "id > last seen": a slow writer may commit a lower id later. Costs
    two hashes an entry at the most, however large the tree. Returns 0 while another sealer is at work. Six statements.
    """
    origin = log.log_name()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        if not cursor.fetchone()[0]:
            return 0
        edge = _edge(cursor, origin, now)
        cursor.execute(
            # By the number, not by its text: an unqualified xid would be the output column.
            "SELECT e.id, e.xid::text AS number, e.leaf_hash FROM audit_logentry e"
            " WHERE e.origin = %s AND (e.xid, e.id) > (%s::xid8, %s)"
            " AND e.xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY e.xid, e.id LIMIT %s",
            [origin, str(edge.last_xid), edge.last_id, limit],
        )
        entries = [(entry, int(xid), bytes(leaf)) for entry, xid, leaf in cursor.fetchall()]
        if entries:
            _insert(cursor, origin, edge.frontier, entries, now)
    return len(entries)


def _edge(cursor: Any, origin: str, now: datetime) -> _Edge:
    cursor.execute(
        "INSERT INTO audit_frontier (origin, size, peaks, last_xid, last_id, numbered_at, stopped)"
        " VALUES (%s, 0, '{}', '0', 0, %s, '') ON CONFLICT (origin) DO NOTHING",
        [origin, now],
    )
    cursor.execute(
        "SELECT size, peaks, last_xid::text, last_id FROM audit_frontier WHERE origin = %s FOR UPDATE",
        [origin],
    )
    size, peaks, last_xid, last_id = cursor.fetchone()
    return _Edge(merkle.Frontier(size=size, peaks=[bytes(peak) for peak in peaks]), int(last_xid), last_id)


def _insert(
    cursor: Any,
    origin: str,
    frontier: merkle.Frontier,
    entries: Sequence[tuple[int, int, bytes]],
    now: datetime,
) -> None:
    first = frontier.size
    kept: list[tuple[int, int, bytes]] = []
    for place, (_, _, leaf) in enumerate(entries, start=first):
        for height, root in enumerate(frontier.add(leaf), start=1):
            if height % STEP == 0:
                kept.append((height, place >> height, root))
    cursor.execute(
        "INSERT INTO audit_leaf (origin, index, entry_id, leaf_hash, numbered_at)"
        " SELECT %s, n.index, n.entry, n.hash, %s FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[])"
        " AS n (index, entry, hash)",
        [
            origin,
            now,
            list(range(first, frontier.size)),
            [entry for entry, _, _ in entries],
            [leaf for _, _, leaf in entries],
        ],
    )
    if kept:
        cursor.execute(
            "INSERT INTO audit_subtree (origin, height, index, hash)"
            " SELECT %s, n.* FROM unnest(%s::smallint[], %s::bigint[], %s::bytea[]) AS n",
            [origin, *(list(column) for column in zip(*kept, strict=True))],
        )
    cursor.execute(
        "UPDATE audit_frontier SET size = %s, peaks = %s, last_xid = %s::xid8, last_id = %s, numbered_at = %s"
        " WHERE origin = %s",
        [frontier.size, frontier.peaks, str(entries[-1][1]), entries[-1][0], now, origin],
    )


# -- checkpoints ----------------------------------------------------------------------------------------------


class Stopped(Exception):
    """Nothing is signed: ``reason`` is ``behind`` (the exported tree is larger than ours: a restored backup, or a tail
    that was cut), ``different`` (the exported root is not ours, or not under our key), ``key_missing`` or
    ``store_unreachable``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def sign_checkpoint(*, store: Store, now: datetime) -> Head | None:
    """Sign and export a checkpoint of the tree as it stands; None while there is nothing new.

    The newest exported one is looked at first: where it is ahead of us or has another root, nothing is signed
    (Stopped), people are told, and the reason stands in the log's frontier until it is gone.
    """
    origin = log.log_name()
    try:
        head = _sign(origin, store=store, now=now)
    except (Stopped, Unreachable, signed_notes.BadNote) as fault:
        stopped = fault if isinstance(fault, Stopped) else Stopped(getattr(fault, "reason", "different"))
        alerts.error("no checkpoint of %s is signed: %s", origin, stopped.reason)
        _say_stopped(origin, stopped.reason, now)
        raise stopped from fault
    _say_stopped(origin, "", now)
    return head


def _sign(origin: str, *, store: Store, now: datetime) -> Head | None:
    ours = head(origin)
    if ours.size == 0:
        return None
    exported = store.newest(origin)
    key = store.signing_key(origin, may_make=exported is None and not _signed_before(origin))
    if exported is not None:
        stated = signed_notes.check(
            exported, key=signed_notes.verifier_key(origin, key.public_key().public_bytes_raw())
        )
        _compare(stated, ours)
        if stated.size == ours.size:
            _keep(
                stated, exported, now
            )  # exported, and then the sealer was ended before it could write the row
            return None
    note = signed_notes.sign(ours, name=origin, key=key)
    store.export(ours, note)
    _keep(ours, note, now)
    return ours


def _compare(exported: Head, ours: Head) -> None:
    if exported.size > ours.size:
        raise Stopped("behind")
    if root_at(exported.size, origin=ours.origin) != exported.root:
        raise Stopped("different")


def _signed_before(origin: str) -> bool:
    return Checkpoint.objects.filter(origin=origin).exists()


def _keep(stated: Head, note: str, now: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_checkpoint (origin, size, root, note, signed_at) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT (origin, size) DO NOTHING",
            [stated.origin, stated.size, stated.root, note, now],
        )


def _say_stopped(origin: str, reason: str, now: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE audit_frontier SET stopped = %s, stopped_at = CASE WHEN %s = '' THEN NULL ELSE %s END"
            " WHERE origin = %s AND stopped <> %s",
            [reason, reason, now, origin, reason],
        )


# -- the tree, read -------------------------------------------------------------------------------------------


def head(origin: str = "") -> Head:
    """Return the tree as it stands: its size and root."""
    origin = origin or log.log_name()
    with connection.cursor() as cursor:
        cursor.execute("SELECT size, peaks FROM audit_frontier WHERE origin = %s", [origin])
        found = cursor.fetchone()
    size, peaks = found or (0, [])
    edge = merkle.Frontier(size=size, peaks=[bytes(peak) for peak in peaks])
    return Head(origin=origin, size=size, root=edge.root())


def root_at(size: int, *, origin: str = "") -> bytes:
    """Return the root of the first ``size`` leaves. Raises BadProof where there are not as many."""
    if size < 1:
        raise merkle.BadProof("the empty tree proves nothing")
    return Tree(origin or log.log_name()).subtree(0, size)


def inclusion(index: int, *, size: int, origin: str = "") -> list[bytes]:
    """Return the proof that leaf ``index`` is in the tree of ``size`` leaves. Raises BadProof."""
    return merkle.inclusion(index=index, size=size, subtree=Tree(origin or log.log_name()).subtree)


def consistency(old: int, *, size: int, origin: str = "") -> list[bytes]:
    """Return the proof that the tree only grew from ``old`` to ``size`` leaves. Raises BadProof."""
    return merkle.consistency(old=old, size=size, subtree=Tree(origin or log.log_name()).subtree)


class Tree:
    """Hashes over ranges of a stored tree: complete ranges from the kept subtrees below them, the rest from leaves.

    What was read once is remembered: many proofs from one tree share most of their nodes.
    """

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self._known: dict[tuple[int, int], bytes] = {}

    def subtree(self, first: int, width: int) -> bytes:
        """Return the root over leaves ``first`` to ``first + width - 1``. Raises BadProof where some are missing."""
        if (first, width) not in self._known:
            self._known[first, width] = self._subtree(first, width)
        return self._known[first, width]

    def _subtree(self, first: int, width: int) -> bytes:
        half = 1 << (width - 1).bit_length() - 1 if width > 1 else 1
        complete = width & (width - 1) == 0 and first % width == 0
        if complete or width <= 1 << STEP:
            return self._over(first, width, height=(width.bit_length() - 1) // STEP * STEP if complete else 0)
        return merkle.node_hash(self.subtree(first, half), self.subtree(first + half, width - half))

    def _over(self, first: int, width: int, *, height: int) -> bytes:
        low, high = first >> height, (first + width) >> height
        with connection.cursor() as cursor:
            if height:
                cursor.execute(
                    "SELECT hash FROM audit_subtree WHERE origin = %s AND height = %s AND index >= %s AND index < %s"
                    " ORDER BY index",
                    [self.origin, height, low, high],
                )
            else:
                cursor.execute(
                    "SELECT leaf_hash FROM audit_leaf WHERE origin = %s AND index >= %s AND index < %s ORDER BY index",
                    [self.origin, low, high],
                )
            found = [bytes(row[0]) for row in cursor.fetchall()]
        if len(found) != high - low:
            raise merkle.BadProof(f"the tree has no leaves {first} to {first + width - 1}")
        return merkle.root(found)
