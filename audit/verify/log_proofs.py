"""V1 to V4: entries have their bytes' hashes, stand in the tree, the tree only grew, and a known key signed it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from audit import merkle
from audit.verify import signed_notes
from audit.verify.export import Export, Failure, canonical, sha256
from audit.verify.signed_notes import BadNote, Head, Key


class Entry(NamedTuple):
    """An entry whose bytes were seen: its leaf's place in the tree, and what it says."""

    place: int
    action: str
    said: dict[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        data: dict[str, Any] = self.said["data"]
        return data


class Growth(NamedTuple):
    """A proof that the tree of ``size`` leaves begins with that of ``old``, as the house's door answers it."""

    origin: str
    old: int
    size: int
    proof: tuple[bytes, ...]


def receipt(export: Export) -> str:
    """Check the entry that the house wrote of this copy: it fixes every byte of the content. Returns its hash."""
    written = export.entry["bytes"].encode()
    if merkle.leaf_hash(written).hex() != export.entry["hash"]:
        raise Failure("V1", "entry", "the hash of this copy's own entry is not that of its bytes")
    said = _said(written, "entry")
    if said["data"].get("sha256") != sha256(canonical(export.content)):
        raise Failure("V1", "content", "is not what the house's entry of this copy fixes")
    return str(export.entry["hash"])


def entries(content: Mapping[str, Any]) -> tuple[list[Entry], int]:
    """V1: the bytes of each entry have its hash. Returns what they say, and how many were withheld."""
    found: list[Entry] = []
    withheld = 0
    indexes = [entry["index"] for entry in content["entries"]]
    if indexes != sorted(set(indexes)):
        raise Failure("V1", "entries", "do not stand once each in the order of the log")
    for entry in content["entries"]:
        if entry["bytes"] is None:
            withheld += 1
            continue
        row, written = f"entries/{entry['index']}", entry["bytes"].encode()
        if merkle.leaf_hash(written).hex() != entry["hash"]:
            raise Failure("V1", row, "the hash is not that of its bytes")
        said = _said(written, row)
        found.append(Entry(entry["index"], str(said["action"]), said))
    return found, withheld


def included(content: Mapping[str, Any], head: Head) -> None:
    """V2: each entry's hash leads to the checkpoint's root."""
    for entry in content["entries"]:
        try:
            merkle.check_inclusion(
                leaf=_hash(entry["hash"]),
                index=entry["index"],
                size=head.size,
                proof=[_hash(node) for node in entry["proof"]],
                root=head.root,
            )
        except (merkle.BadProof, ValueError) as fault:
            raise Failure("V2", f"entries/{entry['index']}", str(fault)) from None


def grown(
    content: Mapping[str, Any], head: Head, *, kept: Sequence[tuple[str, Head]], growth: Sequence[Growth]
) -> list[str]:
    """V3: earlier and kept checkpoints are of the tree that this one is of. Returns the names of those compared.

    ``kept`` are checkpoints that the reader has from before, by the name of their file. One that cannot be compared
    is a failure: it was given to be compared.
    """
    proofs = [*growth, *_proofs(content, head)]
    compared = []
    for name, older in [*_earlier(content), *kept]:
        if older.origin != head.origin:
            raise Failure("V3", name, f"is of the log {older.origin!r}, not of {head.origin!r}")
        old, new = sorted((older, head), key=lambda one: one.size)
        if old.size == new.size:
            if old.root != new.root:
                raise Failure(
                    "V3", name, f"has another root at {old.size} leaves: one of the two trees was rewritten"
                )
            compared.append(name)
            continue
        found = [one for one in proofs if (one.old, one.size) == (old.size, new.size)]
        if not found:
            raise Failure(
                "V3", name, f"cannot be compared: the proof from {old.size} to {new.size} leaves is not here"
            )
        try:
            merkle.check_consistency(
                old=old.size, size=new.size, old_root=old.root, root=new.root, proof=found[0].proof
            )
        except merkle.BadProof as fault:
            raise Failure("V3", name, f"the tree did not only grow from {old.size} leaves: {fault}") from None
        compared.append(name)
    return compared


def signed(content: Mapping[str, Any], *, keys: Sequence[Key]) -> tuple[Head, str, bool]:
    """V4: return the checkpoint's head, who signed it, and whether by a key that the reader already has."""
    note = content["log"]["checkpoint"]
    if keys:
        return (*_by_any(note, keys, "checkpoint"), True)
    if content["log"]["key"] is None:
        raise Failure("V4", "log.key", "the export names no key, and none was given")
    try:
        own = signed_notes.key_of(content["log"]["key"])
    except BadNote as fault:
        raise Failure("V4", "log.key", str(fault)) from None
    return (*_by_any(note, [own], "checkpoint"), False)


def own_key(content: Mapping[str, Any], *, keys: Sequence[Key]) -> None:
    """The key that the export names, if it does, is one that the reader has."""
    named = content["log"]["key"]
    if named is None or not keys:
        return
    try:
        own = signed_notes.key_of(named)
    except BadNote as fault:
        raise Failure("V4", "log.key", str(fault)) from None
    if own not in keys:
        raise Failure("V4", "log.key", "the export names another key than those given")


def kept(note: str, name: str, *, keys: Sequence[Key]) -> Head:
    """Return what a kept checkpoint states; it bears the signature of one of the keys."""
    return _by_any(note, keys, name)[0]


def _by_any(note: str, keys: Sequence[Key], row: str) -> tuple[Head, str]:
    why = "no key"
    for key in keys:
        try:
            return signed_notes.signed(note, key), f"{key.name}+{key.hash.hex()}"
        except BadNote as fault:
            why = str(fault)
    raise Failure("V4", row, why)


def _earlier(content: Mapping[str, Any]) -> list[tuple[str, Head]]:
    found = []
    for place, one in enumerate(content["log"]["growth"]):
        try:
            head = signed_notes.read(one["checkpoint"])
        except BadNote as fault:
            raise Failure("V3", f"log.growth/{place}", str(fault)) from None
        found.append((f"log.growth/{place}", head))
    return found


def _proofs(content: Mapping[str, Any], head: Head) -> list[Growth]:
    found = []
    for place, one in enumerate(content["log"]["growth"]):
        try:
            proof = tuple(_hash(node) for node in one["proof"])
        except ValueError as fault:
            raise Failure("V3", f"log.growth/{place}", str(fault)) from None
        found.append(Growth(head.origin, signed_notes.read(one["checkpoint"]).size, head.size, proof))
    return found


def _said(written: bytes, row: str) -> dict[str, Any]:
    try:
        said = json.loads(written)
        if canonical(said) != written:
            raise ValueError("not written in the canonical way")
        if not isinstance(said["data"], dict) or not isinstance(said["action"], str):
            raise ValueError("says nothing")
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise Failure("V1", row, f"is no entry: {fault}") from None
    return dict(said)


def _hash(written: str) -> bytes:
    found = bytes.fromhex(written)
    if len(found) != 32 or found.hex() != written:
        raise ValueError("not a hash")
    return found
