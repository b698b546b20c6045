"""How long to wait before the next attempt: doubling, with jitter, without an end."""

from collections.abc import Callable

from gateway.servers.entry import Timeouts


class Backoff:
    """Counts failures in a row. One per server, shared by everybody who calls it."""

    def __init__(self, timeouts: Timeouts, jitter: Callable[[], float]) -> None:
        self._timeouts = timeouts
        self._jitter = jitter  # a number from 0 to 1
        self._failures = 0

    def next_s(self, *, slow: bool) -> float:
        """Return the seconds until the next attempt; `slow` faults start at a longer pause."""
        times = self._timeouts
        first = times.backoff_slow_s if slow else times.backoff_min_s
        whole = min(times.backoff_max_s, first * 2 ** min(self._failures, 16))
        self._failures += 1
        return whole * (0.75 + self._jitter() / 4)

    def reset(self) -> None:
        """Start over: there was a healthy time."""
        self._failures = 0
