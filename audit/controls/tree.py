"""I18 and I19: every entry has its leaf, and every checkpoint signs a tree that these leaves make.

Nothing of the stored tree is believed: hashes are worked out from the entries' bytes, roots from the leaves. Keys come
from outside of the database. Leaves stream by, so a tree of any size takes the memory of its right edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from audit import merkle, signed_notes
from audit.controls.findings import Finding
from audit.controls.snapshot import Books
from audit.signed_notes import BadNote, Head

KEPT = 8
"""Complete subtrees are kept at every eighth height."""

WAIT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class _Log:
    """A log's leaves as far as this check looks at them: from ``first`` on, a multiple of 256."""

    origin: str
    first: int

    @property
    def parameters(self) -> dict[str, Any]:
        return {"origin": self.origin, "first": self.first, "wait": WAIT_SECONDS}


_ORIGINS = """
SELECT origin FROM audit_frontier UNION SELECT DISTINCT origin FROM audit_checkpoint
 UNION SELECT DISTINCT origin FROM audit_logentry WHERE recorded_at >= %(since)s
"""

_FIRST = """
SELECT coalesce(
    (SELECT min(l.index) FROM audit_logentry e JOIN audit_leaf l ON l.entry_id = e.id
      WHERE e.origin = %(origin)s AND e.recorded_at >= %(since)s),
    (SELECT max(index) FROM audit_leaf WHERE origin = %(origin)s), 0)
"""


def _logs(books: Books) -> Iterator[_Log]:
    for (origin,) in books.all(_ORIGINS):
        first = 0
        if not books.scope.is_full:
            ((first,),) = books.all(_FIRST, {"origin": origin})
        yield _Log(origin, first >> KEPT << KEPT)


# -- I18 --------------------------------------------------------------------------------------------------------

_NUMBERED = """
SELECT l.index, l.before, l.entry_id, e.id IS NOT NULL, e.origin,
       l.leaf_hash = sha256('\\x00'::bytea || e.bytes) AND e.leaf_hash = l.leaf_hash,
       (e.xid, e.id) > (earlier.xid, earlier.id)
  FROM (SELECT index, entry_id, leaf_hash, lag(index) OVER by_index AS before, lag(entry_id) OVER by_index AS after
          FROM audit_leaf WHERE origin = %(origin)s AND index >= %(first)s WINDOW by_index AS (ORDER BY index)) AS l
  LEFT JOIN audit_logentry e ON e.id = l.entry_id
  LEFT JOIN audit_logentry earlier ON earlier.id = l.after
 WHERE l.index <> coalesce(l.before + 1, %(first)s) OR e.id IS NULL OR e.origin <> %(origin)s
    OR l.leaf_hash <> sha256('\\x00'::bytea || e.bytes) OR e.leaf_hash <> l.leaf_hash
    OR (e.xid, e.id) <= (earlier.xid, earlier.id)
 ORDER BY l.index
"""


def leaves_numbered(books: Books) -> Iterator[Finding]:
    """A log's leaves are numbered 0, 1, 2 … in the order of its transactions, each the hash of its entry's bytes."""
    for log in _logs(books):
        for index, before, entry, is_there, origin, hash_holds, in_order in books.rows(
            _NUMBERED, log.parameters
        ):
            subject = f"leaves/{log.origin}/{index}"
            wanted = log.first if before is None else before + 1
            if index != wanted:
                yield Finding(subject, f"follows {'nothing' if before is None else before}", f"leaf {wanted}")
            if not is_there:
                yield Finding(subject, f"entry {entry} is gone", "the entry it is the leaf of")
                continue
            if origin != log.origin:
                yield Finding(subject, f"entry {entry} of {origin}", f"an entry of {log.origin}")
            if not hash_holds:
                yield Finding(subject, f"entry {entry} has another hash", "SHA-256(0x00 ‖ its bytes)")
            if in_order is False:
                yield Finding(
                    subject, f"entry {entry}, of an earlier transaction", "after the leaf before it"
                )


_EDGE = """
SELECT f.size, (SELECT count(*) FROM audit_leaf l WHERE l.origin = f.origin AND index >= %(first)s),
       (SELECT max(index) FROM audit_leaf l WHERE l.origin = f.origin), f.last_xid::text, f.last_id, e.xid::text, e.id
  FROM audit_frontier f
  LEFT JOIN audit_leaf last ON last.origin = f.origin AND last.index = f.size - 1
  LEFT JOIN audit_logentry e ON e.id = last.entry_id
 WHERE f.origin = %(origin)s
"""

_WAITING = """
SELECT e.id, e.recorded_at, (e.xid, e.id) <= (last.xid, last.id)
  FROM audit_logentry e
  LEFT JOIN (SELECT n.xid, n.id FROM audit_leaf l JOIN audit_logentry n ON n.id = l.entry_id
              WHERE l.origin = %(origin)s ORDER BY l.index DESC LIMIT 1) AS last ON TRUE
 WHERE e.origin = %(origin)s AND e.recorded_at >= %(since)s
   AND NOT EXISTS (SELECT FROM audit_leaf l WHERE l.entry_id = e.id)
   AND ((e.xid, e.id) <= (last.xid, last.id) OR e.recorded_at < now() - make_interval(secs => %(wait)s)
        OR e.leaf_hash <> sha256('\\x00'::bytea || e.bytes))
 ORDER BY e.id
"""


