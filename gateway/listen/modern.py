"""MCP 2026-07-28 over HTTP: one POST, one request, one answer; no session and no framework."""

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.types import Scope

from gateway.clock import Clock
from gateway.errors import BadCursor
from gateway.listen.arrivals import WEIGHED
from gateway.listen.body import body_of
from gateway.listen.callers import ModernHttpCaller, progress_token
from gateway.listen.direct import direct_of
from gateway.listen.faults import log_fault
from gateway.listen.gate import Authenticator, Gate, ServerInfo
from gateway.listen.headers import HeaderView
from gateway.listen.ladder import (
    Asked,
    ParamHeaders,
    asked_in,
    climb,
    cursor_of,
    in_order,
    serves,
    unsupported,
)
from gateway.listen.manners import Manner
from gateway.listen.methods import HANDLED_STATELESS, INITIALIZE, LISTS
from gateway.listen.options import HttpOptions
from gateway.listen.overdue import Overdue
from gateway.listen.proposals import Envelope, propose
from gateway.listen.replies import Asgi, send_empty, send_error
from gateway.listen.results import ModernResults
from gateway.listen.rpc import (
    INSUFFICIENT_SCOPE,
    RpcError,
    error_bytes,
    notification_bytes,
    of_wire,
    result_bytes,
)
from gateway.listen.sse import WATCH_AFTER_S, Exchange
from gateway.listen.strict import Incoming, check_request, decode
from gateway.listen.subscriptions import Listener, Subscriptions
from gateway.protocol.words import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LOG_LEVEL_KEY,
    METHOD_NOT_FOUND,
    MODERN_VERSION,
)
from gateway.types.calls import AuthMethod, Method, Principal, ProposedCall
from gateway.types.json import JsonObject
from gateway.types.outcomes import Finished, Status
from gateway.types.tools import Listed
from gateway.types.values import maker

_envelope = maker(Envelope)

_POST_ONLY: Final = [(b"allow", b"POST")]
_BOTH: Final = (True, True)  # JSON and event streams: the server chooses


Handshake = Callable[[Asgi, Manner, Principal], Awaitable[None]]
# By a request's body: what hands it over to the worker that it belongs to, False if that is gone.
Elsewhere = Callable[[bytes], Callable[[Asgi], Awaitable[bool]] | None]


