"""Who waits for a lane: first come first served, and of one caller only so many."""

import asyncio
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from gateway.servers.lane import Lane, LaneKey
from gateway.types.relay import Outbound


def share(most: int) -> int:
    """Return how many of something one caller may have: others always find some left."""
    return max(1, most // 2)


@dataclass(slots=True, kw_only=True, eq=False)
class Waiter:
    """One request that needs a lane."""

    key: LaneKey
    outbound: Outbound
    lane: Lane | None = None  # that it was given
    served: asyncio.Event = field(default_factory=asyncio.Event)


# Returns a lane for a request, unless there is none to be had now, or one of those who came
# before it needs the same one.
Grant: TypeAlias = Callable[[Waiter, Sequence[Waiter]], Lane | None]


class Line:
    """The line before the lanes of one server; `give_back` gets a lane that came too late."""

    def __init__(self, most: int, grant: Grant, give_back: Callable[[Lane], None]) -> None:
        self._most = most
        self._grant = grant
        self._give_back = give_back
        self._standing: Counter[str] = Counter()  # by caller
        self._waiters: list[Waiter] = []  # the first first

    def get(self, waiter: Waiter) -> Lane | None:
        """Return a lane without waiting, unless somebody who waits has to be served first."""
        return self._grant(waiter, self._waiters)

    @contextmanager
    def standing(self, owner: str) -> Generator[bool]:
        """Count a request as waiting while the block runs; False when it can't wait as well."""
        fits = self._standing.total() < self._most
        if owner:
            fits = fits and self._standing[owner] < share(self._most)
        self._standing[owner] += 1
        try:
            yield fits
        finally:
            self._standing[owner] -= 1
            if not self._standing[owner]:
                del self._standing[owner]

    async def wait(self, waiter: Waiter, deadline: float | None) -> Lane | None:
        """Wait at the end of the line; None at the deadline, if there is one."""
        self._waiters.append(waiter)
        try:
            async with asyncio.timeout_at(deadline):
                await waiter.served.wait()
        except BaseException as error:
            if waiter.lane is not None:
                self._give_back(waiter.lane)
            if isinstance(error, TimeoutError):
                return None
            raise
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
        return waiter.lane

    def serve(self) -> None:
        """Look through the line: a lane may be free that was not."""
        before: list[Waiter] = []
        for waiter in tuple(self._waiters):
            lane = self._grant(waiter, before)
            if lane is None:
                before.append(waiter)
            else:
                self._waiters.remove(waiter)
                waiter.lane = lane
                waiter.served.set()
