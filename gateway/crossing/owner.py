"""Who carries on with work whose caller may leave."""

from asyncio import Future
from collections.abc import Awaitable, Callable
from typing import Protocol

from gateway.types.outcomes import Finished


class Owner(Protocol):
    """The process as the owner of work that must not end with the request that asked for it."""

    async def run(self, work: Callable[[], Awaitable[Finished]]) -> Finished:
        """Carry `work` out; when the waiter is cancelled, the work goes on."""
        ...

    def start(self, work: Callable[[], Awaitable[Finished]]) -> "Future[Finished]":
        """Begin to carry `work` out; the future is settled at its end."""
        ...