class ModernFront:
    """Answers stateless requests; Host, Origin and credential have been checked before."""

    def __init__(
        self,
        gate: Gate,
        authenticator: Authenticator,
        *,
        info: ServerInfo,
        options: HttpOptions,
        clock: Clock,
        handshake: Handshake,
        elsewhere: Elsewhere = lambda body: None,
    ) -> None:
        self._gate = gate
        self._handshake = handshake
        self._elsewhere = elsewhere
        self._authenticator = authenticator
        self._options = options
        self._clock = clock
        self._results = ModernResults(info, versions=[MODERN_VERSION])
        self._params = ParamHeaders()
        self._overdue = Overdue(WATCH_AFTER_S)
        self.subscriptions = Subscriptions(
            gate,
            clock=clock,
            max_streams=options.max_streams,
            max_per_principal=options.max_streams_per_principal,
        )

    async def __call__(
        self, http: Asgi, headers: HeaderView, manner: Manner, principal: Principal
    ) -> None:
        """Serve one HTTP request."""
        scope = http.scope
        if scope["method"] != "POST" or not manner.is_json or manner.takes != _BOTH:
            await _refuse(http, manner)
            return
        most, direct = self._options.max_body_bytes, direct_of(scope)
        body = direct.take() if direct is not None else None
        if body is None or len(body) > most:
            body = await body_of(http, headers, body, self._options)
            if body is None:
                return
        hand_over = self._elsewhere(body)
        if hand_over is not None and await hand_over(http.replayed(body)):
            return
        incoming = decode(body, max_bytes=most)
        if isinstance(incoming, RpcError):
            await send_error(http.send, incoming)
            return
        asked = None
        if manner.is_served and headers.is_plain:
            asked = in_order(incoming.message, headers, manner.method, manner.named_by)
        if asked is None:  # hardly ever: most are seen to be in order
            asked = await self._climbed(incoming, headers, http.replayed(body), manner, principal)
            if asked is None:
                return
        client = scope.get("client")
        envelope = _envelope(
            principal=principal,
            request_id=asked.request_id,
            input_error=incoming.input_error,
            trace_header=headers.text(b"traceparent"),
            idempotency_key=headers.idempotency_key,
            run_header=headers.run,
            peer=client[0] if client else "",
        )
        with Exchange(http, self._overdue, direct) as exchange:
            await self._serve(exchange, asked, envelope, headers, scope)

    async def _climbed(
        self,
        incoming: Incoming,
        headers: HeaderView,
        http: Asgi,
        manner: Manner,
        principal: Principal,
    ) -> Asked | None:
        """Go rung by rung; return what is asked for, or None for what is answered already."""
        send, message = http.send, incoming.message
        version = headers.get(b"mcp-protocol-version") or b""
        if message.get("method") == INITIALIZE and not serves(version):
            # A client that knows a later revision asks which one it may speak.
            await self._handshake(http, manner, principal)
            return None
        malformed = check_request(message)
        if malformed is not None:
            await send_error(send, malformed)
            return None
        request_id = incoming.request_id
        if request_id is None:  # a notification: nothing in this revision acts on one
            if serves(version):
                await send_empty(send, 202)
            else:
                await send_error(send, unsupported(version.decode("latin-1")))
            return None
        failed = climb(message, headers)
        if failed is not None:
            await send_error(send, failed, request_id)
            return None
        return asked_in(message)

    async def _serve(
        self,
        exchange: Exchange,
        asked: Asked,
        envelope: Envelope,
        headers: HeaderView,
        scope: Scope,
    ) -> None:
        """Answer a request that is in order."""
        try:
            handled = HANDLED_STATELESS.get(asked.method)
            if handled is None:
                answer = await self._other(exchange, asked, envelope)
            else:
                caller = _caller(exchange, asked)
                call = propose(handled, asked.params, envelope, caller, self._clock)
                if isinstance(call, RpcError):
                    answer = call
                else:
                    answer = self._mismatch(call, headers)
                    if answer is None:
                        finished = await self._gate.handle(call)
                        answer = self._told(finished, handled, exchange, envelope)
        except Exception as error:
            log_fault("a request", error)
            answer = RpcError(code=INTERNAL_ERROR, message="Internal error")
        if isinstance(answer, RpcError):
            challenge = answer.challenge.encode("latin-1")
            scope[WEIGHED] = answer.is_weighed
            await exchange.finish(
                error_bytes(asked.request_id, answer),
                status=answer.http_status,
                headers=[(b"www-authenticate", challenge)] if challenge else (),
            )
            return
        text = result_bytes(asked.request_id, answer)
        if not exchange.answer(text):
            await exchange.finish(text)

    async def _other(
        self, exchange: Exchange, asked: Asked, envelope: Envelope
    ) -> JsonObject | RpcError:
        """Return the answer to what goes through no gate as a whole."""
        method = asked.method
        if method in LISTS:
            return await self._list(LISTS[method], exchange, asked, envelope)
        match method:
            case "server/discover":
                return self._results.discover(self._gate.offers())
            case "subscriptions/listen":
                return await self._listen(exchange, asked, envelope)
            case _:
                return RpcError(
                    code=METHOD_NOT_FOUND, message="Method not found", data=method[:100]
                )

    def _told(
        self, finished: Finished, method: Method, exchange: Exchange, envelope: Envelope
    ) -> JsonObject | RpcError:
        """Return what the client is told of a call."""
        if finished.scopes and finished.status is Status.FORBIDDEN and not exchange.is_stream:
            step_up = self._step_up(finished, envelope.principal)
            if step_up is not None:
                return step_up
        if finished.error is not None:
            return of_wire(finished.error)
        return self._results.stamp(finished.result, method)

    def _mismatch(self, call: ProposedCall, headers: HeaderView) -> RpcError | None:
        """Return how headers that mirror arguments differ from them."""
        if (
            call.method is not Method.CALL_TOOL
            or call.input_error
            or not (call.arguments or headers.has_params)
        ):
            return None
        schema = self._gate.tool_schema(call.principal, call.name)
        if schema is None:
            return None
        return self._params.refuse(schema, call.arguments, headers.raw)

    def _step_up(self, finished: Finished, principal: Principal) -> RpcError | None:
        """Return the 403 of RFC 6750, for a client that can get a token with more scopes.

        Others would see a bare HTTP error where the tool result tells the model what to do next.
        """
        if principal.method is not AuthMethod.JWT:
            return None
        challenge = self._authenticator.insufficient_scope(finished.scopes)
        error = finished.error
        return RpcError(
            code=INSUFFICIENT_SCOPE,
            message=challenge.description,
            data=finished.result.get("structuredContent") if error is None else error.data,
            challenge=challenge.www_authenticate(),
        )

    async def _list(
        self, kind: Listed, exchange: Exchange, asked: Asked, envelope: Envelope
    ) -> JsonObject | RpcError:
        cursor = cursor_of(asked.params)
        if isinstance(cursor, RpcError):
            return cursor
        caller = _caller(exchange, asked)
        try:
            page = await self._gate.list_items(kind, envelope.principal, caller, cursor=cursor)
        except BadCursor:
            return RpcError(code=INVALID_PARAMS, message="`cursor` is not one of this server's")
        return self._results.listed(kind, page)

    async def _listen(
        self, exchange: Exchange, asked: Asked, envelope: Envelope
    ) -> JsonObject | RpcError:
        def push(method: str, params: JsonObject) -> None:
            exchange.push_once(notification_bytes(method, params))

        listener = Listener(envelope=envelope, caller=_caller(exchange, asked), push=push)
        answer = await self.subscriptions.listen(asked.params, listener)
        return answer if isinstance(answer, RpcError) else self._results.stamp(answer)


async def _refuse(http: Asgi, manner: Manner) -> None:
    """Say what is wrong with the method or the headers of a request."""
    scope, _, send = http
    if scope["method"] != "POST":
        await send_empty(send, 405, _POST_ONLY)
    elif not manner.is_json:
        error = RpcError(code=INVALID_REQUEST, message="Content-Type must be application/json")
        await send_error(send, error)
    else:
        text = "Accept must list both application/json and text/event-stream"
        await send_error(send, RpcError(code=INVALID_REQUEST, message=text), status=406)


def _caller(exchange: Exchange, asked: Asked) -> ModernHttpCaller:
    meta = asked.meta
    level = meta.get(LOG_LEVEL_KEY)
    return ModernHttpCaller(
        push=exchange.push,
        token=progress_token(meta) if "progressToken" in meta else None,
        capabilities=asked.capabilities,
        log_level=level if isinstance(level, str) else "",
    )
