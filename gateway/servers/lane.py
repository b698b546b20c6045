"""One lane: a connection of the handshake era that belongs to one caller (ADR-0011).

Such a server learns once per connection what its client can do, and over a pipe it can't say which
call a question belongs to. So a caller that may be asked gets a session or a child of its own.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import TypeAlias

import aiohttp
import anyio
from anyio.abc import TaskGroup

from gateway import jsontext
from gateway.servers.connection import (
    UPDATED,
    ConnectFault,
    Connection,
    Declared,
    Spoken,
    timed_out,
)
from gateway.servers.entry import Entry
from gateway.servers.opening import Opener
from gateway.servers.places import busy
from gateway.servers.subscriptions import Subscriptions
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivery, Execution, Failure, Undelivered
from gateway.types.relay import Outbound

_log = logging.getLogger("gateway.servers")
LaneKey: TypeAlias = tuple[Hashable, bytes, str]  # requests with the same one may share state

# Is told of a lane that was opened, before it is used; work beside it runs in the task group.
Welcome: TypeAlias = Callable[["Lane", Connection, TaskGroup], Awaitable[None]]


def key_of(outbound: Outbound) -> LaneKey:
    """Return the key of a request; without a lane's name, it shares with none."""
    return (outbound.lane or object(), jsontext.dump(outbound.capabilities), outbound.log_level)


class Lane:
    """One connection and its users; opened and closed by a task of its own."""

    def __init__(self, entry: Entry, outbound: Outbound, key: LaneKey) -> None:
        self.key = key
        self.declared = Declared(capabilities=outbound.capabilities, log_level=outbound.log_level)
        self.name = outbound.lane
        self.owner = outbound.owner
        self.turn = None if entry.is_http else asyncio.Semaphore(1)
        self.users = 0  # calls under way and waiting, and those who keep it
        self.keepers = 0  # who has it open for a subscription: it goes to nobody else
        self.idle_since = asyncio.get_running_loop().time()
        self.connection: Connection | None = None
        self.spoken: Spoken | None = None
        self.audience: Subscriptions | None = None  # whom its caller has told of resources
        self.fault: ConnectFault | None = None
        self.settled = asyncio.Event()  # it is open, or can't be opened
        self.retired = asyncio.Event()  # it gets no new users
        self.over = asyncio.Event()  # it is lost, or not needed any more
        self._entry = entry

    @property
    def is_over(self) -> bool:
        """Whether new calls need another lane."""
        return self.over.is_set() or (self.connection is not None and bool(self.connection.lost))

    async def opened(self, deadline: float) -> bool | None:
        """Say whether it could be opened; None when that is not known at the deadline."""
        try:
            async with asyncio.timeout_at(deadline):
                await self.settled.wait()
        except TimeoutError:
            return None
        return self.connection is not None

    async def ready(self, deadline: float) -> Connection | Undelivered:
        """Wait until it is open and, over a pipe, until it is this call's turn."""
        try:
            async with asyncio.timeout_at(deadline):
                await self.settled.wait()
                if self.turn is not None and self.connection is not None:
                    await self.turn.acquire()
        except TimeoutError:
            if not self.settled.is_set():
                return timed_out(self._entry.name, Execution.NO)
            return busy(
                self._entry, "was at work on another call of this caller until the deadline"
            )
        return self.connection or self.unopened()

    def unopened(self) -> Undelivered:
        """Say why it could not be opened."""
        fault = self.fault
        return Undelivered(
            failure=fault.failure if fault else Failure.UNAVAILABLE,
            executed=Execution.NO,
            detail=fault.message if fault else f"`{self._entry.name}` was stopped",
        )

    def done(self) -> None:
        """End the turn of a call that `ready` returned a connection to."""
        if self.turn is not None:
            self.turn.release()

    async def call(self, method: str, params: JsonObject, *, deadline: float) -> Delivery:
        """Send a request that asks nobody anything, when it is its turn."""
        connection = await self.ready(deadline)
        if isinstance(connection, Undelivered):
            return connection
        try:
            return await connection.call(method, params, deadline=deadline)
        finally:
            self.done()

    def listen(self, uris: tuple[str, ...] = (), tasks: tuple[str, ...] = ()) -> None:
        """Nothing to ask for: in the handshake era, a resource is subscribed to by a request."""

    def left(self) -> None:
        """Count one user less."""
        self.users -= 1
        self.idle_since = asyncio.get_running_loop().time()

    # Its task

    async def run(
        self, opener: Opener, pool: aiohttp.ClientSession | None, welcome: Welcome
    ) -> None:
        """Open it and keep it; why it could not be opened is its `fault`."""
        try:
            await self._hold(opener, pool, welcome)
        except ConnectFault as fault:
            self.fault = fault
        except Exception as error:  # a fault of ours costs this lane and no other
            _log.exception("server %s: internal fault in a lane", self._entry.name)
            self.fault = ConnectFault(f"internal fault: {type(error).__name__}")

    async def _hold(
        self, opener: Opener, pool: aiohttp.ClientSession | None, welcome: Welcome
    ) -> None:
        """Keep it until it is lost, idle for long, or let go."""
        fault: ConnectFault | None = None
        async with anyio.create_task_group() as tasks:
            connection = opener.make(
                pool,
                tasks,
                on_lost=self.over.set,
                on_note=self._noted,
                on_renewed=lambda: None,
                declared=self.declared,
            )
            try:
                self.spoken = await opener.start(connection)
                connection.listen()
                await connection.heard()
                await welcome(self, connection, tasks)
                self.connection = connection
                self.settled.set()
                await self._until_over()
            except ConnectFault as raised:
                fault = raised
            finally:
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await connection.close()
        if fault is not None:
            raise fault

    async def _until_over(self) -> None:
        loop, idle_s = asyncio.get_running_loop(), self._entry.timeouts.lane_idle_s
        while not self.over.is_set():
            is_used = self.users or (self.audience is not None and self.audience.uris)
            left = idle_s if is_used else self.idle_since + idle_s - loop.time()
            if left <= 0:
                return
            with anyio.move_on_after(left):
                await self.over.wait()

    def _noted(self, method: str, params: Json) -> None:
        """Hear of updates; changes of lists are heard on the connection that all share."""
        if method == UPDATED and self.audience is not None:
            self.audience.updated(params)
