"""How many calls a server gets at once, and how many may wait for their turn."""

import asyncio
from dataclasses import dataclass

from gateway.servers.entry import Entry
from gateway.types.json import JsonObject
from gateway.types.operations import Execution, Failure, Undelivered
from gateway.types.relay import Ear


class _Slots(asyncio.Semaphore):
    def take_free(self) -> bool:
        """Do what `acquire` does where it need not wait, without a coroutine for that."""
        if self.locked():
            return False
        self._value -= 1
        return True


class Places:
    """The places of one server: `max_calls`, with a bounded queue for them."""

    def __init__(self, entry: Entry) -> None:
        self.taken = 0
        self._entry = entry
        self._slots = _Slots(entry.max_calls)
        self._queued = 0

    def take_free(self) -> bool:
        """Take a place if one is free now, and nobody waits for it."""
        free = self._slots.take_free()
        self.taken += free
        return free

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

    async def take_again(self) -> None:
        """Take a place for a call that had one, however many wait for their first."""
        await self._slots.acquire()
        self.taken += 1

    def leave(self) -> None:
        """Give a place back."""
        self.taken -= 1
        self._slots.release()


class Place:
    """The place of one call; others have it while somebody is asked, who may take minutes."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._is_held = True
        self._is_left = False
        self._asked = 0  # questions without an answer

    def lend(self) -> None:
        """Let others have the place, for one more question."""
        self._asked += 1
        if self._is_held:
            self._is_held = False
            self._places.leave()

    async def take_back(self) -> None:
        """Wait for a place again once nothing is asked any more."""
        self._asked -= 1
        if self._asked or self._is_left:
            return
        await self._places.take_again()
        if self._asked or self._is_left or self._is_held:  # meanwhile
            self._places.leave()
        else:
            self._is_held = True

    def leave(self) -> None:
        """Give the place back for good."""
        self._is_left = True
        if self._is_held:
            self._is_held = False
            self._places.leave()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lending:
    """The ear of a call that lends its place while its caller is asked something."""

    ear: Ear
    place: Place

    @property
    def wants_progress(self) -> bool:
        """Whether the caller asked for progress."""
        return self.ear.wants_progress

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Hear of progress."""
        await self.ear.progress(progress, total, message)

    async def log(self, params: JsonObject) -> None:
        """Hear a log message."""
        await self.ear.log(params)

    async def completed(self, elicitation_id: str) -> None:
        """Hear that an elicitation is done; its call has most likely left its place long ago."""
        await self.ear.completed(elicitation_id)

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Answer a question; raises AskRefused."""
        self.place.lend()
        try:
            return await self.ear.ask(method, params)
        finally:
            await self.place.take_back()


def busy(entry: Entry, why: str) -> Undelivered:
    """Say that a call was never sent because a limit of ours was reached."""
    return Undelivered(
        failure=Failure.BUSY,
        executed=Execution.NO,
        detail=f"`{entry.name}` is busy: it {why}",
        retry_after_s=1.0,
    )
