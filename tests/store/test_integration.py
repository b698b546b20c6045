import pytest

from gateway.errors import LogChanged
from gateway.events import tree
from gateway.events.tiles import WIDTH
from gateway.store import integration
from gateway.store.store import Store
from tests.helpers.databases import Connect
from tests.helpers.tampering import checkpoint, tamper, write


def leaves(url: str) -> list[bytes]:
    rows = tamper(url, "SELECT body FROM events ORDER BY seq")
    return [tree.leaf_hash(row[0].encode()) for row in rows]


async def test_the_tree_takes_in_what_came_and_full_tiles_of_it(
    store: Store, connect: Connect, store_url: str
) -> None:
    await write(store, 600)
    with connect().reading() as reading:
        assert integration.last(reading) is None
        grown = integration.grow(reading, None, most=10_000)
    assert grown is not None
    expected = leaves(store_url)
    assert (grown.before, grown.edge.root()) == (0, tree.root_of(expected))
    assert [tile.hashes for tile in grown.tiles] == [
        tuple(expected[:WIDTH]),
        tuple(expected[WIDTH : 2 * WIDTH]),
    ]


async def test_a_tree_grows_step_by_step_to_the_same_root(store: Store, store_url: str) -> None:
    for count in (1, 254, 2, 300, 43):
        await write(store, count)
        made = await checkpoint(store)
    assert made.root == tree.root_of(leaves(store_url))
    assert len(tamper(store_url, "SELECT * FROM tiles")) == 2


async def test_there_is_nothing_to_take_in_without_new_events(
    store: Store, connect: Connect
) -> None:
    await write(store, 5)
    made = await checkpoint(store)
    with connect().reading() as reading:
        assert integration.grow(reading, made, most=10) is None
        assert integration.last(reading) == made


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("DELETE FROM events WHERE seq > 290", "ends at event 295"),
        ("DELETE FROM events WHERE seq = 280", "event 280 is not in the log"),
        ("UPDATE events SET body = '{}' WHERE seq = 299", "aren't what the last checkpoint"),
    ],
)
async def test_a_checkpoint_is_never_put_on_a_log_that_was_changed(
    store: Store, store_url: str, statement: str, told: str
) -> None:
    await write(store, 300)
    await checkpoint(store)
    tamper(store_url, statement)
    await write(store, 5)
    with pytest.raises(LogChanged, match=told):
        await checkpoint(store)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE checkpoints SET size = 299",
        "UPDATE checkpoints SET edge = 'AAAA'",
        "UPDATE checkpoints SET note = 'note'",
        "UPDATE checkpoints SET root = edge",
    ],
)
async def test_a_row_that_does_not_say_what_was_signed_is_not_gone_on_from(
    store: Store, store_url: str, statement: str
) -> None:
    await write(store, 300)
    await checkpoint(store)
    tamper(store_url, statement)
    with pytest.raises(LogChanged):
        await checkpoint(store)


async def test_hashes_for_proofs_come_from_tiles_and_from_events(
    store: Store, connect: Connect, store_url: str
) -> None:
    await write(store, 300)
    await checkpoint(store)
    expected = leaves(store_url)
    with connect().reading() as reading:
        subtree = integration.subtrees(reading)
        assert subtree(0, 300) == tree.root_of(expected)
        assert subtree(256, 300) == tree.root_of(expected[256:300])
        with pytest.raises(ValueError, match="no leaf 300"):
            subtree(256, 320)
    tamper(store_url, "UPDATE tiles SET hashes = 'AAAA'")
    with connect().reading() as reading, pytest.raises(LogChanged, match="is no tile"):
        integration.kept(reading, 0, 0)


async def test_a_tile_that_is_missing_below_is_told(store: Store, connect: Connect) -> None:
    with connect().reading() as reading, pytest.raises(LogChanged, match="tile 3 of level 0"):
        integration.needed(reading, 0, 3)
