"""The SDK's server behind our gate: the handshake era, and stdio in both eras.

A middleware answers `tools/list` and `tools/call` itself, so that no model of the SDK drops fields,
rounds numbers or leaks `resultType` to an old client. Everything else (handshake, ping, unknown
methods, cancellation, streams) stays the SDK's. This module and `sessions` know its internals.
"""

import contextlib
import weakref
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import anyio
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import ServerCapabilities, ToolsCapability

from gateway import ids, jsontext
from gateway.clock import Clock
from gateway.errors import BadCursor
from gateway.listen.callers import MODERN_VERSION, SdkCaller, progress_token
from gateway.listen.faults import log_fault
from gateway.listen.gate import Gate, ServerInfo
from gateway.listen.ladder import cursor_of
from gateway.listen.proposals import Envelope, propose
from gateway.listen.results import ModernResults, legacy_result, legacy_tools
from gateway.listen.rpc import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, RpcError, of_wire
from gateway.listen.subscriptions import TOOLS_CHANGED
from gateway.types.calls import Era, Principal
from gateway.types.json import Json, JsonObject

ARRIVAL: Final = "weighbridge.arrival"  # key in the ASGI scope
_TICKET: Final = "weighbridge.answer"
# A slow client loses progress; it never holds up the server whose progress it is.
_PROGRESS_DEADLINE_S: Final = 1.0
_ANNOUNCE_DEADLINE_S: Final = 5.0

_Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """What the transport found out about a message before the SDK got it."""

    principal: Principal
    transport: str
    input_error: str = ""
    trace_header: str = ""
    peer: str = ""
    # Answers that the SDK carries by a ticket, so that exact numbers stay exact; else empty.
    tickets: dict[bytes, bytes] | None = field(default=None)

    def carried(self, result: JsonObject) -> JsonObject:
        """Return what the SDK is to send: the result, or a ticket that `redeem` exchanges."""
        if self.tickets is None:
            return result
        ticket: JsonObject = {_TICKET: ids.new("answer")}
        self.tickets[jsontext.dump(ticket)] = jsontext.dump(result)
        return ticket

    def redeem(self, body: bytes) -> bytes:
        """Put the answers in the place of their tickets."""
        for ticket, answer in (self.tickets or {}).items():
            body = body.replace(ticket, answer)
        return body


class _Server(Server[Any]):
    """An SDK server that offers tools whose list changes, and nothing else."""

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> ServerCapabilities:
        return ServerCapabilities(tools=ToolsCapability(list_changed=True))


