"""What a connection of the handshake era has told about its client, and has to tell it."""

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Final

import anyio
from anyio.abc import TaskGroup
from mcp.server.connection import Connection

from gateway.listen.gate import Gate
from gateway.listen.methods import CHANGED, UPDATED
from gateway.listen.subscriptions import Leave
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Kind

_DEADLINE_S: Final = 5.0
_STATE: Final = "weighbridge.client"  # key in the SDK's state of a connection

Send = Callable[[str, JsonObject | None], Awaitable[None]]
Task = Callable[[], Coroutine[None, None, None]]


_SUBJECTS: Final = ("uri", "taskId", "elicitationId")


class Outbox:
    """News on the way to one client: told one after the other, and the same only once."""

    def __init__(self, start: Callable[[Task], object], send: Send) -> None:
        self._start = start
        self._send = send
        self._waiting: dict[tuple[str, Json], JsonObject | None] = {}
        self._sending = False

    def put(self, method: str, params: JsonObject | None) -> None:
        """Tell it soon; never waits."""
        self._waiting[method, _subject(params or {})] = params
        if not self._sending:
            self._sending = True
            self._start(self._tell)

    async def _tell(self) -> None:
        try:
            while self._waiting:
                news = next(iter(self._waiting))
                params = self._waiting.pop(news)
                with anyio.move_on_after(_DEADLINE_S):
                    await self._send(news[0], params)
        finally:
            self._sending = False


@dataclass(slots=True, kw_only=True, eq=False)
class Client:
    """One connection of the handshake era."""

    outbox: Outbox
    capabilities: JsonObject = field(default_factory=dict[str, Json])
    log_level: str = ""
    name: str = ""  # what it calls itself
    watches: dict[str, Leave] = field(default_factory=dict[str, Leave])  # by URI
    is_ready: bool = False  # may be told that lists changed
    is_closed: bool = False

    def watch(self, uri: str, leave: Leave) -> None:
        """Keep the way out of a subscription; a connection that has ended takes it at once."""
        if self.is_closed or uri in self.watches:
            leave()
        else:
            self.watches[uri] = leave

    def unwatch(self, uri: str) -> None:
        """End a subscription, if there is one."""
        leave = self.watches.pop(uri, None)
        if leave is not None:
            leave()

    def tell(self, method: str, params: JsonObject) -> None:
        """Tell something on the session's own stream."""
        if not self.is_closed:
            self.outbox.put(method, params)

    def updated(self, uri: str) -> None:
        """Tell that a resource was updated."""
        self.tell(UPDATED, {"uri": uri})

    def close(self) -> None:
        """End every subscription with the connection."""
        self.is_closed = True
        for uri in tuple(self.watches):
            self.unwatch(uri)


class Clients:
    """The clients of the handshake era that are connected."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._tasks: TaskGroup | None = None
        self._connected: set[Client] = set()

    @contextlib.asynccontextmanager
    async def announcing(self) -> AsyncGenerator[None]:
        """Tell connected clients what changes, for as long as the context is open."""
        leave = self._gate.on_changed(self._note_change)
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                yield
                tasks.cancel_scope.cancel()
        finally:
            self._tasks = None
            leave()

    def of(self, connection: Connection) -> Client:
        """Return the client at the other end, with all that is known of it."""
        client = connection.state.get(_STATE)
        if not isinstance(client, Client):
            client = Client(outbox=Outbox(self._start, connection.notify))
            connection.state[_STATE] = client
            connection.exit_stack.callback(self._forget, client)
            self._connected.add(client)
        return client

    def _forget(self, client: Client) -> None:
        self._connected.discard(client)
        client.close()

    def _note_change(self, kind: Kind) -> None:
        for client in self._connected:
            if client.is_ready:
                client.outbox.put(CHANGED[kind], None)

    def _start(self, task: Task) -> None:
        if self._tasks is not None:
            self._tasks.start_soon(task)


def _subject(params: JsonObject) -> Json:
    """Return what news are about: of one method and subject, the latest is enough."""
    return next((params[name] for name in _SUBJECTS if isinstance(params.get(name), str)), "")
