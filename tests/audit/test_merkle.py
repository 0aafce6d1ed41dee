"""The tree against the test vectors published with Certificate Transparency, and against its own laws."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import merkle

LEAVES = [
    merkle.leaf_hash(bytes.fromhex(text))
    for text in (
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
    )
]  # fmt: skip
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
A = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
B = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
C = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
D = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
E = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
F = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"


def hexed(proof: list[bytes]) -> list[str]:
    return [step.hex() for step in proof]


def many(count: int) -> list[bytes]:
    return [merkle.leaf_hash(str(number).encode()) for number in range(count)]


def test_the_roots_are_the_published_ones() -> None:
    assert [merkle.root(LEAVES[:size]).hex() for size in range(1, 9)] == ROOTS


def test_the_root_of_no_leaves_is_the_hash_of_nothing() -> None:
    assert merkle.root([]) == hashlib.sha256(b"").digest()


@pytest.mark.parametrize(
    ("leaf", "size", "path"),
    [(1, 1, []), (1, 8, [A, B, C]), (6, 8, [D, E, ROOTS[3]]), (3, 3, [ROOTS[1]]), (2, 5, [ROOTS[0], B, D])],
)
def test_the_inclusion_proofs_are_the_published_ones(leaf: int, size: int, path: list[str]) -> None:
    found = merkle.inclusion(index=leaf - 1, size=size, subtree=merkle.over(LEAVES))
    assert hexed(found) == path
    root = bytes.fromhex(ROOTS[size - 1])
    merkle.check_inclusion(leaf=LEAVES[leaf - 1], index=leaf - 1, size=size, proof=found, root=root)


@pytest.mark.parametrize(
    ("old", "size", "path"), [(1, 1, []), (1, 8, [A, B, C]), (6, 8, [F, E, ROOTS[3]]), (2, 5, [B, D])]
)
def test_the_consistency_proofs_are_the_published_ones(old: int, size: int, path: list[str]) -> None:
    found = merkle.consistency(old=old, size=size, subtree=merkle.over(LEAVES))
    assert hexed(found) == path


def test_every_leaf_has_a_proof_and_every_two_sizes_are_consistent() -> None:
    leaves = many(33)
    subtree = merkle.over(leaves)
    for size in range(1, 34):
        root = merkle.root(leaves[:size])
        for index in range(size):
            proof = merkle.inclusion(index=index, size=size, subtree=subtree)
            merkle.check_inclusion(leaf=leaves[index], index=index, size=size, proof=proof, root=root)
        for old in range(1, size + 1):
            proof = merkle.consistency(old=old, size=size, subtree=subtree)
            merkle.check_consistency(
                old=old, size=size, old_root=merkle.root(leaves[:old]), root=root, proof=proof
            )


def test_there_is_no_proof_from_or_into_the_empty_tree() -> None:
    subtree = merkle.over(LEAVES)
    root = merkle.root(LEAVES)
    with pytest.raises(merkle.BadProof):
        merkle.consistency(old=0, size=8, subtree=subtree)
    with pytest.raises(merkle.BadProof):
        merkle.inclusion(index=0, size=0, subtree=subtree)
    with pytest.raises(merkle.BadProof):
        merkle.check_consistency(old=0, size=8, old_root=merkle.EMPTY_ROOT, root=root, proof=[])
    with pytest.raises(merkle.BadProof):
        merkle.check_consistency(old=0, size=0, old_root=merkle.EMPTY_ROOT, root=merkle.EMPTY_ROOT, proof=[])
    with pytest.raises(merkle.BadProof):
        merkle.check_inclusion(leaf=LEAVES[0], index=0, size=0, proof=[], root=merkle.EMPTY_ROOT)


@given(st.data())
def test_one_bit_changed_anywhere_in_a_proof_is_found(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 40))
    leaves, old = many(size), data.draw(st.integers(1, size - 1))
    index = data.draw(st.integers(0, size - 1))
    subtree, root = merkle.over(leaves), merkle.root(leaves)

    def flipped(steps: list[bytes]) -> list[bytes]:
        at = data.draw(st.integers(0, len(steps) - 1))
        bit = data.draw(st.integers(0, 255))
        changed = (int.from_bytes(steps[at]) ^ 1 << bit).to_bytes(32)
        return [*steps[:at], changed, *steps[at + 1 :]]

    leaf, *path = flipped([leaves[index], *merkle.inclusion(index=index, size=size, subtree=subtree)])
    with pytest.raises(merkle.BadProof):
        merkle.check_inclusion(leaf=leaf, index=index, size=size, proof=path, root=root)

    old_root, *steps = flipped(
        [merkle.root(leaves[:old]), *merkle.consistency(old=old, size=size, subtree=subtree)]
    )
    with pytest.raises(merkle.BadProof):
        merkle.check_consistency(old=old, size=size, old_root=old_root, root=root, proof=steps)


@given(st.integers(2, 60), st.data())
def test_a_proof_cut_or_made_longer_is_found(size: int, data: st.DataObject) -> None:
    leaves = many(size)
    index, old = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, size - 1))
    subtree, root = merkle.over(leaves), merkle.root(leaves)
    path = merkle.inclusion(index=index, size=size, subtree=subtree)
    steps = merkle.consistency(old=old, size=size, subtree=subtree)
    for wrong in (path[:-1], [*path, leaves[0]]):
        with pytest.raises(merkle.BadProof):
            merkle.check_inclusion(leaf=leaves[index], index=index, size=size, proof=wrong, root=root)
    for wrong in (steps[:-1], [*steps, leaves[0]]):
        with pytest.raises(merkle.BadProof):
            merkle.check_consistency(
                old=old, size=size, old_root=merkle.root(leaves[:old]), root=root, proof=wrong
            )


@given(st.integers(0, 60), st.integers(0, 60))
def test_a_frontier_kept_and_taken_up_again_gives_the_root_of_the_whole(first: int, more: int) -> None:
    leaves = many(first + more)
    edge = merkle.Frontier()
    for leaf in leaves[:first]:
        edge.add(leaf)
    resumed = merkle.Frontier(size=edge.size, peaks=edge.peaks)
    for leaf in leaves[first:]:
        resumed.add(leaf)
    assert (resumed.size, resumed.root()) == (first + more, merkle.root(leaves))


def test_a_frontier_that_does_not_fit_its_size_is_refused() -> None:
    with pytest.raises(ValueError, match="peaks"):
        merkle.Frontier(size=3, peaks=[LEAVES[0]])
