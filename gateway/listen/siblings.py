"""Which worker a request belongs to, where several serve one port, and how it gets there.

What lives in one process names it: a session by its id (`w2-…`), a token by a mark in clear beside
what is sealed (`wb1.w2.…`). A mark is a hint and no right: everything is checked where a request
arrives in the end, and one that leads nowhere is answered here, like any that was made up.
"""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.listen.handover import FROM, Lines
from gateway.listen.replies import Asgi
from gateway.types.workers import Worker

_SESSION: Final = b"mcp-session-id"
_OF_SESSION: Final = re.compile(rb"w([1-9]\d{0,2})-(.+)", re.DOTALL)
_OF_TOKEN: Final = re.compile(rb'"wb1\.w([1-9]\d{0,2})\.')

Relay = Callable[[Asgi], Awaitable[bool]]


def socket_of(folder: Path, number: int) -> Path:
    """Return where a worker takes what others hand over."""
    return folder / f"{number}.sock"


class Siblings:
    """The other workers, as one of them sees them; whoever serves keeps the front's sessions."""

    def __init__(self, worker: Worker, folder: Path) -> None:
        self._worker = worker
        self._prefix = f"{worker.mark}-".encode()
        self._lines = {
            number: Lines(socket_of(folder, number))
            for number in range(1, worker.of + 1)
            if number != worker.number
        }

    def agents(self, front: ASGIApp) -> ASGIApp:
        """Return the application for agents: sessions of others are handed over to them."""

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await _live(receive, send)
                return
            if _SESSION not in dict(scope["headers"]):  # one look, and no stateless request has one
                await front(scope, receive, self._marking(send))
                return
            lines = self._lines.get(_worker_of(scope))
            if lines is None or not await lines.hand_over(Asgi(scope, receive, send)):
                await self._here(front, scope, receive, send)

        return app

    def siblings(self, front: ASGIApp) -> ASGIApp:
        """Return the application for the other workers, who pass on whom they talk to."""

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await _live(receive, send)
                return
            await self._here(front, _from_client(scope), receive, send)

        return app

    def of_body(self, body: bytes) -> Relay | None:
        """Return the way to the worker that a token in a request is of, None for this one."""
        found = _OF_TOKEN.search(body)
        lines = self._lines.get(int(found[1])) if found is not None else None
        return lines.hand_over if lines is not None else None

    def close(self) -> None:
        """Close the connections to the others."""
        for lines in self._lines.values():
            lines.close()

    async def _here(self, front: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request in this process, with the ids that sessions have here."""

        if _SESSION in dict(scope["headers"]):
            scope = {**scope, "headers": [*map(self._bare, scope["headers"])]}
        await front(scope, receive, self._marking(send))

    def _marking(self, send: Send) -> Send:
        """Return what sends an answer on, with our mark on the session that it opens."""

        async def marked(event: Message) -> None:
            if event["type"] == "http.response.start":
                event = {**event, "headers": [*map(self._marked, event["headers"])]}
            await send(event)

        return marked

    def _marked(self, header: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
        return (header[0], self._prefix + header[1]) if header[0] == _SESSION else header

    def _bare(self, header: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
        """Take our mark off; whatever else stands there is no session of this worker."""
        if header[0] != _SESSION:
            return header
        bare = header[1].removeprefix(self._prefix)
        return (_SESSION, bare if bare != header[1] else b"-" + bare)


def _worker_of(scope: Scope) -> int:
    """Return the worker that has the session of a request, 0 for none that is clear."""
    ids = [value for name, value in scope["headers"] if name == _SESSION]
    found = _OF_SESSION.fullmatch(ids[0]) if len(ids) == 1 else None
    return int(found[1]) if found is not None else 0


def _from_client(scope: Scope) -> Scope:
    """Return a scope with the client as the other worker saw it."""
    host, _, port = next((v for name, v in scope["headers"] if name == FROM), b"").partition(b" ")
    headers = [pair for pair in scope["headers"] if pair[0] != FROM]
    client = (host.decode("latin-1"), int(port)) if port.isdigit() else None
    return {**scope, "headers": headers, "client": client}


async def _live(receive: Receive, send: Send) -> None:
    """Start and stop with a listener: the front lives longer than either."""
    while True:
        event = await receive()
        await send({"type": f"{event['type']}.complete"})
        if event["type"] == "lifespan.shutdown":
            return
