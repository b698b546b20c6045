"""Numbers of events have no gaps, whatever was rolled back or refused: proofs count on that."""

from contextlib import suppress

import anyio
import pytest

from gateway.errors import StoreUnavailable
from gateway.store.changes import Change, Made
from gateway.store.engine import Lock, Transaction
from gateway.store.store import Store
from tests.helpers.databases import Connect, OpenStore
from tests.helpers.events import an_event
from tests.helpers.tampering import tamper


def numbers(url: str) -> list[int]:
    return [row[0] for row in tamper(url, "SELECT seq FROM events ORDER BY seq")]


async def test_a_transaction_that_was_rolled_back_leaves_no_gap(
    store: Store, connect: Connect, store_url: str
) -> None:
    store.events.append([an_event()])
    await store.events.kept()
    row = tamper(store_url, "SELECT body FROM events")[0][0]
    with (
        suppress(ZeroDivisionError),
        connect(5).transaction(lock=Lock.EVENTS) as transaction,
    ):
        columns = "id at kind stage tenant run_id call_id tool actor_user decision rule status"
        values = dict.fromkeys([*columns.split(), "trace_id"], "") | {"at": 0, "id": "x"}
        transaction.execute("append_event", {**values, "body": row, "seq": 2})
        raise ZeroDivisionError
    store.events.append([an_event()])
    await store.events.kept()
    assert numbers(store_url) == [1, 2]


async def test_a_refused_statement_and_an_event_given_twice_leave_no_gap(
    store: Store, store_url: str
) -> None:
    def work(transaction: Transaction) -> Made[None]:
        transaction.execute("keep_fact", {"name": "x", "value": None})
        return Made(None)

    twice = an_event()
    store.events.append([twice])
    with pytest.raises(StoreUnavailable):
        await store.events.carry(Change(work), [an_event()])
    store.events.append([twice, an_event()])
    await store.events.kept()
    assert numbers(store_url) == [1, 2]


async def test_gateways_that_write_at_once_share_one_row_of_numbers(
    open_store: OpenStore, store_url: str
) -> None:
    async def write(store: Store) -> None:
        for _ in range(40):
            store.events.append([an_event()])
            await store.events.kept()

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(write, open_store())
    assert numbers(store_url) == list(range(1, 121))
