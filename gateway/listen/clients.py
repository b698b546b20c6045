"""What a connection of the handshake era has told about its client, and has to tell it."""

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Final

import anyio
from anyio.abc import TaskGroup
from mcp.server.connection import Connection
from mcp_types import CONNECTION_CLOSED

from gateway.listen.asked import Questions
from gateway.listen.gate import Gate
from gateway.listen.methods import CHANGED, UPDATED
from gateway.listen.rpc import RequestId, RpcError
from gateway.listen.subscriptions import Leave
from gateway.listen.underway import UnderWay
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Kind

_DEADLINE_S: Final = 5.0
_STATE: Final = "weighbridge.client"  # key in the SDK's state of a connection
_CLOSED: Final = RpcError(code=CONNECTION_CLOSED, message="Connection closed")

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
    version: str = ""  # the revision that was agreed on
    # Over HTTP: requests that are answered without the SDK, and what was asked on their streams.
    under_way: dict[RequestId, UnderWay] = field(default_factory=dict[RequestId, UnderWay])
    abandoned: set[UnderWay] = field(default_factory=set[UnderWay])
    questions: Questions = field(default_factory=Questions)
    watches: dict[str, Leave] = field(default_factory=dict[str, Leave])  # by URI
    is_ready: bool = False  # may be told that lists changed
    is_closed: bool = False

    def waits(self, request_id: RequestId) -> bool:
        """Return whether the client may still get the answer to a request of this id.

        One whose connection is gone may be sent anew under its id, while the first goes on.
        """
        found = self.under_way.get(request_id)
        if found is not None and found.is_left:
            self.abandoned.add(self.under_way.pop(request_id))
            return False
        return True

    def done(self, request_id: RequestId, request: UnderWay) -> bool:
        """Take note that a request is over; False when its id has gone to a later one."""
        self.abandoned.discard(request)
        is_latest = self.under_way.get(request_id) is request
        if is_latest:
            del self.under_way[request_id]
        return is_latest

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
        """End every request and subscription with the connection."""
        self.is_closed = True
        for request in (*self.under_way.values(), *self.abandoned):
            request.cut(_CLOSED)
        for uri in tuple(self.watches):
            self.unwatch(uri)


class Clients:
    """The clients of the handshake era that are connected."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._tasks: TaskGroup | None = None
        self._connected: set[Client] = set()
        self._in_session: dict[str, Client] = {}

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
            connection.exit_stack.callback(self._forget, client, connection.session_id)
            self._connected.add(client)
        return client

    def introduced(self, connection: Connection) -> None:
        """Let the client be found by its session, as its handshake is done."""
        if connection.session_id is not None:
            self._in_session[connection.session_id] = self.of(connection)

    def in_session(self, session_id: str) -> Client | None:
        """Return the client that has a session; whose it is, others have to check."""
        return self._in_session.get(session_id)

    def _forget(self, client: Client, session_id: str | None) -> None:
        self._connected.discard(client)
        if session_id is not None:
            self._in_session.pop(session_id, None)
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