def nothing_waits(books: Books) -> Iterator[Finding]:
    """No committed entry was passed over or waits over a minute for its leaf, and the edge ends at the last one."""
    for log in _logs(books):
        for size, count, last, last_xid, last_id, xid, entry in books.rows(_EDGE, log.parameters):
            if count != size - log.first or last != (size - 1 if size else None):
                yield Finding(
                    f"leaves/{log.origin}", f"{count} from {log.first} to {last}", f"{size} in all, as its edge says"
                )  # fmt: skip
            elif size and (xid, entry) != (last_xid, last_id):
                yield Finding(
                    f"leaves/{log.origin}", f"edge at entry {last_id}", f"entry {entry}, the last leaf's"
                )
        for entry, recorded, passed_over in books.rows(_WAITING, log.parameters):
            yield Finding(
                f"log/{entry}",
                f"no leaf since {recorded}" + (", though later ones have theirs" if passed_over else ""),
                f"a leaf within {WAIT_SECONDS} s, in the order of transactions, its hash that of its bytes",
            )


# What a list looks up in columns stands in the bytes as well, spelt as the witness writes it.
_COLUMNS = """
SELECT e.id, e.action, e.subject FROM audit_logentry e
 WHERE e.recorded_at >= %(since)s AND e.leaf_hash = sha256('\\x00'::bytea || e.bytes)
   AND NOT (convert_from(e.bytes, 'UTF8')::jsonb @> jsonb_build_object(
            'origin', e.origin, 'action', e.action, 'subject', e.subject, 'table', e.table_code, 'round', e.round,
            'request', e.request_id,
            'at', to_char(e.recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'actor', jsonb_build_object('kind', e.actor_kind, 'id', nullif(e.actor, ''), 'role', e.role,
                                        'person', e.person)
                || CASE WHEN e.actor_kind = 'device' THEN jsonb_build_object('code', e.device) ELSE '{}' END)
        AND (e.actor_kind = 'device' OR e.device = ''))
"""


def found_by_what_they_say(books: Books) -> Iterator[Finding]:
    """An entry is found under what stands in its bytes, and under nothing else."""
    for id, action, subject in books.rows(_COLUMNS):
        yield Finding(f"log/{id}", f"listed as {action} of {subject}", "listed as its bytes say")


# -- I19 --------------------------------------------------------------------------------------------------------

_LEAVES = """
SELECT index, leaf_hash FROM audit_leaf WHERE origin = %(origin)s AND index >= %(first)s ORDER BY index
"""

_CHECKPOINTS = """
SELECT size, root, note FROM audit_checkpoint WHERE origin = %(origin)s AND size > %(first)s ORDER BY size, id
"""

_TWO_ROOTS = """
SELECT size, count(*) FROM audit_checkpoint WHERE origin = %(origin)s AND size > %(first)s
 GROUP BY size HAVING count(*) > 1
"""

_SIGNED = "SELECT EXISTS (SELECT FROM audit_checkpoint WHERE origin = %(origin)s)"

_SUBTREES = """
SELECT n.height, n.index, s.hash
  FROM unnest(%(heights)s::smallint[], %(indexes)s::bigint[], %(hashes)s::bytea[]) AS n (height, index, hash)
  LEFT JOIN audit_subtree s ON s.origin = %(origin)s AND s.height = n.height AND s.index = n.index
 WHERE s.hash IS DISTINCT FROM n.hash
"""

_PEAKS = "SELECT size, peaks FROM audit_frontier WHERE origin = %(origin)s"


def signed_as_grown(books: Books) -> Iterator[Finding]:
    """Every checkpoint is signed by the key that readers hold and states the root that the leaves give at its size, so
    that each is consistent with the one before; what was kept of the tree is what the leaves give."""
    for log in _logs(books):
        for size, count in books.all(_TWO_ROOTS, log.parameters):
            yield Finding(f"checkpoints/{log.origin}/{size}", f"{count} checkpoints", "one for each size")
        edge = _edge_at(books, log.origin, log.first)
        if edge is None:
            yield Finding(f"leaves/{log.origin}", "subtrees missing below the first leaf in question", "kept")
            continue
        yield from _grow(books, log, edge)


