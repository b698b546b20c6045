"""One call over a pipe, from its start to its end, in the task that made it."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from gateway.servers.child import Outgoing
from gateway.servers.connection import NOTHING, Rising, Start
from gateway.servers.elicited import Elicited
from gateway.servers.hearing import Hearing, Rest, reschedule
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivery
from gateway.types.relay import Ear

_LIMIT_S = 0.05  # after its deadline, a call whose ear doesn't take its news ends as well

# Progress, total and message; or the params of a log message.
_News: TypeAlias = tuple[float, float | None, str | None] | JsonObject


class Pending:
    """Waits for an answer; `expire` is called when the deadline passes without one."""

    __slots__ = (
        "_deadline",
        "_ear",
        "_expire",
        "_limit",
        "_loop",
        "_news",
        "_rising",
        "_timer",
        "_wake",
        "capabilities",
        "delivery",
        "hearing",
        "logs",
        "may_tell",
        "outgoing",
        "told",
    )

    def __init__(
        self, deadline: float, expire: Callable[[], None], *, logs: bool, may_tell: bool = True
    ) -> None:
        self.delivery: Delivery | None = None
        self.outgoing: Outgoing | None = None
        self.hearing: Hearing | None = None  # on a connection whose server may ask
        self.capabilities = NOTHING  # that the request declared
        self.logs = logs  # the request asked for log messages
        self.may_tell = may_tell  # the server may learn that nobody waits
        self.told = False  # and it has
        self._loop = asyncio.get_running_loop()
        self._wake: asyncio.Future[None] = self._loop.create_future()
        self._deadline = deadline
        self._expire = expire
        self._timer = self._loop.call_at(deadline, expire)
        self._limit: asyncio.Timeout | None = None  # of an ear that doesn't take its news
        self._ear: Ear | None = None
        self._news: deque[_News] = deque(maxlen=0)
        self._rising = Rising()

    def lend(self, ear: Ear, most_news: int) -> None:
        """Let the call hear what the server says before it answers."""
        self._ear, self._news = ear, deque(maxlen=most_news)

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
                    self._wake = self._loop.create_future()
        except TimeoutError:
            return
        finally:
            self._limit = None

    def hurry(self, seconds: float) -> None:
        """Wait no longer than given from now on."""
        self._move(min(self._loop.time() + seconds, self._timer.when()))

    def close(self) -> None:
        """Let go of the timer and of open questions."""
        self._timer.cancel()
        if self.hearing is not None:
            self.hearing.end(self.delivery)

    def _rouse(self) -> None:
        if not self._wake.done():
            self._wake.set_result(None)

    def _move(self, when: float | None) -> None:
        self._timer.cancel()
        if when is not None:
            self._timer = self._loop.call_at(when, self._expire)
        if self._limit is not None:
            reschedule(self._limit, None if when is None else when + _LIMIT_S)


async def _tell(ear: Ear, news: _News) -> None:
    if isinstance(news, dict):
        await ear.log(news)
    else:
        await ear.progress(*news)
