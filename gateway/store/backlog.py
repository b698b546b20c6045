"""Events on their way to the database: in order, bounded, kept until they are committed."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from gateway.errors import StoreUnavailable
from gateway.store.changes import Change
from gateway.store.engine import Transaction
from gateway.types.event_rows import EventRow
from gateway.types.events import Event

_GROUP_EVENTS: Final = 1_000
_GROUP_BYTES: Final = 4 << 20
_LINGER_S: Final = 0.04  # how long events that nobody waits for gather before they are written
# Where so many waited for the last commit, the next one waits for more of them: it costs disk and
# processor nearly the same however much is in it, and in a crowd they are what everyone waits for.
_CROWD: Final = 4
_GATHER_S: Final = 0.005


class Entry(NamedTuple):  # made for every call: a frozen dataclass takes longer
    """Events as they will be stored, or a change with the events that tell of it."""

    rows: tuple[EventRow, ...]
    size: int
    durable: bool
    change: Change[Any] | None = None
    as_row: Callable[[Event], EventRow] | None = None  # with a change: for what it tells itself
    events: int = 1  # how many of what may wait these are

    def made(self, transaction: Transaction) -> tuple[EventRow, ...]:
        """Make the change, if this is one; return the events to store."""
        if self.change is None:
            return self.rows
        keeps_events, told = self.change.apply(transaction)
        kept = self.rows if keeps_events else ()
        if not told or self.as_row is None:
            return kept
        return (*kept, *(self.as_row(event) for event in told))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much may wait; ends of calls that were sent may use a quarter more."""

    events: int = 50_000  # of usual ones, about as many bytes as below
    bytes: int = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Events that were refused since a time, because too many were waiting."""

    count: int
    since: datetime


@dataclass(eq=False, slots=True)
class Waiter:
    """Someone who waits until everything up to a position is committed."""

    target: int
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[None]


class Backlog:
    """A queue between the callers' threads and the writer's; positions count appended events."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._entries: deque[Entry] = deque()
        self._events = 0
        self._bytes = 0
        self._appended = 0
        self._committed = 0
        self._under_way = 0  # how many events, from the first, are being written
        self._woken = 0  # who waited for the last commit
        self._urgent = False
        self._closing = False
        self._waiters: set[Waiter] = set()
        self._gap: Gap | None = None

    def __len__(self) -> int:
        return self._events

    @property
    def bytes(self) -> int:
        """The size of what is waiting."""
        return self._bytes

    @property
    def committed(self) -> int:
        """How many events have been committed."""
        return self._committed

    def has_plenty(self, ahead: int) -> bool:
        """Whether there is certainly room for so many more: not half as many wait as may.

        Read without the lock: whatever others add meanwhile finds the other half.
        """
        bounds = self._bounds
        is_wide = (self._events + ahead) * 2 < bounds.events and self._bytes * 2 < bounds.bytes
        return is_wide and not self._closing

    def admit(self, count: int, *, ahead: int, owed: bool, now: Callable[[], datetime]) -> None:
        """Let so many be appended later, after those `ahead`, or raise StoreUnavailable.

        `now` is asked only then.
        """
        with self._lock:
            self._admit(count, 0, ahead=ahead, owed=owed, now=now)

    def append(
        self,
        entries: Sequence[Entry],
        *,
        owed: bool,
        now: Callable[[], datetime],
        admitted: bool = False,
    ) -> None:
        """Add all of them, or none and raise StoreUnavailable; `now` is asked only then."""
        count, size, durable = 0, 0, False
        for entry in entries:
            count += entry.events
            size += entry.size
            durable = durable or entry.durable
        with self._lock:
            if not admitted:
                self._admit(count, size, ahead=0, owed=owed, now=now)
            was_empty = not self._entries
            self._entries.extend(entries)
            self._events += count
            self._bytes += size
            self._appended += count
            if was_empty or (durable and not self._urgent):
                self._changed.notify()
            self._urgent = self._urgent or durable

    def _admit(
        self, count: int, size: int, *, ahead: int, owed: bool, now: Callable[[], datetime]
    ) -> None:
        room = 5 if owed else 4
        full = (self._events + ahead + count) * 4 > self._bounds.events * room
        heavy = (self._bytes + size) * 4 > self._bounds.bytes * room
        if self._closing or full or heavy:
            gap = self._gap or Gap(count=0, since=now())
            self._gap = Gap(count=gap.count + count, since=gap.since)
            raise StoreUnavailable(
                "the event log is closed" if self._closing else "too many events wait to be stored"
            )

    def wait(self) -> Waiter | None:
        """Return a future for all that was appended so far; None if it is committed already."""
        with self._changed:
            if self._committed >= self._appended:
                return None
            loop = asyncio.get_running_loop()
            waiter = Waiter(self._appended, loop, loop.create_future())
            self._waiters.add(waiter)
            is_next = self._appended > self._committed + self._under_way
            if is_next and not self._urgent:
                self._urgent = True
                self._changed.notify()
            return waiter

    def forget(self, waiter: Waiter) -> None:
        """Take back a wait; the events stay."""
        with self._changed:
            self._waiters.discard(waiter)

    def group(self) -> list[Entry] | None:
        """Block until there is something to write and return it; None once closed and empty.

        What is returned stays in the backlog until it is `done`.
        """
        with self._changed:
            while not self._entries:
                if self._closing:
                    return None
                self._changed.wait()
            self._changed.wait_for(self._is_urgent, timeout=_LINGER_S)
            if self._urgent and self._woken >= _CROWD:
                self._changed.wait_for(self._is_enough, timeout=_GATHER_S)
            self._urgent = False
            group = self._head()
            self._under_way = sum(entry.events for entry in group)
            return group

    def _is_urgent(self) -> bool:
        return self._urgent or self._is_enough()

    def _is_enough(self) -> bool:
        return self._closing or self._events >= _GROUP_EVENTS

    def _head(self) -> list[Entry]:
        group: list[Entry] = []
        count = size = 0
        for entry in self._entries:
            count += entry.events
            size += entry.size
            if group and (count > _GROUP_EVENTS or size > _GROUP_BYTES):
                break
            group.append(entry)
        return group

    def done(self, group: Sequence[Entry]) -> Gap | None:
        """Drop what was committed and wake who waited; return a gap that is not yet recorded."""
        with self._changed:
            done = 0
            for _ in group:
                entry = self._entries.popleft()
                self._bytes -= entry.size
                done += entry.events
            self._events -= done
            self._committed += done
            self._under_way = max(0, self._under_way - done)
            ready = [waiter for waiter in self._waiters if waiter.target <= self._committed]
            self._waiters.difference_update(ready)
            self._woken = len(ready)
            self._urgent = self._urgent or bool(self._waiters)
            gap, self._gap = self._gap, None
        _wake(ready)
        return gap

    def pause(self, seconds: float) -> None:
        """Wait before the next try; closing ends the wait."""
        with self._changed:
            self._urgent = True
            self._under_way = 0
            self._changed.wait_for(lambda: self._closing, timeout=seconds)

    def close(self) -> None:
        """Take nothing more."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()

    @property
    def closing(self) -> bool:
        """Whether nothing more is taken."""
        return self._closing


def _wake(waiters: Sequence[Waiter]) -> None:
    """Complete the futures of each loop in one hop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for waiter in waiters:
        by_loop.setdefault(waiter.loop, []).append(waiter.future)
    for loop, futures in by_loop.items():
        try:
            loop.call_soon_threadsafe(_complete, futures)
        except RuntimeError:
            continue  # the loop has ended, and whoever waited with it


def _complete(futures: Sequence[asyncio.Future[None]]) -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)
