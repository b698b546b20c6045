"""`subscriptions/listen`: the stream on which a stateless client learns of changes."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Final

import anyio

from gateway.clock import Clock
from gateway.listen.clients import MOST_WATCHED
from gateway.listen.gate import Gate
from gateway.listen.methods import CHANGED, UPDATED
from gateway.listen.proposals import Envelope, propose
from gateway.listen.rpc import INVALID_PARAMS, OVERLOADED, RpcError
from gateway.types.calls import Caller, Method, Principal
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Finished
from gateway.types.tools import Kind

SUBSCRIPTION_KEY: Final = "io.modelcontextprotocol/subscriptionId"
_ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
_RESOURCES: Final = "resourceSubscriptions"
_LISTS: Final = {
    "toolsListChanged": (Kind.TOOL, "tools"),
    "promptsListChanged": (Kind.PROMPT, "prompts"),
    "resourcesListChanged": (Kind.RESOURCE, "resources"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Who listens, and how it is told; `push` never waits and keeps the order."""

    envelope: Envelope
    caller: Caller
    push: Callable[[str, JsonObject], None]


class Subscriptions:
    """The open streams; each belongs to one principal, and both counts are capped."""

    def __init__(
        self, gate: Gate, *, clock: Clock, max_streams: int, max_per_principal: int
    ) -> None:
        self._gate = gate
        self._clock = clock
        self._max_streams = max_streams
        self._max_per_principal = max_per_principal
        self._open: Counter[tuple[str, ...]] = Counter()
        self._closing = asyncio.Event()

    def close(self) -> None:
        """End every stream with its final response, and every later one at once."""
        self._closing.set()

    async def listen(self, params: JsonObject, listener: Listener) -> JsonObject | RpcError:
        """Acknowledge, then announce changes until the gateway stops; returns the final result."""
        wanted = params.get("notifications")
        if not isinstance(wanted, dict):
            return _malformed("`notifications` must be an object")
        uris = _uris(wanted.get(_RESOURCES))
        if isinstance(uris, RpcError):
            return uris
        principal = listener.envelope.principal
        if (
            self._open.total() >= self._max_streams
            or self._open[principal.owner] >= self._max_per_principal
        ):
            return RpcError(code=OVERLOADED, message="too many open subscriptions")
        with self._counted(principal):
            stream = _Stream(listener)
            try:
                honoured = self._join(stream, wanted)
                watched = await self._watch(stream, uris, params, listener)
                if watched:
                    honoured[_RESOURCES] = [*watched]
                stream.acknowledge(honoured)
                await self._closing.wait()
            finally:
                stream.leave()
        return {"_meta": stream.meta}

    @contextlib.contextmanager
    def _counted(self, principal: Principal) -> Generator[None]:
        owner = principal.owner
        self._open[owner] += 1
        try:
            yield
        finally:
            self._open[owner] -= 1
            if not self._open[owner]:
                del self._open[owner]

    def _join(self, stream: "_Stream", wanted: JsonObject) -> JsonObject:
        """Follow the wanted lists, and return those that are followed."""
        offers = self._gate.offers()
        honoured: JsonObject = {}
        kinds: list[Kind] = []
        for name, (kind, capability) in _LISTS.items():
            if wanted.get(name) is True and _offered(offers, capability, "listChanged"):
                honoured[name] = True
                kinds.append(kind)
        if kinds:
            stream.follow(self._gate, frozenset(kinds))
        return honoured

    async def _watch(
        self, stream: "_Stream", uris: Sequence[str], params: JsonObject, listener: Listener
    ) -> list[str]:
        """Subscribe to each resource that may be; return those, in the order they came in."""
        if not uris or not _offered(self._gate.offers(), "resources", "subscribe"):
            return []
        watched: set[str] = set()

        async def watch(uri: str) -> None:
            asked: JsonObject = {"uri": uri, "_meta": params.get("_meta", {})}
            call = propose(Method.SUBSCRIBE, asked, listener.envelope, listener.caller, self._clock)
            if isinstance(call, RpcError):
                return
            leave = await self._gate.watch(call, lambda: stream.tell(UPDATED, {"uri": uri}))
            if not isinstance(leave, Finished):
                stream.ways_out.append(leave)
                watched.add(uri)

        async with anyio.create_task_group() as tasks:
            for uri in uris:
                tasks.start_soon(watch, uri)
        return [uri for uri in uris if uri in watched]


class _Stream:
    """One open stream: what it has joined, and what waits for its acknowledgement."""

    def __init__(self, listener: Listener) -> None:
        self.meta: JsonObject = {SUBSCRIPTION_KEY: listener.envelope.request_id}
        self.ways_out: list[Callable[[], None]] = []
        self._push = listener.push
        self._early: list[tuple[str, JsonObject]] | None = []

    def follow(self, gate: Gate, kinds: frozenset[Kind]) -> None:
        """Announce changes of these lists."""

        def changed(kind: Kind) -> None:
            if kind in kinds:
                self.tell(CHANGED[kind], {})

        self.ways_out.append(gate.on_changed(changed))

    def tell(self, method: str, params: JsonObject) -> None:
        """Send news, but never before the acknowledgement."""
        stamped: JsonObject = {**params, "_meta": self.meta}
        if self._early is None:
            self._push(method, stamped)
        elif (method, stamped) not in self._early:
            self._early.append((method, stamped))

    def acknowledge(self, honoured: JsonObject) -> None:
        """Say what will be told, and tell what has happened since."""
        early, self._early = self._early or [], None
        self._push(_ACKNOWLEDGED, {"notifications": honoured, "_meta": self.meta})
        for news in early:
            self._push(*news)

    def leave(self) -> None:
        """Take every way out."""
        for way_out in self.ways_out:
            way_out()


def _offered(offers: JsonObject, capability: str, part: str) -> bool:
    found = offers.get(capability)
    return isinstance(found, dict) and found.get(part) is True


def _uris(wanted: Json) -> list[str] | RpcError:
    """Return each URI once, and no more than one stream may watch."""
    if wanted is None:
        return []
    if not isinstance(wanted, list):
        return _malformed("`notifications.resourceSubscriptions` must be a list of URIs")
    uris: dict[str, None] = {}
    for uri in wanted:
        if not isinstance(uri, str):
            return _malformed("`notifications.resourceSubscriptions` must be a list of URIs")
        uris[uri] = None
    return [*uris][:MOST_WATCHED]


def _malformed(message: str) -> RpcError:
    return RpcError(code=INVALID_PARAMS, message=message)
