"""The places of a server."""

import asyncio

import anyio
import pytest

from gateway.servers.entry import Caps, Entry
from gateway.servers.places import Places
from gateway.types.operations import Failure
from tests.helpers.fake_server import until_async


def _places(queue: int = 1) -> Places:
    return Places(Entry(name="alpha", max_calls=1, caps=Caps(queue=queue)))


async def test_a_place_that_is_left_goes_to_the_next() -> None:
    places, now = _places(), asyncio.get_running_loop().time()
    assert await places.take(now) is None
    async with anyio.create_task_group() as tasks:

        async def second() -> None:
            assert await places.take(now + 5) is None
            places.leave()

        tasks.start_soon(second)
        await anyio.lowlevel.checkpoint()
        places.leave()
    await until_async(lambda: places.taken == 0)


@pytest.mark.parametrize(("queue", "said"), [(1, "no free place"), (0, "under way and waiting")])
async def test_a_full_server_is_busy(queue: int, said: str) -> None:
    places, now = _places(queue), asyncio.get_running_loop().time()
    await places.take(now)
    got = await places.take(now + 0.05)
    assert got is not None
    assert got.failure is Failure.BUSY
    assert said in got.detail
    assert places.taken == 1
