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
from collections.abc import Mapping
from typing import Final, cast
from urllib.parse import urlsplit

import httptools

from gateway.bursts import CROWD, burst_of
from gateway.errors import WeighbridgeError
from gateway.servers.likeness import Likeness
from gateway.servers.response import Headers, Response
from gateway.servers.tls import reason_of

_HEAD_BYTES: Final = 64 << 10  # of headers, and of anything else that comes before or after a body
_LINGER_S: Final = 0.25  # the end of a stream comes a moment after its last event
_MOST_LINGERING: Final = 64
_MOST_DRIFTING: Final = 64  # responses of one server that nobody waits for, and that stay open


def head_of(fields: Mapping[str, str]) -> bytes:
    """Return header fields as they are sent; raises ValueError for one that can't be."""
    head = "".join([f"{name}: {value}\r\n" for name, value in fields.items()])
    if head.count("\n") != len(fields) or head.count("\r") != len(fields):
        raise ValueError("a header holds a line break")
    return head.encode("latin-1")


class Unreachable(WeighbridgeError):
    """No connection could be made, so nothing was sent; `slow` faults don't mend themselves."""

    def __init__(self, reason: str, *, slow: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.slow = slow


class Connection(asyncio.Protocol):
    """One connection, one request at a time."""

    def __init__(self, pool: "Pool") -> None:
        self._pool = pool
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._response: Response | None = None
        self._is_new = True  # the parser has read nothing of the response
        self._held = b""  # a head that is known: the parser reads it if its body is another's
        self._begun = b""  # what the parser read first
        self._paused = False
        self._head = 0
        self._idle = 0  # bytes since the request was sent, or since a step towards its answer
        self._late = 0  # bytes while it lingers
        self._stays = False  # the parser can tell only while it ends a message
        self._drifts = False  # nobody waits for the response
        self._counts = False  # among the pool's requests under way
        self._unsent = b""  # a request that leaves at the end of this turn of the loop
        self._lingers: asyncio.TimerHandle | None = None  # and only for its end
        self.usable = True

    def send(self, data: bytes, *, stays: bool) -> Response:
        """Send a whole request and return its response, empty as yet.

        Among many it leaves together with the others of this turn of the loop.
        """
        response = self._response = Response(self, stays=stays)
        self._counts, pool = True, self._pool
        pool.under_way += 1
        self._unsent = data
        if pool.under_way < CROWD:
            self._leave()
        else:
            burst_of(asyncio.get_running_loop()).add(self._leave)
        return response

    def _leave(self) -> None:
        unsent, self._unsent = self._unsent, b""
        if unsent and self.usable:
            assert self._transport is not None  # noqa: S101 - a pool only holds what is connected
            self._transport.write(unsent)

    def finish(self, response: Response) -> None:
        """Take the connection back into the pool, at once or once the response has ended.

        Or close it.
        """
        if self.usable and response.is_read and not response.is_complete:
            self._linger()
            return
        self._response = None
        self._ended()
        if self.usable and self._stays and response.is_complete:
            self._stays = False
            if self._paused:
                self.resume()
            if not self._is_new:
                self._parser, self._is_new = httptools.HttpResponseParser(self), True
                self._begun, self._head, self._idle = b"", 0, 0
            self._pool.keep(self)
        else:
            self.close()

    def _linger(self) -> None:
        """Wait for the end of a response that has said all; a stream has one of its own."""
        self._late, self._drifts = 0, True
        self._lingers = asyncio.get_running_loop().call_later(_LINGER_S, self.close)
        self.resume()
        self._pool.let_linger(self)

    def _lingered(self, response: Response) -> None:
        """Look whether the response has ended, or goes on too long."""
        if response.is_complete and self._lingers is not None:
            self._lingers.cancel()
            self._lingers, self._drifts = None, False
            self._pool.lingered(self)
            self.finish(response)
        elif self._late > _HEAD_BYTES:
            self.close()

    def _ended(self) -> None:
        if self._counts:
            self._counts = False
            self._pool.under_way -= 1

    def close(self) -> None:
        """End the connection now; a server sees its response stream closed."""
        self.usable = False
        if self._lingers is not None:
            self._lingers.cancel()
        if self._transport is not None:
            self._transport.abort()

    def drift(self) -> None:
        """Stay open until the server ends the response, of which nobody hears any more."""
        self._drifts = True
        self.resume()
        self._pool.let_drift(self)

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
        response = self._response
        if response is None or response.is_complete:
            self.close()
            return
        if self._is_new:
            if self._held:
                data, self._held = self._held + data, b""
            found = None if self._drifts else self._pool.likeness.look(data)
            if found is not None:
                headers, body = found
                if body:
                    self._stays = True
                    response.arrived(headers, body)
                else:
                    self._held = data
                return
            self._is_new, self._begun = False, data
            response.headers = Headers()
        self._parse(data)
        if self._lingers is not None:
            self._late += len(data)
            self._lingered(response)
        elif response.is_complete and self._stays:
            self._pool.likeness.learn(self._begun, response)

    def _parse(self, data: bytes) -> None:
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
        if self._lingers is not None:
            self._lingers.cancel()
        self._pool.forget(self)
        self._ended()
        if self._response is not None:
            self._response.fail(exc or ConnectionResetError("the connection was closed"))

    # the parser's callbacks

    def on_message_begin(self) -> None:
        """Refuse a second response to one request: nothing of it belongs to the first."""
        if self._response is not None and self._response.is_complete:
            raise httptools.HttpParserCallbackError("a second response")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header field."""
        self._head += len(name) + len(value)
        if self._head > _HEAD_BYTES:
            raise httptools.HttpParserCallbackError("headers are too large")
        if self._response is not None:
            self._response.headers.add(name, value)

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
        if self._response is not None and not self._drifts:
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
            if self._drifts and self._lingers is None:
                self.close()

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
        self.likeness = Likeness()
        self.under_way = 0  # requests that were sent and have not ended
        self._idle: deque[tuple[Connection, float]] = deque()
        self._drifting: dict[Connection, None] = {}  # the oldest first
        self._lingering: dict[Connection, None] = {}  # likewise
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        host = parts.netloc.rpartition("@")[2]
        self._start = (
            f"POST {target} HTTP/1.1\r\nhost: {host}\r\naccept-encoding: identity\r\n"
        ).encode("ascii")

    def whole(self, head: bytes, body: bytes) -> bytes:
        """Return a request as it is sent."""
        return b"%b%bcontent-length: %d\r\n\r\n%b" % (self._start, head, len(body), body)

    async def post(self, body: bytes, head: bytes = b"", *, stays: bool = False) -> Response:
        """Send a request and return its response once it can be handled.

        `head` are more header fields, from `head_of`. With `stays` the response is left open when
        its waiter is cancelled.
        Raises Unreachable when no connection could be made, ConnectionError when one broke.
        """
        data = self.whole(head, body)
        connection = self.kept() or await self._connect()
        response = connection.send(data, stays=stays)
        try:
            response.news = news = asyncio.get_running_loop().create_future()
            await news  # the first news are mostly all
            if not response.began:
                await response.begun()
        except asyncio.CancelledError:
            response.leave()
            raise
        except BaseException:
            connection.close()
            raise
        return response

    def let_drift(self, connection: Connection) -> None:
        """Hold a connection whose response nobody waits for; of too many the oldest is closed."""
        self._drifting[connection] = None
        if len(self._drifting) > _MOST_DRIFTING:
            next(iter(self._drifting)).close()

    def let_linger(self, connection: Connection) -> None:
        """Hold a connection whose response is about to end; of too many the oldest is closed."""
        self._lingering[connection] = None
        if len(self._lingering) > _MOST_LINGERING:
            next(iter(self._lingering)).close()

    def lingered(self, connection: Connection) -> None:
        """Hold it no more."""
        self._lingering.pop(connection, None)

    def keep(self, connection: Connection) -> None:
        """Hold a connection for the next request."""
        self._idle.append((connection, asyncio.get_running_loop().time() + self._idle_s))

    def forget(self, connection: Connection) -> None:
        """Let go of a connection that is gone."""
        self._drifting.pop(connection, None)
        self._lingering.pop(connection, None)
        for held in self._idle:
            if held[0] is connection:
                self._idle.remove(held)
                return

    def close(self, *, drifting: bool = True) -> None:
        """Close what is kept, and what drifts, unless it is to outlive the pool's use."""
        while self._idle:
            self._idle.pop()[0].close()
        for connection in [*self._lingering, *(self._drifting if drifting else ())]:
            connection.close()

    def kept(self) -> Connection | None:
        """Return a connection that is open and free, if there is one."""
        idle, now = self._idle, asyncio.get_running_loop().time()
        while idle and idle[0][1] <= now:
            idle.popleft()[0].close()
        while idle:
            connection, _ = idle.pop()
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
