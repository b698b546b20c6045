"""Who is told when a server's resources are updated: counted by URI, renewed when it comes back."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

import anyio
from anyio.abc import TaskGroup

from gateway.servers.connection import METHOD_NOT_FOUND, Spoken
from gateway.servers.following import Following
from gateway.types.calls import Era
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Delivery, Failure, Rejected, Undelivered

_SUBSCRIBE: Final = "resources/subscribe"
_UNSUBSCRIBE: Final = "resources/unsubscribe"
_PATIENCE_S = 30.0  # for requests that nobody waits for
_GATHER_S = 0.05  # updates within this time are one: whoever is told is weighed by the rules again
_ACKNOWLEDGED_S = 1.0  # a server that never says that it has begun to tell is taken at its silence


class End(Protocol):
    """A connection, or a lane: where a server is asked to tell of its resources."""

    async def call(self, method: str, params: JsonObject, *, deadline: float) -> Delivery:
        """Send one request and return its end."""
        ...

    def listen(self, uris: tuple[str, ...] = (), tasks: tuple[str, ...] = ()) -> None:
        """Ask a stateless server to tell of these resources and tasks."""
        ...


class Subscriptions:
    """Subscriptions at one server: over the connection that all share, or one caller's lanes."""

    def __init__(self, server: str) -> None:
        self.tasks = Following(self._listen)
        self._server = server
        self._told: dict[str, list[Callable[[], None]]] = {}
        self._begun: dict[str, asyncio.Event] = {}  # whether a stateless server tells of a URI
        self._due: dict[str, None] = {}  # updated and not told yet, in the order of the first
        self._is_telling = False
        self._ends: dict[End, tuple[Spoken, TaskGroup]] = {}  # those that are open

    @property
    def uris(self) -> tuple[str, ...]:
        """What is subscribed to."""
        return tuple(self._told)

    def admit(self, end: End, spoken: Spoken, tasks: TaskGroup) -> None:
        """Have what is subscribed to from now on told by an end as well."""
        self._ends[end] = spoken, tasks

    def attach(self, end: End, spoken: Spoken, tasks: TaskGroup) -> None:
        """Use a new connection or session: subscribe again, and take it that all was updated."""
        self.admit(end, spoken, tasks)
        end.listen(self.uris, self.tasks.ids)
        self.tasks.missed()
        for uri in self.uris:
            if spoken.era is Era.LEGACY:
                tasks.start_soon(self._request, end, _SUBSCRIBE, uri)
            self.updated({"uri": uri})

    async def renew(self, connection: End) -> None:
        """Wait until a new connection of the handshake era is subscribed, before it is used."""
        async with anyio.create_task_group() as tasks:
            for uri in self.uris:
                tasks.start_soon(self._request, connection, _SUBSCRIBE, uri)
                self.updated({"uri": uri})

    def detach(self, end: End) -> None:
        """A connection is lost; what is subscribed to is not forgotten."""
        self._ends.pop(end, None)

    async def add(
        self,
        end: End,
        uri: str,
        params: JsonObject,
        told: Callable[[], None],
        *,
        spoken: Spoken,
        deadline: float,
    ) -> Callable[[], None] | Rejected | Undelivered:
        """Subscribe; returns the way out. The server is asked for the first of a URI only."""
        if not spoken.watches:
            return Rejected(
                code=METHOD_NOT_FOUND, message=f"`{self._server}` offers no subscriptions"
            )
        if spoken.era is Era.LEGACY and uri not in self._told:
            reply = await end.call(_SUBSCRIBE, params, deadline=deadline)
            if not isinstance(reply, Delivered):
                return reply
        first = uri not in self._told
        leave = self.follow(uri, told, told_by=end)
        if spoken.era is Era.MODERN:
            if first:
                self._begun[uri] = asyncio.Event()
                end.listen(self.uris, self.tasks.ids)
            await self._until_begun(uri, leave, deadline)
        return leave

    def follow(
        self, uri: str, told: Callable[[], None], *, told_by: End | None = None
    ) -> Callable[[], None]:
        """Subscribe at all ends but the one that tells already; returns the way out."""
        if uri not in self._told:
            for end, (spoken, tasks) in self._ends.items():
                if end is not told_by and spoken.era is Era.LEGACY:
                    tasks.start_soon(self._request, end, _SUBSCRIBE, uri)
        self._told.setdefault(uri, []).append(told)
        return partial(self._remove, uri, told)

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
        for end, (spoken, tasks) in self._ends.items():
            if spoken.era is Era.MODERN:
                end.listen(self.uris, self.tasks.ids)
            else:
                tasks.start_soon(self._request, end, _UNSUBSCRIBE, uri)

    def _listen(self) -> None:
        """Ask anew: what is followed has changed."""
        for end, (spoken, _) in self._ends.items():
            if spoken.era is Era.MODERN:
                end.listen(self.uris, self.tasks.ids)

    async def _request(self, end: End, method: str, uri: str) -> None:
        """Ask for something that nobody can be told the end of, for as long as it is wanted.

        A lane has one request at a time: calls may go first.
        """
        reply: Delivery | None = None
        while reply is None or (isinstance(reply, Undelivered) and reply.failure is Failure.BUSY):
            if (uri in self._told) is not (method == _SUBSCRIBE):
                return
            deadline = asyncio.get_running_loop().time() + _PATIENCE_S
            reply = await end.call(method, {"uri": uri}, deadline=deadline)
