import threading

import anyio
import pytest

from gateway.errors import StoreUnavailable
from gateway.events import checkpoints, notes
from gateway.store.engine import Transaction
from gateway.store.store import Store
from tests.helpers.databases import OpenStore, Outage
from tests.helpers.tampering import SIGNER, by, checkpoint, tamper, write


async def test_a_checkpoint_says_how_long_the_log_is_and_is_signed(store: Store) -> None:
    await write(store, 3)
    made = await checkpoint(store)
    note = notes.parse(made.note)
    assert note.signed_by([SIGNER.key]) == (SIGNER.key,)
    assert checkpoints.parse(note.text) == checkpoints.Checkpoint(
        origin=SIGNER.name, size=3, root=made.root
    )
    assert await store.checkpoints.of(3) == made
    assert await store.checkpoints.of(2) is None


async def test_it_is_known_how_many_events_wait_for_one(store: Store) -> None:
    assert (await store.checkpoints.standing()).since == 0
    await write(store, 3)
    assert (await store.checkpoints.standing()).since == 3
    made = await checkpoint(store)
    await write(store, 2)
    standing = await store.checkpoints.standing()
    assert (standing.last, standing.since, standing.last_seq) == (made, 2, 5)


async def test_readers_of_all_of_the_log_have_connections_of_their_own(store: Store) -> None:
    await write(store, 3)
    with store.checkpoints.readers(2) as (first, second):
        met = threading.Barrier(2, timeout=5)  # nobody comes through alone

        def last(transaction: Transaction) -> int:
            met.wait()
            return transaction.fetch("last_seq", {})[0].integer("seq")

        found = [first.begin(last), second.begin(last)]
        assert [await each for each in found] == [3, 3]


async def test_without_new_events_there_is_no_new_one(store: Store) -> None:
    assert await store.checkpoints.make(by(SIGNER)) is None
    await write(store, 3)
    await checkpoint(store)
    assert await store.checkpoints.make(by(SIGNER)) is None


async def test_one_takes_in_no_more_than_it_may(store: Store) -> None:
    await write(store, 10)
    sizes = [await store.checkpoints.make(by(SIGNER), most=4) for _ in range(4)]
    assert [made.size if made else None for made in sizes] == [4, 8, 10, None]


async def test_of_gateways_that_make_one_at_once_only_one_does(open_store: OpenStore) -> None:
    stores = [open_store() for _ in range(3)]
    await write(stores[0], 20)
    made: list[object] = []

    async def make(store: Store) -> None:
        made.append(await store.checkpoints.make(by(SIGNER)))

    async with anyio.create_task_group() as tasks:
        for store in stores:
            tasks.start_soon(make, store)
    assert len([each for each in made if each is not None]) == 1


@pytest.mark.parametrize("table", ["events", "tiles", "checkpoints"])
@pytest.mark.parametrize("verb", ["UPDATE {} SET {} = {}", "DELETE FROM {}"])
async def test_nothing_of_it_can_be_changed_or_deleted(
    store: Store, store_url: str, table: str, verb: str
) -> None:
    await write(store, 300)
    await checkpoint(store)
    column = "seq" if table == "events" else "level" if table == "tiles" else "size"
    with pytest.raises(Exception, match="can only be added"):
        tamper(store_url, verb.format(table, column, column), keeps_triggers=True)


async def test_while_the_store_is_away_there_is_none(store: Store, outage: Outage) -> None:
    await write(store, 3)
    outage.begin()
    with pytest.raises(StoreUnavailable):
        await store.checkpoints.make(by(SIGNER))
    outage.end()
    assert (await checkpoint(store)).size == 3
