import asyncio
from dataclasses import replace

from gateway.crossing.joins import Joins
from gateway.types.operations import Operation, OpState
from tests.helpers.operations import wanted

UNDER_WAY = replace(wanted(), state=OpState.DISPATCHING, epoch=1)


class Table:
    """One operation, as the store would tell of it."""

    def __init__(self) -> None:
        self.found: Operation | None = UNDER_WAY
        self.reads = 0

    async def read(self, op_id: str) -> Operation | None:
        assert op_id == UNDER_WAY.op_id
        self.reads += 1
        return self.found


def soon(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


async def test_who_waits_here_is_woken_at_once() -> None:
    table = Table()
    joins = Joins(table.read)
    waits = [asyncio.ensure_future(joins.wait(UNDER_WAY, soon(15))) for _ in range(3)]
    await asyncio.sleep(0)
    table.found = replace(UNDER_WAY, state=OpState.SUCCEEDED)
    joins.ended(UNDER_WAY.op_id)
    assert await asyncio.gather(*waits) == [True] * 3
    assert table.reads == 3


async def test_what_ends_elsewhere_is_seen_too() -> None:
    table = Table()
    joins = Joins(table.read)
    for found in (
        None,
        replace(UNDER_WAY, state=OpState.INDETERMINATE),
        replace(UNDER_WAY, epoch=2),
    ):
        table.found = UNDER_WAY
        waiting = asyncio.ensure_future(joins.wait(UNDER_WAY, soon(15)))
        await asyncio.sleep(0)
        table.found = found
        assert await waiting


async def test_who_waits_too_long_is_told_so() -> None:
    assert not await Joins(Table().read).wait(UNDER_WAY, soon(0.12))


async def test_nobody_who_left_is_remembered() -> None:
    joins = Joins(Table().read)
    waiting = asyncio.ensure_future(joins.wait(UNDER_WAY, soon(15)))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    joins.ended(UNDER_WAY.op_id)
    assert vars(joins)["_waiting"] == {}


async def test_who_waits_is_known_until_the_wait_is_over() -> None:
    joins = Joins(Table().read)
    wait = asyncio.ensure_future(joins.wait(UNDER_WAY, soon(15)))
    await asyncio.sleep(0)
    assert joins.awaits(UNDER_WAY.op_id)
    wait.cancel()
    await asyncio.gather(wait, return_exceptions=True)
    assert not joins.awaits(UNDER_WAY.op_id)


async def test_one_whose_answer_may_still_come_is_waited_for_until_it_does() -> None:
    table, unknown = Table(), replace(UNDER_WAY, state=OpState.INDETERMINATE)
    table.found = unknown
    joins = Joins(table.read)
    assert not await joins.wait(unknown, soon(0.01))
    table.found = replace(unknown, state=OpState.SUCCEEDED)
    assert await joins.wait(unknown, soon(15))
