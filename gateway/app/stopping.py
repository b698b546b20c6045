"""The one deadline of a stop, which everything that has to end shares."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final

from gateway.clock import Clock

# Seconds since the stop began. Hosts and containers wait about ten before they kill.
CALLS_S: Final = 5.0  # calls under way are waited for
SERVERS_S: Final = 8.5  # servers may end by themselves, then they are killed
WHOLE_S: Final = 10.0  # what is left goes to events and spans
_LEAST_S: Final = 1.0  # of what comes last, however late it is


class Stopping:
    """Counts from the moment that the stop begins: at a signal, or when the front has ended."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began: float | None = None
        self._told: list[Callable[[], None]] = []

    def begin(self) -> None:
        """Start to count, once, and tell whoever wants to know."""
        if self._began is None:
            self._began = self._clock.monotonic()
            for each in self._told:
                each()

    def tell(self, callback: Callable[[], None]) -> None:
        """Have `callback` called when the stop begins."""
        self._told.append(callback)

    def left(self, until_s: float) -> float:
        """Return the seconds up to a moment of the stop, 0 when it has passed."""
        self.begin()
        assert self._began is not None  # noqa: S101 - begun above
        return max(0.0, self._began + until_s - self._clock.monotonic())

    @asynccontextmanager
    async def killing_late(self, kill: Callable[[], None]) -> AsyncGenerator[Callable[[], None]]:
        """Give what to call once servers are told to end: `kill` gets those that are late.

        Nothing is killed once the block has ended.
        """
        timers: list[asyncio.TimerHandle] = []

        def told() -> None:
            loop = asyncio.get_running_loop()
            timers.append(loop.call_later(self.left(SERVERS_S), kill))

        try:
            yield told
        finally:
            for timer in timers:
                timer.cancel()

    def last_s(self, at_most: float) -> float:
        """Return the seconds for one of the last things to do, at most as many as given."""
        return min(at_most, max(_LEAST_S, self.left(WHOLE_S)))
