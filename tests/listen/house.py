"""A small gate with real tools, and the fronts running before it on real sockets."""

import socket
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import anyio

from gateway.clock import SystemClock
from gateway.errors import BadCursor
from gateway.identity import metadata
from gateway.identity.challenge import Challenge
from gateway.identity.shown import Shown
from gateway.listen.http import HttpFront
from gateway.listen.options import HttpOptions
from gateway.listen.serve import ServeOptions, serve
from gateway.types.calls import AuthMethod, Caller, Method, Principal, ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Finished, Status
from gateway.types.refused import TurnedAway
from gateway.types.tools import Kind, Listed
from tests.listen import library, talk

LIMIT_S = 5.0
VERSION = "2026-07-28"
META: JsonObject = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
RESOURCE = "http://127.0.0.1/mcp"


def a_principal(
    subject: str, *, tenant: str = "t1", method: AuthMethod = AuthMethod.API_KEY
) -> Principal:
    return Principal(
        issuer="config",
        subject=subject,
        client=subject,
        tenant=tenant,
        user=subject,
        roles=frozenset(),
        scopes=frozenset(),
        method=method,
    )


class Keys:
    """An authenticator that knows three bearer keys."""

    def __init__(self) -> None:
        self.known = {
            b"bearer ada": a_principal("ada"),
            b"bearer bob": a_principal("bob", tenant="t2"),
            b"bearer jot": a_principal("jot", method=AuthMethod.JWT),
        }

    async def authenticate(self, headers: Iterable[tuple[bytes, bytes]]) -> Principal | Challenge:
        shown = dict(headers).get(b"authorization", b"").lower()
        found = self.known.get(shown)
        if found is not None:
            return found
        return Challenge(
            status=401,
            error="invalid_token" if shown else "",
            description="send a credential",
            resource_metadata=metadata.url(RESOURCE),
        )

    def at_once(
        self, headers: Mapping[bytes, bytes], shown: Shown | None = None
    ) -> Principal | None:
        del shown
        return self.known.get(headers.get(b"authorization", b"").lower())

    def insufficient_scope(self, scopes: Iterable[str]) -> Challenge:
        return metadata.insufficient_scope(scopes, resource=RESOURCE)

    def metadata(self) -> JsonObject:
        return metadata.document(resource=RESOURCE, issuers=["https://as.example"], scopes=[])


def _tool(name: str, properties: JsonObject | None = None) -> JsonObject:
    schema: JsonObject = {"type": "object", "properties": properties or {}}
    return {"name": name, "inputSchema": schema, "vendor": {"kept": True}}


@dataclass
class Page:
    items: list[JsonObject]
    next_cursor: str | None = None


