import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from gateway.events import tiles, tree
from gateway.events.tiles import WIDTH, Growth, Subtrees
from gateway.events.tree import Edge

LEAVES = [tree.leaf_hash(str(number).encode()) for number in range(WIDTH * WIDTH + 700)]
Kept = dict[tuple[int, int], tuple[bytes, ...]]


def grown(size: int, kept: Kept, start: int = 0) -> Growth:
    edge = Edge()
    for leaf in LEAVES[:start]:
        edge.append(leaf)
    growth = Growth(edge, lambda level, number: kept.get((level, number)))
    for page in range(start, size, 1_000):  # as they are read: pages end in the middle of tiles
        growth.extend(LEAVES[page : min(page + 1_000, size)])
    kept.update({(tile.level, tile.number): tile.hashes for tile in growth.tiles})
    return growth


ALL: Kept = {}
grown(len(LEAVES), ALL)


def test_full_tiles_hold_the_leaves_and_then_the_roots_of_those_below() -> None:
    assert len([number for level, number in ALL if level == 0]) == len(LEAVES) // WIDTH
    assert ALL[0, 1] == tuple(LEAVES[WIDTH : 2 * WIDTH])
    assert ALL[1, 0] == tuple(tree.root_of(ALL[0, number]) for number in range(WIDTH))
    assert (1, 1) not in ALL
    assert (2, 0) not in ALL


def test_a_tree_that_grows_in_parts_gets_the_same_tiles() -> None:
    kept: Kept = {}
    for start, size in ((0, 300), (256, 512), (512, 65_535), (65_280, len(LEAVES))):
        assert grown(size, kept, start).edge.size == size
    assert kept == ALL


def test_a_tree_goes_on_only_where_a_tile_ends_and_with_the_tiles_it_has() -> None:
    with pytest.raises(ValueError, match="end of a tile"):
        grown(10, {}, 5)
    with pytest.raises(ValueError, match="tile 0 of level 0 is missing"):
        grown(WIDTH * WIDTH, {}, WIDTH)


@hypothesis_settings(max_examples=30)
@given(st.integers(1, len(LEAVES)), st.data())
def test_proofs_from_tiles_lead_to_the_root(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    first = data.draw(st.integers(1, size))
    whole = {key: tile for key, tile in ALL.items() if (key[1] + 1) * WIDTH ** (key[0] + 1) <= size}
    subtree = Subtrees(
        lambda level, number: whole.get((level, number)), lambda start, end: LEAVES[start:end]
    )
    root = tree.root_of(LEAVES[:size])
    assert subtree(0, size) == root
    proof = tree.inclusion(index, size, subtree)
    assert tree.is_included(LEAVES[index], index, size, proof, root)
    old = tree.root_of(LEAVES[:first])
    assert tree.is_consistent(first, size, old, root, tree.consistency(first, size, subtree))


def test_hashes_come_back_as_they_were_written() -> None:
    assert tiles.unpack(tiles.pack(LEAVES[:3])) == tuple(LEAVES[:3])
    assert tiles.unpack("") == ()


@pytest.mark.parametrize("text", ["?", "YWJj", "é"])
def test_other_texts_are_no_hashes(text: str) -> None:
    with pytest.raises(ValueError, match="not a list of hashes"):
        tiles.unpack(text)
