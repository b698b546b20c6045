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
    transaction.fetch("get_fact", {"name": "a"})
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


async def test_reads_go_on_while_the_caller_does_something_else(connect: Connect) -> None:
    worker = Worker(connect())
    begun = threading.Event()

    def slow(transaction: Transaction) -> str:
        assert begun.wait(5)
        return name_of_thread(transaction)

    first, second, third = (worker.begin(slow) for _ in range(3))
    second.cancel()
    begun.set()
    assert (await first, await third) == ("store", "store")
    worker.close()
    with pytest.raises(StoreUnavailable):
        worker.begin(name_of_thread)


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


async def test_reads_that_come_at_once_share_a_transaction(connect: Connect) -> None:
    worker = Worker(connect())
    opened: list[int] = []

    def seen(transaction: Transaction) -> int:
        opened.append(id(transaction))
        return len(opened)

    got = await asyncio.gather(*(worker.read_along(seen) for _ in range(20)))
    assert sorted(got) == [*range(1, 21)]
    assert len(set(opened)) <= 2  # the first may have gone ahead
    assert await worker.read_along(seen) == 21
    worker.close()


async def test_of_reads_that_share_one_a_fault_is_told_to_its_own_caller_alone(
    connect: Connect,
) -> None:
    worker = Worker(connect())

    def broken(transaction: Transaction) -> str:
        raise ZeroDivisionError

    waiting = [worker.read_along(each) for each in (name_of_thread, broken, name_of_thread)]
    got = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(each) for each in got] == [str, ZeroDivisionError, str]
    worker.close()


async def test_shared_reads_end_with_an_outage_a_bound_and_the_worker(
    connect: Connect, outage: Outage
) -> None:
    worker = Worker(connect(), wait_s=0.2)
    await worker.read_along(name_of_thread)
    go = threading.Event()

    def waits(transaction: Transaction) -> None:
        del transaction
        go.wait(5)

    with pytest.raises(StoreUnavailable, match=r"no answer in 0\.2 s"):
        await worker.read_along(waits)
    go.set()
    outage.begin()
    with pytest.raises(StoreUnavailable):
        await worker.read_along(name_of_thread)
    outage.end()
    assert await worker.read_along(name_of_thread)
    worker.close()
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="closed"):
            await worker.read_along(name_of_thread)
