"""The only reader of time."""

import time
from datetime import UTC, datetime
from functools import partial
from typing import Protocol


class Clock(Protocol):
    """Where time comes from; rules and checks get times as values, never a clock."""

    def now(self) -> datetime:
        """Return the wall time, in UTC."""
        ...

    def time_ns(self) -> int:
        """Return the wall time in nanoseconds since the epoch."""
        ...

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start, never going back."""
        ...


class SystemClock:
    """The machine's own clocks."""

    # The machine's functions themselves: each call asks six times or more.
    now = staticmethod(partial(datetime.now, UTC))  # noqa: TID251 - this is the one place
    time_ns = staticmethod(time.time_ns)
    monotonic = staticmethod(time.monotonic)
