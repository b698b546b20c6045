"""Looks after what takes longer than most: one timer for all, since hardly anything does."""

import asyncio
from collections import deque
from typing import Protocol


class Open(Protocol):
    """Something that ends, mostly soon."""

    @property
    def has_ended(self) -> bool:
        """Whether it has."""
        ...

    def is_overdue(self) -> None:
        """Be told that it has not, though it has been open for a while."""
        ...


class Overdue:
    """Tells each of what has been open for a while, once; for one event loop.

    That is after `after_s` seconds at the earliest, and half as many later at the latest: each
    grows older with all that began in the same span, so that nobody's time has to be kept.
    """

    def __init__(self, after_s: float) -> None:
        self._span_s = after_s / 2
        self._newest: list[Open] = []
        self._older: deque[list[Open]] = deque([[], []])  # by span, the latest first
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, one: Open) -> None:
        """Look after one from now on."""
        self._newest.append(one)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._span_s, self._look)

    def _look(self) -> None:
        self._timer = None
        old = self._older.pop()
        self._older.appendleft(self._newest)
        self._newest = []
        if any(self._older):
            self._timer = asyncio.get_running_loop().call_later(self._span_s, self._look)
        for one in [each for each in old if not each.has_ended]:
            one.is_overdue()
