"""`subscriptions/listen`: the stream on which a stateless client learns of changes."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Final

import anyio

from gateway.clock import Clock
from gateway.listen.extensions import NO_TASKS, knows_tasks
from gateway.listen.gate import Gate
from gateway.listen.methods import CHANGED, TASK, UPDATED
from gateway.listen.proposals import Envelope, propose
from gateway.listen.rpc import OVERLOADED, RpcError
from gateway.protocol.words import INVALID_PARAMS
from gateway.types.calls import Caller, Method, Principal, ProposedCall
from gateway.types.json import JsonObject
from gateway.types.outcomes import Finished
from gateway.types.tools import Kind

MOST_WATCHED: Final = 100  # resources that one session or stream may subscribe to
SUBSCRIPTION_KEY: Final = "io.modelcontextprotocol/subscriptionId"
_ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
_RESOURCES: Final = "resourceSubscriptions"
_TASK_IDS: Final = "taskIds"
_LISTS: Final = {
    "toolsListChanged": (Kind.TOOL, "tools"),
    "promptsListChanged": (Kind.PROMPT, "prompts"),
    "resourcesListChanged": (Kind.RESOURCE, "resources"),
}

Leave = Callable[[], None]


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
        uris = _names(wanted, _RESOURCES, "URIs")
        tasks = _names(wanted, _TASK_IDS, "ids")
        if isinstance(uris, RpcError):
            return uris
        if isinstance(tasks, RpcError):
            return tasks
        if tasks and not knows_tasks(listener.caller):
            return NO_TASKS
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
                followed = await self._follow(stream, tasks, params, listener)
                if followed:
                    honoured[_TASK_IDS] = [*followed]
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

        async def watch(uri: str) -> Leave | Finished | RpcError:
            call = self._proposed(Method.SUBSCRIBE, {"uri": uri}, params, listener)
            if isinstance(call, RpcError):
                return call
            return await self._gate.watch(call, lambda: stream.tell(UPDATED, {"uri": uri}))

        return await stream.join(uris, watch)

    async def _follow(
        self, stream: "_Stream", tasks: Sequence[str], params: JsonObject, listener: Listener
    ) -> list[str]:
        """Follow each task that is the caller's; return those, in the order they came in."""

        async def follow(task: str) -> Leave | Finished | RpcError:
            call = self._proposed(Method.GET_TASK, {"taskId": task}, params, listener)
            if isinstance(call, RpcError):
                return call
            return await self._gate.follow(call, lambda told: stream.tell(TASK, told))

        return await stream.join(tasks, follow)

    def _proposed(
        self, method: Method, about: JsonObject, params: JsonObject, listener: Listener
    ) -> ProposedCall | RpcError:
        asked: JsonObject = {**about, "_meta": params.get("_meta", {})}
        return propose(method, asked, listener.envelope, listener.caller, self._clock)


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

    async def join(
        self, names: Sequence[str], way_in: Callable[[str], Awaitable[Leave | Finished | RpcError]]
    ) -> list[str]:
        """Join what may be joined, all at once; return it, in the order it came in."""
        joined: set[str] = set()

        async def try_one(name: str) -> None:
            leave = await way_in(name)
            if not isinstance(leave, Finished | RpcError):
                self.ways_out.append(leave)
                joined.add(name)

        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(try_one, name)
        return [name for name in names if name in joined]

    def tell(self, method: str, params: JsonObject) -> None:
        """Send news, but never before the acknowledgement."""
        meta = params.get("_meta")
        stamped: JsonObject = {
            **params,
            "_meta": {**(meta if isinstance(meta, dict) else {}), **self.meta},
        }
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


def _names(wanted: JsonObject, member: str, what: str) -> list[str] | RpcError:
    """Return each URI or id once, and no more than one stream may be about."""
    found = wanted.get(member)
    found = [] if found is None else found
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        return _malformed(f"`notifications.{member}` must be a list of {what}")
    return [*dict.fromkeys(str(name) for name in found)][:MOST_WATCHED]


def _malformed(message: str) -> RpcError:
    return RpcError(code=INVALID_PARAMS, message=message)