def _grow(books: Books, log: _Log, edge: merkle.Frontier) -> Iterator[Finding]:
    """Add leaf by leaf, and compare with whatever states a root on the way."""
    ((is_signed,),) = books.all(_SIGNED, log.parameters)
    key = books.outside.key_of(log.origin) if is_signed else ""
    stated = books.rows(_CHECKPOINTS, log.parameters)
    following = next(stated, None)
    kept: list[tuple[int, int, bytes]] = []
    for index, leaf in books.rows(_LEAVES, log.parameters):
        if index != edge.size:
            break  # I18 says which leaf is missing; beyond it no root can be worked out
        for height, root in enumerate(edge.add(bytes(leaf)), start=1):
            if height % KEPT == 0:
                kept.append((height, index >> height, root))
        if len(kept) >= 1000:
            yield from _kept_otherwise(books, log, kept)
            kept = []
        while following is not None and following[0] == edge.size:
            yield from _stated_otherwise(log.origin, following, root=edge.root(), key=key)
            following = next(stated, None)
    yield from _kept_otherwise(books, log, kept)
    while following is not None:
        yield Finding(
            f"checkpoints/{log.origin}/{following[0]}", f"a tree of {following[0]}", f"at most {edge.size} leaves"
        )  # fmt: skip
        following = next(stated, None)
    for size, peaks in books.all(_PEAKS, log.parameters):
        if size == edge.size and [bytes(peak) for peak in peaks] != edge.peaks:
            yield Finding(f"leaves/{log.origin}", "another edge than its leaves'", "the peaks of its leaves")


def _stated_otherwise(
    origin: str, checkpoint: tuple[Any, ...], *, root: bytes, key: str
) -> Iterator[Finding]:
    size, stored, note = checkpoint
    subject = f"checkpoints/{origin}/{size}"
    if bytes(stored) != root:
        yield Finding(subject, f"root {bytes(stored).hex()}", f"{root.hex()}, worked out from its leaves")
    try:
        stated = signed_notes.check(note, key=key)
    except BadNote as fault:
        yield Finding(subject, str(fault), "a note signed by the key that readers hold")
        return
    if stated != Head(origin, size, bytes(stored)):
        yield Finding(subject, f"a note of {stated.origin}, {stated.size}, {stated.root.hex()}", "its own")


def _kept_otherwise(books: Books, log: _Log, kept: list[tuple[int, int, bytes]]) -> Iterator[Finding]:
    if not kept:
        return
    heights, indexes, hashes = zip(*kept, strict=True)
    found = books.all(
        _SUBTREES,
        {"origin": log.origin, "heights": list(heights), "indexes": list(indexes), "hashes": list(hashes)},
    )
    for height, index, stored in found:
        yield Finding(
            f"subtrees/{log.origin}/{height}/{index}",
            "not there" if stored is None else f"{bytes(stored).hex()}",
            "the root over its leaves",
        )


def still_what_was_exported(books: Books) -> Iterator[Finding]:
    """A checkpoint that was kept elsewhere is signed by the same key, is not ahead of the tree, and has its root."""
    if not books.outside.checkpoint:
        return
    try:
        origin = signed_notes.read(books.outside.checkpoint).origin
        kept = signed_notes.check(books.outside.checkpoint, key=books.outside.key_of(origin))
    except BadNote as fault:
        yield Finding("the kept checkpoint", str(fault), "a note signed by the key that readers hold")
        return
    subject = f"the kept checkpoint of {kept.origin} at {kept.size}"
    ((leaves,),) = books.all(
        "SELECT count(*) FROM audit_leaf WHERE origin = %(origin)s", {"origin": kept.origin}
    )
    if kept.size > leaves:
        yield Finding(subject, f"a tree of {leaves} leaves", "at least as many as were signed")
        return
    edge = _edge_at(books, kept.origin, kept.size)
    if edge is None or edge.root() != kept.root:
        yield Finding(subject, "another tree", f"root {kept.root.hex()}")


_NODES = """
SELECT hash FROM audit_subtree
 WHERE origin = %(origin)s AND height = %(height)s AND index >= %(low)s AND index < %(high)s ORDER BY index
"""

_SOME_LEAVES = """
SELECT leaf_hash FROM audit_leaf WHERE origin = %(origin)s AND index >= %(low)s AND index < %(high)s ORDER BY index
"""


def _edge_at(books: Books, origin: str, size: int) -> merkle.Frontier | None:
    """Return the right edge of the first ``size`` leaves by what was kept of the tree, None where some is missing."""
    peaks = []
    for height in reversed(range(KEPT, size.bit_length())):
        if not size >> height & 1:
            continue
        base = height // KEPT * KEPT
        first = size >> height + 1 << height + 1
        low, high = first >> base, (first + (1 << height)) >> base
        nodes = books.all(_NODES, {"origin": origin, "height": base, "low": low, "high": high})
        if len(nodes) != high - low:
            return None
        peaks.append(merkle.root([bytes(node) for (node,) in nodes]))
    whole = size >> KEPT << KEPT
    edge = merkle.Frontier(size=whole, peaks=peaks)
    rest = books.all(_SOME_LEAVES, {"origin": origin, "low": whole, "high": size})
    if len(rest) != size - whole:
        return None
    for (leaf,) in rest:
        edge.add(bytes(leaf))
    return edge