@dataclass
class House:
    """A gate whose tools are real coroutines; it notes every call that reaches it."""

    calls: list[ProposedCall] = field(default_factory=list[ProposedCall])
    started: anyio.Event = field(default_factory=anyio.Event)
    cancelled: anyio.Event = field(default_factory=anyio.Event)
    release: anyio.Event = field(default_factory=anyio.Event)
    listeners: list[Callable[[Kind], None]] = field(default_factory=list[Callable[[Kind], None]])
    turned: list[TurnedAway] = field(default_factory=list[TurnedAway])
    heard: anyio.Event = field(default_factory=anyio.Event)
    watchers: list[tuple[str, Callable[[], None]]] = field(
        default_factory=list[tuple[str, Callable[[], None]]]
    )
    unwatched: anyio.Event = field(default_factory=anyio.Event)
    followers: list[tuple[str, Callable[[JsonObject], None]]] = field(
        default_factory=list[tuple[str, Callable[[JsonObject], None]]]
    )
    roots: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    offered: JsonObject = field(default_factory=lambda: library.OFFERS)
    tools: list[JsonObject] = field(
        default_factory=lambda: [
            _tool("echo"),
            {**_tool("open"), "outputSchema": {"type": "array"}},
            _tool("region", {"region": {"type": "string", "x-mcp-header": "Region"}}),
            _tool("slow"),
            _tool("steps"),
        ]
    )

    async def handle(self, call: ProposedCall) -> Finished:
        self.calls.append(call)
        if call.input_error:
            return _refused(Status.INVALID_ARGUMENTS, call.input_error)
        if call.method is not Method.CALL_TOOL:
            return library.answer(call)
        if call.name in talk.TOOLS:
            return await talk.TOOLS[call.name](call)
        match call.name:
            case "echo" | "region":
                return Finished(
                    result={"content": [], "structuredContent": call.arguments}, status=Status.OK
                )
            case "open":
                value = call.arguments["value"]
                return Finished(
                    result={"content": [], "structuredContent": value}, status=Status.OK
                )
            case "slow":
                return await self._slow()
            case "steps":
                return await self._steps(call.caller)
            case "scoped":
                refusal = _refused(Status.FORBIDDEN, "the scope is missing")
                return replace(refusal, scopes=("pay:write", "pay:read"))
            case "broken":
                raise RuntimeError("secret-in-an-exception")
            case _:
                return _refused(Status.UNKNOWN_TOOL, "there is no such tool")

    async def _slow(self) -> Finished:
        self.started.set()
        try:
            await self.release.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled.set()
            raise
        return Finished(result={"content": [{"type": "text", "text": "late"}]}, status=Status.OK)

    async def _steps(self, caller: Caller) -> Finished:
        for step in range(3):
            await caller.progress(step, 3, f"step {step}")
        return Finished(result={"content": [{"type": "text", "text": "done"}]}, status=Status.OK)

    async def list_items(
        self, kind: Listed, principal: Principal, caller: Caller, *, cursor: str | None
    ) -> Page:
        items = self.tools if kind is Listed.TOOLS else library.LISTS[kind]
        if cursor is None:
            more = len(items) > 3
            return Page(items=items[:3], next_cursor="three" if more else None)
        if cursor != "three":
            raise BadCursor(cursor)
        return Page(items=items[3:])

    def offers(self) -> JsonObject:
        return self.offered

    async def watch(
        self, call: ProposedCall, told: Callable[[], None]
    ) -> Callable[[], None] | Finished:
        self.calls.append(call)
        if call.name not in library.TEXTS:
            return library.missing(call.name)
        self.watchers.append((call.name, told))
        return lambda: self._unwatch(call.name, told)

    async def follow(
        self, call: ProposedCall, told: Callable[[JsonObject], None]
    ) -> Callable[[], None] | Finished:
        self.calls.append(call)
        if not call.name.startswith("task-"):
            return library.missing(call.name)
        follower = (call.name, told)
        self.followers.append(follower)
        return lambda: self.followers.remove(follower)

    def _unwatch(self, uri: str, told: Callable[[], None]) -> None:
        self.watchers.remove((uri, told))
        self.unwatched.set()

    def tool_schema(self, principal: Principal, name: str) -> JsonObject | None:
        found = next((tool for tool in self.tools if tool["name"] == name), None)
        schema = found["inputSchema"] if found else None
        return schema if isinstance(schema, dict) else None

    def on_changed(self, callback: Callable[[Kind], None]) -> Callable[[], None]:
        self.listeners.append(callback)
        self.heard.set()
        return lambda: self.listeners.remove(callback)

    def roots_changed(self, principal: Principal, session: str) -> None:
        self.roots.append((principal.user, session))

    def turned_away(self, what: TurnedAway) -> None:
        self.turned.append(what)

    def forget(self) -> None:
        """Forget the calls of the test before."""
        self.calls.clear()
        self.turned.clear()
        self.started, self.cancelled, self.release = anyio.Event(), anyio.Event(), anyio.Event()

    def change(self, kind: Kind = Kind.TOOL) -> None:
        """Say that a list is another one now."""
        for listener in list(self.listeners):
            listener(kind)

    def update(self, uri: str) -> None:
        """Say that a resource was updated."""
        for watched, told in list(self.watchers):
            if watched == uri:
                told()


def _refused(status: Status, reason: str) -> Finished:
    structured: JsonObject = {"status": status.value, "reason": reason, "executed": "no"}
    return Finished(
        result={
            "content": [{"type": "text", "text": reason}],
            "structuredContent": structured,
            "isError": True,
        },
        status=status,
    )


@dataclass
class Place:
    """Where a running front is, and how to stop it."""

    port: int
    house: House
    front: HttpFront
    stop: anyio.Event

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"


@asynccontextmanager
async def serving(
    house: House,
    options: HttpOptions | None = None,
    *,
    grace_s: int = 2,
    max_connections: int = 1000,
    keys: Keys | None = None,
) -> AsyncGenerator[Place]:
    """Serve the house over HTTP on a free port until the block ends."""
    sock = socket.create_server(("127.0.0.1", 0))
    front = HttpFront(house, keys or Keys(), clock=SystemClock(), options=options)
    place = Place(port=sock.getsockname()[1], house=house, front=front, stop=anyio.Event())
    ready = anyio.Event()

    async def run() -> None:
        await serve(
            front,
            sock,
            stop=place.stop,
            on_ready=ready.set,
            on_closing=front.close_streams,
            options=ServeOptions(grace_s=grace_s, max_connections=max_connections),
        )

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        with anyio.fail_after(LIMIT_S):
            await ready.wait()
        try:
            yield place
        finally:
            place.stop.set()


def call_body(name: str, arguments: Json = None, *, meta: JsonObject | None = None) -> JsonObject:
    """Return a stateless `tools/call`."""
    params: JsonObject = {"name": name, "_meta": {**META, **(meta or {})}}
    if arguments is not None:
        params["arguments"] = arguments
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
