"""The process as the owner of calls."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from gateway.app.owner import ProcessOwner
from gateway.types.outcomes import Finished, Status

DONE = Finished(result={"content": []}, status=Status.OK)


class Work:
    """Something that takes until it is let go."""

    def __init__(self) -> None:
        self.began = anyio.Event()
        self.go = anyio.Event()
        self.ended = anyio.Event()

    async def __call__(self) -> Finished:
        self.began.set()
        await self.go.wait()
        self.ended.set()
        return DONE


@asynccontextmanager
async def an_owner() -> AsyncGenerator[ProcessOwner]:
    with anyio.fail_after(15):
        async with anyio.create_task_group() as tasks:
            yield ProcessOwner(tasks)
            tasks.cancel_scope.cancel()


async def test_work_is_carried_out_to_its_end_though_its_caller_leaves() -> None:
    work = Work()
    async with an_owner() as owner:
        async with anyio.create_task_group() as callers:
            callers.start_soon(owner.run, work)
            await work.began.wait()
            callers.cancel_scope.cancel()
        assert not work.ended.is_set()
        work.go.set()
        assert await owner.idle(5)
        assert work.ended.is_set()


async def test_a_caller_that_waits_is_given_what_came_of_it() -> None:
    work = Work()
    work.go.set()
    async with an_owner() as owner:
        assert await owner.run(work) is DONE


async def test_what_was_begun_settles_its_future_at_the_end() -> None:
    work = Work()
    async with an_owner() as owner:
        answer = owner.start(work)
        await work.began.wait()
        assert not answer.done()
        work.go.set()
        assert await answer is DONE


async def test_it_is_idle_only_when_nothing_is_under_way() -> None:
    first, second = Work(), Work()
    async with an_owner() as owner:
        assert await owner.idle(0)
        owner.start(first)
        owner.start(second)
        first.go.set()
        await first.ended.wait()
        assert not await owner.idle(0.01)
        second.go.set()
        assert await owner.idle(5)


async def test_a_fault_reaches_the_waiter_and_ends_nothing_else() -> None:
    other = Work()

    async def fails() -> Finished:
        raise ValueError("broken")

    async with an_owner() as owner:
        answer = owner.start(other)
        with pytest.raises(ValueError, match="broken"):
            await owner.run(fails)
        other.go.set()
        assert await answer is DONE
        assert await owner.idle(5)


async def test_the_end_of_the_process_is_told_to_whoever_still_waits() -> None:
    work = Work()
    answer: asyncio.Future[Finished] | None = None
    async with an_owner() as owner:
        answer = owner.start(work)
        await work.began.wait()
    with pytest.raises(Exception, match=r"^$"):  # a cancellation would be none
        await answer
    assert not work.ended.is_set()
