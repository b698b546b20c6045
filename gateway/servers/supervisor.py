"""One server, kept running by one task: starts, lists, fails, waits, starts again.

A known good list of tools stays published through an outage, marked stale: an agent is told
that a server is away, not that its tools never were.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, Protocol
from urllib.parse import urlsplit

import aiohttp
import anyio
from anyio.abc import TaskGroup

from gateway.servers.asides import client_session
from gateway.servers.connection import (
    ACKNOWLEDGED,
    CHANGES,
    TASK,
    UPDATED,
    ConnectFault,
    Connection,
    Lost,
    Spoken,
)
from gateway.servers.entry import Entry
from gateway.servers.lanes import Lanes
from gateway.servers.life import Life
from gateway.servers.listing import Offer
from gateway.servers.lists import KeptList
from gateway.servers.masking import masker
from gateway.servers.opening import Opener, Surroundings
from gateway.servers.showing import showing
from gateway.servers.state import QuarantinedTool, ServerState
from gateway.servers.stdio import StdioConnection
from gateway.servers.ways import Ways
from gateway.types.json import Json, JsonObject
from gateway.types.operations import (
    Delivery,
    Peer,
    Rejected,
    Undelivered,
)
from gateway.types.relay import Ear, Outbound, Told
from gateway.types.tools import Listed

_log = logging.getLogger("gateway.servers")


class Watcher(Protocol):
    """Who is told what a server offers; must not block."""

    def connected(self, server: "Server") -> None:
        """Take note of the server's capabilities: it was reached."""
        ...

    def publish(self, server: "Server", what: Listed) -> None:
        """Take over a list that changed."""
        ...


