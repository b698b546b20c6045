"""Hands a whole HTTP request over to another process of this gateway, and its answer back.

Nothing is looked at and nothing is changed but what belongs to a connection: bodies go on as they
come, a client's leaving closes the connection, and the other side sees that.
"""

import asyncio
from collections import deque
from pathlib import Path
from typing import Final, cast

import httptools
from starlette.types import Message, Scope

from gateway.listen.crowd import introduce
from gateway.listen.replies import Asgi, send_error
from gateway.listen.rpc import RpcError
from gateway.listen.sse import WATCH_AFTER_S
from gateway.protocol.words import INTERNAL_ERROR

FROM: Final = b"weighbridge-from"  # header: the client's address, as the first worker saw it
_WINDOW: Final = 256 << 10  # bytes of an answer that may wait for the client
# Shorter than what the listener grants a connection without a credential between two requests.
_IDLE_S: Final = 2.0
_HOP: Final = frozenset(
    {b"connection", b"keep-alive", b"transfer-encoding", b"expect", b"te", b"upgrade", FROM}
)
_OURS: Final = _HOP | {b"date", b"server"}  # of an answer: each listener writes its own
_CLOSE: Final = (b"connection", b"close")
_ENDED: Final = RpcError(
    code=INTERNAL_ERROR,
    message="the worker that has this session ended meanwhile; begin a new session, and repeat the "
    "call there: a write is not done twice",
)


