"""Streamable HTTP for `tests.matrix.server`, on asyncio's streams alone: it starts at once."""

import asyncio
import json
import uuid
from pathlib import Path

from tests.matrix.fixtures import Json
from tests.matrix.server import Peer, Server

_MOST = 1 << 24


class Response:
    """One response: JSON when the first message written is the answer, else an event stream."""

    def __init__(self, writer: asyncio.StreamWriter, headers: str) -> None:
        self._writer = writer
        self._headers = headers
        self.is_stream = False

    def begin(self) -> None:
        """Begin an event stream."""
        self.is_stream = True
        self._writer.write(
            f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{self._headers}"
            "Connection: close\r\n\r\n".encode()
        )

    async def send(self, message: Json) -> None:
        """Write one message."""
        body = json.dumps(message, ensure_ascii=False).encode()
        if not self.is_stream and "method" not in message:
            self.whole(200, body)
            return
        if not self.is_stream:
            self.begin()
        self._writer.write(b"data: " + body + b"\n\n")
        await self._writer.drain()

    def whole(self, status: int, body: bytes = b"") -> None:
        """Write a whole response."""
        self._writer.write(
            f"HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\n{self._headers}"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )


class Connection:
    """One connection: requests one after the other."""

    def __init__(
        self,
        server: Server,
        sessions: set[str],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._server = server
        self._sessions = sessions
        self._reader = reader
        self._writer = writer

    async def run(self) -> None:
        """Serve until the client leaves."""
        try:
            while await self._serve():
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writer.close()

    async def _serve(self) -> bool:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode()
        verb = head.split(" ", 1)[0]
        pairs = (line.partition(":") for line in head.split("\r\n")[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        body = await self._reader.readexactly(int(headers.get("content-length", 0)))
        session = headers.get("mcp-session-id")
        if session is not None and session not in self._sessions:
            Response(self._writer, "").whole(404)
            return True
        if verb == "GET" and not self._server.is_modern:
            await self._listen()
            return False
        if verb != "POST":
            Response(self._writer, "").whole(405 if verb == "GET" else 200)
            return True
        return await self._post(json.loads(body), session or "")

    async def _listen(self) -> None:
        response = Response(self._writer, "")
        response.begin()
        await self._writer.drain()
        peer = Peer(response.send)
        self._server.listeners.append(peer)
        try:
            await self._reader.read()  # until the client leaves
        finally:
            self._server.listeners.remove(peer)

    async def _post(self, message: Json, session: str) -> bool:
        more = ""
        if message.get("method") == "initialize":
            session = uuid.uuid4().hex
            self._sessions.add(session)
            more = f"Mcp-Session-Id: {session}\r\n"
        response = Response(self._writer, more)
        peer = Peer(response.send, session)
        if "method" not in message or "id" not in message:
            await self._server.take(message, peer)
            response.whole(202)
            return True
        work = asyncio.ensure_future(self._server.take(message, peer))
        key = (session or str(id(work)), message["id"])
        self._server.under_way[key] = work
        gone = asyncio.ensure_future(self._gone())
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        self._server.under_way.pop(key, None)
        gone.cancel()
        if not work.done():
            self._server.note({"method": "disconnected", "params": {"requestId": message["id"]}})
            work.cancel()
            return False
        return not response.is_stream and not work.cancelled()

    async def _gone(self) -> None:
        while not self._reader.at_eof():
            await asyncio.sleep(0.01)


async def over_http(server: Server, port_file: Path) -> None:
    """Serve on a free port, and write it down."""
    sessions: set[str] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await Connection(server, sessions, reader, writer).run()

    listener = await asyncio.start_server(connected, "127.0.0.1", 0, limit=_MOST)
    port_file.write_text(str(listener.sockets[0].getsockname()[1]))
    async with listener:
        await server.watch()
