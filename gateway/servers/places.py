"""How many calls a server gets at once, and how many may wait for their turn."""

import asyncio

from gateway.servers.entry import Entry
from gateway.types.operations import Execution, Failure, Undelivered


class Places:
    """The places of one server: `max_calls`, with a bounded queue for them."""

    def __init__(self, entry: Entry) -> None:
        self.taken = 0
        self._entry = entry
        self._slots = asyncio.Semaphore(entry.max_calls)
        self._queued = 0

    async def take(self, deadline: float) -> Undelivered | None:
        """Take a place, waiting for one until the deadline; say so when there is none."""
        if self._slots.locked():
            if self._queued >= self._entry.caps.queue:
                return busy(self._entry, "has as many calls under way and waiting as it may")
            self._queued += 1
            try:
                async with asyncio.timeout_at(deadline):
                    await self._slots.acquire()
            except TimeoutError:
                return busy(self._entry, "had no free place before the deadline")
            finally:
                self._queued -= 1
        else:
            await self._slots.acquire()
        self.taken += 1
        return None

    def leave(self) -> None:
        """Give a place back."""
        self.taken -= 1
        self._slots.release()


def busy(entry: Entry, why: str) -> Undelivered:
    """Say that a call was never sent because a limit of ours was reached."""
    return Undelivered(
        failure=Failure.BUSY,
        executed=Execution.NO,
        detail=f"`{entry.name}` is busy: it {why}",
        retry_after_s=1.0,
    )
