"""The fake server of `tests.helpers.fake_server` behind real HTTP: uvicorn in a thread.

with FakeHttp(Script(...)) as fake:
    fake.url                         # to be put into an entry
    fake.calls("tools/call")         # every message it received, with `headers`
    fake.script.tools = [...]        # scripts may be changed while it runs
    fake.announce()                  # notifications/tools/list_changed on all open streams
    fake.forget_sessions()           # every known session id is answered with 404
    fake.close_all()                 # cuts all TCP connections
"""

import asyncio
import json
import socket
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Self

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from tests.helpers.fake_server import LEGACY_VERSION, Fake, Message, Script, Step, Wire

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class Dropped(Exception):
    """The connection was cut on purpose."""


class HttpWire(Wire):
    """Answers one POST: as JSON when the first thing written is the answer, else as a stream."""

    def __init__(self, server: "FakeHttp", scope: Scope, send: Send, message: Message) -> None:
        super().__init__(message)
        self.server = server
        self.scope = scope
        self.raw_send = send
        self.streaming = False
        self.done = False
        self.extra: list[tuple[bytes, bytes]] = []

    async def start(self, status: int, kind: str) -> None:
        headers = [(b"content-type", kind.encode()), *self.extra]
        await self.raw_send({"type": "http.response.start", "status": status, "headers": headers})

    async def body(self, data: bytes, more: bool) -> None:
        await self.raw_send({"type": "http.response.body", "body": data, "more_body": more})
        self.done = not more

    async def stream(self, data: bytes) -> None:
        if not self.streaming:
            self.streaming = True
            await self.start(200, "text/event-stream")
        await self.body(data, True)

    async def write(self, data: bytes) -> None:
        if self.done:
            return
        if self.streaming:
            await self.stream(b"data: " + data + b"\n\n")
        else:
            await self.start(200, "application/json")
            await self.body(data, False)

    async def send(self, message: Message) -> None:
        if "method" in message and not self.streaming:
            await self.stream(b": opened\n\n")
        await super().send(message)

    async def ask(self, question: Message, *, aside: bool) -> Any:
        answer = asyncio.get_running_loop().create_future()
        self.server.asked[question["id"]] = answer
        if aside:
            for queue in self.server.streams:
                queue.put_nowait(json.dumps(question).encode())
        else:
            await self.send(question)
        return await answer

    async def http(self, step: Step) -> None:
        match step:
            case {"http": status}:
                self.extra += [(n.encode(), v.encode()) for n, v in step.get("headers", [])]
                body = step.get("body", "")
                kind = "application/json" if isinstance(body, dict) else "text/plain"
                text = json.dumps(body) if isinstance(body, dict) else str(body)
                await self.start(status, kind)
                await self.body(text.replace("$ID", json.dumps(self.id)).encode(), False)
            case {"drop": True}:
                self.server.transports[tuple(self.scope["client"])].abort()
                raise Dropped
            case {"sse": pieces}:
                for piece in pieces:
                    data = piece if isinstance(piece, bytes) else piece.encode()
                    await self.stream(data.replace(b"$ID", json.dumps(self.id).encode()))
            case {"headers": pairs}:
                self.extra += [(n.encode(), v.encode()) for n, v in pairs]
            case _:
                raise AssertionError(f"no such step: {step}")

    async def end(self) -> None:
        """End the response, also after a script that never answered."""
        if not self.done:
            if not self.streaming:
                await self.start(202, "text/plain")
            await self.body(b"", False)


