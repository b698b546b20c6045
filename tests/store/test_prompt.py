"""Small reads on the thread that asks, and what stands in for it."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest
from anyio import to_thread

from gateway.clock import SystemClock
from gateway.errors import StoreUnavailable
from gateway.store.dialects import dialect_of
from gateway.store.engine import Lock, Transaction
from gateway.store.prompt import PromptReads
from gateway.store.worker import Worker
from tests.helpers.databases import Connect, Outage
from tests.helpers.issuer import HandClock

FACT = {"name": "a", "value": "1"}


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def prompt(connect: Connect, store_url: str, clock: HandClock) -> Iterator[PromptReads]:
    worker = Worker(connect(), wait_s=2)
    made = PromptReads(worker, dialect_of(store_url, SystemClock()).prompt(), clock)
    yield made
    made.close()
    worker.close()


@pytest.fixture
def here(engine_name: str) -> str:
    """Whose thread does what can be done at once."""
    return threading.current_thread().name if engine_name == "sqlite" else "store"


def name_of_thread(transaction: Transaction) -> str:
    transaction.fetch("get_fact", {"name": "a"})
    return threading.current_thread().name


def kept(transaction: Transaction) -> int:
    return len(transaction.fetch("get_fact", {"name": "a"}))


async def test_a_file_is_read_where_it_is_asked_for(prompt: PromptReads, here: str) -> None:
    assert await prompt.read(name_of_thread) == here
    assert await prompt.read(name_of_thread, is_small=False) == "store"


async def test_who_is_alone_waits_for_nobody_and_a_crowd_shares_a_transaction(
    prompt: PromptReads, engine_name: str
) -> None:
    if engine_name != "sqlite":  # the worker's matter
        return
    turned = False

    def turn() -> None:
        nonlocal turned
        turned = True

    asyncio.get_running_loop().call_soon(turn)
    await prompt.read(kept)
    assert not turned
    await asyncio.gather(*(prompt.read(kept) for _ in range(3)))  # from here on it is a crowd

    async def seen() -> int:
        return await prompt.read(id)

    assert len(set(await asyncio.gather(*(seen() for _ in range(5))))) == 1


async def test_what_a_crowd_asks_alike_is_read_once(prompt: PromptReads, engine_name: str) -> None:
    if engine_name != "sqlite":  # the worker's matter
        return
    made: list[object] = []

    def new(transaction: Transaction) -> object:
        made.append(object())
        return made[-1]

    async def crowd(*alike: object) -> list[object]:
        made.clear()
        return await asyncio.gather(*(prompt.read(new, alike=cast("Any", each)) for each in alike))

    await crowd("a", "a")  # from here on it is a crowd
    one, two, three, four, five = await crowd("a", "b", "a", None, None)
    assert one is three
    assert len({id(each) for each in (one, two, four, five)}) == len(made) == 4
    assert (await crowd("a", "a"))[0] is not one  # in another turn it may be another


async def test_who_leaves_a_crowd_takes_nobodys_answer_along(
    prompt: PromptReads, engine_name: str
) -> None:
    if engine_name != "sqlite":
        return
    await asyncio.gather(*(prompt.read(kept) for _ in range(3)))
    asking = [asyncio.ensure_future(prompt.read(kept, alike="a")) for _ in range(3)]
    await asyncio.sleep(0)
    asking[0].cancel()
    assert await asyncio.gather(*asking[1:]) == [0, 0]


async def test_who_is_alone_begins_no_transaction(prompt: PromptReads, engine_name: str) -> None:
    if engine_name != "sqlite":
        return

    def begun(transaction: Transaction) -> bool:
        kept(transaction)
        return bool(cast("Any", transaction)._connection.in_transaction)

    assert await prompt.read(begun) is False
    found = await asyncio.gather(*(prompt.read(begun) for _ in range(5)))
    assert found == [False, True, True, True, True]  # the first did not know of the others


async def test_whatever_anybody_commits_is_in_the_next_read(
    prompt: PromptReads, connect: Connect
) -> None:
    others = [Worker(connect()), Worker(connect())]
    for turn in range(6):
        assert await prompt.read(kept) == 0
        await others[turn % 2].write(lambda t: t.execute("keep_fact", FACT), durable=False)
        assert await prompt.read(kept) == 1
        await others[turn % 2].write(lambda t: t.script("DELETE FROM meta;"))
    for each in others:
        each.close()


async def test_it_reads_while_somebody_writes(prompt: PromptReads, connect: Connect) -> None:
    with connect().transaction(lock=Lock.EVENTS) as transaction:
        transaction.execute("keep_fact", FACT)
        assert await asyncio.wait_for(prompt.read(kept), 1) == 0
    assert await prompt.read(kept) == 1


async def test_another_loop_in_another_thread_is_served_by_the_worker(
    prompt: PromptReads, here: str
) -> None:
    assert await prompt.read(name_of_thread) == here

    def elsewhere() -> str:
        return asyncio.run(prompt.read(name_of_thread))

    assert await to_thread.run_sync(elsewhere) == "store"


async def test_after_a_slow_read_the_event_loop_is_spared_for_a_second(
    prompt: PromptReads, clock: HandClock, here: str
) -> None:
    assert await prompt.read(lambda _: clock.move(0.06)) is None
    assert await prompt.read(name_of_thread) == "store"
    clock.move(1.1)
    assert await prompt.read(name_of_thread) == here


async def test_after_an_outage_it_reads_again(
    prompt: PromptReads, outage: Outage, clock: HandClock, here: str
) -> None:
    assert await prompt.read(kept) == 0
    outage.begin()
    await asyncio.sleep(0.02)  # for a moment after a look, nobody looks whether the file is there
    with pytest.raises(StoreUnavailable):
        await prompt.read(kept)
    outage.end()
    assert await prompt.read(kept) == 0
    clock.move(1.1)
    assert await prompt.read(name_of_thread) == here


async def test_a_fault_of_what_is_asked_is_told_as_it_is(prompt: PromptReads) -> None:
    def broken(transaction: Transaction) -> None:
        kept(transaction)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await prompt.read(broken)
    assert await prompt.read(kept) == 0


async def test_once_it_is_closed_the_worker_reads(prompt: PromptReads) -> None:
    await prompt.read(kept)
    prompt.close()
    assert await prompt.read(name_of_thread) == "store"
