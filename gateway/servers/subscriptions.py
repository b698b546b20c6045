"""Who is told when a server's resources are updated: counted by URI, renewed when it comes back."""

import asyncio
from collections.abc import Callable
from functools import partial

from anyio.abc import TaskGroup

from gateway.servers.connection import METHOD_NOT_FOUND, Connection, Spoken
from gateway.types.calls import Era
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Rejected, Undelivered

_PATIENCE_S = 30.0  # for requests that nobody waits for
_GATHER_S = 0.05  # updates within this time are one: whoever is told is weighed by the rules again
_ACKNOWLEDGED_S = 1.0  # a server that never says that it has begun to tell is taken at its silence


class Subscriptions:
    """The subscriptions at one server, over the connection that everybody shares."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._told: dict[str, list[Callable[[], None]]] = {}
        self._begun: dict[str, asyncio.Event] = {}  # whether a stateless server tells of a URI
        self._due: dict[str, None] = {}  # updated and not told yet, in the order of the first
        self._is_telling = False
        self._connection: Connection | None = None
        self._spoken: Spoken | None = None
        self._tasks: TaskGroup | None = None

    @property
    def uris(self) -> tuple[str, ...]:
        """What is subscribed to."""
        return tuple(self._told)

    def attach(self, connection: Connection, spoken: Spoken, tasks: TaskGroup) -> None:
        """Use a new connection or session: subscribe again, and take it that all was updated."""
        self._connection, self._spoken, self._tasks = connection, spoken, tasks
        connection.listen(self.uris)
        for uri in self.uris:
            if spoken.era is Era.LEGACY:
                self._request_soon("resources/subscribe", uri)
            self.updated({"uri": uri})

    def detach(self) -> None:
        """The connection is lost; what is subscribed to is not forgotten."""
        self._connection = self._tasks = None

    async def add(
        self,
        connection: Connection,
        uri: str,
        params: JsonObject,
        told: Callable[[], None],
        *,
        deadline: float,
    ) -> Callable[[], None] | Rejected | Undelivered:
        """Subscribe; returns the way out. The server is asked for the first of a URI only."""
        spoken = self._spoken
        if spoken is None or not spoken.watches:
            return Rejected(
                code=METHOD_NOT_FOUND, message=f"`{self._server}` offers no subscriptions"
            )
        if spoken.era is Era.LEGACY and uri not in self._told:
            reply = await connection.call("resources/subscribe", params, deadline=deadline)
            if not isinstance(reply, Delivered):
                return reply
        first = uri not in self._told
        self._told.setdefault(uri, []).append(told)
        leave = partial(self._remove, uri, told)
        if spoken.era is Era.MODERN:
            if first:
                self._begun[uri] = asyncio.Event()
                connection.listen(self.uris)
            await self._until_begun(uri, leave, deadline)
        return leave

    async def _until_begun(self, uri: str, leave: Callable[[], None], deadline: float) -> None:
        """Wait until the server tells of a URI: whoever hears that it is watched misses nothing."""
        latest = min(deadline, asyncio.get_running_loop().time() + _ACKNOWLEDGED_S)
        try:
            async with asyncio.timeout_at(latest):
                await self._begun[uri].wait()
        except TimeoutError:
            pass
        except asyncio.CancelledError:
            leave()
            raise

    def acknowledged(self, params: Json) -> None:
        """Note of which resources a stateless server has begun to tell."""
        honoured = params.get("notifications") if isinstance(params, dict) else None
        uris = honoured.get("resourceSubscriptions") if isinstance(honoured, dict) else None
        for uri in uris if isinstance(uris, list) else ():
            if isinstance(uri, str) and uri in self._begun:
                self._begun[uri].set()

    def updated(self, params: Json) -> None:
        """Tell whoever subscribed to a resource, or to one that it is a part of."""
        uri = params.get("uri") if isinstance(params, dict) else None
        if not isinstance(uri, str):
            return
        for subscribed in self._told:
            if uri == subscribed or uri.startswith(subscribed.rstrip("/") + "/"):
                self._due[subscribed] = None
        if self._due and not self._is_telling:
            self._is_telling = True
            asyncio.get_running_loop().call_later(_GATHER_S, self._tell)

    def _tell(self) -> None:
        due, self._due, self._is_telling = self._due, {}, False
        for subscribed in due:
            for tell in tuple(self._told.get(subscribed, ())):
                tell()

    def _remove(self, uri: str, told: Callable[[], None]) -> None:
        held = self._told.get(uri, [])
        if told in held:
            held.remove(told)
        if held or uri not in self._told:
            return
        del self._told[uri]
        self._begun.pop(uri, None)
        if self._connection is None or self._spoken is None:
            return
        if self._spoken.era is Era.MODERN:
            self._connection.listen(self.uris)
        else:
            self._request_soon("resources/unsubscribe", uri)

    def _request_soon(self, method: str, uri: str) -> None:
        if self._connection is not None and self._tasks is not None:
            self._tasks.start_soon(_request, self._connection, method, uri)


async def _request(connection: Connection, method: str, uri: str) -> None:
    """Ask for something that nobody can be told the end of."""
    deadline = asyncio.get_running_loop().time() + _PATIENCE_S
    await connection.call(method, {"uri": uri}, deadline=deadline)
