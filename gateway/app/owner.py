"""The process as the owner of calls that change something."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from anyio.abc import TaskGroup

_T = TypeVar("_T")


class ProcessOwner:
    """Runs work in the process's own task group: a caller that leaves loses only its answer."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def run(self, work: Callable[[], Awaitable[_T]]) -> _T:
        """Carry `work` out to its end, whether or not anybody still waits for it."""
        return await asyncio.shield(self.start(work))

    def start(self, work: Callable[[], Awaitable[_T]]) -> "asyncio.Future[_T]":
        """Begin to carry `work` out; the future is settled at its end."""
        answer: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
        self._running += 1
        self._idle.clear()
        self._tasks.start_soon(self._counted, work, answer)
        return answer

    def aside(self, work: Callable[[], Awaitable[_T]]) -> "asyncio.Future[_T]":
        """Begin to carry `work` out like `start`, for which no stop waits."""
        answer: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
        self._tasks.start_soon(_carry_out, work, answer)
        return answer

    async def idle(self, within_s: float) -> bool:
        """Wait until nothing is under way; False when that takes longer than given."""
        try:
            async with asyncio.timeout(within_s):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    async def _counted(
        self, work: Callable[[], Awaitable[_T]], answer: "asyncio.Future[_T]"
    ) -> None:
        try:
            await _carry_out(work, answer)
        finally:
            self._running -= 1
            if self._running == 0:
                self._idle.set()


async def _carry_out(work: Callable[[], Awaitable[_T]], answer: "asyncio.Future[_T]") -> None:
    try:
        finished = await work()
        if not answer.done():
            answer.set_result(finished)
    except BaseException as error:
        if not answer.done():
            # Only an end of the process gets here; the waiter is told the same way.
            answer.set_exception(error if isinstance(error, Exception) else _Ended())
            answer.exception()  # taken note of: a waiter may be gone
        if not isinstance(error, Exception):
            raise


class _Ended(Exception):
    """The process ends; the call is in the log with all that is known."""
