"""The Merkle tree of RFC 6962: roots, and short proofs that an entry is in it and that it only grew.

Hashes are SHA-256. A leaf's prefix is 0x00 and an inner node's 0x01, so neither can pass for the other. There
is no proof from or into the empty tree: it would prove nothing, and a verifier that took one could be shown
anything.

A proof is made from ``Subtrees``, which returns the hash over a range of leaves; ``over(leaves)`` gives one
for a list of leaf hashes, a store of inner nodes another.
"""

import hashlib
from collections.abc import Callable, Sequence

Subtrees = Callable[[int, int], bytes]
"""``subtree(first, width)``: the root over leaves ``first`` to ``first + width - 1``, numbered from 0."""

EMPTY_ROOT = hashlib.sha256(b"").digest()


class BadProof(ValueError):
    """The proof does not lead to the root it was given for, or cannot be asked for at all."""


def leaf_hash(data: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


class Frontier:
    """The right edge of a growing tree: what is needed to add leaves and name the root, log₂ n hashes in all.

    ``peaks`` are the roots of the complete subtrees, largest first, one for each one-bit of ``size``.
    """

    def __init__(self, *, size: int = 0, peaks: Sequence[bytes] = ()) -> None:
        if size < 0 or len(peaks) != size.bit_count():
            raise ValueError(f"a tree of {size} leaves has {size.bit_count()} peaks, not {len(peaks)}")
        self.size = size
        self.peaks = list(peaks)

    def add(self, leaf: bytes) -> list[bytes]:
        """Add one leaf hash at the right; the cost over n leaves is n hashes.

        Return the roots of the complete subtrees that end with this leaf, of heights 1, 2, 3 … in that order.
        """
        merged, size = leaf, self.size
        completed = []
        while size & 1:
            merged = node_hash(self.peaks.pop(), merged)
            completed.append(merged)
            size >>= 1
        self.peaks.append(merged)
        self.size += 1
        return completed

    def root(self) -> bytes:
        if not self.peaks:
            return EMPTY_ROOT
        found = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            found = node_hash(peak, found)
        return found


def root(leaves: Sequence[bytes]) -> bytes:
    """Return the root over leaf hashes; of none, the SHA-256 of nothing."""
    edge = Frontier()
    for leaf in leaves:
        edge.add(leaf)
    return edge.root()


def over(leaves: Sequence[bytes]) -> Subtrees:
    """Return the subtrees of a list of leaf hashes, worked out once each."""
    known: dict[tuple[int, int], bytes] = {}

    def subtree(first: int, width: int) -> bytes:
        if width == 1:
            return leaves[first]
        if (first, width) not in known:
            half = _half(width)
            known[first, width] = node_hash(subtree(first, half), subtree(first + half, width - half))
        return known[first, width]

    return subtree


def _half(width: int) -> int:
    """The largest power of two below ``width``: where RFC 6962 splits a tree."""
    return 1 << (width - 1).bit_length() - 1


def inclusion(*, index: int, size: int, subtree: Subtrees) -> list[bytes]:
    """Return the proof that leaf ``index`` is in the tree of ``size`` leaves, from the leaf up."""
    if not 0 <= index < size:
        raise BadProof(f"leaf {index} is not in a tree of {size}")
    path: list[bytes] = []
    first, width = 0, size
    while width > 1:
        half = _half(width)
        if index < first + half:
            path.append(subtree(first + half, width - half))
            width = half
        else:
            path.append(subtree(first, half))
            first, width = first + half, width - half
    return path[::-1]


def consistency(*, old: int, size: int, subtree: Subtrees) -> list[bytes]:
    """Return the proof that the tree of ``old`` leaves is the beginning of the tree of ``size`` leaves."""
    if not 0 < old <= size:
        raise BadProof(f"a tree of {old} leaves is not the beginning of one of {size}")
    path: list[bytes] = []
    first, width, whole = 0, size, True
    while old - first < width:
        half = _half(width)
        if old - first <= half:
            path.append(subtree(first + half, width - half))
            width = half
        else:
            path.append(subtree(first, half))
            first, width, whole = first + half, width - half, False
    if not whole:
        path.append(subtree(first, width))
    return path[::-1]


def check_inclusion(*, leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Raise BadProof unless ``proof`` leads from the leaf hash to the root of the tree of ``size`` leaves."""
    if not 0 <= index < size:
        raise BadProof(f"leaf {index} is not in a tree of {size}")
    place, last, found = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            raise BadProof("the proof is too long")
        if place & 1 or place == last:
            found = node_hash(sibling, found)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            found = node_hash(found, sibling)
        place, last = place >> 1, last >> 1
    if last != 0:
        raise BadProof("the proof is too short")
    if found != root:
        raise BadProof("the proof leads to another root")


def check_consistency(*, old: int, size: int, old_root: bytes, root: bytes, proof: Sequence[bytes]) -> None:
    """Raise BadProof unless ``proof`` shows that the tree of ``old_root`` is the beginning of that of
    ``root``."""
    if not 0 < old <= size:
        raise BadProof(f"a tree of {old} leaves is not the beginning of one of {size}")
    if old == size:
        if proof or old_root != root:
            raise BadProof("trees of one size with two roots")
        return
    steps = list(proof)
    if old & (old - 1) == 0:
        steps.insert(0, old_root)
    before, after = _climb(steps, place=old - 1, last=size - 1)
    if before != old_root:
        raise BadProof("the proof leads to another old root")
    if after != root:
        raise BadProof("the proof leads to another root")


def _climb(steps: Sequence[bytes], *, place: int, last: int) -> tuple[bytes, bytes]:
    """Return the roots of the older and of the newer tree to which a consistency proof leads."""
    if not steps:
        raise BadProof("the proof is too short")
    while place & 1:
        place, last = place >> 1, last >> 1
    before = after = steps[0]
    for sibling in steps[1:]:
        if last == 0:
            raise BadProof("the proof is too long")
        if place & 1 or place == last:
            before, after = node_hash(sibling, before), node_hash(sibling, after)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            after = node_hash(after, sibling)
        place, last = place >> 1, last >> 1
    if last != 0:
        raise BadProof("the proof is too short")
    return before, after
