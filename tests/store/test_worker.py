import asyncio
import threading
from collections.abc import Callable

import pytest

from gateway.errors import StoreUnavailable
from gateway.store.engine import Engine, Lock, Transaction
from gateway.store.worker import Worker
from tests.helpers.databases import Outage

Connect = Callable[..., Engine]


def name_of_thread(transaction: Transaction) -> str:
    del transaction
    return threading.current_thread().name


async def test_work_is_done_on_a_thread_of_its_own(connect: Connect) -> None:
    worker = Worker(connect())
    assert (await worker.read(name_of_thread)).startswith("store")
    worker.close()


async def test_work_that_raises_commits_nothing(connect: Connect) -> None:
    worker = Worker(connect())

    def work(transaction: Transaction) -> None:
        transaction.execute("keep_fact", {"name": "a", "value": "1"})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await worker.write(work)
    assert not await worker.read(lambda t: t.fetch("get_fact", {"name": "a"}))
    worker.close()


async def test_nobody_waits_longer_than_agreed(connect: Connect) -> None:
    """case: OBS-04"""
    worker = Worker(connect(busy_s=2), wait_s=0.2)
    await worker.read(name_of_thread)
    with (
        connect().transaction(lock=Lock.EVENTS),
        pytest.raises(StoreUnavailable, match=r"no answer in 0\.2 s"),
    ):
        await worker.write(name_of_thread, lock=Lock.EVENTS)
    worker.close()


async def test_after_an_outage_it_works_again(connect: Connect, outage: Outage) -> None:
    worker = Worker(connect())
    await worker.write(name_of_thread)
    outage.begin()
    with pytest.raises(StoreUnavailable):
        await worker.write(name_of_thread)
    outage.end()
    await worker.write(name_of_thread)
    worker.close()


async def test_a_closed_worker_says_so(connect: Connect) -> None:
    worker = Worker(connect())
    worker.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await asyncio.wait_for(worker.read(name_of_thread), 5)
