"""Deadlines of many tasks on one timer."""

import asyncio

import anyio
import pytest

from gateway.servers.deadlines import Deadlines


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_what_takes_too_long_ends_with_a_timeout_and_the_rest_goes_on() -> None:
    deadlines = Deadlines()
    ended: list[str] = []

    async def work(name: str, after_s: float, takes_s: float) -> None:
        try:
            with deadlines.at(now() + after_s):
                await anyio.sleep(takes_s)
        except TimeoutError:
            ended.append(f"{name} too late")
        else:
            ended.append(name)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work, "long", 3_600, 0.05)
        tasks.start_soon(work, "slow", 0.01, 60)
        tasks.start_soon(work, "slower", 0.02, 60)
    assert ended == ["slow too late", "slower too late", "long"]


async def test_a_time_that_is_over_already_ends_the_next_wait() -> None:
    with pytest.raises(TimeoutError), Deadlines().at(now() - 1):
        await anyio.sleep(60)


async def test_what_ends_with_a_fault_keeps_nobody_else_waiting() -> None:
    ended: list[str] = []

    class Timed:
        def __init__(self, name: str, after_s: float) -> None:
            self.name, self.when = name, now() + after_s

        def passed(self) -> None:
            ended.append(self.name)
            if self.name == "bad":
                raise ValueError(self.name)

    deadlines = Deadlines()
    said: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: said.append(told))
    for each in (Timed("gone", 0.01), Timed("bad", 0.02), Timed("later", 0.04)):
        deadlines.add(each)
        if each.name == "gone":
            deadlines.drop(each)
    await anyio.sleep(0.1)
    assert (ended, len(said)) == (["bad", "later"], 1)


async def test_what_ends_in_time_is_left_alone_afterwards() -> None:
    deadlines = Deadlines()
    with deadlines.at(now() + 0.01):
        pass
    await anyio.sleep(0.03)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_another_cancellation_passes_as_what_it_is() -> None:
    deadlines = Deadlines()
    entered = asyncio.Event()

    async def work() -> None:
        with deadlines.at(now() + 60):
            entered.set()
            await anyio.sleep(60)

    task = asyncio.create_task(work())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelled()


async def test_both_at_once_are_no_timeout() -> None:
    """Who cancels a task at the very time of its deadline must find it cancelled."""
    deadlines = Deadlines()
    entered = asyncio.Event()

    async def work() -> None:
        with deadlines.at(now() + 60) as deadline:
            entered.set()
            try:
                await anyio.sleep(60)
            finally:
                deadline.passed()  # between the cancellation and the end of the context

    task = asyncio.create_task(work())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_deadline_is_moved_and_taken_away() -> None:
    deadlines = Deadlines()
    with deadlines.at(now() + 0.01) as deadline:
        deadline.move(None)
        await anyio.sleep(0.03)
        deadline.move(now() + 60)
        await anyio.sleep(0.01)
    moved = deadlines.at(now() + 60)
    moved.move(now() + 0.01)
    with pytest.raises(TimeoutError), moved:
        await anyio.sleep(60)


async def test_a_fault_of_its_own_is_not_hidden() -> None:
    with pytest.raises(KeyError), Deadlines().at(now() + 60):
        raise KeyError


def test_outside_of_a_task_there_is_nothing_to_end() -> None:
    with pytest.raises(RuntimeError):
        Deadlines().at(1.0).__enter__()
