"""One call over a pipe, from its start to its end, in the task that made it."""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from gateway.servers.child import Outgoing
from gateway.servers.connection import NOTHING, Start
from gateway.servers.deadlines import Deadlines
from gateway.servers.elicited import Elicited
from gateway.servers.hearing import Hearing, Rest, reschedule
from gateway.servers.rising import Rising
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivery
from gateway.types.relay import Ear

_LIMIT_S = 0.05  # after its deadline, a call whose ear doesn't take its news ends as well

# Progress, total and message; or the params of a log message.
_News: TypeAlias = tuple[float, float | None, str | None] | JsonObject


class Pending:
    """Waits for an answer; `expire` is called when the deadline passes without one."""

    # As it begins: set where something happens, which of most of these is never.
    delivery: Delivery | None = None
    outgoing: Outgoing | None = None
    hearing: Hearing | None = None  # on a connection whose server may ask
    capabilities: JsonObject = NOTHING  # that the request declared
    logs: bool = False  # the request asked for log messages
    may_tell: bool = True  # the server may learn that nobody waits
    told: bool = False  # the server was told that nobody waits
    _limit: asyncio.Timeout | None = None  # of an ear that doesn't take its news
    _ear: Ear | None = None
    _news: deque[_News]  # where there is an ear
    _rising: Rising

    def __init__(
        self,
        deadlines: Deadlines,
        when: float,
        expire: "Callable[[Pending], None]",
        number: int = 0,
        method: str = "",
    ) -> None:
        self.number = number  # its id
        self.method = method
        self.when = when  # the deadline, which may be moved
        self._deadlines = deadlines
        self._deadline = when
        self._expire = expire
        self._wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        deadlines.add(self)

    def passed(self) -> None:
        """End, as far as nothing else has: the deadline is over."""
        self._expire(self)

    def lend(self, ear: Ear, most_news: int) -> None:
        """Let the call hear what the server says before it answers."""
        self._ear, self._news, self._rising = ear, deque(maxlen=most_news), Rising()

    def let_ask(
        self,
        ear: Ear,
        start: Start,
        answer: Callable[[JsonObject], None],
        elicited: Elicited,
    ) -> Hearing:
        """Let the server ask; the deadline rests as long as a question is open."""
        rest = Rest(self._deadline, self._move)
        hearing = self.hearing = Hearing(ear, rest, start=start, answer=answer, elicited=elicited)
        return hearing

    def settle(self, delivery: Delivery) -> None:
        """Give the call its end; the first one counts."""
        if self.delivery is None:
            self.delivery = delivery
            self._rouse()

    def progressed(self, params: Json) -> None:
        """Take a note of progress, if it is wanted and rises."""
        if self._ear is not None and self._ear.wants_progress:
            news = self._rising.accept(params)
            if news is not None:
                self._news.append(news)
                self._rouse()

    def logged(self, params: JsonObject) -> None:
        """Take a log message, if there is somebody to hear it."""
        if self._ear is not None:
            self._news.append(params)
            self._rouse()

    async def ended(self) -> None:
        """Wait for the end, and tell the news until then from the caller's own task."""
        if self._ear is None:
            await self._wake
            return
        try:
            async with asyncio.timeout_at(self._deadline + _LIMIT_S) as self._limit:
                while True:
                    while self._news:
                        await _tell(self._ear, self._news.popleft())
                    if self.delivery is not None:
                        return
                    await self._wake
                    self._wake = asyncio.get_running_loop().create_future()
        except TimeoutError:
            return
        finally:
            self._limit = None

    def hurry(self, seconds: float) -> None:
        """Wait no longer than given from now on."""
        self._move(min(asyncio.get_running_loop().time() + seconds, self.when))

    def close(self) -> None:
        """Let go of the deadline and of open questions."""
        self._deadlines.drop(self)
        if self.hearing is not None:
            self.hearing.end(self.delivery)

    def _rouse(self) -> None:
        if not self._wake.done():
            self._wake.set_result(None)

    def _move(self, when: float | None) -> None:
        self.when = math.inf if when is None else when
        if when is not None:
            self._deadlines.add(self)
        if self._limit is not None:
            reschedule(self._limit, None if when is None else when + _LIMIT_S)


async def _tell(ear: Ear, news: _News) -> None:
    if isinstance(news, dict):
        await ear.log(news)
    else:
        await ear.progress(*news)
