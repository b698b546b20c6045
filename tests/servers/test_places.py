"""The places of a server."""

import asyncio

import anyio
import pytest

from gateway.servers.entry import Caps, Entry
from gateway.servers.places import Place, Places
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


async def test_a_free_place_is_taken_at_once_unless_somebody_waits_for_it() -> None:
    places, now = _places(), asyncio.get_running_loop().time()
    assert places.take_free()
    assert not places.take_free()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(places.take, now + 5)
        await anyio.lowlevel.checkpoint()
        places.leave()
        assert not places.take_free()  # it is the other's, who has not come to run yet
    assert places.taken == 1
    places.leave()
    assert (places.take_free(), places.taken) == (True, 1)


async def test_a_place_is_lent_while_anything_is_asked_and_taken_back_after() -> None:
    places, now = _places(), asyncio.get_running_loop().time()
    await places.take(now)
    place = Place(places)
    place.lend()
    place.lend()
    assert await places.take(now) is None  # another call
    await place.take_back()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(place.take_back)
        await anyio.wait_all_tasks_blocked()
        assert places.taken == 1
        places.leave()
    assert places.taken == 1
    place.leave()
    assert places.taken == 0


async def test_a_call_that_ends_while_its_caller_is_asked_leaves_no_place_behind() -> None:
    places, now = _places(), asyncio.get_running_loop().time()
    await places.take(now)
    place = Place(places)
    place.lend()
    await places.take(now)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(place.take_back)
        await anyio.wait_all_tasks_blocked()
        place.leave()
        places.leave()
    assert places.taken == 0
    assert await places.take(now) is None
