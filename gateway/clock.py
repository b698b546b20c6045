"""The only reader of time."""

import time
from datetime import UTC, datetime
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

    def now(self) -> datetime:
        """Return the wall time, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - this is the one place

    def time_ns(self) -> int:
        """Return the wall time in nanoseconds since the epoch."""
        return time.time_ns()

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start, never going back."""
        return time.monotonic()
