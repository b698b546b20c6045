"""Runs an ASGI application under uvicorn, with deadlines that uvicorn itself does not have."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Final

import anyio
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEADER_DEADLINE_S: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """Limits of one listener; times in seconds."""

    max_connections: int = 1000
    keep_alive_s: int = 75
    grace_s: int = 10  # for requests under way when the gateway stops


class PromptProtocol(HttpToolsProtocol):
    """HTTP/1.1 that closes a connection whose request headers don't arrive in time."""

    _headers_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - as uvicorn declares it
        """Start waiting for the first request."""
        super().connection_made(transport)
        self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._disarm()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Wait for the rest of this request's headers."""
        super().on_message_begin()
        if self._headers_due is None:
            self._arm()

    def on_headers_complete(self) -> None:
        """Stop waiting: the body has a deadline of its own."""
        self._disarm()
        super().on_headers_complete()

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
    server = _Server(config, stop=stop, on_ready=on_ready, on_closing=on_closing)
    await server.serve([sock])


@contextlib.asynccontextmanager
async def stop_on_signals() -> AsyncGenerator[anyio.Event]:
    """Give an event that SIGTERM or SIGINT sets; a second signal has its usual effect."""
    stop = anyio.Event()
    loop = asyncio.get_running_loop()
    handled = (signal.SIGTERM, signal.SIGINT)

    def told() -> None:
        stop.set()
        for number in handled:
            loop.remove_signal_handler(number)

    for number in handled:
        loop.add_signal_handler(number, told)
    try:
        yield stop
    finally:
        for number in handled:
            loop.remove_signal_handler(number)
