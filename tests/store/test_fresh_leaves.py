"""Hashes of what was just written: those of the store, or none."""

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.events import tree
from gateway.store import fresh_leaves, integration
from gateway.store.fresh_leaves import FreshLeaves
from gateway.store.store import Store
from tests.helpers.databases import Connect, OpenStore
from tests.helpers.events import an_event
from tests.helpers.tampering import SIGNER, by, checkpoint, tamper, write


def hashes(first: int, last: int) -> list[bytes]:
    return [tree.leaf_hash(b"%d" % number) for number in range(first, last + 1)]


def add(fresh: FreshLeaves, first: int, last: int) -> None:
    fresh.add(first, [str(number) for number in range(first, last + 1)])


def a_fresh() -> FreshLeaves:
    fresh = FreshLeaves()
    fresh.want()
    return fresh


def test_what_is_behind_the_end_of_the_log_is_forgotten() -> None:
    fresh = a_fresh()
    add(fresh, 3, 10)
    fresh.cut(10)
    assert fresh.last == 10
    fresh.cut(4)
    assert fresh.take(2, 10, 9) == hashes(3, 4)
    fresh.cut(1)
    assert fresh.take(2, 10, 9) == []
    add(fresh, 2, 3)
    assert fresh.take(1, 3, 9) == hashes(2, 3)


