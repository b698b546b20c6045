from datetime import timedelta
from functools import partial

import pytest

from gateway.errors import LogChanged
from gateway.events import checkpoints, notes, tree
from gateway.events.checkpoints import Checkpoint
from gateway.store.events import EventFilter
from gateway.store.proving import Prover
from gateway.store.store import Store
from tests.helpers.cases import NOW
from tests.helpers.tampering import checkpoint, tamper, write


def said(note: str) -> Checkpoint:
    return checkpoints.parse(notes.parse(note).text)


async def test_every_event_of_a_query_is_proven_under_a_checkpoint(store: Store) -> None:
    await write(store, 300)
    await write(store, 20, tenant="initech")
    head = said((await checkpoint(store)).note)
    await write(store, 20)
    prover = Prover(head)
    wanted = EventFilter(tenant="initech", limit=100)
    found = await store.checkpoints.read(partial(prover.page, wanted=wanted))
    assert [each.seq for each in found] == list(range(301, 321))
    wanted = EventFilter(tenant="acme", since=NOW + timedelta(seconds=10), limit=1_000)
    found += await store.checkpoints.read(partial(prover.page, wanted=wanted))
    assert len(found) == 20 + 290
    for each in found:
        leaf = tree.leaf_hash(each.body)
        assert tree.is_included(leaf, each.seq - 1, 320, each.path, head.root)


async def test_an_event_is_found_by_its_id_unless_it_is_later_than_the_checkpoint(
    store: Store, store_url: str
) -> None:
    await write(store, 3)
    prover = Prover(said((await checkpoint(store)).note))
    await write(store, 1)
    ids = [row[0] for row in tamper(store_url, "SELECT id FROM events ORDER BY seq")]
    found = await store.checkpoints.read(partial(prover.event, id=ids[1]))
    assert found is not None
    assert (found.seq, len(found.path)) == (2, 2)
    assert await store.checkpoints.read(partial(prover.event, id="none")) is None
    with pytest.raises(LogChanged, match="event 4 is later than the checkpoint of 3"):
        await store.checkpoints.read(partial(prover.event, id=ids[3]))


async def test_a_log_that_was_changed_proves_nothing(store: Store, store_url: str) -> None:
    await write(store, 300)
    head = said((await checkpoint(store)).note)
    tamper(store_url, "UPDATE events SET body = '{}' WHERE seq IN (7, 299)")
    for number in (7, 298):
        (id,) = tamper(store_url, f"SELECT id FROM events WHERE seq = {number}")[0]
        with pytest.raises(LogChanged, match=f"event {number} is not what"):
            await store.checkpoints.read(partial(Prover(head).event, id=id))
    tamper(store_url, "DELETE FROM events WHERE seq > 290")
    (id,) = tamper(store_url, "SELECT id FROM events WHERE seq = 280")[0]
    with pytest.raises(LogChanged, match="shorter than its checkpoint"):
        await store.checkpoints.read(partial(Prover(head).event, id=id))


async def test_a_log_is_proven_to_begin_with_what_it_was(store: Store, store_url: str) -> None:
    await write(store, 300)
    old = said((await checkpoint(store)).note)
    await write(store, 300)
    prover = Prover(said((await checkpoint(store)).note))
    path = await store.checkpoints.read(partial(prover.since, old=old))
    assert path
    other = Checkpoint(origin=old.origin, size=300, root=b"x" * 32)
    with pytest.raises(LogChanged, match="does not begin with that of 300"):
        await store.checkpoints.read(partial(prover.since, old=other))
    longer = Checkpoint(origin=old.origin, size=601, root=b"x" * 32)
    with pytest.raises(LogChanged, match="can't begin with one of 601"):
        await store.checkpoints.read(partial(prover.since, old=longer))