class Line(asyncio.Protocol):
    """One connection to another worker, one request at a time."""

    def __init__(self) -> None:
        self.is_free = True
        self.idle_since = 0.0  # seconds on the loop's clock
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._can_write = asyncio.Event()
        self._can_write.set()
        self._begin()

    def _begin(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._headers: list[tuple[bytes, bytes]] = []
        self._events: deque[Message] = deque()
        self._waiting = 0
        self._stays = False  # open after this answer
        self.is_sent = False  # all of the request
        self._is_head = False
        self._news: asyncio.Future[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether something can be sent."""
        return self._transport is not None and not self._transport.is_closing()

    def send_head(self, head: bytes) -> None:
        """Begin a request."""
        self._begin()
        self._is_head = head.startswith(b"HEAD ")  # whose answer has a length, and no body
        self.is_free = False
        self._write(head)

    async def send_body(self, data: bytes, *, chunked: bool, more: bool) -> None:
        """Send a piece of the body."""
        if chunked:
            data = (b"%x\r\n%b\r\n" % (len(data), data) if data else b"") + (
                b"" if more else b"0\r\n\r\n"
            )
        self.is_sent = not more
        if data:
            self._write(data)
            await self._can_write.wait()

    async def event(self) -> Message | None:
        """Return the next event of the answer; None when the line broke before its end."""
        while not self._events:
            if not self.is_open:
                return None
            self._news = self._loop.create_future()
            await self._news
        event = self._events.popleft()
        self._waiting -= len(event.get("body", b""))
        if self._waiting < _WINDOW and self._transport is not None:
            self._transport.resume_reading()
        if event.get("more_body") is False:
            self.is_free = self._stays and self.is_sent
        return event

    def close(self) -> None:
        """End now; the other side sees that its client left."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Be open."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell whoever waits."""
        self._transport = None
        self._can_write.set()
        self._tell()

    def pause_writing(self) -> None:
        """Let whoever sends wait."""
        self._can_write.clear()

    def resume_writing(self) -> None:
        """Go on."""
        self._can_write.set()

    def data_received(self, data: bytes) -> None:
        """Take a piece of the answer."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.close()
        if self._waiting >= _WINDOW and self._transport is not None:
            self._transport.pause_reading()
        self._tell()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep one header."""
        lowered = name.lower()
        if lowered not in _OURS:
            self._headers.append((lowered, value))

    def on_headers_complete(self) -> None:
        """Hand the head on."""
        status = self._parser.get_status_code()
        self._events.append(
            {"type": "http.response.start", "status": status, "headers": self._headers}
        )
        if self._is_head:
            self._events.append({"type": "http.response.body", "body": b"", "more_body": False})

    def on_body(self, body: bytes) -> None:
        """Hand a piece on."""
        self._waiting += len(body)
        self._events.append({"type": "http.response.body", "body": body, "more_body": True})

    def on_message_complete(self) -> None:
        """Hand the end on."""
        self._stays = self._parser.should_keep_alive()  # what it says at this moment only
        self._events.append({"type": "http.response.body", "body": b"", "more_body": False})

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def _tell(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)


class Lines:
    """The connections to one other worker, made when they are needed and kept for a moment."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._idle: list[Line] = []

    async def hand_over(self, http: Asgi) -> bool:
        """Have the other worker answer a request; False when nobody is there, and nothing done."""
        line = await self._line()
        if line is None:
            return False
        try:
            await _exchange(line, http)
        finally:
            if line.is_free and line.is_open:
                line.idle_since = asyncio.get_running_loop().time()
                self._idle.append(line)
            else:
                line.close()
        return True

    def close(self) -> None:
        """Close what is kept."""
        while self._idle:
            self._idle.pop().close()

    async def _line(self) -> Line | None:
        loop = asyncio.get_running_loop()
        while self._idle:
            line = self._idle.pop()  # the one used last: the others grow old, and go
            if line.is_open and loop.time() - line.idle_since < _IDLE_S:
                return line
            line.close()
        try:
            _, line = await loop.create_unix_connection(Line, str(self._socket))
        except OSError:
            return None
        return line


async def _exchange(line: Line, http: Asgi) -> None:
    chunked = any(name == b"transfer-encoding" for name, _ in http.scope["headers"])
    line.send_head(_head(http.scope, chunked=chunked))
    # Beside the answer: one that refuses comes before the end of a body, which may never come.
    passing = asyncio.get_running_loop().create_task(_pass_on(line, http, chunked=chunked))
    try:
        await _answer(line, http, passing)
    finally:
        passing.cancel()


async def _pass_on(line: Line, http: Asgi, *, chunked: bool) -> None:
    """Send the body on as it comes, then wait for the client's leaving, which closes the line."""
    try:
        while (event := await http.receive())["type"] != "http.disconnect":
            more = event.get("more_body", False)
            await line.send_body(event.get("body", b""), chunked=chunked, more=more)
            if not more:
                await asyncio.sleep(WATCH_AFTER_S)  # most answers are there by then
                break
        while event["type"] != "http.disconnect":
            event = await http.receive()
    except Exception:  # or the answer would be waited for without end
        line.close()
        raise
    line.close()


async def _answer(line: Line, http: Asgi, passing: "asyncio.Task[None]") -> None:
    """Hand the answer on as it comes; the client's leaving ends it."""
    has_begun = False
    while (event := await line.event()) is not None:
        if not has_begun:
            if event["status"] < 400:
                introduce(http.scope)
            if not line.is_sent:  # nobody reads the rest of the request
                event = {**event, "headers": [*event["headers"], _CLOSE]}
        has_begun = True
        await http.send(event)
        if event.get("more_body") is False:
            return
    if not has_begun and not passing.done():
        await send_error(http.send, _ENDED, status=502, headers=() if line.is_sent else [_CLOSE])


def _head(scope: Scope, *, chunked: bool) -> bytes:
    query = scope.get("query_string", b"")
    path = scope.get("raw_path") or scope["path"].encode("utf-8")
    target = path + b"?" + query if query else path
    lines = [b"%b %b HTTP/1.1" % (scope["method"].encode("ascii"), target)]
    lines += [b"%b: %b" % pair for pair in scope["headers"] if pair[0] not in _HOP]
    client = scope.get("client")
    if client:
        lines.append(b"%b: %b %d" % (FROM, client[0].encode("latin-1"), client[1]))
    if chunked:
        lines.append(b"transfer-encoding: chunked")
    return b"\r\n".join([*lines, b"", b""])
