"""Requests over HTTP/1.1 on kept connections: the few features that a tool call needs, quickly.

A general client spends several times what all the rest of a call costs on what no call here uses:
cookies, redirects, proxies, decompression. Responses are handed on piece by piece and never
buffered beyond a window, so that a server can't fill the memory.
"""

import asyncio
import os
import socket
import ssl
from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import Final, Self, cast
from urllib.parse import urlsplit

import httptools

from gateway.errors import WeighbridgeError
from gateway.servers.tls import reason_of

_WINDOW: Final = 256 << 10  # bytes of a body that may wait to be read
_HEAD_BYTES: Final = 64 << 10  # of headers, and of anything else that comes before or after a body
_STREAM: Final = "text/event-stream"


class Unreachable(WeighbridgeError):
    """No connection could be made, so nothing was sent; `slow` faults don't mend themselves."""

    def __init__(self, reason: str, *, slow: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.slow = slow


class Headers:
    """Header fields of a response, by lower-case name; a name may come several times."""

    __slots__ = ("_fields",)

    def __init__(self) -> None:
        self._fields: dict[str, list[str]] = {}

    def add(self, name: str, value: str) -> None:
        """Add one field."""
        self._fields.setdefault(name, []).append(value)

    def get(self, name: str, default: str = "") -> str:
        """Return the first value of a name."""
        values = self._fields.get(name.lower())
        return values[0] if values else default

    def getall(self, name: str, default: list[str]) -> list[str]:
        """Return every value of a name."""
        return self._fields.get(name.lower(), default)


class Response:
    """One response; leaving its context gives the connection back, or closes it if unread."""

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self.status = 0
        self.headers = Headers()
        self.content_type = ""  # the media type, without parameters
        self._pieces: deque[bytes] = deque()
        self._waiting = 0
        self._complete = False
        self._fault: Exception | None = None
        self._news: asyncio.Future[None] | None = None
        self.began = False  # enough is here to say what kind of answer it is

    @property
    def content_length(self) -> int | None:
        """The declared length of the body."""
        text = self.headers.get("content-length")
        return int(text) if text.isdecimal() and len(text) < 16 else None

    @property
    def is_complete(self) -> bool:
        """Whether all of it arrived."""
        return self._complete

    async def iter_any(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives; raises ConnectionError when it breaks off."""
        while True:
            if self._pieces:
                piece = self._pieces.popleft()
                self._waiting -= len(piece)
                if self._waiting < _WINDOW // 2:
                    self._connection.resume()
                yield piece
            elif self._fault is not None:
                raise self._fault
            elif self._complete:
                return
            else:
                await self._more()

    async def read(self) -> bytes:
        """Return the whole body; for bodies whose declared length was looked at."""
        if self._complete and len(self._pieces) == 1:
            return self._pieces.popleft()
        return b"".join([piece async for piece in self.iter_any()])

    async def _more(self) -> None:
        self._news = asyncio.get_running_loop().create_future()
        await self._news

    async def begun(self) -> None:
        """Wait until it can be handled; a short JSON answer is then here as a whole."""
        while not self.began:
            if self._fault is not None:
                raise self._fault
            await self._more()

    def take(self, piece: bytes) -> None:
        """Add a piece of the body."""
        self._pieces.append(piece)
        self._waiting += len(piece)
        if self._waiting > _WINDOW:
            self._connection.pause()
            self.began = True
        if self.began:
            self.tell()

    def headed(self) -> None:
        """Note that the headers are here: only a stream, or a large body, is handled before its
        end.
        """
        self.content_type = self.headers.get("content-type").partition(";")[0].strip().lower()
        if self.content_type == _STREAM:
            self.began = True
            self.tell()

    def end(self) -> None:
        """Note that all of it is here."""
        self._complete = self.began = True
        self.tell()

    def fail(self, fault: Exception) -> None:
        """Note that no more will come."""
        if not self._complete:
            self._fault = fault
            self.tell()

    def tell(self) -> None:
        """Wake whoever waits."""
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(self, *unused: object) -> None:
        """Give the connection back if it can be used again."""
        self._connection.finish(self)


class Connection(asyncio.Protocol):
    """One connection, one request at a time."""

    def __init__(self, pool: "Pool") -> None:
        self._pool = pool
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._response: Response | None = None
        self._paused = False
        self._head = 0
        self._idle = 0  # bytes since the request was sent, or since a step towards its answer
        self._stays = False  # the parser can tell only while it ends a message
        self.usable = True

    def send(self, data: bytes) -> Response:
        """Send a whole request and return its response, empty as yet."""
        self._head, self._idle, self._stays = 0, 0, False
        response = self._response = Response(self)
        assert self._transport is not None  # noqa: S101 - a pool only holds what is connected
        self._transport.write(data)
        return response

    def finish(self, response: Response) -> None:
        """Take the connection back into the pool, or close it."""
        self._response = None
        if self.usable and self._stays and response.is_complete:
            self.resume()
            self._parser = httptools.HttpResponseParser(self)
            self._pool.keep(self)
        else:
            self.close()

    def close(self) -> None:
        """End the connection now; a server sees its response stream closed."""
        self.usable = False
        if self._transport is not None:
            self._transport.abort()

    def pause(self) -> None:
        """Read no further until somebody has caught up."""
        if not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    def resume(self) -> None:
        """Read on."""
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()

    # asyncio's callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        # create_connection makes these; uvloop's are no subclass of the abstract one.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Parse; whatever comes while nothing was asked makes the connection unusable."""
        if self._response is None:
            self.close()
            return
        self._idle += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._broken("sent something that is not HTTP, or another protocol")
            return
        # The parser keeps a header or trailer that has no end, and joins it again and again.
        if self._idle > _HEAD_BYTES:
            self._broken("sent more headers than are read")

    def eof_received(self) -> bool:
        """A body without a length ends here; the parser can't know that."""
        response = self._response
        headed = response is not None and response.status >= 200
        if response is not None and headed and not response.is_complete:
            length = response.content_length
            chunked = "chunked" in response.headers.get("transfer-encoding").lower()
            if length is None and not chunked:
                response.end()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell whoever waits, and leave the pool."""
        self.usable = False
        self._pool.forget(self)
        if self._response is not None:
            self._response.fail(exc or ConnectionResetError("the connection was closed"))

    # the parser's callbacks

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header field."""
        self._head += len(name) + len(value)
        if self._head > _HEAD_BYTES:
            raise httptools.HttpParserCallbackError("headers are too large")
        if self._response is not None:
            self._response.headers.add(name.decode("latin-1").lower(), value.decode("latin-1"))

    def on_headers_complete(self) -> None:
        """Take the status."""
        response = self._response
        if response is not None:
            response.status = self._parser.get_status_code()
            if response.status >= 200:
                self._idle = 0
                response.headed()

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._idle = 0
        if self._response is not None:
            self._response.take(body)

    def on_message_complete(self) -> None:
        """End the response; an interim one (RFC 9110, 15.2) is passed over."""
        response = self._response
        if response is None:
            return
        if response.status < 200:
            response.status, response.headers = 0, Headers()
        else:
            self._stays = self._parser.should_keep_alive()
            response.end()

    def _broken(self, what: str) -> None:
        if self._response is not None:
            self._response.fail(ConnectionError(f"the server {what}"))
        self.close()


class Pool:
    """Kept connections to one endpoint; made once, used from one event loop.

    Raises ValueError for a URL that can't be used.
    """

    def __init__(
        self, url: str, *, connect_s: float, idle_s: float, tls: ssl.SSLContext | None = None
    ) -> None:
        parts = urlsplit(url)
        if parts.hostname is None:
            raise ValueError("the URL names no host")
        self._host, self._tls = parts.hostname, tls
        self._port = parts.port or (443 if tls is not None else 80)
        self._connect_s, self._idle_s = connect_s, idle_s
        self._idle: deque[tuple[Connection, float]] = deque()
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        host = parts.netloc.rpartition("@")[2]
        self._start = (
            f"POST {target} HTTP/1.1\r\nhost: {host}\r\naccept-encoding: identity\r\n"
        ).encode("ascii")

    async def post(self, body: bytes, headers: Mapping[str, str]) -> Response:
        """Send a request and return its response once it can be handled.

        Raises Unreachable when no connection could be made, ConnectionError when one broke.
        """
        head = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        if head.count("\n") != len(headers) or head.count("\r") != len(headers):
            raise ValueError("a header holds a line break")
        data = b"%b%bcontent-length: %d\r\n\r\n%b" % (
            self._start,
            head.encode("latin-1"),
            len(body),
            body,
        )
        connection = self._kept() or await self._connect()
        response = connection.send(data)
        try:
            await response.begun()
        except BaseException:
            connection.close()
            raise
        return response

    def keep(self, connection: Connection) -> None:
        """Hold a connection for the next request."""
        self._idle.append((connection, asyncio.get_running_loop().time() + self._idle_s))

    def forget(self, connection: Connection) -> None:
        """Let go of a connection that is gone."""
        for held in self._idle:
            if held[0] is connection:
                self._idle.remove(held)
                return

    def close(self) -> None:
        """Close what is kept."""
        while self._idle:
            self._idle.pop()[0].close()

    def _kept(self) -> Connection | None:
        now = asyncio.get_running_loop().time()
        while self._idle and self._idle[0][1] <= now:
            self._idle.popleft()[0].close()
        while self._idle:
            connection, _ = self._idle.pop()
            if connection.usable:
                return connection
        return None

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._connect_s):
                _, connection = await loop.create_connection(
                    lambda: Connection(self), self._host, self._port, ssl=self._tls
                )
        except TimeoutError:
            raise Unreachable("no connection in time") from None
        except ssl.SSLError as error:
            raise Unreachable(reason_of(error), slow=True) from error
        except socket.gaierror as error:
            raise Unreachable("the host name is not known") from error
        except OSError as error:
            raise Unreachable(
                os.strerror(error.errno) if error.errno else "no connection"
            ) from error
        return connection
