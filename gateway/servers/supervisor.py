"""One server, kept running by one task: starts, lists, fails, waits, starts again.

A known good list of tools stays published through an outage, marked stale: an agent is told
that a server is away, not that its tools never were.
"""

import asyncio
import logging
import random
from contextlib import suppress
from typing import Protocol
from urllib.parse import urlsplit

import aiohttp
import anyio

from gateway.servers import headers
from gateway.servers.backoff import Backoff
from gateway.servers.connection import (
    CHANGES,
    ConnectFault,
    Connection,
    Lost,
    Spoken,
)
from gateway.servers.entry import Entry
from gateway.servers.http import client_session
from gateway.servers.listing import Offer
from gateway.servers.lists import KeptList
from gateway.servers.masking import masked, masker
from gateway.servers.opening import Opener, Surroundings
from gateway.servers.state import QuarantinedTool, ServerState, ServerStatus
from gateway.servers.stdio import StdioConnection
from gateway.types.calls import Era, Method
from gateway.types.json import JsonObject
from gateway.types.operations import Delivery, Execution, Failure, Peer, Undelivered
from gateway.types.relay import Ear, Outbound
from gateway.types.tools import Listed

_log = logging.getLogger("gateway.servers")
_NO_MIRRORS: headers.HeaderMap = {}


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
        self._clock = around.clock
        self._watcher = watcher
        self._mask = masker(entry.secrets, around.mask)
        self._lists = {what: KeptList(what, entry, self._mask, self._published) for what in Listed}
        self._opener = Opener(entry, around, self._mask)
        self._address = urlsplit(entry.url).netloc.rpartition("@")[2]  # without credentials
        self._backoff = Backoff(entry.timeouts, random.random)
        self._slots = asyncio.Semaphore(entry.max_calls)
        self._queued = 0
        self._in_flight = 0
        self._connection: Connection | None = None
        self._last: Connection | None = None  # for its last words
        self._spoken: Spoken | None = None
        self._mirrors: dict[str, headers.HeaderMap] = {}
        self._status = ServerStatus.STARTING
        self._since = around.clock.now()
        self._fault: ConnectFault | None = None
        self._logged = ""
        self._attempts = 0
        self._attempt_at = 0.0
        self._next_at = 0.0
        self._settled = asyncio.Event()  # no attempt is under way
        self._first_list = asyncio.Event()  # every list was tried once, or the first start failed
        self._woken = asyncio.Event()
        self._gone = asyncio.Event()  # the connection is lost

    @property
    def name(self) -> str:
        """The alias from the config."""
        return self.entry.name

    @property
    def connection(self) -> Connection | None:
        """The connection that calls go over now, or None in an outage."""
        return self._connection

    @property
    def state(self) -> ServerState:
        """A snapshot for people and for `status`."""
        spoken, last, tools = self._spoken, self._last, self._lists[Listed.TOOLS]
        child = last if isinstance(last, StdioConnection) else None
        return ServerState(
            name=self.name,
            status=self._status,
            since=self._since,
            reason=self._mask(self._fault.message) if self._fault else "",
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
                for tool in tools.offers
                if tool.quarantine is not None
            ),
            list_error=next((kept.fault for kept in self._lists.values() if kept.fault), ""),
            stale=bool(tools.offers) and (self._connection is None or bool(tools.fault)),
            attempts=self._attempts,
            in_flight=self._in_flight,
            pid=child.pid if child and self._connection else 0,
            stderr_tail=child.stderr_tail if child else "",
        )

    @property
    def peer(self) -> Peer:
        """How the server is reached right now, for spans and events."""
        version = self._spoken.version if self._spoken is not None else ""
        if not self.entry.is_http:
            return Peer(transport="stdio", version=version)
        return Peer(transport="http", version=version, address=self._address)

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
        return self._spoken.capabilities if self._spoken else {}

    async def first_list(self) -> None:
        """Wait until everything was listed once, or that failed once."""
        await self._first_list.wait()

    async def request(self, outbound: Outbound, ear: Ear | None = None) -> Delivery:
        """Send one request; never raises for anything that a server can do.

        Waiting for a free place and for a first start counts towards the deadline. When the
        calling task is cancelled, the server is told and `CancelledError` goes on.
        """
        deadline = asyncio.get_running_loop().time() + outbound.deadline_s
        refused = await self._place(deadline)
        if refused is not None:
            return refused
        self._in_flight += 1
        try:
            connection = self._connection or await self._wait_for_connection(deadline)
            if isinstance(connection, Undelivered):
                return connection
            delivery = await connection.call(
                outbound.method,
                _traced(outbound.params, outbound.traceparent),
                deadline=deadline,
                on_progress=ear.progress if ear is not None and ear.wants_progress else None,
                headers=self._headers(outbound),
                is_read=outbound.is_read,
            )
        finally:
            self._in_flight -= 1
            self._slots.release()
        return masked(delivery, self._mask)

    def _headers(self, outbound: Outbound) -> dict[str, str] | None:
        if not self.entry.is_http:
            return None
        made: dict[str, str] = {}
        modern = self._spoken is not None and self._spoken.era is Era.MODERN
        if modern and outbound.method is Method.CALL_TOOL:
            mirrors = self._mirrors.get(str(outbound.params["name"]), _NO_MIRRORS)
            arguments = outbound.params["arguments"]
            if mirrors and isinstance(arguments, dict):
                made = headers.mirrored(mirrors, arguments)
        if outbound.traceparent:
            made["traceparent"] = outbound.traceparent
        return made

    async def _place(self, deadline: float) -> Undelivered | None:
        """Take one of the places, or one in the bounded queue for them."""
        if self._slots.locked():
            if self._queued >= self.entry.caps.queue:
                return self._busy("has as many calls under way and waiting as it may")
            self._queued += 1
            try:
                async with asyncio.timeout_at(deadline):
                    await self._slots.acquire()
            except TimeoutError:
                return self._busy("had no free place before the deadline")
            finally:
                self._queued -= 1
        else:
            await self._slots.acquire()
        return None

    def _busy(self, why: str) -> Undelivered:
        return Undelivered(
            failure=Failure.BUSY,
            executed=Execution.NO,
            detail=f"`{self.name}` is busy: it {why}",
            retry_after_s=1.0,
        )

    # Outages, as calls see them

    async def _wait_for_connection(self, deadline: float) -> Connection | Undelivered:
        """Wait a short time where that may help; one call may wake one attempt for all."""
        times, now = self.entry.timeouts, asyncio.get_running_loop().time()
        patience = 0.0
        if self._status is ServerStatus.STARTING:
            patience = times.start_wait_s
        elif self._status is ServerStatus.FAILED:
            fault = self._fault
            gap = times.backoff_slow_s if fault and fault.slow else times.wake_gap_s
            if self._settled.is_set() and now - self._attempt_at >= gap:
                self._attempt_at = now
                self._settled.clear()
                self._woken.set()
            if not self._settled.is_set():  # not longer than a call that woke it would wait
                patience = self._attempt_at + times.wake_wait_s - now
        patience = min(patience, deadline - now)
        if patience > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await self._settled.wait()
        return self._connection or self.outage()

    def outage(self) -> Undelivered:
        """Say what calls are told while there is no connection."""
        if self._status is ServerStatus.STARTING:
            return Undelivered(
                failure=Failure.STARTING,
                executed=Execution.NO,
                detail=f"`{self.name}` is still starting",
                retry_after_s=self.entry.timeouts.start_wait_s,
            )
        fault = self._fault
        failure = Failure.UNAVAILABLE
        if fault is not None and fault.failure in (Failure.UNAUTHORIZED, Failure.RATE_LIMITED):
            failure = fault.failure
        reason = self._mask(fault.message) if fault else "it was stopped"
        pause = max(self._next_at - asyncio.get_running_loop().time(), 0.0)
        return Undelivered(
            failure=failure,
            executed=Execution.NO,
            detail=f"`{self.name}` is unavailable since {self._since:%Y-%m-%d %H:%M:%S} UTC: "
            f"{reason}"[:1000],
            retry_after_s=round(pause, 1) or None,
        )

    # The one task

    async def run(self) -> None:
        """Keep the server running until cancelled; then end what was started."""
        pool = None
        if self.entry.is_http:
            pool = client_session(self.entry)
        try:
            while True:
                self._failed(await self._attempt_safely(pool))
                pause = self._next_at - asyncio.get_running_loop().time()
                with anyio.move_on_after(pause):
                    await self._woken.wait()
        finally:
            self._turn(ServerStatus.STOPPED)
            self._settled.set()
            self._first_list.set()
            if pool is not None:
                with anyio.CancelScope(shield=True):
                    await pool.close()

    def _turn(self, status: ServerStatus) -> None:
        if status is not self._status:
            self._status, self._since = status, self._clock.now()

    def _failed(self, fault: ConnectFault) -> None:
        loop_time = asyncio.get_running_loop().time()
        if self._logged != fault.message:  # once, not per attempt
            _log.warning("server %s: %s", self.name, self._mask(fault.message))
        self._logged = fault.message
        self._fault = fault
        self._turn(ServerStatus.FAILED)
        self._next_at = loop_time + self._backoff.next_s(slow=fault.slow)
        self._settled.set()
        self._first_list.set()

    async def _attempt_safely(self, pool: aiohttp.ClientSession | None) -> ConnectFault:
        try:
            return await self._attempt(pool)
        except Exception as error:  # a fault of ours costs this server a restart, and no other
            _log.exception("server %s: internal fault", self.name)
            return ConnectFault(f"internal fault: {type(error).__name__}", slow=True)

    async def _attempt(self, pool: aiohttp.ClientSession | None) -> ConnectFault:
        """Connect and hold the connection; return why it ended."""
        self._attempts += 1
        self._woken.clear()
        self._attempt_at = asyncio.get_running_loop().time()
        self._settled.clear()
        self._gone.clear()
        ended = ConnectFault(f"`{self.name}` was stopped")
        async with anyio.create_task_group() as tasks:
            connection = self._opener.make(pool, tasks, on_lost=self._lost, on_note=self._noted)
            self._last = connection
            try:
                self._spoken = await self._opener.start(connection)
                ended = await self._hold(connection, self._spoken)
            except ConnectFault as fault:
                ended = fault
            finally:
                self._connection = None
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await connection.close()
        return ended

    async def _hold(self, connection: Connection, spoken: Spoken) -> ConnectFault:
        """Serve calls and keep the lists fresh until the connection is lost."""
        loop = asyncio.get_running_loop()
        ready_at = loop.time()
        self._opened(connection)
        async with anyio.create_task_group() as tasks:
            for kept in self._lists.values():
                tasks.start_soon(kept.follow, connection, spoken)
            tasks.start_soon(self._await_lists)
            await self._gone.wait()
            tasks.cancel_scope.cancel()
        if loop.time() - ready_at >= self.entry.timeouts.healthy_s:
            self._backoff.reset()
        lost = connection.lost or Lost(reason=f"`{self.name}` was stopped")
        return ConnectFault(lost.reason, slow=lost.slow)

    def _opened(self, connection: Connection) -> None:
        if self._fault is not None:
            _log.info("server %s: connected again", self.name)
        self._fault, self._logged = None, ""
        self._connection = connection
        if connection.lost is not None:  # between the handshake and now
            self._lost()
            return
        self._turn(ServerStatus.READY)
        self._settled.set()
        self._watcher.connected(self)
        connection.listen()

    async def _await_lists(self) -> None:
        for kept in self._lists.values():
            await kept.tried.wait()
        self._first_list.set()

    def _lost(self) -> None:
        """Turn calls away from now on; the task finds out why when it is its turn."""
        if self._connection is not None and self._connection.lost is not None:
            lost = self._connection.lost
            self._connection = None
            self._fault = ConnectFault(lost.reason, slow=lost.slow)
            self._turn(ServerStatus.FAILED)
        self._gone.set()

    def _noted(self, method: str) -> None:
        for what in CHANGES.get(method, ()):
            self._lists[what].changed()

    def _published(self, what: Listed) -> None:
        if what is Listed.TOOLS:
            offers = self._lists[what].offers
            self._mirrors = {offer.name: offer.mirrors for offer in offers if offer.mirrors}
        self._watcher.publish(self, what)


def _traced(params: JsonObject, traceparent: str) -> JsonObject:
    """Put the trace context where servers look for it (SEP-414)."""
    if not traceparent:
        return params
    meta = params.get("_meta")
    return {
        **params,
        "_meta": {**(meta if isinstance(meta, dict) else {}), "traceparent": traceparent},
    }