class FakeHttp:
    """A real HTTP server on a free port of localhost."""

    def __init__(self, script: Script, port: int = 0) -> None:
        self.script = script
        self.fake = Fake(script)
        self.received: list[Message] = []
        self.requests: list[tuple[str, dict[str, str]]] = []  # HTTP method and headers
        self.sessions: set[str] = set()
        self.streams: list[asyncio.Queue[bytes | None]] = []
        self.asked: dict[str, asyncio.Future[Any]] = {}
        self.transports: dict[tuple[str, int], asyncio.Transport] = {}
        self.disconnects = 0  # responses that the client closed before their end
        self.connections = 0
        self.on_get: list[Step] = []
        self._port = port
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start to listen; after a stop on the same port as before."""
        # With the protocol named, asyncio switches Nagle's algorithm off on accepted sockets.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", self._port))
        self._port = self._socket.getsockname()[1]
        config = uvicorn.Config(
            self._app,
            http=self._protocol(),
            interface="asgi3",
            lifespan="off",
            log_config=None,
            ws="none",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)

    def stop(self) -> None:
        """Stop listening and cut what is open, as in an outage."""
        if not self._thread.is_alive():
            return
        self._server.should_exit = True
        self.close_all()
        self._thread.join(10)
        self._socket.close()

    @property
    def url(self) -> str:
        """The MCP endpoint."""
        return f"http://127.0.0.1:{self._port}/mcp"

    def calls(self, method: str = "tools/call") -> list[Message]:
        """Return the messages of one method, each with the `headers` it came with."""
        return [message for message in self.received if message.get("method") == method]

    def announce(self, method: str = "notifications/tools/list_changed", **params: Any) -> None:
        """Tell on all open streams that something changed."""
        told = {"params": params} if params else {}
        note = json.dumps({"jsonrpc": "2.0", "method": method, **told}).encode()
        self._soon(lambda: [queue.put_nowait(note) for queue in self.streams])

    def forget_sessions(self) -> None:
        """Forget every session, as after a redeploy."""
        self.sessions.clear()

    def close_all(self) -> None:
        """Cut all TCP connections."""
        self._soon(lambda: [transport.abort() for transport in list(self.transports.values())])

    def _soon(self, action: Callable[[], Any]) -> None:
        if self._loop is not None and self._loop.is_running():
            self._loop.call_soon_threadsafe(action)

    def _run(self) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            self._server.config.load()
            self._server.lifespan = self._server.config.lifespan_class(self._server.config)
            await self._server.startup(sockets=[self._socket])
            await self._server.main_loop()
            for queue in self.streams:
                queue.put_nowait(None)
            await self._server.shutdown(sockets=[self._socket])

        asyncio.run(serve())

    def _protocol(self) -> type[H11Protocol]:
        fake = self

        class Kept(H11Protocol):
            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                fake.connections += 1
                fake.transports[transport.get_extra_info("peername")] = transport
                super().connection_made(transport)

            def connection_lost(self, exc: Exception | None) -> None:
                fake.transports.pop(self.transport.get_extra_info("peername"), None)
                super().connection_lost(exc)

        return Kept

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.requests.append((scope["method"], headers))
        if scope["method"] == "GET":
            await self._get(HttpWire(self, scope, send, {}), receive)
            return
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        if scope["method"] != "POST":
            await HttpWire(self, scope, send, {}).http({"http": 200})
            return
        message = json.loads(body)
        self.received.append({**message, "headers": headers})
        wire = HttpWire(self, scope, send, message)
        await self._watched(self._post(message, headers, wire), receive)

    async def _watched(self, answering: Awaitable[None], receive: Receive) -> None:
        """Answer until done or the client closes the response."""
        work = asyncio.ensure_future(answering)
        gone = asyncio.ensure_future(self._gone(receive))
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            self.disconnects += 1
            work.cancel()
        gone.cancel()
        await asyncio.wait({work, gone})
        if not work.cancelled() and isinstance(work.exception(), AssertionError):
            raise work.exception()  # type: ignore[misc]

    @staticmethod
    async def _gone(receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    async def _post(self, message: Message, headers: dict[str, str], wire: HttpWire) -> None:
        session = headers.get("mcp-session-id")
        if session is not None and session not in self.sessions:
            await wire.http({"http": 404})
            return
        if "method" not in message:
            waiting = self.asked.pop(message["id"], None)
            if waiting is not None:
                waiting.set_result(message.get("result", message.get("error")))
            await wire.http({"http": 202})
        elif "id" not in message:
            await wire.http({"http": 202})
        elif message["method"] == "subscriptions/listen":
            await self._stream(wire)
        else:
            if message["method"] == "initialize" and self.script.session:
                session = uuid.uuid4().hex
                self.sessions.add(session)
                wire.extra.append((b"mcp-session-id", session.encode()))
            await self.fake.handle(message, wire)
            await wire.end()

    async def _get(self, wire: HttpWire, receive: Receive) -> None:
        if self.on_get:
            for step in self.on_get:
                await self.fake.do(step, wire)
            return
        await self._watched(self._stream(wire), receive)

    async def _stream(self, wire: HttpWire) -> None:
        queue = asyncio.Queue[bytes | None]()
        self.streams.append(queue)
        try:
            await wire.stream(b": open\n\n")
            if wire.message:
                wanted = wire.message["params"]["notifications"]
                told = {"method": "notifications/subscriptions/acknowledged"}
                await wire.send({"jsonrpc": "2.0", **told, "params": {"notifications": wanted}})
            while (note := await queue.get()) is not None:
                await wire.stream(b"data: " + note + b"\n\n")
            await wire.body(b"", False)
        finally:
            self.streams.remove(queue)


LEGACY_ONLY = {"eras": ["legacy"], "version": LEGACY_VERSION}
