"""The SDK's server behind our gate: the handshake era, and stdio in both eras.

A middleware answers what the gateway serves itself, so that no model of the SDK drops fields,
rounds numbers or leaks `resultType` to an old client. Everything else (handshake, ping, unknown
methods, cancellation, streams) stays the SDK's. This module and `sessions` know its internals.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final

import anyio
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from gateway.clock import Clock
from gateway.errors import BadCursor
from gateway.listen.arrivals import ARRIVAL, Arrival
from gateway.listen.backchannel import Channel, SdkCaller
from gateway.listen.callers import progress_token
from gateway.listen.clients import Client, Clients, Outbox
from gateway.listen.faults import log_fault
from gateway.listen.gate import Gate, ServerInfo
from gateway.listen.ladder import cursor_of, log_level_of
from gateway.listen.levels import LEVELS, is_level
from gateway.listen.methods import (
    DISCOVER,
    HANDLED,
    HANDLED_STATELESS,
    LISTEN,
    LISTS,
    SET_LEVEL,
    SUBSCRIBE,
    UNSUBSCRIBE,
)
from gateway.listen.proposals import Envelope, named, propose
from gateway.listen.results import ModernResults, legacy_capabilities, legacy_listed, legacy_result
from gateway.listen.rpc import OVERLOADED, RpcError, of_wire
from gateway.listen.subscriptions import MOST_WATCHED, Listener, Subscriptions
from gateway.listen.weighed import WeighedError
from gateway.protocol.words import (
    CAPABILITIES_KEY,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MODERN_VERSION,
)
from gateway.types.calls import Era, Method
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Finished
from gateway.types.tools import Listed

STDIO_SESSION: Final = "stdio"
_MAX_STREAMS: Final = 16  # open `subscriptions/listen` of a client over stdio

_Context = ServerRequestContext[Any, Any]

_MODERN: Final = frozenset({*HANDLED_STATELESS, *LISTS, DISCOVER, LISTEN})
_LEGACY: Final = frozenset({*HANDLED, *LISTS, SET_LEVEL, SUBSCRIBE, UNSUBSCRIBE})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """One request, as the SDK and our transport understand it."""

    method: str
    params: JsonObject
    arrival: Arrival
    caller: SdkCaller
    envelope: Envelope
    connection: Connection

    @property
    def is_modern(self) -> bool:
        return self.caller.era is Era.MODERN


class SdkFront:
    """Our gate as an SDK server, for any number of connections."""

    def __init__(self, gate: Gate, *, info: ServerInfo, clock: Clock) -> None:
        self._gate = gate
        self._clock = clock
        self._modern = ModernResults(info, versions=[MODERN_VERSION])
        self._clients = Clients(gate)
        self._subscriptions = Subscriptions(
            gate, clock=clock, max_streams=_MAX_STREAMS, max_per_principal=_MAX_STREAMS
        )
        self.server: Server[Any] = Server(
            info.name, version=info.version, instructions=info.instructions
        )
        # The SDK's own tracing goes: the pipeline makes the one span of a call.
        self.server.middleware = [self._answer]

    def announcing(self) -> AbstractAsyncContextManager[None]:
        """Tell connected clients what changes, for as long as the context is open."""
        return self._clients.announcing()

    async def _answer(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        is_modern = ctx.protocol_version == MODERN_VERSION
        if ctx.method in (_MODERN if is_modern else _LEGACY):
            return await self._serve(ctx)
        match ctx.method:
            case "initialize":
                return await self._initialize(ctx, call_next)
            case "notifications/initialized" if not is_modern:
                self._clients.of(_connection(ctx)).is_ready = True
                return await call_next(ctx)
            case "notifications/roots/list_changed" if not is_modern:
                session = _connection(ctx).session_id or STDIO_SESSION
                self._gate.roots_changed(_arrival(ctx).principal, session)
                return await call_next(ctx)
            case _:
                return await call_next(ctx)

    async def _initialize(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        """Let the SDK negotiate; what is offered and what is declared pass as they are."""
        result = await call_next(ctx)
        declared: Json = (ctx.params or {}).get("capabilities")
        client = self._clients.of(_connection(ctx))
        client.capabilities = declared if isinstance(declared, dict) else {}
        client.name = named(ctx.params.get("clientInfo") if ctx.params is not None else None)
        if not isinstance(result, dict):
            return result
        return {**result, "capabilities": legacy_capabilities(self._gate.offers())}

    async def _serve(self, ctx: _Context) -> HandlerResult:
        if not _connection(ctx).initialize_accepted:
            raise MCPError(code=INVALID_REQUEST, message="send `initialize` first")
        if ctx.request_id is None:
            return None
        request = self._understand(ctx)
        if isinstance(request, _Request):
            try:
                answer = await self._respond(request)
            except Exception as error:
                log_fault("a request", error)
                answer = RpcError(code=INTERNAL_ERROR, message="Internal error")
            finally:
                request.caller.is_answered = True
            if not isinstance(answer, RpcError):
                return request.arrival.carried(answer)
        else:
            answer = request
        kind = WeighedError if answer.is_weighed else MCPError
        raise kind(code=answer.code, message=answer.message, data=answer.data)

    async def _respond(self, request: _Request) -> JsonObject | RpcError:
        handled = HANDLED_STATELESS.get(request.method)
        if handled is not None:
            return await self._call(handled, request)
        if request.method in LISTS:
            return await self._list(LISTS[request.method], request)
        client = self._clients.of(request.connection)
        match request.method:
            case "server/discover":
                return self._modern.discover(self._gate.offers())
            case "subscriptions/listen":
                return await self._listen(request)
            case "logging/setLevel":
                return _set_level(client, request.params)
            case "resources/subscribe":
                return await self._subscribe(client, request)
            case _:  # `resources/unsubscribe`
                return _unsubscribe(client, request.params)

    async def _call(self, method: Method, request: _Request) -> JsonObject | RpcError:
        call = propose(method, request.params, request.envelope, request.caller, self._clock)
        if isinstance(call, RpcError):
            return call
        finished = await self._gate.handle(call)
        if finished.error is not None:
            return of_wire(finished.error)
        if request.is_modern:
            return self._modern.stamp(finished.result, method)
        return legacy_result(finished.result)

    async def _list(self, kind: Listed, request: _Request) -> JsonObject | RpcError:
        cursor = cursor_of(request.params)
        if isinstance(cursor, RpcError):
            return cursor
        try:
            page = await self._gate.list_items(
                kind, request.arrival.principal, request.caller, cursor=cursor
            )
        except BadCursor:
            return RpcError(code=INVALID_PARAMS, message="`cursor` is not one of this server's")
        return self._modern.listed(kind, page) if request.is_modern else legacy_listed(kind, page)

    async def _listen(self, request: _Request) -> JsonObject | RpcError:
        """Serve a stream over stdio, until it is cancelled or the client leaves."""
        answer: JsonObject | RpcError = {}
        async with anyio.create_task_group() as tasks:
            outbox = Outbox(tasks.start_soon, request.caller.channel.notify)
            listener = Listener(envelope=request.envelope, caller=request.caller, push=outbox.put)
            answer = await self._subscriptions.listen(request.params, listener)
        return answer if isinstance(answer, RpcError) else self._modern.stamp(answer)

    async def _subscribe(self, client: Client, request: _Request) -> JsonObject | RpcError:
        call = propose(
            Method.SUBSCRIBE, request.params, request.envelope, request.caller, self._clock
        )
        if isinstance(call, RpcError):
            return call
        uri = call.name
        if uri in client.watches:
            return {}
        if len(client.watches) >= MOST_WATCHED:
            return RpcError(code=OVERLOADED, message="too many subscriptions in this session")
        leave = await self._gate.watch(call, lambda: client.updated(uri))
        if isinstance(leave, Finished):
            if leave.error is None:
                return RpcError(code=METHOD_NOT_FOUND, message="there is nothing to subscribe to")
            return of_wire(leave.error)
        client.watch(uri, leave)
        return {}

    def _understand(self, ctx: _Context) -> _Request | RpcError:
        params: JsonObject = dict(ctx.params or {})
        found = params.get("_meta")
        meta: JsonObject = found if isinstance(found, dict) else {}
        arrival, connection = _arrival(ctx), _connection(ctx)
        is_modern = ctx.protocol_version == MODERN_VERSION
        level, declared, session = log_level_of(meta), meta.get(CAPABILITIES_KEY), ""
        client: Client | None = None
        if not is_modern:
            client = self._clients.of(connection)
            level, declared = client.log_level, client.capabilities
            session = connection.session_id or STDIO_SESSION
        if isinstance(level, RpcError):
            return level
        request_id = arrival.request_id if arrival.request_id is not None else ""
        return _Request(
            method=ctx.method,
            params=params,
            arrival=arrival,
            connection=connection,
            caller=SdkCaller(
                era=Era.MODERN if is_modern else Era.LEGACY,
                protocol_version=ctx.protocol_version,
                transport=arrival.transport,
                wants_progress=progress_token(meta) is not None,
                channel=_channel(ctx),
                carried=arrival.carried,
                capabilities=declared if isinstance(declared, dict) else {},
                log_level=level,
                session=session,
                client=client,
            ),
            envelope=Envelope(
                principal=arrival.principal,
                request_id=request_id,
                input_error=arrival.input_error,
                trace_header=arrival.trace_header,
                client_name=client.name if client is not None else "",
                idempotency_key=arrival.idempotency_key,
                run_header=arrival.run_header,
                peer=arrival.peer,
            ),
        )


def _set_level(client: Client, params: JsonObject) -> JsonObject | RpcError:
    level = params.get("level")
    if isinstance(level, str) and is_level(level):
        client.log_level = level
        return {}
    text = f"`params.level` must be one of `{'`, `'.join(LEVELS)}`"
    return RpcError(code=INVALID_PARAMS, message=text)


def _unsubscribe(client: Client, params: JsonObject) -> JsonObject | RpcError:
    uri = params.get("uri")
    if not isinstance(uri, str) or not uri:
        return RpcError(code=INVALID_PARAMS, message="`params.uri` must be a non-empty string")
    client.unwatch(uri)
    return {}


def _arrival(ctx: _Context) -> Arrival:
    """Return what travels with the message: by itself on stdio, in the scope on HTTP."""
    request: Any = ctx.request
    found: object = request if isinstance(request, Arrival) else request.scope[ARRIVAL]
    assert isinstance(found, Arrival)  # noqa: S101 - set by our own transports on every message
    return found


def _connection(ctx: _Context) -> Connection:
    return ctx.session._connection  # pyright: ignore[reportPrivateUsage] - no public way to it


def _channel(ctx: _Context) -> Channel:
    return ctx.session._request_outbound  # pyright: ignore[reportPrivateUsage] - as above