class Server:
    """A supervised server. `run` is its one task; `request` may be called from any other."""

    def __init__(self, entry: Entry, around: Surroundings, watcher: Watcher) -> None:
        self.entry = entry
        self._watcher = watcher
        self._mask = masker(entry.secrets, around.mask)
        self._lists = {what: KeptList(what, entry, self._mask, self._published) for what in Listed}
        self._lists[Listed.TOOLS].able = lambda: showing(
            self._ways.lanes, self._ways.spoken, around.asks(entry.name)
        )
        self._opener = Opener(entry, around, self._mask)
        address = urlsplit(entry.url).netloc.rpartition("@")[2]  # without credentials
        self._peer = Peer(transport="http" if entry.is_http else "stdio", address=address)
        self._life = Life(entry, around.clock, self._mask, self._last_words)
        self._ways = Ways(entry, self._life, self._mask)
        self._last: Connection | None = None  # for its last words
        self._first_list = asyncio.Event()  # every list was tried once, or the first start failed
        self._gone = asyncio.Event()  # the connection is lost
        self._beside: TaskGroup | None = None  # of the connection

    @property
    def name(self) -> str:
        """The alias from the config."""
        return self.entry.name

    @property
    def connection(self) -> Connection | None:
        """The connection that calls go over now, or None in an outage."""
        return self._life.connection

    @property
    def state(self) -> ServerState:
        """A snapshot for people and for `status`."""
        life, spoken, last = self._life, self._ways.spoken, self._last
        tools = self._lists[Listed.TOOLS]
        child = last if isinstance(last, StdioConnection) else None
        return ServerState(
            name=self.name,
            status=life.status,
            since=life.since,
            reason=life.reason,
            required=self.entry.required,
            transport="http" if self.entry.is_http else "stdio",
            era=spoken.era.value if spoken else "",
            version=spoken.version if spoken else "",
            server=spoken.server if spoken else "",
            tools=sum(tool.quarantine is None for tool in tools.offers),
            quarantined=tuple(
                QuarantinedTool(
                    name=tool.name, pointer=tool.quarantine.pointer, reason=tool.quarantine.reason
                )
                for kept in self._lists.values()
                for tool in kept.offers
                if tool.quarantine is not None
            ),
            list_error=next((kept.fault for kept in self._lists.values() if kept.fault), ""),
            stale=bool(tools.offers) and (life.connection is None or bool(tools.fault)),
            attempts=life.attempts,
            in_flight=self._ways.places.taken,
            lanes=len(self._ways.lanes) if self._ways.lanes is not None else 0,
            pid=child.pid if child and life.connection else 0,
            stderr_tail=child.stderr_tail if child else "",
        )

    @property
    def peer(self) -> Peer:
        """How the server is reached right now, for spans and events."""
        version = self._ways.spoken.version if self._ways.spoken is not None else ""
        if version != self._peer.version:  # every call asks; it hardly ever changes
            self._peer = replace(self._peer, version=version)
        return self._peer

    def offers(self, what: Listed) -> tuple[Offer, ...]:
        """Return what is on one of its lists, quarantined entries too."""
        return self._lists[what].offers

    @property
    def has_listed_tools(self) -> bool:
        """Whether its tools were listed since the start, be it long ago."""
        return self._lists[Listed.TOOLS].listed

    @property
    def capabilities(self) -> JsonObject:
        """What the server said that it can do, when it was last reached."""
        return self._ways.spoken.capabilities if self._ways.spoken else {}

    def outage(self) -> Undelivered:
        """Say what calls are told while there is no connection."""
        return self._life.outage()

    async def first_list(self) -> None:
        """Wait until everything was listed once, or that failed once."""
        await self._first_list.wait()

    # Requests

    def request(self, outbound: Outbound, ear: Ear | None = None) -> Coroutine[Any, Any, Delivery]:
        """Send one request; never raises for anything that a server can do; see `Ways.request`."""
        return self._ways.request(outbound, ear)

    async def subscribe(
        self, uri: str, outbound: Outbound, told: Callable[[], None]
    ) -> Callable[[], None] | Rejected | Undelivered:
        """Have `told` called whenever a resource was updated; see `Ways.subscribe`."""
        return await self._ways.subscribe(uri, outbound, told)

    async def follow(
        self, task: str, outbound: Outbound, told: Told
    ) -> Callable[[], None] | Rejected | Undelivered:
        """Have `told` called with all that is told of a task; see `Ways.follow`."""
        return await self._ways.follow(task, outbound, told)

    def _last_words(self) -> str:
        return self._last.last_words if isinstance(self._last, StdioConnection) else ""

    # The one task

    async def run(self) -> None:
        """Keep the server running until cancelled; then end what was started."""
        pool = client_session(self.entry) if self.entry.is_http else None
        try:
            async with anyio.create_task_group() as tasks:
                self._ways.lanes = Lanes(self.entry, self._opener, tasks, pool)
                while True:
                    self._life.failed(await self._attempt_safely(pool))
                    self._first_list.set()
                    await self._life.pause()
        finally:
            self._ways.lanes = None
            self._life.stopped()
            self._first_list.set()
            if pool is not None:
                with anyio.CancelScope(shield=True):
                    await pool.close()

    async def _attempt_safely(self, pool: aiohttp.ClientSession | None) -> ConnectFault:
        try:
            return await self._attempt(pool)
        except Exception as error:  # a fault of ours costs this server a restart, and no other
            _log.exception("server %s: internal fault", self.name)
            return ConnectFault(f"internal fault: {type(error).__name__}", slow=True)

    async def _attempt(self, pool: aiohttp.ClientSession | None) -> ConnectFault:
        """Connect and hold the connection; return why it ended."""
        self._life.attempting()
        self._gone.clear()
        ended = ConnectFault(f"`{self.name}` was stopped")
        async with anyio.create_task_group() as tasks:
            connection = self._opener.make(
                pool,
                tasks,
                on_lost=self._lost,
                on_note=self._noted,
                on_renewed=self._renewed,
            )
            self._last = connection
            try:
                self._ways.spoken = await self._opener.start(connection)
                ended = await self._hold(connection, self._ways.spoken, tasks)
            except ConnectFault as fault:
                ended = fault
            finally:
                self._life.connection = None
                self._ways.subscriptions.detach(connection)
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await connection.close()
        return ended

    async def _hold(
        self, connection: Connection, spoken: Spoken, beside: TaskGroup
    ) -> ConnectFault:
        """Serve calls and keep the lists fresh until the connection is lost."""
        self._opened(connection, spoken, beside)
        async with anyio.create_task_group() as tasks:
            for kept in self._lists.values():
                tasks.start_soon(kept.follow, connection, spoken)
            tasks.start_soon(self._await_lists)
            await self._gone.wait()
            tasks.cancel_scope.cancel()
        lost = connection.lost or Lost(reason=f"`{self.name}` was stopped")
        return ConnectFault(lost.reason, slow=lost.slow)

    def _opened(self, connection: Connection, spoken: Spoken, tasks: TaskGroup) -> None:
        self._life.opened(connection)
        if self._ways.lanes is not None:
            self._ways.lanes.forget()  # it may be another version of the server
        if connection.lost is not None:  # between the handshake and now
            self._lost()
            return
        self._beside = tasks
        self._watcher.connected(self)
        self._ways.subscriptions.attach(connection, spoken, tasks)

    def _renewed(self) -> None:
        """A server that forgot its session was most likely replaced by another version."""
        connection, spoken, tasks = self._life.connection, self._ways.spoken, self._beside
        if connection is not None and spoken is not None and tasks is not None:
            for kept in self._lists.values():
                kept.changed()
            self._ways.subscriptions.attach(connection, spoken, tasks)

    async def _await_lists(self) -> None:
        for kept in self._lists.values():
            await kept.tried.wait()
        self._first_list.set()

    def roots_changed(self, lane: str) -> None:
        """Hand on that a caller's roots changed."""
        if self._ways.lanes is not None:
            self._ways.lanes.roots_changed(lane)

    def rules_changed(self) -> None:
        """Look again at the lists: other clients may be able to see more of them."""
        for kept in self._lists.values():
            kept.changed()

    def _lost(self) -> None:
        self._life.lost()
        self._gone.set()

    def _noted(self, method: str, params: Json) -> None:
        if method == UPDATED:
            self._ways.subscriptions.updated(params)
        elif method == TASK:
            self._ways.subscriptions.tasks.changed(params)
        elif method == ACKNOWLEDGED:
            self._ways.subscriptions.acknowledged(params)
            self._ways.subscriptions.tasks.acknowledged(params)
        for what in CHANGES.get(method, ()):
            self._lists[what].changed()

    def _published(self, what: Listed) -> None:
        if what is Listed.TOOLS:
            offers = self._lists[what].offers
            self._ways.mirrors = {offer.name: offer.mirrors for offer in offers if offer.mirrors}
        self._watcher.publish(self, what)
