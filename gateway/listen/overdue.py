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
    """Tells each of what has been open for `after_s` seconds, once; for one event loop."""

    def __init__(self, after_s: float) -> None:
        self._after_s = after_s
        self._open: deque[tuple[float, Open]] = deque()  # each with its time, the oldest first
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, one: Open) -> None:
        """Look after one from now on."""
        loop = asyncio.get_running_loop()
        self._open.append((loop.time() + self._after_s, one))
        if self._timer is None:
            self._timer = loop.call_later(self._after_s, self._look)

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer, now = None, loop.time()
        while self._open:
            due, one = self._open[0]
            if not one.has_ended:
                if due > now:
                    self._timer = loop.call_at(due, self._look)
                    return
                one.is_overdue()
            self._open.popleft()
