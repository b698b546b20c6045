"""Where a server is in its life, and what calls are told while it is away."""

import asyncio
import logging
import random
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from gateway.clock import Clock
from gateway.servers.backoff import Backoff
from gateway.servers.connection import ConnectFault, Connection, Mask
from gateway.servers.entry import Entry
from gateway.servers.state import ServerStatus
from gateway.types.operations import Execution, Failure, Undelivered

_log = logging.getLogger("gateway.servers")


class Life:
    """The attempts to reach a server, one after the other. Told by the one task that makes them.

    `last_words` is what the server wrote to stderr: for operators, never for callers, to whom a
    server could otherwise speak in the gateway's voice.
    """

    def __init__(
        self, entry: Entry, clock: Clock, mask: Mask, last_words: Callable[[], str] = str
    ) -> None:
        self.status = ServerStatus.STARTING
        self.since: datetime = clock.now()  # of the status
        self.attempts = 0
        self.connection: Connection | None = None  # that calls go over now; None in an outage
        self._entry = entry
        self._clock = clock
        self._mask = mask
        self._last_words = last_words
        self._said = ""  # the last words of what was lost
        self._backoff = Backoff(entry.timeouts, random.random)
        self._fault: ConnectFault | None = None
        self._logged = ""
        self._attempt_at = 0.0
        self._next_at = 0.0
        self._opened_at: float | None = None
        self._settled = asyncio.Event()  # no attempt is under way
        self._again = asyncio.Event()  # the attempt that follows a loss has ended
        self._woken = asyncio.Event()

    @property
    def reason(self) -> str:
        """Why it is away, or was last, for operators; without secrets."""
        return self._cause + (f"; stderr: {self._said}" if self._fault and self._said else "")

    @property
    def _cause(self) -> str:
        return self._mask(self._fault.message) if self._fault else ""

    # What the one task tells

    def attempting(self) -> None:
        """An attempt begins."""
        self.attempts += 1
        self._woken.clear()
        self._attempt_at = asyncio.get_running_loop().time()
        self._settled.clear()

    def opened(self, connection: Connection) -> None:
        """An attempt ended well."""
        if self._fault is not None:
            _log.info("server %s: connected again", self._entry.name)
        self._fault, self._logged = None, ""
        self._opened_at = asyncio.get_running_loop().time()
        self.connection = connection
        self._turn(ServerStatus.READY)
        self._settled.set()
        self._again.set()

    def lost(self) -> None:
        """Turn calls away from now on; the task finds out why when it is its turn."""
        if self.connection is not None and self.connection.lost is not None:
            lost = self.connection.lost
            self.connection = None
            self._again.clear()
            self._fault = ConnectFault(lost.reason, slow=lost.slow)
            self._said = self._last_words()
            self._turn(ServerStatus.FAILED)

    def failed(self, fault: ConnectFault) -> None:
        """An attempt ended badly, or what it had opened is lost."""
        now = asyncio.get_running_loop().time()
        self._fault = fault
        self._said = self._last_words()
        if self._logged != fault.message:  # once, not per attempt
            _log.warning("server %s: %s", self._entry.name, self.reason)
        self._logged = fault.message
        self._turn(ServerStatus.FAILED)
        if self._opened_at is None:
            self._again.set()
        elif now - self._opened_at >= self._entry.timeouts.healthy_s:
            self._backoff.reset()
        self._opened_at = None
        self._next_at = now + self._backoff.next_s(slow=fault.slow)
        self._settled.set()

    async def pause(self) -> None:
        """Wait until it is time for the next attempt, or a call wants one."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(self._next_at):
                await self._woken.wait()

    def stopped(self) -> None:
        """There will be no further attempt."""
        self._turn(ServerStatus.STOPPED)
        self._settled.set()
        self._again.set()

    def _turn(self, status: ServerStatus) -> None:
        if status is not self.status:
            self.status, self.since = status, self._clock.now()

    # What calls do meanwhile

    async def connected(self, deadline: float) -> Connection | Undelivered:
        """Wait a short time where that may help; one call may wake one attempt for all."""
        times, now = self._entry.timeouts, asyncio.get_running_loop().time()
        patience = 0.0
        if self.status is ServerStatus.STARTING:
            patience = times.start_wait_s
        elif self.status is ServerStatus.FAILED:
            if self._settled.is_set():
                self._wake(now)
            if not self._settled.is_set():  # not longer than a call that woke it would wait
                patience = self._attempt_at + times.wake_wait_s - now
        patience = min(patience, deadline - now)
        if patience > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await self._settled.wait()
        return self.connection or self.outage()

    async def back(self, deadline: float) -> bool:
        """Wait for the one attempt that follows a loss; say whether it ended well."""
        now = asyncio.get_running_loop().time()
        if self.connection is None and self.status is ServerStatus.FAILED:
            self._wake(now)
            patience = min(deadline, now + self._entry.timeouts.start_wait_s)
            with suppress(TimeoutError):
                async with asyncio.timeout_at(patience):
                    await self._again.wait()
        return self.connection is not None

    def _wake(self, now: float) -> None:
        """Let the next attempt begin at once, unless there was one a short time ago."""
        times, fault = self._entry.timeouts, self._fault
        gap = times.backoff_slow_s if fault and fault.slow else times.wake_gap_s
        if now - self._attempt_at >= gap:
            self._attempt_at = now
            self._settled.clear()
            self._woken.set()

    def outage(self) -> Undelivered:
        """Say what calls are told while there is no connection."""
        name, fault = self._entry.name, self._fault
        if self.status is ServerStatus.STARTING:
            return Undelivered(
                failure=Failure.STARTING,
                executed=Execution.NO,
                detail=f"`{name}` is still starting",
                retry_after_s=self._entry.timeouts.start_wait_s,
            )
        failure = Failure.UNAVAILABLE
        if fault is not None and fault.failure in (Failure.UNAUTHORIZED, Failure.RATE_LIMITED):
            failure = fault.failure
        pause = max(self._next_at - asyncio.get_running_loop().time(), 0.0)
        return Undelivered(
            failure=failure,
            executed=Execution.NO,
            detail=f"`{name}` is unavailable since {self.since:%Y-%m-%d %H:%M:%S} UTC: "
            f"{self._cause or 'it was stopped'}"[:1000],
            retry_after_s=round(pause, 1) or None,
        )
