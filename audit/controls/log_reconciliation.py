"""R5 of reconciliation: every act has its entry and its leaf, and sizes and roots agree.

Settlement cuts the day and keeps the chunks; only here may the log be read, so only the log's own worker claims them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import connection

from audit import log, merkle, seal, signed_notes
from audit.checkpoints import Store, Unreachable
from audit.models import Checkpoint
from settlement import reconciliation
from settlement.breaks import NewBreak
from settlement.reconciliation import Found, Piece, Single, Unseen

LEVEL = "R5"

_ENTRIES = """
SELECT e.id, encode(e.leaf_hash, 'hex'), e.recorded_at, l.id IS NOT NULL,
       e.leaf_hash = sha256('\\x00'::bytea || e.bytes) AND (l.id IS NULL OR l.leaf_hash = e.leaf_hash)
  FROM audit_logentry e LEFT JOIN audit_leaf l ON l.entry_id = e.id
 WHERE e.recorded_at >= %(since)s AND e.recorded_at < %(until)s ORDER BY e.id
"""

# An act's rows carry its instant, and so do its entries: both sides of an act lie in the same slice of time.
_ACTS = """
WITH entered AS MATERIALIZED (
    SELECT convert_from(e.bytes, 'UTF8')::jsonb -> 'data' AS data FROM audit_logentry e
     WHERE e.recorded_at >= %(since)s AND e.recorded_at < %(until)s
), told AS (
    SELECT 'journals/' || (one.value ->> 'id') AS subject FROM entered
     CROSS JOIN LATERAL (
        SELECT j.value FROM jsonb_array_elements(
            CASE jsonb_typeof(entered.data -> 'journals') WHEN 'array' THEN entered.data -> 'journals' ELSE '[]' END
        ) AS j
        UNION ALL
        SELECT entered.data -> 'journal' WHERE jsonb_typeof(entered.data -> 'journal') = 'object') AS one
     UNION SELECT 'settlements/' || (data ->> 'settlement') FROM entered WHERE data ? 'settlement' AND data ? 'revision'
), done AS (
    SELECT 'journals/' || id AS subject FROM settlement_journal WHERE id >= %(low)s AND id < %(high)s
     UNION ALL SELECT 'settlements/' || id FROM settlement_settlement WHERE id >= %(low)s AND id < %(high)s
)
SELECT coalesce(done.subject, told.subject), done.subject IS NOT NULL, told.subject IS NOT NULL
  FROM done FULL JOIN told ON told.subject = done.subject
 WHERE done.subject IS NOT NULL OR NOT EXISTS (
        SELECT FROM settlement_journal j WHERE told.subject = 'journals/' || j.id)
   AND NOT EXISTS (SELECT FROM settlement_settlement s WHERE told.subject = 'settlements/' || s.id)
 ORDER BY 1
"""


def acts(piece: Piece) -> Iterator[Found]:
    """Each entry of the slice has its leaf, the hash of its bytes; each journal and settlement has its entry, and no
    such entry lacks its row."""
    between = {"since": piece.begins, "until": piece.ends}
    lag = timedelta(seconds=settings.RECONCILE["seal_lag_seconds"])
    with reconciliation.reading(), connection.cursor() as cursor:
        cursor.execute(_ENTRIES, between)
        entries = cursor.fetchall()
        cursor.execute(_ACTS, between | piece.ids)
        both = cursor.fetchall()
    for id, hash, recorded_at, has_leaf, is_its_hash in entries:
        key = f"log/{id}"
        found: tuple[NewBreak, ...] = ()
        waits = not has_leaf and recorded_at + lag > piece.now
        if not is_its_hash:
            found = (NewBreak("LEAF_DIFF", key, "bytes", {"leaf_hash": hash}),)
        elif not has_leaf and not waits:
            found = (
                NewBreak("SEAL_LAG", key, "no leaf", {"leaf_hash": hash}, fell_due_at=recorded_at + lag),
            )
        yield Single(key, [hash], found, is_pending=waits)
    for subject, was_done, was_told in both:
        found = ()
        if not was_told:
            found = (NewBreak("MISSING_SOURCE", subject, "no entry", {}),)
        elif not was_done:
            found = (NewBreak("MISSING_LEDGER", subject, "an entry without its row", {}),)
        yield Single(subject, [], found)


def tree(piece: Piece) -> Iterator[Found]:
    """Each checkpoint of the window, by the hour, signs the root of our leaves and grew from the one before it; the
    one that was exported last is of this tree."""
    origin = log.log_name()
    earlier: Checkpoint | None = None
    for checkpoint in _by_hour(piece, origin):
        yield _signed(checkpoint)
        if earlier is not None:
            yield _grown(earlier, checkpoint)
        earlier = checkpoint
    yield _exported(origin)


def _by_hour(piece: Piece, origin: str) -> list[Checkpoint]:
    signed = Checkpoint.objects.filter(
        origin=origin, signed_at__gte=piece.window.since, signed_at__lt=piece.window.until
    )
    last: dict[str, int] = {}
    for id, at in signed.order_by("size").values_list("id", "signed_at"):
        last[at.strftime("%Y-%m-%dT%H")] = id
    return list(Checkpoint.objects.filter(id__in=last.values()).order_by("size"))


def _signed(checkpoint: Checkpoint) -> Single:
    key = f"checkpoints/{checkpoint.size}"
    stored = bytes(checkpoint.root)
    try:
        ours = seal.root_at(checkpoint.size, origin=checkpoint.origin)
    except merkle.BadProof as fault:
        return Single(key, [stored.hex()], (NewBreak("PROOF_FAIL", key, "root", {"why": str(fault)}),))
    detail = {"size": checkpoint.size, "signed": stored.hex(), "leaves": ours.hex()}
    found = () if ours == stored else (NewBreak("FORK", key, stored.hex(), detail),)
    return Single(key, [stored.hex()], found)


def _grown(earlier: Checkpoint, later: Checkpoint) -> Single:
    key = f"checkpoints/{earlier.size}-{later.size}"
    found: tuple[NewBreak, ...] = ()
    try:
        proof = seal.consistency(earlier.size, size=later.size, origin=later.origin)
        merkle.check_consistency(
            old=earlier.size,
            size=later.size,
            old_root=bytes(earlier.root),
            root=bytes(later.root),
            proof=proof,
        )
    except merkle.BadProof as fault:
        detail = {"old": earlier.size, "size": later.size, "why": str(fault)}
        found = (NewBreak("PROOF_FAIL", key, "consistency", detail),)
    return Single(key, [], found)


def _exported(origin: str) -> Found:
    store = Store(folder=Path(settings.CHECKPOINT_FOLDER), key_file=Path(settings.SEAL_KEY_FILE))
    try:
        note = store.newest(origin)
        if note is None:
            return Unseen("the exported checkpoint", "there is none yet")
        kept = signed_notes.read(note)
    except (Unreachable, signed_notes.BadNote) as fault:
        return Unseen("the exported checkpoint", str(fault) or "cannot be read")
    subject = f"exported/{origin}"
    detail = {"exported": kept.size, "root": kept.root.hex()}
    try:
        is_ours = seal.root_at(kept.size, origin=origin) == kept.root
    except merkle.BadProof:
        is_ours = False
    return Single(subject, [], () if is_ours else (NewBreak("FORK", subject, kept.root.hex(), detail),))


PARTS: Mapping[str, Mapping[str, reconciliation.Part]] = {LEVEL: {"acts": acts, "tree": tree}}
"""What ``reconcile.look`` compares our chunks by."""
