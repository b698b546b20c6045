"""The loop over operations: every gateway runs it, none leads; rows say what there is to do."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

import anyio

from gateway.clock import Clock
from gateway.crossing.leases import Living
from gateway.errors import StoreUnavailable
from gateway.store.times import microseconds
from gateway.types.operations import Operation

_log = logging.getLogger("weighbridge")
_MICROSECONDS: Final = 1_000_000
_FORGET_S: Final = 3600.0


class Operations(Protocol):
    """The table of operations, as far as sweeps need it; all raise StoreUnavailable."""

    async def lost(self) -> list[Operation]:
        """Return operations whose lease ran out."""
        ...

    async def due(self) -> list[Operation]:
        """Return operations at whose outcome somebody has to look."""
        ...

    async def forget(self, *, outcomes_before: int, operations_before: int) -> None:
        """Let go of answers that are no longer repeated, and of what ended long ago."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """What is done with what a sweep finds; each raises StoreUnavailable at most."""

    lose: Callable[[Operation], Awaitable[None]]
    look: Callable[[Operation], Awaitable[None]]
    undo: Callable[[], Awaitable[None]]
    send: Callable[[], Awaitable[None]]


@dataclass(slots=True, kw_only=True)
class Sweeper:
    """Keeps living operations alive, and sees to those that nobody else will."""

    operations: Operations
    living: Living
    steps: Steps
    clock: Clock
    lease_s: float
    keep_s: float
    _forgot_s: float | None = None

    async def run(self) -> None:
        """Sweep for ever; a store that is away is tried again at the next turn."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._renew)
            tasks.start_soon(self._sweep)

    async def _renew(self) -> None:
        """Apart from the sweeps: a slow server must not cost other calls their leases."""
        while True:
            await anyio.sleep(self.lease_s / 3)
            await self._safely("leases can't be renewed", self.living.renew)

    async def _sweep(self) -> None:
        while True:
            for each in (self._lost, self._due, self.steps.undo, self.steps.send, self._forget):
                await self._safely("operations can't be looked after", each)
            await anyio.sleep(min(self.lease_s / 3, 2.0))

    async def _lost(self) -> None:
        for operation in await self.operations.lost():
            if not self.living.has(operation):  # this process slept, and knows what became of it
                await self.steps.lose(operation)

    async def _due(self) -> None:
        for operation in await self.operations.due():
            await self.steps.look(operation)

    async def _forget(self) -> None:
        now_s = self.clock.monotonic()
        if self._forgot_s is not None and now_s - self._forgot_s < _FORGET_S:
            return
        now = microseconds(self.clock.now())
        before = now - round(self.keep_s * _MICROSECONDS)
        await self.operations.forget(outcomes_before=now, operations_before=before)
        self._forgot_s = now_s

    async def _safely(self, trouble: str, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except StoreUnavailable as error:
            _log.debug("%s: %s", trouble, error)
        except Exception:  # the loop must outlive any row
            _log.exception("%s", trouble)
