"""The lanes of one server: who gets which, and who waits for one."""

from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Final

import aiohttp
from anyio.abc import TaskGroup

from gateway.servers.connection import Connection, timed_out
from gateway.servers.entry import Entry, Protocol
from gateway.servers.lane import Lane, LaneKey, key_of
from gateway.servers.line import Line, Waiter, share
from gateway.servers.opening import Opener
from gateway.servers.places import busy
from gateway.servers.watching import Watching
from gateway.types.calls import Era
from gateway.types.operations import Execution, Undelivered
from gateway.types.relay import Outbound

ROOTS_CHANGED: Final = "notifications/roots/list_changed"


class Lanes:
    """All lanes of one server. The task group outlives every lane, and ends them all."""

    def __init__(
        self, entry: Entry, opener: Opener, tasks: TaskGroup, pool: aiohttp.ClientSession | None
    ) -> None:
        self._entry = entry
        self._opener = opener
        self._tasks = tasks
        self._pool = pool
        self._lanes: dict[LaneKey, Lane] = {}
        self._owned: Counter[str] = Counter()  # how many of them are whose
        self._line = Line(entry.caps.queue, self._grant, self.leave)
        self.watching = Watching(entry, tasks, self)
        self._running = 0  # lanes that are being closed included
        self._does_handshake: bool | None = None  # though it is stateless; None: not tried yet

    def __len__(self) -> int:
        """How many lanes there are."""
        return len(self._lanes)

    def named(self, name: str) -> tuple[Lane, ...]:
        """Return the lanes of one session of a caller."""
        return tuple(lane for lane in self._lanes.values() if lane.name == name)

    def holds(self, outbound: Outbound) -> bool:
        """Whether there is a lane for such a call already."""
        lane = self._lanes.get(key_of(outbound))
        return lane is not None and not lane.is_over

    def roots_changed(self, name: str) -> None:
        """Tell the server that a caller's roots changed, on each of its lanes that has some."""
        for lane in self._lanes.values():
            connection = lane.connection
            if (
                lane.name == name
                and connection is not None
                and "roots" in lane.declared.capabilities
            ):
                self._tasks.start_soon(connection.notify, ROOTS_CHANGED)

    def forget(self) -> None:
        """Forget what was found out about the server."""
        self._does_handshake = None

    async def mirrors(self, outbound: Outbound, deadline: float) -> bool | Undelivered:
        """Say whether a stateless server is to be reached in the handshake era by this call.

        A server that knows both eras asks some questions only in the way of its caller's. It does
        not say in advance that it knows both, so it is tried once.
        """
        if outbound.era is Era.MODERN or not outbound.may_ask:
            return False
        if self._entry.protocol is not Protocol.AUTO:
            return False
        if self._does_handshake is None:
            lane = await self.obtain(outbound, deadline)
            if isinstance(lane, Undelivered):
                return lane
            try:
                opened = await lane.opened(deadline)
            finally:
                self.leave(lane)
            if opened is None:
                return timed_out(self._entry.name, Execution.NO)
            self._does_handshake = opened
        return self._does_handshake

    def release(self, outbound: Outbound) -> None:
        """Close the lane for such calls after the last one."""
        lane = self._lanes.get(key_of(outbound))
        if lane is not None:
            self._retire(lane)
            self._line.serve()

    @asynccontextmanager
    async def lent(
        self, outbound: Outbound, deadline: float
    ) -> AsyncGenerator[Connection | Undelivered]:
        """Lend the connection of a request's lane, once there is one and it is its turn.

        Waits until the deadline, on the loop's clock; whoever waits is not known to the server.
        """
        lane = await self.obtain(outbound, deadline)
        if isinstance(lane, Undelivered):
            yield lane
            return
        try:
            connection = await self._ready(lane, deadline)
            try:
                yield connection
            finally:
                if not isinstance(connection, Undelivered):
                    lane.done()
        finally:
            self.leave(lane)

    async def _ready(self, lane: Lane, deadline: float) -> Connection | Undelivered:
        if lane.turn is None or lane.users == 1:
            return await lane.ready(deadline)
        with self._line.standing(lane.owner) as fits:
            return await lane.ready(deadline) if fits else self._too_many()

    async def obtain(self, outbound: Outbound, deadline: float | None) -> Lane | Undelivered:
        """Return a lane that counts the request as a user; see `leave`."""
        waiter = Waiter(key=key_of(outbound), outbound=outbound)
        lane = self._line.get(waiter)
        if lane is not None:
            return lane
        with self._line.standing(outbound.owner) as fits:
            if not fits:
                return self._too_many()
            return await self._line.wait(waiter, deadline) or self._none_free(outbound.owner)

    def _too_many(self) -> Undelivered:
        return busy(self._entry, "has as many calls waiting for a lane as it may")

    def _none_free(self, owner: str) -> Undelivered:
        """Say what was waited for until the deadline."""
        most = self._entry.max_lanes
        if self._is_full_for(owner):
            return busy(
                self._entry,
                f"had all lanes that one caller may have ({share(most)} of {most}, `max_lanes`) "
                "at work until the deadline",
            )
        return busy(
            self._entry,
            f"had all {most} lanes (`max_lanes`) at work for other callers until the deadline",
        )

    # Which lane is whose

    def _grant(self, waiter: Waiter, before: Sequence[Waiter]) -> Lane | None:
        """Return a lane for a request, and count it as a user of it; see `Grant`."""
        lane = self._lanes.get(waiter.key)
        if lane is not None and lane.is_over:
            self._retire(lane)
            lane = None
        if lane is None:
            lane = self._made(waiter.key, waiter.outbound)
        elif (
            lane.users and not lane.keepers and any(self._can_use(other, lane) for other in before)
        ):
            return None  # it would never be free for them
        if lane is not None:
            lane.users += 1
        return lane

    def _can_use(self, waiter: Waiter, lane: Lane) -> bool:
        """Whether a request that waits could be given the room of a lane."""
        owner = waiter.outbound.owner
        return owner == lane.owner or not self._is_full_for(owner)

    def _is_full_for(self, owner: str) -> bool:
        """Whether a caller has its share of the lanes."""
        return bool(owner) and self._owned[owner] >= share(self._entry.max_lanes)

    def _made(self, key: LaneKey, outbound: Outbound) -> Lane | None:
        """Open a lane, if need be in place of an idle one."""
        if self._running >= 2 * self._entry.max_lanes:  # closing takes its time
            return None
        lanes = self._lanes.values()
        if self._is_full_for(outbound.owner):
            mine = [lane for lane in lanes if lane.owner == outbound.owner]
            if not self._make_room(mine):
                return None
        if len(lanes) >= self._entry.max_lanes and not self._make_room(lanes):
            return None
        lane = self._lanes[key] = Lane(self._entry, outbound, key)
        self._owned[lane.owner] += 1
        self._running += 1
        self._tasks.start_soon(self._run, lane)
        return lane

    def _make_room(self, among: Iterable[Lane]) -> bool:
        """Let go of the lane that has been idle for the longest time."""
        idle = [lane for lane in among if not lane.users]
        if idle:
            self._retire(min(idle, key=lambda lane: lane.idle_since))
        return bool(idle)

    def leave(self, lane: Lane) -> None:
        """Take note that a request has left its lane."""
        lane.left()
        tainted = lane.connection is not None and lane.connection.tainted
        if tainted or not lane.name:  # without a name, no later call can find it again
            self._retire(lane)
        elif not lane.users and self._lanes.get(lane.key) is not lane:
            lane.over.set()
        self._line.serve()

    def _retire(self, lane: Lane) -> None:
        """Give a lane to no further call, and close it after the last one."""
        if self._lanes.get(lane.key) is lane:
            del self._lanes[lane.key]
            self._owned[lane.owner] -= 1
            if not self._owned[lane.owner]:
                del self._owned[lane.owner]
        lane.retired.set()
        if not lane.users:
            lane.over.set()

    async def _run(self, lane: Lane) -> None:
        try:
            await lane.run(self._opener, self._pool, self.watching.welcome)
        finally:
            self._running -= 1
            self._retire(lane)
            self.watching.closed(lane)
            lane.settled.set()
        self._line.serve()
