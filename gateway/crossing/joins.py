"""Waiting for the same call that is under way, here or at another gateway."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

from gateway.types.operations import Operation, OpState

_UNDER_WAY: Final = frozenset({OpState.DISPATCHING, OpState.PROPOSED, OpState.AWAITING_APPROVAL})
_FIRST_S: Final = 0.05
_LONGEST_S: Final = 1.0


class Joins:
    """Wakes who waits for an operation: at once when it ends here, soon when it ends elsewhere."""

    def __init__(self, read: Callable[[str], Awaitable[Operation | None]]) -> None:
        self._read = read
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}
        self._joined: Counter[str] = Counter()

    async def wait(self, operation: Operation, until_s: float) -> bool:
        """Wait until an attempt is over; False when the loop's clock shows `until_s` before.

        Raises StoreUnavailable.
        """
        self._joined[operation.op_id] += 1
        try:
            return await self._wait(operation, until_s)
        finally:
            self._joined[operation.op_id] -= 1
            if not self._joined[operation.op_id]:
                del self._joined[operation.op_id]

    def awaits(self, op_id: str) -> bool:
        """Whether anybody waits here for an operation that another call carries out."""
        return op_id in self._joined

    async def _wait(self, operation: Operation, until_s: float) -> bool:
        loop, pause = asyncio.get_running_loop(), _FIRST_S
        while (left := until_s - loop.time()) > 0:
            bell: asyncio.Future[None] = loop.create_future()
            self._waiting.setdefault(operation.op_id, []).append(bell)
            try:
                await asyncio.wait({bell}, timeout=min(pause, left))
            finally:
                self._leave(operation.op_id, bell)
            found = await self._read(operation.op_id)
            if found is None or found.epoch != operation.epoch:
                return True
            # One of which nobody knows yet is joined while its answer may still come.
            if found.state not in _UNDER_WAY and found.state is not operation.state:
                return True
            pause = min(2 * pause, _LONGEST_S)
        return False

    def ended(self, op_id: str) -> None:
        """Wake everybody who waits here for an operation."""
        for bell in self._waiting.get(op_id, ()):
            if not bell.done():
                bell.set_result(None)

    def _leave(self, op_id: str, bell: asyncio.Future[None]) -> None:
        waiting = self._waiting[op_id]
        waiting.remove(bell)
        if not waiting:
            del self._waiting[op_id]
