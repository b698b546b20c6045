"""What no call waits for: notes and answers to an HTTP server, and the stream on which it tells."""

import contextlib
from collections.abc import Awaitable, Callable

import aiohttp
import anyio
from anyio.abc import TaskGroup

from gateway import jsontext
from gateway.servers import streams, tls
from gateway.servers.entry import Entry
from gateway.servers.hearing import run_safely
from gateway.servers.reading import Reader
from gateway.types.json import JsonObject

IDLE_S = 4.0  # common servers close an idle connection after 5 s; ours go before that
_POST_S = 5.0  # a note to a server may take so long
_GOODBYE_S = 1.0
_OPEN_S = 2.0  # so long a lane waits for its stream: a question could come on it at once
_MOST_RUNNING = 1_000  # log messages for callers that are slow to take them
_MOST_POSTS = 32  # posted at the same time; a server could ask for any number of answers


def client_session(entry: Entry) -> aiohttp.ClientSession:
    """Return the client for what isn't a call: notes, streams and goodbyes; made once, at start.

    No proxies or credentials from the environment, no cookies, no decompression.
    """
    return aiohttp.ClientSession(
        # Every lane holds a stream open; what is posted has a limit of its own.
        connector=aiohttp.TCPConnector(
            limit=0, keepalive_timeout=IDLE_S, ssl=tls.of_entry(entry) or True
        ),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=entry.timeouts.connect_s),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
    )


class Asides:
    """Owned by one connection; `headers` makes the fields of a message by its method."""

    def __init__(
        self,
        entry: Entry,
        pool: aiohttp.ClientSession,
        tasks: TaskGroup,
        headers: Callable[[str, JsonObject], dict[str, str]],
    ) -> None:
        self.closed = False
        self._entry = entry
        self.reader = Reader(entry.credentials)
        self._pool = pool
        self._tasks = tasks
        self._headers = headers
        self._posting = 0
        self._running = 0
        self._stream: anyio.CancelScope | None = None
        self._open = anyio.Event()  # a stream is open, or is not to be had

    @property
    def listens(self) -> bool:
        """Whether a stream is followed."""
        return self._stream is not None

    def start(self, work: Callable[[], Awaitable[None]]) -> bool:
        """Run work beside the calls; False when the connection is lost. Its faults stay its own."""
        if not self.closed:
            self._tasks.start_soon(run_safely, work)
        return not self.closed

    def start_some(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run work that may be left undone, unless too much of it is under way."""
        if self._running < _MOST_RUNNING and self.start(lambda: self._counted(work)):
            self._running += 1

    async def _counted(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        finally:
            self._running -= 1

    def post_soon(self, message: JsonObject, method: str) -> None:
        """Post a message beside the calls, unless too many are on their way."""
        if self._posting < _MOST_POSTS and not self.closed:
            self._posting += 1
            self._tasks.start_soon(self._post_counted, message, method)

    async def post(self, message: JsonObject, method: str) -> None:
        """Post a message and wait until it is taken, as well as it goes."""
        with anyio.move_on_after(_POST_S), contextlib.suppress(aiohttp.ClientError, OSError):
            async with self._pool.post(
                self._entry.url,
                data=jsontext.dump(message),
                headers=self._headers(method, {}),
                allow_redirects=False,
            ):
                pass  # 202, or a complaint that nothing depends on

    async def goodbye(self) -> None:
        """End the session at the server, as well as it goes."""
        with anyio.move_on_after(_GOODBYE_S), contextlib.suppress(aiohttp.ClientError, OSError):
            async with self._pool.delete(
                self._entry.url, headers=self._headers("", {}), allow_redirects=False
            ):
                pass

    def listen(
        self,
        open_stream: streams.Open,
        take: streams.Take,
        uris: tuple[str, ...] = (),
        tasks: tuple[str, ...] = (),
    ) -> None:
        """Follow a stream; the one before ends once this one is open, so that nothing is missed."""
        before, self._stream = self._stream, anyio.CancelScope()
        self._tasks.start_soon(self._follow, self._stream, before, open_stream, take, (uris, tasks))

    async def heard(self) -> None:
        """Wait a little until the server can say something on a stream that is being opened."""
        if self._stream is not None:
            with anyio.move_on_after(_OPEN_S):
                await self._open.wait()

    def open_get(self, last_id: str) -> streams.Opening:
        """Open the stream of the handshake era."""
        made = self._headers("", {}) | {"accept": "text/event-stream"}
        if last_id:
            made["last-event-id"] = last_id
        return self._pool.get(self._entry.url, headers=made, allow_redirects=False)

    def open_post(self, message: JsonObject, method: str, params: JsonObject) -> streams.Opening:
        """Open a stream by a request."""
        return self._pool.post(
            self._entry.url,
            data=jsontext.dump(message),
            headers=self._headers(method, params),
            allow_redirects=False,
        )

    async def _post_counted(self, message: JsonObject, method: str) -> None:
        try:
            await self.post(message, method)
        finally:
            self._posting -= 1

    async def _follow(
        self,
        scope: anyio.CancelScope,
        before: anyio.CancelScope | None,
        open_stream: streams.Open,
        take: streams.Take,
        told: tuple[tuple[str, ...], tuple[str, ...]],
    ) -> None:
        def opened() -> None:
            self._open.set()
            if before is not None:
                before.cancel()

        try:
            with scope:
                await streams.follow(
                    open_stream,
                    take,
                    *told,
                    cap=self._entry.caps.message_bytes,
                    opened=opened,
                    read=self.reader.read,
                )
        finally:
            opened()
            if self._stream is scope:
                self._stream = None