async def test_a_log_that_was_put_back_is_signed_as_it_goes_on_from_there(
    store: Store, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by a checkpoint that comes before the hashes of what was written instead."""
    await write(store, 3)
    await checkpoint(store)
    await written(store, 9)
    tamper(store_url, "DELETE FROM events WHERE seq > 5")

    def late(first: int, bodies: list[str]) -> None:
        """Hash nothing yet."""

    monkeypatch.setattr(store.checkpoints.fresh, "add", late)
    await write(store, 20)
    made = await checkpoint(store)
    assert (made.size, made.root) == (25, tree.root_of(leaves(store_url)))


def test_it_is_told_where_hashes_begin() -> None:
    fresh = a_fresh()
    assert fresh.begin(0) == 0
    add(fresh, 5, 9)
    assert [fresh.begin(after) for after in (0, 3, 4, 5, 9, 10)] == [4, 4, 0, 0, 0, 0]


async def test_from_its_start_on_a_gateway_signs_what_it_wrote(
    store: Store, store_url: str
) -> None:
    """Also behind events of before, of others, and in the very first checkpoint."""
    await write(store, 5)
    store.checkpoints.expect()
    await written(store, 40)
    good = leaves(store_url)
    tamper(store_url, "UPDATE events SET body = '{}' WHERE seq = 10")
    made = await store.checkpoints.make(by(SIGNER))
    assert made is not None
    assert made.root == tree.root_of(good)


def test_hashes_are_those_of_the_events_and_go_once_they_are_behind() -> None:
    fresh = a_fresh()
    add(fresh, 1, 200)
    add(fresh, 201, 203)
    assert fresh.take(0, 203, 500) == hashes(1, 203)
    assert fresh.take(190, 203, 4) == hashes(191, 194)
    assert fresh.take(190, 192, 400) == hashes(191, 192)
    assert fresh.take(203, 203, 4) == []
    assert fresh.take(204, 300, 4) == []
    assert fresh.take(0, 203, 500) == []  # nobody goes back, but who does reads the store
    assert fresh.take(200, 100, 4) == []


def test_of_events_with_a_gap_between_them_only_the_later_are_known() -> None:
    fresh = a_fresh()
    add(fresh, 1, 3)
    add(fresh, 5, 6)
    assert fresh.take(0, 6, 9) == []
    assert fresh.take(3, 6, 9) == []
    assert fresh.take(4, 6, 9) == hashes(5, 6)
    add(fresh, 2, 3)  # the database was put back to what it was
    assert fresh.take(4, 6, 9) == []
    assert fresh.take(1, 6, 9) == hashes(2, 3)


def test_none_are_kept_before_somebody_wants_them_and_no_more_than_so_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fresh_leaves, "MOST", 10)
    fresh = FreshLeaves()
    add(fresh, 1, 3)
    assert fresh.take(0, 3, 9) == []
    fresh.want()
    for first in range(4, 40, 4):
        add(fresh, first, first + 3)
    assert fresh.take(3, 39, 99) == []
    assert fresh.take(28, 39, 99) == []
    assert fresh.take(29, 39, 99) == hashes(30, 39)


@given(st.lists(st.tuples(st.integers(1, 90), st.integers(0, 1), st.integers(0, 200))))
def test_whatever_is_taken_is_right(steps: list[tuple[int, int, int]]) -> None:
    fresh, last = a_fresh(), 0
    for many, gap, after in steps:
        first = last + 1 + gap
        last = first + many - 1
        add(fresh, first, last)
        found = fresh.take(after, last, 64)
        assert found == hashes(after + 1, after + len(found))


def test_one_thread_adds_while_another_takes() -> None:
    fresh, taken, over = a_fresh(), list[bytes](), threading.Event()

    def take() -> None:
        while len(taken) < 9_000 and not over.is_set():
            taken.extend(fresh.take(len(taken), 9_000, 256))

    taking = threading.Thread(target=take)
    taking.start()
    for first in range(1, 9_001, 90):
        add(fresh, first, first + 89)
    taking.join(20)
    over.set()
    assert taken == hashes(1, 9_000)


async def written(store: Store, many: int) -> None:
    """Write events, and wait until they are hashed: a moment after they are kept."""
    await write(store, many)
    last = (await store.checkpoints.standing()).last_seq
    async with asyncio.timeout(10):
        while store.checkpoints.fresh.last != last:
            await asyncio.sleep(0.001)


def leaves(url: str) -> list[bytes]:
    rows = tamper(url, "SELECT body FROM events ORDER BY seq")
    return [tree.leaf_hash(row[0].encode()) for row in rows]


async def test_checkpoints_have_the_roots_of_the_log_whoever_has_written_it(
    open_store: OpenStore, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two gateways take turns, in pieces around the width of a tile."""
    read: list[tuple[int, int]] = []
    whole = integration.leaves

    def noted(transaction: object, after: int, end: int) -> list[bytes]:
        found = whole(transaction, after, end)  # type: ignore[arg-type]
        read.append((after, after + len(found)))
        return found

    monkeypatch.setattr(integration, "leaves", noted)
    one, two = open_store(), open_store()
    for store, many in [(one, 1), (one, 254), (two, 3), (one, 300), (one, 256), (two, 5), (one, 2)]:
        await (written if store is one and read else write)(store, many)
        if many not in (5, 254):
            made = await checkpoint(one)
            found = leaves(store_url)
            assert (made.size, made.root) == (len(found), tree.root_of(found))
    # What the other one wrote, what came before anybody wanted hashes, and the last part of a tile.
    again = {number for first, last in read for number in range(first + 1, last + 1)}
    tiles, parts, others = (
        {*range(513, 559), *range(769, 815)},
        {1, 257, 258},
        {256, *range(815, 822)},
    )
    assert again == tiles | parts | others


async def test_what_was_changed_before_its_checkpoint_contradicts_it(
    store: Store, connect: Connect, store_url: str
) -> None:
    await write(store, 3)
    await checkpoint(store)
    await written(store, 300)
    good = leaves(store_url)
    tamper(store_url, "UPDATE events SET body = '{}' WHERE seq = 100")
    made = await checkpoint(store)
    assert made.root == tree.root_of(good)
    assert made.root != tree.root_of(leaves(store_url))
    with connect().reading() as reading:
        assert integration.subtrees(reading)(0, 256) == tree.root_of(good[:256])


async def test_an_event_that_was_there_already_leaves_no_hash_of_another_number(
    store: Store, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(store, 2)
    await checkpoint(store)
    again, last = an_event(id="twice"), an_event(id="last")
    kept: list[tuple[int, list[str]]] = []
    add = store.checkpoints.fresh.add

    def noted(first: int, bodies: list[str]) -> None:
        kept.append((first, bodies))
        add(first, bodies)

    monkeypatch.setattr(store.checkpoints.fresh, "add", noted)
    for events in ([again], [again, an_event(id="new")], [an_event(id="newer"), again], [last]):
        store.events.append(events, durable=True)
        await store.events.kept()
    async with asyncio.timeout(10):
        while not kept or kept[-1][0] != 6:
            await asyncio.sleep(0.001)
    assert [(first, len(bodies)) for first, bodies in kept] == [(3, 1), (6, 1)]
    made = await checkpoint(store)
    found = leaves(store_url)
    assert (made.size, len(found)) == (6, 6)
    assert made.root == tree.root_of(found)


async def test_a_tree_ends_where_the_log_ends_and_where_it_is_to(
    store: Store, connect: Connect, store_url: str
) -> None:
    """Whoever puts a database back to what it was has hashes left of what is gone."""
    await write(store, 90)
    found, fresh = leaves(store_url), a_fresh()
    fresh.add(1, [row[0] for row in tamper(store_url, "SELECT body FROM events ORDER BY seq")])
    fresh.add(91, ["gone"] * 10)
    with connect().reading() as reading:
        few = integration.grow(reading, None, most=10, fresh=fresh)
        whole = integration.grow(reading, None, most=1_000, fresh=fresh)
    assert few is not None
    assert few.edge.root() == tree.root_of(found[:10])
    assert whole is not None
    assert whole.edge.root() == tree.root_of(found)


async def test_behind_what_is_known_the_log_is_read_on(
    store: Store, connect: Connect, store_url: str
) -> None:
    await write(store, 200)
    bodies = [row[0] for row in tamper(store_url, "SELECT body FROM events ORDER BY seq")]
    fresh = a_fresh()
    fresh.add(1, bodies[:30])
    with connect().reading() as reading:
        grown = integration.grow(reading, None, most=1_000, fresh=fresh)
    assert grown is not None
    assert grown.edge.root() == tree.root_of(leaves(store_url))


async def test_a_fault_in_hashing_costs_no_event(
    store: Store, store_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(first: int, bodies: list[str]) -> None:
        raise MemoryError

    monkeypatch.setattr(store.checkpoints.fresh, "add", fails)
    for _ in range(2):
        await write(store, 3)
    made = await checkpoint(store)
    assert (made.size, made.root) == (6, tree.root_of(leaves(store_url)))
    assert "could not be hashed" in caplog.text
