"""Who waits for a lane, in which order, and how many."""

import asyncio
from collections.abc import Sequence

import anyio
import pytest

from gateway.servers.entry import Entry
from gateway.servers.lane import Lane, key_of
from gateway.servers.line import Line, Waiter, share
from gateway.types.calls import Method
from gateway.types.relay import Outbound


def _waiter(name: str) -> Waiter:
    outbound = Outbound(
        method=Method.CALL_TOOL, params={}, deadline_s=1, is_read=True, lane=name, owner=name
    )
    return Waiter(key=key_of(outbound), outbound=outbound)


def _lane(waiter: Waiter) -> Lane:
    return Lane(Entry(name="alpha"), waiter.outbound, waiter.key)


class Shelf:
    """Lanes to give away: one for each name in `free`."""

    def __init__(self, most: int = 8) -> None:
        self.free = set[str]()
        self.back: list[Lane] = []
        self.seen: list[int] = []
        self.line = Line(most, self._grant, self.back.append)

    def _grant(self, waiter: Waiter, before: Sequence[Waiter]) -> Lane | None:
        self.seen.append(len(before))
        return _lane(waiter) if waiter.outbound.owner in self.free else None


def _in(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


async def test_all_who_can_be_served_are_and_the_others_wait_on() -> None:
    shelf, got = Shelf(), list[str]()

    async def one(name: str) -> None:
        lane = await shelf.line.wait(_waiter(name), _in(5))
        assert lane is not None
        got.append(lane.owner)

    async with anyio.create_task_group() as tasks:
        for name in ("ada", "bob", "cleo"):
            tasks.start_soon(one, name)
            await anyio.wait_all_tasks_blocked()
        shelf.free = {"bob", "cleo"}
        shelf.line.serve()
        await anyio.wait_all_tasks_blocked()
        assert got == ["bob", "cleo"]
        assert shelf.seen == [0, 1, 1]
        assert shelf.line.get(_waiter("dan")) is None
        assert shelf.seen[-1] == 1  # ada came before
        shelf.free = {"ada"}
        shelf.line.serve()
    assert got == ["bob", "cleo", "ada"]


async def test_nothing_comes_after_the_deadline() -> None:
    shelf = Shelf()
    assert await shelf.line.wait(_waiter("ada"), _in(0.01)) is None
    shelf.free = {"ada"}
    shelf.line.serve()
    assert shelf.seen == []


async def test_a_lane_that_comes_too_late_is_given_back() -> None:
    shelf = Shelf()
    shelf.free = {"ada"}
    waiting = asyncio.ensure_future(shelf.line.wait(_waiter("ada"), _in(5)))
    await anyio.wait_all_tasks_blocked()
    shelf.line.serve()
    waiting.cancel()
    await asyncio.wait({waiting})
    assert waiting.cancelled()
    assert [lane.owner for lane in shelf.back] == ["ada"]


@pytest.mark.parametrize(("owner", "fitting"), [("eve", 2), ("", 4)])
def test_only_so_many_stand_in_line_and_half_of_them_are_one_callers(
    owner: str, fitting: int
) -> None:
    line = Shelf(most=4).line
    with (
        line.standing(owner) as first,
        line.standing(owner) as second,
        line.standing(owner) as third,
        line.standing(owner) as fourth,
        line.standing(owner) as fifth,
    ):
        assert [first, second, third, fourth, fifth] == [n < fitting for n in range(5)]
    with line.standing(owner) as again:
        assert again


def test_a_share_is_half_and_at_least_one() -> None:
    assert [share(most) for most in (1, 2, 3, 16)] == [1, 1, 1, 8]
