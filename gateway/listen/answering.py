"""Answers requests of the handshake era, and those over stdio, whoever carries them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import anyio

from gateway.clock import Clock
from gateway.errors import BadCursor
from gateway.listen.backchannel import Channel, ChannelCaller
from gateway.listen.clients import Client, Outbox
from gateway.listen.faults import log_fault
from gateway.listen.gate import Gate, ServerInfo
from gateway.listen.ladder import cursor_of
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
from gateway.listen.proposals import Envelope, propose
from gateway.listen.results import ModernResults, legacy_listed, legacy_result
from gateway.listen.rpc import OVERLOADED, RpcError, of_wire
from gateway.listen.subscriptions import MOST_WATCHED, Listener, Subscriptions
from gateway.protocol.words import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MODERN_VERSION,
)
from gateway.types.calls import Era, Method
from gateway.types.json import JsonObject
from gateway.types.outcomes import Finished
from gateway.types.tools import Listed
from gateway.types.values import maker, value

_MAX_STREAMS: Final = 16  # open `subscriptions/listen` of a client over stdio

# The requests that are answered here, by era.
ANSWERED: Final[Mapping[Era, frozenset[str]]] = MappingProxyType(
    {
        Era.MODERN: frozenset({*HANDLED_STATELESS, *LISTS, DISCOVER, LISTEN}),
        Era.LEGACY: frozenset({*HANDLED, *LISTS, SET_LEVEL, SUBSCRIBE, UNSUBSCRIBE}),
    }
)


@value
class Request:
    """One request whose method is among those that are answered here."""

    method: str
    params: JsonObject
    caller: ChannelCaller
    envelope: Envelope
    client: Client | None = None  # of the handshake era


_request: Final = maker(Request)


def meta_of(params: JsonObject) -> JsonObject:
    """Return the `_meta` of a request, empty where there is none that could be read."""
    found = params.get("_meta")
    return found if isinstance(found, dict) else {}


def in_session(
    method: str,
    params: JsonObject,
    envelope: Envelope,
    *,
    client: Client,
    version: str,
    session: str,
    transport: str,
    wants_progress: bool,
    channel: Channel,
    carried: Callable[[JsonObject], JsonObject],
) -> Request:
    """Return a request of a client of the handshake era."""
    caller = ChannelCaller(
        era=Era.LEGACY,
        protocol_version=version,
        transport=transport,
        wants_progress=wants_progress,
        channel=channel,
        carried=carried,
        capabilities=client.capabilities,
        log_level=client.log_level,
        session=session,
        client=client,
    )
    return _request(method=method, params=params, caller=caller, envelope=envelope, client=client)


class Answers:
    """The gate, as clients of the handshake era and over stdio see it."""

    def __init__(self, gate: Gate, *, info: ServerInfo, clock: Clock) -> None:
        self._gate = gate
        self._clock = clock
        self._modern = ModernResults(info, versions=[MODERN_VERSION])
        self._subscriptions = Subscriptions(
            gate, clock=clock, max_streams=_MAX_STREAMS, max_per_principal=_MAX_STREAMS
        )

    async def answer(self, request: Request) -> JsonObject | RpcError:
        """Return the result of a request, or its error; raises nothing but cancellation."""
        try:
            handled = HANDLED_STATELESS.get(request.method)
            if handled is None:
                return await self._other(request)
            call = propose(handled, request.params, request.envelope, request.caller, self._clock)
            if isinstance(call, RpcError):
                return call
            finished = await self._gate.handle(call)
            if finished.error is not None:
                return of_wire(finished.error)
            if request.client is None:
                return self._modern.stamp(finished.result, handled)
            return legacy_result(finished.result)
        except Exception as error:
            log_fault("a request", error)
            return RpcError(code=INTERNAL_ERROR, message="Internal error")
        finally:
            request.caller.is_answered = True

    async def _other(self, request: Request) -> JsonObject | RpcError:
        """Return the answer to what goes through no gate as a whole."""
        if request.method in LISTS:
            return await self._list(LISTS[request.method], request)
        if request.client is not None:
            return await self._about(request.client, request)
        if request.method == LISTEN:
            return await self._listen(request)
        return self._modern.discover(self._gate.offers())

    async def _about(self, client: Client, request: Request) -> JsonObject | RpcError:
        """Change what a connection of the handshake era wants to be told."""
        match request.method:
            case "logging/setLevel":
                return _set_level(client, request.params)
            case "resources/subscribe":
                return await self._subscribe(client, request)
            case _:  # `resources/unsubscribe`
                return _unsubscribe(client, request.params)

    async def _list(self, kind: Listed, request: Request) -> JsonObject | RpcError:
        cursor = cursor_of(request.params)
        if isinstance(cursor, RpcError):
            return cursor
        try:
            page = await self._gate.list_items(
                kind, request.envelope.principal, request.caller, cursor=cursor
            )
        except BadCursor:
            return RpcError(code=INVALID_PARAMS, message="`cursor` is not one of this server's")
        if request.client is None:
            return self._modern.listed(kind, page)
        return legacy_listed(kind, page)

    async def _listen(self, request: Request) -> JsonObject | RpcError:
        """Serve a stream over stdio, until it is cancelled or the client leaves."""
        answer: JsonObject | RpcError = {}
        async with anyio.create_task_group() as tasks:
            outbox = Outbox(tasks.start_soon, request.caller.channel.notify)
            listener = Listener(envelope=request.envelope, caller=request.caller, push=outbox.put)
            answer = await self._subscriptions.listen(request.params, listener)
        return answer if isinstance(answer, RpcError) else self._modern.stamp(answer)

    async def _subscribe(self, client: Client, request: Request) -> JsonObject | RpcError:
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
