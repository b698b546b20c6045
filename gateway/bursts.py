"""What a turn of the event loop sends leaves together at its end, where many are under way.

Whoever waits for it is mostly asleep: the system takes longer to wake a process than to send a
short message, and one that was woken for each message by itself has fallen asleep again before the
next. At the end of a turn all of them follow one another, and the first alone finds it asleep.
"""

import asyncio
from collections.abc import Callable
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

CROWD: Final = 4  # requests under way, from which on it is worth another turn of the loop

Send: TypeAlias = Callable[[], None]


class Burst:
    """What waits for the end of this turn of one event loop, in the order of its coming."""

    __slots__ = ("_loop", "_waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: list[Send] = []

    def add(self, send: Send) -> None:
        """Have it called once at the end of this turn; it has to know what is still to be sent."""
        if not self._waiting:
            self._loop.call_soon(self._leave)
        self._waiting.append(send)

    def _leave(self) -> None:
        waiting, self._waiting = self._waiting, []
        for send in waiting:
            try:
                send()
            except Exception as error:  # of one connection, and the others have theirs to send
                self._loop.call_exception_handler(
                    {"message": "something could not be sent", "exception": error}
                )


_bursts: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, Burst]] = WeakKeyDictionary()


def burst_of(loop: asyncio.AbstractEventLoop) -> Burst:
    """Return the one of an event loop."""
    found = _bursts.get(loop)
    if found is None:
        found = _bursts[loop] = Burst(loop)
    return found
