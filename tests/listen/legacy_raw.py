"""A raw client of the handshake era: sends exactly what a test says, on as many streams."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.abc import SocketStream

from gateway import jsontext
from gateway.types.json import Json, JsonObject
from tests.listen.house import LIMIT_S, Place
from tests.listen.raw import Reply, changed, child, exchange, opened, received, standard, wire

EVERYTHING: JsonObject = {"elicitation": {}, "sampling": {}, "roots": {}, "own": {"kept": 10**30}}


@dataclass(frozen=True)
class Session:
    """One session of one principal."""

    place: Place
    session: str
    key: str = "ada"
    offered: JsonObject = field(default_factory=dict[str, Json])  # the server's capabilities

    @property
    def headers(self) -> list[tuple[str, str]]:
        base = changed(standard(self.place, None, key=self.key), MCP_Protocol_Version=None)
        return changed(base, Mcp_Session_Id=self.session)

    async def send(self, message: JsonObject) -> Reply:
        """Post one message and read the whole response."""
        return await exchange(self.place, self.headers, jsontext.dump(message))

    async def result(self, method: str, params: JsonObject | None = None) -> JsonObject:
        """Send a request, and return its result; nothing may come before it."""
        reply = await self.send(request(method, params))
        (message,) = reply.messages
        return child(message, "result")

    async def error(self, method: str, params: JsonObject | None = None) -> JsonObject:
        """Send a request, and return its error."""
        return child((await self.send(request(method, params))).messages[0], "error")

    async def end(self) -> int:
        """End the session, and return the HTTP status."""
        return (await exchange(self.place, self.headers, b"", method="DELETE")).status

    @asynccontextmanager
    async def streaming(
        self, message: JsonObject | None, *, method: str = "POST"
    ) -> AsyncGenerator["Stream"]:
        """Begin a request, and give the stream of its response; None opens the session's own."""
        body = jsontext.dump(message) if message is not None else b""
        with anyio.fail_after(LIMIT_S):
            async with await opened(self.place) as socket:
                await socket.send(wire(method, "/mcp", self.headers, body))
                yield Stream(socket)


@dataclass
class Stream:
    """The events of one response, as they come."""

    socket: SocketStream
    _seen: bytes = b""
    _ended: bool = False
    _is_events: bool = False
    _ready: list[JsonObject] = field(default_factory=list[JsonObject])

    async def next(self) -> JsonObject:
        """Return the next message; of a JSON response, the one that it is."""
        if not self._is_events:
            self._seen = self._seen or await self.socket.receive()
            if b"content-type: application/json" in self._seen:
                reply = await received(self.socket, self._seen)
                self._seen, self._is_events, self._ended = b"", True, True
                return reply.json
        self._is_events = True
        while True:
            *lines, self._seen = self._seen.split(b"\r\n")
            for line in lines:
                if line.startswith(b"data: {"):
                    value = jsontext.parse_result(line.removeprefix(b"data: "))
                    assert isinstance(value, dict)
                    self._ready.append(value)
            self._ended = self._ended or b"0" in lines  # the last chunk
            if self._ready:
                return self._ready.pop(0)
            if self._ended:
                raise anyio.EndOfStream
            self._seen += await self.socket.receive()

    async def begun(self) -> int:
        """Wait for the head of the response, and return its status."""
        while b"\r\n\r\n" not in self._seen:
            self._seen += await self.socket.receive()
        return int(self._seen.split(b" ", 2)[1])


def request(method: str, params: JsonObject | None = None, request_id: Json = 7) -> JsonObject:
    """Return a request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}


def call(name: str, arguments: JsonObject | None = None, request_id: Json = 7) -> JsonObject:
    """Return a `tools/call`."""
    return request("tools/call", {"name": name, "arguments": arguments or {}}, request_id)


async def begin(
    place: Place, *, key: str = "ada", capabilities: JsonObject | None = None
) -> Session:
    """Open a session and finish its handshake."""
    message = request(
        "initialize",
        {
            "protocolVersion": "2025-11-25",
            "capabilities": EVERYTHING if capabilities is None else capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        },
        0,
    )
    base = changed(standard(place, None, key=key), MCP_Protocol_Version=None)
    reply = await exchange(place, base, jsontext.dump(message))
    offered = child(reply.messages[0], "result", "capabilities")
    session = Session(place, reply.headers["mcp-session-id"], key, offered)
    ready: JsonObject = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await session.send(ready)).status == 202
    return session
