"""A request that goes on after its caller's time is over: its answer settles what was unknown."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from gateway.crossing.failpoints import Failpoint, Reached, go_on
from gateway.crossing.presence import Waiting
from gateway.errors import AskRefused
from gateway.types.json import JsonObject
from gateway.types.operations import Delivery, Execution, Failure, Undelivered
from gateway.types.relay import Ear, Outbound

# Requests to one server that nobody waits for: they hold no place of it, so they are few.
MOST_LATE: Final = 4
_GONE: Final = -32603  # JSON-RPC internal error: nobody is there to be asked

Request = Callable[[Outbound, Ear | None], Awaitable[Delivery]]


class Starter(Protocol):
    """The process as the owner of a request to a server."""

    def aside(self, work: Callable[[], Awaitable[Delivery]]) -> "asyncio.Future[Delivery]":
        """Begin to carry `work` out; the future is settled at its end, and no stop waits for it."""
        ...


class Listening:
    """An ear that can be taken away, and knows for how long its caller was asked things."""

    def __init__(self, ear: Ear) -> None:
        self._ear: Ear | None = ear
        self._asked = ear
        self._asking = 0
        self._began = 0.0
        self._asked_s = 0.0

    @property
    def wants_progress(self) -> bool:
        """Whether the caller asked for progress, and is still there."""
        return self._ear is not None and self._ear.wants_progress

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Hear of progress, until the caller has its answer."""
        if self._ear is not None:
            await self._ear.progress(progress, total, message)

    async def log(self, params: JsonObject) -> None:
        """Hear a log message, until the caller has its answer."""
        if self._ear is not None:
            await self._ear.log(params)

    async def completed(self, elicitation_id: str) -> None:
        """Hear that an elicitation is done: that is no part of the answer, and may come late."""
        await self._asked.completed(elicitation_id)

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Answer a question; its time is the person's, not the server's."""
        if self._ear is None:
            raise AskRefused(_GONE, "the caller has gone")
        if not self._asking:
            self._began = asyncio.get_running_loop().time()
        self._asking += 1
        try:
            return await self._ear.ask(method, params)
        finally:
            self._asking -= 1
            if not self._asking:
                self._asked_s += asyncio.get_running_loop().time() - self._began

    def asked_s(self) -> float:
        """Return for how many seconds, in all, the caller has been asked things."""
        under_way = asyncio.get_running_loop().time() - self._began if self._asking else 0.0
        return self._asked_s + under_way

    def close(self) -> None:
        """Tell the caller nothing more."""
        self._ear = None


@dataclass(frozen=True, slots=True)
class Waited:
    """What came in time, or the request that goes on."""

    delivery: Delivery
    late: "asyncio.Future[Delivery] | None" = None


@dataclass(slots=True, kw_only=True)
class Patience:
    """Waits as long as a caller does, and lets the request go on for `window_s` after that."""

    starter: Starter
    window_s: float
    reached: Reached = go_on
    _late: Counter[str] = field(default_factory=Counter[str])

    async def wait(
        self, server: str, request: Request, outbound: Outbound, ear: Ear | None
    ) -> Waited:
        """Send a request, once; what it does not answer in time is unknown until it does."""
        if self.window_s <= 0 or self._late[server] >= MOST_LATE:
            return Waited(await request(outbound, ear))
        listening = None if ear is None else Listening(ear)
        patience = Waiting()
        longer = replace(outbound, late_s=self.window_s, patience=patience)
        under_way = self.starter.aside(lambda: request(longer, listening))
        self.reached(Failpoint.AFTER_SEND)
        if await _in_time(under_way, outbound.deadline_s, listening):
            return Waited(under_way.result())
        if listening is not None:
            listening.close()
        patience.leave()
        self._late[server] += 1
        under_way.add_done_callback(lambda _: self._ended(server))
        return Waited(
            Undelivered(
                failure=Failure.TIMEOUT,
                executed=Execution.UNKNOWN,
                detail=f"`{server}` gave no answer in {outbound.deadline_s:g} s",
            ),
            under_way,
        )

    def _ended(self, server: str) -> None:
        self._late[server] -= 1
        if not self._late[server]:
            del self._late[server]


async def _in_time(
    under_way: "asyncio.Future[Delivery]", seconds: float, listening: Listening | None
) -> bool:
    left, asked_s = seconds, 0.0
    while left > 0:
        await asyncio.wait({under_way}, timeout=left)
        if under_way.done():
            return True
        total = 0.0 if listening is None else listening.asked_s()
        left, asked_s = total - asked_s, total
    return False