class SdkFront:
    """Our gate as an SDK server, for any number of connections."""

    def __init__(self, gate: Gate, *, info: ServerInfo, clock: Clock) -> None:
        self._gate = gate
        self._clock = clock
        self._modern = ModernResults(info, versions=[MODERN_VERSION])
        self._bus = InMemorySubscriptionBus()
        self._changed = anyio.Event()
        self._connections: weakref.WeakSet[Connection] = weakref.WeakSet()
        self.server: Server[Any] = _Server(
            info.name,
            version=info.version,
            instructions=info.instructions,
            on_subscriptions_listen=ListenHandler(self._bus),
        )
        # The SDK's own tracing goes: the pipeline makes the one span of a call.
        self.server.middleware = [self._answer]

    @contextlib.asynccontextmanager
    async def announcing(self) -> AsyncGenerator[None]:
        """Tell connected clients when their tools change, for as long as the context is open."""
        leave = self._gate.on_tools_changed(self._note_change)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._announce)
                yield
                tasks.cancel_scope.cancel()
        finally:
            leave()

    def _note_change(self) -> None:
        self._changed.set()

    async def _announce(self) -> None:
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()  # changes during the round make one more round
            async with anyio.create_task_group() as tasks:
                for connection in list(self._connections):
                    tasks.start_soon(_tell, connection)
                await self._bus.publish(ToolsListChanged())

    async def _answer(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        match ctx.method:
            case "tools/call" | "tools/list":
                return await self._serve(ctx)
            case "server/discover" if ctx.protocol_version == MODERN_VERSION:
                return self._modern.discover
            case "subscriptions/listen":
                return await call_next(replace(ctx, params=_tools_only(ctx.params)))
            case "notifications/initialized":
                self._connections.add(_connection(ctx))
                return await call_next(ctx)
            case _:
                return await call_next(ctx)

    async def _serve(self, ctx: _Context) -> HandlerResult:
        if not _connection(ctx).initialize_accepted:
            raise MCPError(code=INVALID_REQUEST, message="send `initialize` first")
        if ctx.request_id is None:
            return None
        arrival = _arrival(ctx)
        try:
            answer = await (self._call if ctx.method == "tools/call" else self._list)(ctx, arrival)
        except Exception as error:
            log_fault("a request", error)
            raise MCPError(code=INTERNAL_ERROR, message="Internal error") from None
        if isinstance(answer, RpcError):
            raise MCPError(code=answer.code, message=answer.message, data=answer.data)
        return arrival.carried(answer)

    async def _call(self, ctx: _Context, arrival: Arrival) -> JsonObject | RpcError:
        envelope = Envelope(
            principal=arrival.principal,
            request_id=ctx.request_id if ctx.request_id is not None else "",
            input_error=arrival.input_error,
            trace_header=arrival.trace_header,
            peer=arrival.peer,
        )
        caller = _caller(ctx, arrival)
        call = propose(dict(ctx.params or {}), envelope, caller, self._clock)
        if isinstance(call, RpcError):
            return call
        finished = await self._gate.handle(call)
        if finished.error is not None:
            return of_wire(finished.error)
        if caller.era is Era.MODERN:
            return self._modern.stamp(finished.result)
        return legacy_result(finished.result)

    async def _list(self, ctx: _Context, arrival: Arrival) -> JsonObject | RpcError:
        cursor = cursor_of(dict(ctx.params or {}))
        if isinstance(cursor, RpcError):
            return cursor
        caller = _caller(ctx, arrival)
        try:
            page = await self._gate.list_tools(arrival.principal, caller, cursor=cursor)
        except BadCursor:
            return RpcError(code=INVALID_PARAMS, message="`cursor` is not one of this server's")
        return self._modern.tools(page) if caller.era is Era.MODERN else legacy_tools(page)


def _caller(ctx: _Context, arrival: Arrival) -> SdkCaller:
    meta: Json = (ctx.params or {}).get("_meta")
    is_modern = ctx.protocol_version == MODERN_VERSION

    async def report(progress: float, total: float | None, message: str | None) -> None:
        with anyio.move_on_after(_PROGRESS_DEADLINE_S):
            await ctx.session.report_progress(progress, total, message)

    return SdkCaller(
        era=Era.MODERN if is_modern else Era.LEGACY,
        protocol_version=ctx.protocol_version,
        transport=arrival.transport,
        wants_progress=isinstance(meta, dict) and progress_token(meta) is not None,
        report=report,
    )


def _arrival(ctx: _Context) -> Arrival:
    """Return what travels with the message: by itself on stdio, in the scope on HTTP."""
    request: Any = ctx.request
    found: object = request if isinstance(request, Arrival) else request.scope[ARRIVAL]
    assert isinstance(found, Arrival)  # noqa: S101 - set by our own transports on every message
    return found


def _connection(ctx: _Context) -> Connection:
    return ctx.session._connection  # pyright: ignore[reportPrivateUsage] - no public way to it


async def _tell(connection: Connection) -> None:
    with anyio.move_on_after(_ANNOUNCE_DEADLINE_S):
        await connection.notify(TOOLS_CHANGED, None)


def _tools_only(params: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Keep of a subscription what we can honour, so that the acknowledgement is true."""
    kept = dict(params or {})
    wanted: Json = kept.get("notifications")
    if isinstance(wanted, dict):
        kept["notifications"] = {
            key: value for key, value in wanted.items() if key == "toolsListChanged"
        }
    return kept
