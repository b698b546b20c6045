"""Runs an ASGI application under uvicorn, with deadlines that uvicorn itself does not have."""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

import anyio
import uvicorn
from starlette.types import ASGIApp, Scope
from uvicorn._types import ASGI3Application, HTTPScope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from gateway.clock import SystemClock
from gateway.listen.crowd import STRANGER_S, Standing, let_introduce, make_room
from gateway.listen.direct import CycleDirect, let_go, let_pass
from gateway.listen.joined import Joined, as_transport
from gateway.listen.quiet import Quiet
from gateway.listen.repeats import Head, Heads

_HEADER_DEADLINE_S: Final = 10.0
_TICK_S: Final = 0.001  # what timers of the event loop may be early
_MOST_HEADERS: Final = 256
# Bytes that may come without a step forward: the parser keeps them, and joins them again and again.
_MOST_UNPARSED: Final = 64 << 10


class _TooManyHeaders(Exception):
    """Stops the parser; uvicorn answers 400."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """Limits of one listener; times in seconds."""

    max_connections: int = 1000
    keep_alive_s: int = 75  # for a connection that has shown a credential
    grace_s: int = 5  # for requests under way when the gateway stops


_Request: TypeAlias = tuple[RequestResponseCycle, ASGI3Application]


class PromptProtocol(HttpToolsProtocol):
    """HTTP/1.1 that bounds a request's headers, in time and in size, and drops its trailers.

    A connection that has not shown a credential stays open for a few seconds between requests, and
    is the first to go when there are too many. A request whose head is known is not parsed anew.
    """

    _headers_due: asyncio.TimerHandle | None = None
    _idle: asyncio.Future[_Request] | None = None  # what its task waits for: another request
    _server: asyncio.Task[None]  # that task
    _in_head = False  # a request has begun, and its headers aren't complete
    _unparsed = 0  # bytes since the last request began, had its headers, or got more of its body
    _is_whole = True  # all of the last request has come
    _begun = b""  # what is parsed just now, where it begins a request

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - as uvicorn declares it
        """Start waiting for the first request."""
        self._joined = Joined(transport, self.loop, self.tasks)
        self.heads = Heads()
        super().connection_made(as_transport(self._joined))
        self.standing = Standing(self.loop.time())
        self._running: RequestResponseCycle | None = None
        self.timeout_keep_alive = min(self.config.timeout_keep_alive, STRANGER_S)
        if self.limit_concurrency is not None:
            others = [one for one in self.connections if isinstance(one, PromptProtocol)]
            make_room(others, self.limit_concurrency)
        self._arm()

    def leave(self) -> None:
        """Close it now, and count it no more."""
        self.connections.discard(self)
        self.transport.close()
        if self.transport.get_write_buffer_size():  # its client reads nothing: it would stay
            self.transport.abort()

    def introduced(self) -> None:
        """Let it stay: a request on it had a credential that was accepted."""
        self.standing.is_known = True
        self.timeout_keep_alive = self.config.timeout_keep_alive

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting, and tell the request under way, which need not be the newest."""
        self._disarm()
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
            self.timeout_keep_alive_task = None
        super().connection_lost(exc)
        if self._idle is not None:
            self._idle.cancel()
        running = self._running
        if running is not None and not running.response_complete:
            running.disconnected = True
            running.message_event.set()
        self.pipeline.clear()

    def data_received(self, data: bytes) -> None:
        """Parse; a header, a trailer or a chunk extension without an end closes the connection."""
        if self._is_whole and self.standing.idle_since is not None:
            found = self.heads.find(data)
            if found is not None and not self._is_full:
                self._repeated(*found)
                return
            if self.standing.is_known and self.heads.has_room:
                self._begun = data
        self._unparsed += len(data)
        super().data_received(data)
        self._begun = b""
        if self._unparsed > _MOST_UNPARSED:
            self.transport.close()
        elif self._in_head and self._headers_due is None:  # most heads come whole, and need none
            self._arm()

    def on_message_begin(self) -> None:
        """Wait for the rest of this request's headers, if they did not come with its beginning."""
        super().on_message_begin()
        let_introduce(cast("Scope", self.scope), self.introduced)
        self._in_head, self._is_whole = True, False

    def on_headers_complete(self) -> None:
        """Stop waiting: the body has a deadline of its own."""
        self._in_head = False
        self._disarm()
        self._unparsed = 0
        if len(self.headers) > _MOST_HEADERS:
            raise _TooManyHeaders
        self.standing.idle_since = None
        super().on_headers_complete()
        if self._begun:
            self.heads.learn(self._begun, cast("Scope", self.scope))
            self._begun = b""  # what comes after its first request begins elsewhere
        # Trailers must not pass for headers (RFC 9110, 6.5.1): a credential or an Origin among them
        # would have gone round whatever looks at headers in front of us.
        self.headers = []

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._unparsed = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that the next bytes begin another request."""
        super().on_message_complete()
        self._is_whole = True

    @property
    def _is_full(self) -> bool:
        """Whether uvicorn would answer a request by itself, that there are too many."""
        most = self.limit_concurrency
        return most is not None and max(len(self.connections), len(self.tasks)) >= most

    def _repeated(self, head: Head, body: bytes) -> None:
        """Begin a request as if the parser had read it."""
        scope = head.scope(self.app_state.copy())
        let_introduce(scope, self.introduced)
        self.standing.idle_since = None
        arrived = asyncio.Event()
        arrived.set()
        self.cycle = RequestResponseCycle(
            scope=cast("HTTPScope", scope),
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=arrived,
            expect_100_continue=False,
            keep_alive=True,
            on_response=self.on_response_complete,
        )
        self.cycle.body += body
        self.cycle.more_body = False
        self._start_asgi_task(self.cycle, cast("ASGI3Application", self.app))  # as `serve` has it

    def on_response_complete(self) -> None:
        """Go on with the next request, or be idle."""
        answered = self._running
        self.server_state.total_requests += 1
        if not self.transport.is_closing():
            self.flow.resume_reading()
            if self.pipeline:
                self._start_asgi_task(*self.pipeline.pop())
            elif self.timeout_keep_alive_task is None:
                self._stay(self.timeout_keep_alive)
        if answered is not None:
            let_go(cast("Scope", answered.scope))
        if self.cycle.response_complete:
            self.standing.idle_since = self.loop.time()

    def timeout_keep_alive_handler(self) -> None:
        """Close the connection if it has been idle for as long as it may."""
        self.timeout_keep_alive_task = None
        idle_since = self.standing.idle_since
        if idle_since is None or self._in_head:
            return  # whoever waits for this request has a deadline of its own
        left = idle_since + self.timeout_keep_alive - self.loop.time()
        if left > _TICK_S:
            self._stay(left)
        else:
            super().timeout_keep_alive_handler()

    def _unset_keepalive_if_required(self) -> None:
        """Leave the timer be: it looks whether the connection was idle when it is over."""

    def _stay(self, time_s: float) -> None:
        # One timer at a time for a connection, whose requests come many in a second.
        self.timeout_keep_alive_task = self.loop.call_later(time_s, self.timeout_keep_alive_handler)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        let_pass(cast("Scope", cycle.scope), CycleDirect(cycle, self._joined))
        idle, self._idle = self._idle, None
        if idle is not None and not idle.done():
            idle.set_result((cycle, app))
            self.tasks.add(self._server)  # as long as a request is under way: those are waited for
        else:
            self.tasks.add(self.loop.create_task(self._serve(cycle, app)))

    async def _serve(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Serve a request, and those that follow it on the connection: a task for each is dear."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - only a task can await
        while True:
            try:
                await cycle.run_asgi(app)
            finally:
                self.tasks.discard(task)
            if self._idle is not None or self.transport.is_closing() or task.cancelling():
                return
            del cycle  # with all that belongs to it
            idle: asyncio.Future[_Request] = self.loop.create_future()
            self._server, self._idle = task, idle
            try:
                cycle, app = await idle
            except asyncio.CancelledError:
                return

    def _arm(self) -> None:
        self._headers_due = self.loop.call_later(_HEADER_DEADLINE_S, self.transport.close)

    def _disarm(self) -> None:
        if self._headers_due is not None:
            self._headers_due.cancel()
            self._headers_due = None


class _Server(uvicorn.Server):
    """A uvicorn server that leaves signals alone and closes endless streams before it waits."""

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        stop: anyio.Event,
        on_ready: Callable[[], None],
        on_closing: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(config)
        self._stop = stop
        self._on_ready = on_ready
        self._on_closing = on_closing

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    async def main_loop(self) -> None:
        while not self._stop.is_set():
            await self.on_tick(0)  # keeps the Date header right
            with anyio.move_on_after(1):
                await self._stop.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._on_closing()
        await super().shutdown(sockets)


async def _nothing() -> None:
    return None


async def serve(
    app: ASGIApp,
    sock: socket.socket,
    *,
    stop: anyio.Event,
    on_ready: Callable[[], None] = lambda: None,
    on_closing: Callable[[], Awaitable[None]] = _nothing,
    options: ServeOptions | None = None,
) -> None:
    """Serve on a bound socket until `stop` is set, then let requests under way end in time."""
    limits = options or ServeOptions()
    config = uvicorn.Config(
        app,
        http=PromptProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=limits.max_connections,
        timeout_keep_alive=limits.keep_alive_s,
        timeout_graceful_shutdown=limits.grace_s,
    )
    _quieten()
    server = _Server(config, stop=stop, on_ready=on_ready, on_closing=on_closing)
    await server.serve([sock])


def _quieten() -> None:
    """Bound what the server's own log can be made to say, once for all listeners."""
    log = logging.getLogger("uvicorn.error")
    if not any(isinstance(found, Quiet) for found in log.filters):
        log.addFilter(Quiet(SystemClock().monotonic))


@contextlib.asynccontextmanager
async def stop_on_signals(
    on_first: Callable[[], None] = lambda: None, on_second: Callable[[], None] = lambda: None
) -> AsyncGenerator[anyio.Event]:
    """Give an event that the first SIGTERM or SIGINT sets; the second ends the process at once.

    `on_second` is the last thing that is done then.
    """
    stop = anyio.Event()
    loop = asyncio.get_running_loop()

    def told(number: signal.Signals) -> None:
        if not stop.is_set():
            stop.set()
            on_first()
            return
        on_second()
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)  # SIGINT's own handler would ask everybody to end
        signal.raise_signal(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told, number)
    try:
        yield stop
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
