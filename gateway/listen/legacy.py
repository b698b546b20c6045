"""The SDK's server behind our gate: the handshake era, and stdio in both eras.

A middleware answers what the gateway serves itself, so that no model of the SDK drops fields,
rounds numbers or leaks `resultType` to an old client. Everything else (handshake, ping, unknown
methods, streams) stays the SDK's. Over HTTP, `straight` answers in its place once the handshake is
done. This module and `sessions` know its internals.
"""

from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from gateway.clock import Clock
from gateway.listen.answering import ANSWERED, Answers, Request, in_session, meta_of
from gateway.listen.arrivals import ARRIVAL, Arrival
from gateway.listen.backchannel import Channel, ChannelCaller
from gateway.listen.callers import progress_token
from gateway.listen.clients import Client, Clients
from gateway.listen.gate import Gate, ServerInfo
from gateway.listen.ladder import log_level_of
from gateway.listen.piped import STDIO, Served
from gateway.listen.proposals import Envelope, named
from gateway.listen.results import legacy_capabilities
from gateway.listen.rpc import RpcError
from gateway.listen.weighed import WeighedError
from gateway.protocol.words import CAPABILITIES_KEY, INVALID_REQUEST, MODERN_VERSION
from gateway.types.calls import Era
from gateway.types.json import Json, JsonObject

STDIO_SESSION: Final = STDIO

_Context = ServerRequestContext[Any, Any]

_MODERN: Final = ANSWERED[Era.MODERN]
_LEGACY: Final = ANSWERED[Era.LEGACY]


class SdkFront:
    """Our gate as an SDK server, for any number of connections."""

    def __init__(self, gate: Gate, *, info: ServerInfo, clock: Clock) -> None:
        self._gate = gate
        self.answers = Answers(gate, info=info, clock=clock)
        self.clients = Clients(gate)
        self.server: Server[Any] = Server(
            info.name, version=info.version, instructions=info.instructions
        )
        self.served: Served | None = None  # over stdio, by the last request that was let through
        # The SDK's own tracing goes: the pipeline makes the one span of a call.
        self.server.middleware = [self._answer]

    def announcing(self) -> AbstractAsyncContextManager[None]:
        """Tell connected clients what changes, for as long as the context is open."""
        return self.clients.announcing()

    async def _answer(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        is_modern = ctx.protocol_version == MODERN_VERSION
        if ctx.method in (_MODERN if is_modern else _LEGACY):
            return await self._serve(ctx)
        match ctx.method:
            case "initialize":
                return await self._initialize(ctx, call_next)
            case "notifications/initialized" if not is_modern:
                self.clients.of(_connection(ctx)).is_ready = True
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
        client = self.clients.of(_connection(ctx))
        client.capabilities = declared if isinstance(declared, dict) else {}
        client.name = named(ctx.params.get("clientInfo") if ctx.params is not None else None)
        if not isinstance(result, dict):
            return result
        client.version = str(result["protocolVersion"])
        self.clients.introduced(_connection(ctx))
        return {**result, "capabilities": legacy_capabilities(self._gate.offers())}

    async def _serve(self, ctx: _Context) -> HandlerResult:
        if not _connection(ctx).initialize_accepted:
            raise MCPError(code=INVALID_REQUEST, message="send `initialize` first")
        if ctx.request_id is None:
            return None
        arrival = _arrival(ctx)
        if arrival.transport == STDIO:  # which has one client; of sessions nothing is held here
            is_modern = ctx.protocol_version == MODERN_VERSION
            client = None if is_modern else self.clients.of(_connection(ctx))
            self.served = Served(ctx.protocol_version, _connection(ctx), client)
        request = self._understand(ctx, arrival)
        is_fit = isinstance(request, Request)
        answer = await self.answers.answer(request) if is_fit else request
        if isinstance(answer, RpcError):
            kind = WeighedError if answer.is_weighed else MCPError
            raise kind(code=answer.code, message=answer.message, data=answer.data)
        return arrival.carried(answer)

    def _understand(self, ctx: _Context, arrival: Arrival) -> Request | RpcError:
        params: JsonObject = dict(ctx.params or {})
        channel, connection = _channel(ctx), _connection(ctx)
        if ctx.protocol_version != MODERN_VERSION:
            client = self.clients.of(connection)
            return in_session(
                ctx.method,
                params,
                _envelope(arrival, client),
                client=client,
                version=ctx.protocol_version,
                session=connection.session_id or STDIO_SESSION,
                transport=arrival.transport,
                wants_progress=progress_token(meta_of(params)) is not None,
                channel=channel,
                carried=arrival.carried,
            )
        meta = meta_of(params)
        level, declared = log_level_of(meta), meta.get(CAPABILITIES_KEY)
        if isinstance(level, RpcError):
            return level
        caller = ChannelCaller(
            era=Era.MODERN,
            protocol_version=ctx.protocol_version,
            transport=arrival.transport,
            wants_progress=progress_token(meta) is not None,
            channel=channel,
            carried=arrival.carried,
            capabilities=declared if isinstance(declared, dict) else {},
            log_level=level,
        )
        return Request(method=ctx.method, params=params, caller=caller, envelope=_envelope(arrival))


def _envelope(arrival: Arrival, client: Client | None = None) -> Envelope:
    return Envelope(
        principal=arrival.principal,
        request_id=arrival.request_id if arrival.request_id is not None else "",
        input_error=arrival.input_error,
        trace_header=arrival.trace_header,
        client_name=client.name if client is not None else "",
        idempotency_key=arrival.idempotency_key,
        run_header=arrival.run_header,
        peer=arrival.peer,
    )


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
