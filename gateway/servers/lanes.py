"""Connections of the handshake era that belong to one caller: its server may ask it (ADR-0011).

Such a server learns once per connection what its client can do, and over a pipe it can't say which
call a question belongs to. So a caller that may be asked gets a session or a child of its own.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Hashable, Mapping
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

import aiohttp
import anyio
from anyio.abc import TaskGroup

from gateway import jsontext
from gateway.servers.connection import (
    ConnectFault,
    Connection,
    Declared,
    Spoken,
    timed_out,
)
from gateway.servers.entry import Entry, Protocol
from gateway.servers.listing import Answering
from gateway.servers.opening import Opener
from gateway.servers.places import busy
from gateway.types.calls import Era, Method
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivery, Execution, Failure, Undelivered
from gateway.types.relay import Ear, Outbound

_log = logging.getLogger("gateway.servers")
ROOTS_CHANGED: Final = "notifications/roots/list_changed"
_Key: TypeAlias = tuple[Hashable, bytes, str]


class Lane:
    """One connection and its users; opened and closed by a task of its own."""

    def __init__(self, declared: Declared, owner: str, *, one_at_a_time: bool) -> None:
        self.declared = declared
        self.owner = owner
        self.turn = asyncio.Semaphore(1) if one_at_a_time else None
        self.users = 0  # calls under way and waiting
        self.idle_since = asyncio.get_running_loop().time()
        self.connection: Connection | None = None
        self.fault: ConnectFault | None = None
        self.settled = asyncio.Event()  # it is open, or can't be opened
        self.over = asyncio.Event()  # it is lost, or not needed any more

    def is_over(self) -> bool:
        """Whether new calls need another lane."""
        return self.over.is_set() or (self.connection is not None and bool(self.connection.lost))


class Lanes:
    """All lanes of one server. The task group outlives every lane, and ends them all."""

    def __init__(
        self, entry: Entry, opener: Opener, tasks: TaskGroup, pool: aiohttp.ClientSession | None
    ) -> None:
        self._entry = entry
        self._opener = opener
        self._tasks = tasks
        self._pool = pool
        self._lanes: dict[_Key, Lane] = {}
        self._running = 0  # lanes that are being closed included
        self._does_handshake: bool | None = None  # though it is stateless; None: not tried yet

    def __len__(self) -> int:
        """How many lanes there are."""
        return len(self._lanes)

    def holds(self, outbound: Outbound) -> bool:
        """Whether there is a lane for such a call already."""
        lane = self._lanes.get(_key(outbound))
        return lane is not None and not lane.is_over()

    def roots_changed(self, name: str) -> None:
        """Tell the server that a caller's roots changed, on each of its lanes that has some."""
        for (caller, _, _), lane in self._lanes.items():
            connection = lane.connection
            if caller == name and connection is not None and "roots" in lane.declared.capabilities:
                self._tasks.start_soon(connection.notify, ROOTS_CHANGED)

    def forget(self) -> None:
        """Forget what was found out about the server."""
        self._does_handshake = None

    async def mirrors(self, outbound: Outbound, deadline: float) -> bool:
        """Say whether a stateless server is to be reached in the handshake era by this call.

        A server that knows both eras asks some questions only in the way of its caller's. It does
        not say in advance that it knows both, so it is tried once.
        """
        if outbound.era is Era.MODERN or not outbound.may_ask:
            return False
        if self._entry.protocol is not Protocol.AUTO:
            return False
        if self._does_handshake is None:
            self._does_handshake = await self._opens(outbound, deadline)
        return self._does_handshake is True

    async def _opens(self, outbound: Outbound, deadline: float) -> bool | None:
        """Say whether a lane can be opened; None when that could not be found out now."""
        key = _key(outbound)
        lane = self._lane(key, outbound)
        if isinstance(lane, Undelivered):
            return None
        lane.users += 1
        try:
            async with asyncio.timeout_at(deadline):
                await lane.settled.wait()
        except TimeoutError:
            return None
        finally:
            self._left(key, lane)
        return lane.connection is not None

    def release(self, outbound: Outbound) -> None:
        """Close the lane for such calls after the last one."""
        lane = self._lanes.get(_key(outbound))
        if lane is not None:
            self._retire(_key(outbound), lane)

    async def call(
        self,
        outbound: Outbound,
        params: JsonObject,
        *,
        deadline: float,
        ear: Ear | None = None,
        headers: dict[str, str] | None = None,
        method: str = "",
    ) -> Delivery:
        """Send one request over its caller's lane and return its end; see `Connection.call`."""
        key = _key(outbound)
        lane = self._lane(key, outbound)
        if isinstance(lane, Undelivered):
            return lane
        lane.users += 1
        try:
            connection = await self._ready(lane, deadline)
            if isinstance(connection, Undelivered):
                return connection
            try:
                return await connection.call(
                    method or outbound.method,
                    params,
                    deadline=deadline,
                    ear=ear,
                    headers=headers,
                    is_read=outbound.is_read,
                )
            finally:
                if lane.turn is not None:
                    lane.turn.release()
        finally:
            self._left(key, lane)

    def _left(self, key: _Key, lane: Lane) -> None:
        lane.users -= 1
        lane.idle_since = asyncio.get_running_loop().time()
        tainted = lane.connection is not None and lane.connection.tainted
        if tainted or not _outlives_its_call(key):
            self._retire(key, lane)
        if not lane.users and lane is not self._lanes.get(key):
            lane.over.set()

    async def _ready(self, lane: Lane, deadline: float) -> Connection | Undelivered:
        """Wait until the lane is open and, over a pipe, until it is this call's turn."""
        try:
            async with asyncio.timeout_at(deadline):
                await lane.settled.wait()
                if lane.turn is not None and lane.connection is not None:
                    await lane.turn.acquire()
        except TimeoutError:
            if not lane.settled.is_set():
                return timed_out(self._entry.name, Execution.NO)
            return busy(
                self._entry, "was at work on another call of this caller until the deadline"
            )
        if lane.connection is not None:
            return lane.connection
        fault = lane.fault
        return Undelivered(
            failure=fault.failure if fault else Failure.UNAVAILABLE,
            executed=Execution.NO,
            detail=fault.message if fault else f"`{self._entry.name}` was stopped",
        )

    def _lane(self, key: _Key, outbound: Outbound) -> Lane | Undelivered:
        lane = self._lanes.get(key)
        if lane is not None and not lane.is_over():
            return lane
        if lane is not None:
            self._retire(key, lane)
        mine = {name: each for name, each in self._lanes.items() if each.owner == outbound.owner}
        is_full = outbound.owner and len(mine) >= _share(self._entry.max_lanes)
        if is_full and not self._make_room(mine):
            return busy(self._entry, "has as many connections of this caller as it may")
        if len(self._lanes) >= self._entry.max_lanes and not self._make_room(self._lanes):
            return busy(self._entry, "has as many callers that it may ask as it may")
        if self._running >= 2 * self._entry.max_lanes:  # closing takes its time
            return busy(self._entry, "is still closing connections of other callers")
        declared = Declared(capabilities=outbound.capabilities, log_level=outbound.log_level)
        one_at_a_time = not self._entry.is_http
        lane = self._lanes[key] = Lane(declared, outbound.owner, one_at_a_time=one_at_a_time)
        self._running += 1
        self._tasks.start_soon(self._run, key, lane)
        return lane

    def _make_room(self, among: Mapping[_Key, Lane]) -> bool:
        """Let go of the lane that has been idle for the longest time."""
        idle = [(lane.idle_since, key) for key, lane in among.items() if not lane.users]
        if not idle:
            return False
        _, key = min(idle, key=lambda pair: pair[0])
        self._retire(key, self._lanes[key])
        return True

    def _retire(self, key: _Key, lane: Lane) -> None:
        """Give a lane to no further call, and close it after the last one."""
        if self._lanes.get(key) is lane:
            del self._lanes[key]
        if not lane.users:
            lane.over.set()

    # The task of one lane

    async def _run(self, key: _Key, lane: Lane) -> None:
        try:
            await self._hold(lane)
        except ConnectFault as fault:
            lane.fault = fault
        except Exception as error:  # a fault of ours costs this lane and no other
            _log.exception("server %s: internal fault in a lane", self._entry.name)
            lane.fault = ConnectFault(f"internal fault: {type(error).__name__}")
        finally:
            self._running -= 1
            self._retire(key, lane)
            lane.settled.set()

    async def _hold(self, lane: Lane) -> None:
        """Open the lane and keep it until it is lost, idle for long, or retired."""
        fault: ConnectFault | None = None
        async with anyio.create_task_group() as tasks:
            connection = self._opener.make(
                self._pool,
                tasks,
                on_lost=lane.over.set,
                on_note=_ignore,
                on_renewed=lambda: None,
                declared=lane.declared,
            )
            try:
                await self._opener.start(connection)
                connection.listen()
                await connection.heard()
                lane.connection = connection
                lane.settled.set()
                await self._until_over(lane)
            except ConnectFault as raised:
                fault = raised
            finally:
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await connection.close()
        if fault is not None:
            raise fault

    async def _until_over(self, lane: Lane) -> None:
        loop, idle_s = asyncio.get_running_loop(), self._entry.timeouts.lane_idle_s
        while not lane.over.is_set():
            left = idle_s if lane.users else lane.idle_since + idle_s - loop.time()
            if left <= 0:
                return
            with anyio.move_on_after(left):
                await lane.over.wait()


