"""RFC 9162, section 2.1: the tree against its recursive definition, and the RFC's own proofs."""

from collections.abc import Sequence
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.events import tree
from gateway.events.tree import Edge

LEAVES = [tree.leaf_hash(str(number).encode()) for number in range(700)]
SIZES = range(71)


def defined(leaves: Sequence[bytes]) -> bytes:
    """MTH as section 2.1.1 defines it, over hashes of leaves."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    middle = 1
    while middle * 2 < len(leaves):
        middle *= 2
    return sha256(b"\1" + defined(leaves[:middle]) + defined(leaves[middle:])).digest()


def subtree(start: int, end: int) -> bytes:
    return defined(LEAVES[start:end])


def test_a_leaf_and_a_node_are_told_apart() -> None:
    assert tree.leaf_hash(b"a") == sha256(b"\0a").digest()
    assert tree.node_hash(b"a" * 32, b"b" * 32) == sha256(b"\1" + b"a" * 32 + b"b" * 32).digest()


@pytest.mark.parametrize("size", SIZES)
def test_the_root_of_an_edge_is_that_of_the_recursive_definition(size: int) -> None:
    assert tree.root_of(LEAVES[:size]) == defined(LEAVES[:size])


@given(st.integers(0, len(LEAVES)), st.integers(0, len(LEAVES)))
def test_an_edge_goes_on_from_its_hashes_alone(first: int, second: int) -> None:
    first, second = sorted((first, second))
    begun = Edge()
    for leaf in LEAVES[:first]:
        begun.append(leaf)
    edge = Edge(begun.size, begun.hashes)
    for leaf in LEAVES[first:second]:
        edge.append(leaf)
    assert (edge.size, edge.root()) == (second, defined(LEAVES[:second]))


@given(st.integers(0, len(LEAVES)), st.sampled_from([1, 2, 4, 256]))
def test_an_edge_is_cut_back_to_whole_widths(size: int, width: int) -> None:
    edge = Edge()
    for leaf in LEAVES[:size]:
        edge.append(leaf)
    cut = edge.cut(width)
    assert cut.size == size - size % width
    assert cut.root() == defined(LEAVES[: cut.size])


def test_a_copy_of_an_edge_goes_its_own_way() -> None:
    edge = Edge()
    edge.append(LEAVES[0])
    other = edge.copy()
    other.append(LEAVES[1])
    assert (edge.size, other.size) == (1, 2)


@pytest.mark.parametrize(
    ("size", "hashes"), [(3, [b"a" * 32]), (1, [b"short"]), (-1, []), (0, [b"a" * 32])]
)
def test_hashes_that_no_tree_of_that_size_has_are_no_edge(size: int, hashes: list[bytes]) -> None:
    with pytest.raises(ValueError, match="another edge"):
        Edge(size, hashes)


@pytest.mark.parametrize("size", SIZES)
def test_every_leaf_of_a_tree_can_be_proven_to_be_in_it_and_nowhere_else(size: int) -> None:
    root = defined(LEAVES[:size])
    for index in range(size):
        proof = tree.inclusion(index, size, subtree)
        assert tree.is_included(LEAVES[index], index, size, proof, root)
        assert not tree.is_included(LEAVES[index + 1], index, size, proof, root)
        assert not tree.is_included(LEAVES[index], index, size, [*proof, root], root)
        other = (index + 1) % size
        assert other == index or not tree.is_included(LEAVES[index], other, size, proof, root)
        if proof:
            assert not tree.is_included(LEAVES[index], index, size, proof[:-1], root)


@pytest.mark.parametrize("second", SIZES)
def test_a_tree_can_be_proven_to_begin_with_each_smaller_one(second: int) -> None:
    new = defined(LEAVES[:second])
    for first in range(1, second + 1):
        old = defined(LEAVES[:first])
        proof = tree.consistency(first, second, subtree)
        assert tree.is_consistent(first, second, old, new, proof)
        assert not tree.is_consistent(first, second, old, LEAVES[0][::-1], proof)
        if first < second:
            assert not tree.is_consistent(first, second, LEAVES[-1], new, proof)
            assert not tree.is_consistent(first, second, old, new, proof[:-1])
            assert not tree.is_consistent(first, second, old, new, [*proof, new])


@given(st.data())
def test_proofs_hold_in_trees_of_any_size(data: st.DataObject) -> None:
    second = data.draw(st.integers(1, len(LEAVES)))
    first = data.draw(st.integers(1, second))
    index = data.draw(st.integers(0, second - 1))
    old, new = defined(LEAVES[:first]), defined(LEAVES[:second])
    assert tree.is_consistent(first, second, old, new, tree.consistency(first, second, subtree))
    proof = tree.inclusion(index, second, subtree)
    assert tree.is_included(LEAVES[index], index, second, proof, new)


def test_what_is_not_there_has_no_proof() -> None:
    with pytest.raises(ValueError, match="no leaf 3"):
        tree.inclusion(3, 3, subtree)
    with pytest.raises(ValueError, match="can't begin"):
        tree.consistency(4, 3, subtree)
    assert not tree.is_included(LEAVES[0], 3, 3, [], LEAVES[0])
    assert not tree.is_consistent(4, 3, LEAVES[0], LEAVES[0], [])
    assert not tree.is_consistent(1, 3, LEAVES[0], LEAVES[0], [])
    assert not tree.is_consistent(3, 5, LEAVES[0], LEAVES[0], [])


@pytest.mark.parametrize(
    "parts", [[0], [1], [255, 1], [256], [257, 255], [100, 512, 7], [1_000, 24, 1]]
)
def test_many_leaves_at_once_are_the_same_tree_as_one_after_the_other(parts: list[int]) -> None:
    single, many, number = Edge(), Edge(), 0
    for part in parts:
        leaves = tree.leaf_hashes(b"%d" % each for each in range(number, number + part))
        assert leaves == [tree.leaf_hash(b"%d" % each) for each in range(number, number + part)]
        many.extend(leaves)
        for leaf in leaves:
            single.append(leaf)
        number += part
        assert (many.size, many.hashes, many.root()) == (
            single.size,
            single.hashes,
            single.root(),
        )
