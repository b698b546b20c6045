import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import anyio

from gateway.app.sweeping import Steps, Sweeper
from gateway.clock import SystemClock
from gateway.crossing.leases import Living
from gateway.errors import StoreUnavailable
from gateway.types.operations import Operation, OpState
from tests.helpers.fake_server import until_async
from tests.helpers.operations import wanted

TAKEN = replace(wanted(), state=OpState.DISPATCHING, epoch=3)
SLEPT = replace(TAKEN, op_id="op_slept")  # under way here; the process slept over its lease


@dataclass
class Table:
    """Operations that need something, as often as they are looked for."""

    away: int = 0  # so often the store is not there
    renewed: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    forgot: int = 0

    async def renew(self, living: Sequence[tuple[str, int]], lease_s: float) -> frozenset[str]:
        assert lease_s == 0.06
        self.renewed += living
        return frozenset(op_id for op_id, _ in living)

    async def lost(self) -> list[Operation]:
        if self.away:
            self.away -= 1
            raise StoreUnavailable("away")
        return [TAKEN, SLEPT]

    async def due(self) -> list[Operation]:
        return [TAKEN]

    async def forget(self, *, outcomes_before: int, operations_before: int) -> None:
        assert outcomes_before > operations_before
        self.forgot += 1


@dataclass
class Done:
    """What was done, in order."""

    steps: list[str] = field(default_factory=list[str])
    breaks: bool = True

    async def lose(self, operation: Operation) -> None:
        self.steps.append(f"lose {operation.op_id}")
        if self.breaks:
            self.breaks = False
            raise KeyError(operation.op_id)

    async def look(self, operation: Operation) -> None:
        self.steps.append(f"look {operation.op_id}")

    async def undo(self) -> None:
        self.steps.append("undo")

    async def send(self) -> None:
        self.steps.append("send")


async def test_sweeps_go_on_whatever_a_row_or_the_store_does() -> None:
    table, done = Table(away=1), Done()
    living = Living(table=table, clock=SystemClock(), lease_s=0.06)
    living.begin(SLEPT)
    sweeper = Sweeper(
        operations=table,
        living=living,
        steps=Steps(lose=done.lose, look=done.look, undo=done.undo, send=done.send),
        clock=SystemClock(),
        lease_s=0.06,
        keep_s=86400,
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(sweeper.run)
        await until_async(lambda: done.steps.count(f"lose {TAKEN.op_id}") > 2)
        await until_async(lambda: (SLEPT.op_id, 3) in table.renewed)
        tasks.cancel_scope.cancel()
    assert f"look {TAKEN.op_id}" in done.steps
    assert f"lose {SLEPT.op_id}" not in done.steps
    assert "undo" in done.steps
    assert "send" in done.steps
    assert table.forgot == 1


async def test_leases_are_renewed_while_a_look_takes_its_time() -> None:
    table, go = Table(), asyncio.Event()
    living = Living(table=table, clock=SystemClock(), lease_s=0.06)
    living.begin(TAKEN)

    async def slow(operation: Operation) -> None:
        del operation
        await go.wait()

    done = Done(breaks=False)
    sweeper = Sweeper(
        operations=table,
        living=living,
        steps=Steps(lose=slow, look=done.look, undo=done.undo, send=done.send),
        clock=SystemClock(),
        lease_s=0.06,
        keep_s=86400,
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(sweeper.run)
        await until_async(lambda: len(table.renewed) > 2)
        tasks.cancel_scope.cancel()
    living.end(TAKEN)
    assert not living.has(TAKEN)