@asynccontextmanager
async def showing(
    lanes: Lanes | None, spoken: Spoken | None, capabilities: JsonObject
) -> AsyncGenerator[Answering | None]:
    """Open a way by which a server shows what it shows only to clients with these capabilities.

    None where it shows the same to everybody: in the stateless era, or when nobody may be asked.
    """
    if lanes is None or spoken is None or spoken.era is Era.MODERN or not capabilities:
        yield None
        return
    outbound = Outbound(
        method=Method.CALL_TOOL,  # stands in for the lists, which nobody is asked in
        params={},
        deadline_s=0,
        is_read=True,
        capabilities=capabilities,
        lane="lists",
    )
    try:
        yield _Showing(lanes, outbound)
    finally:
        lanes.release(outbound)


class _Showing:
    """A lane that lists are asked for by."""

    def __init__(self, lanes: Lanes, outbound: Outbound) -> None:
        self._lanes = lanes
        self._outbound = outbound

    async def call(
        self, method: str, params: JsonObject, *, deadline: float, is_read: bool = False
    ) -> Delivery:
        """Ask for one page."""
        del is_read  # the lane says so for all of them
        return await self._lanes.call(self._outbound, params, deadline=deadline, method=method)


def _key(outbound: Outbound) -> _Key:
    """Calls with the same key may share state; without a lane's name, none may."""
    return (outbound.lane or object(), jsontext.dump(outbound.capabilities), outbound.log_level)


def _share(most: int) -> int:
    """Return how many lanes one caller may have: others can always ask as well."""
    return max(1, most // 2)


def _outlives_its_call(key: _Key) -> bool:
    """Whether later calls may find a lane again."""
    return isinstance(key[0], str)


def _ignore(method: str, params: Json) -> None:
    """Changes are heard on the connection that everybody shares."""
    del method, params
