"""MCP 2026-07-28 over HTTP: one POST, one request, one answer; no session and no framework."""

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.types import Receive, Scope, Send

from gateway.clock import Clock
from gateway.errors import BadCursor
from gateway.listen.arrivals import WEIGHED
from gateway.listen.body import BodyRefused, read_body
from gateway.listen.callers import ModernHttpCaller, progress_token
from gateway.listen.direct import direct_of
from gateway.listen.faults import log_fault
from gateway.listen.gate import Authenticator, Gate, ServerInfo
from gateway.listen.ladder import (
    HeaderView,
    ParamHeaders,
    accepts,
    climb,
    cursor_of,
    is_json,
    serves,
    unsupported,
)
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
from gateway.listen.strict import check_request, decode
from gateway.listen.subscriptions import Listener, Subscriptions
from gateway.protocol.words import (
    CAPABILITIES_KEY,
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
_CLOSE: Final = [(b"connection", b"close")]


Handshake = Callable[[Asgi, Principal], Awaitable[None]]
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
        self._run_header = options.run_header.lower().encode("latin-1")
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
        self, scope: Scope, receive: Receive, send: Send, principal: Principal
    ) -> None:
        """Serve one HTTP request."""
        if scope["method"] != "POST":
            await send_empty(send, 405, _POST_ONLY)
            return
        headers = HeaderView(scope["headers"], self._run_header)
        if not is_json(headers.get(b"content-type") or b""):
            error = RpcError(code=INVALID_REQUEST, message="Content-Type must be application/json")
            await send_error(send, error)
            return
        if accepts(headers.get(b"accept") or b"") != (True, True):
            text = "Accept must list both application/json and text/event-stream"
            await send_error(send, RpcError(code=INVALID_REQUEST, message=text), status=406)
            return
        try:
            body = await self._body(scope, receive, headers.get(b"content-length"))
        except BodyRefused as refused:
            if refused.status:
                await send_empty(send, refused.status, _CLOSE)
            return
        http = Asgi(scope, receive, send)
        hand_over = self._elsewhere(body)
        if hand_over is None or not await hand_over(http.replayed(body)):
            await self._serve(body, headers, http, principal)

    async def _body(self, scope: Scope, receive: Receive, content_length: bytes | None) -> bytes:
        direct, most = direct_of(scope), self._options.max_body_bytes
        body = direct.take() if direct is not None else None
        if body is None:
            return await read_body(
                receive,
                content_length=content_length,
                max_bytes=most,
                deadline_s=self._options.body_deadline_s,
            )
        if len(body) > most:
            raise BodyRefused(413)
        return body

    async def _serve(
        self, body: bytes, headers: HeaderView, http: Asgi, principal: Principal
    ) -> None:
        send = http.send
        incoming = decode(body, max_bytes=self._options.max_body_bytes)
        if isinstance(incoming, RpcError):
            await send_error(send, incoming)
            return
        version = headers.get(b"mcp-protocol-version") or b""
        if incoming.message.get("method") == INITIALIZE and not serves(version):
            # A client that knows a later revision asks which one it may speak.
            await self._handshake(http.replayed(body), principal)
            return
        message = incoming.message
        malformed = check_request(message)
        if malformed is not None:
            await send_error(send, malformed)
            return
        request_id = incoming.request_id
        if request_id is None:  # a notification: nothing in this revision acts on one
            if serves(version):
                await send_empty(send, 202)
            else:
                await send_error(send, unsupported(version.decode("latin-1")))
            return
        failed = climb(message, headers)
        if failed is not None:
            await send_error(send, failed, request_id)
            return
        client = http.scope.get("client")
        envelope = _envelope(
            principal=principal,
            request_id=request_id,
            input_error=incoming.input_error,
            trace_header=headers.text(b"traceparent"),
            idempotency_key=headers.idempotency_key,
            run_header=headers.run,
            peer=client[0] if client else "",
        )
        direct = direct_of(http.scope)
        async with Exchange(http.receive, send, self._overdue, direct) as exchange:
            answer = await self._answer(exchange, message, envelope, headers)
            if isinstance(answer, RpcError):
                challenge = answer.challenge.encode("latin-1")
                http.scope[WEIGHED] = answer.is_weighed
                await exchange.finish(
                    error_bytes(request_id, answer),
                    status=answer.http_status,
                    headers=[(b"www-authenticate", challenge)] if challenge else (),
                )
            else:
                await exchange.finish(result_bytes(request_id, answer))

    async def _answer(
        self, exchange: Exchange, message: JsonObject, envelope: Envelope, headers: HeaderView
    ) -> JsonObject | RpcError:
        params = message["params"]
        assert isinstance(params, dict)  # noqa: S101 - the ladder has seen `params._meta`
        method = message["method"]
        assert isinstance(method, str)  # noqa: S101 - `check_request` has seen it
        handled = HANDLED_STATELESS.get(method)
        try:
            if handled is not None:
                return await self._call(handled, exchange, params, envelope, headers)
            if method in LISTS:
                return await self._list(LISTS[method], exchange, params, envelope)
            match method:
                case "server/discover":
                    return self._results.discover(self._gate.offers())
                case "subscriptions/listen":
                    return await self._listen(exchange, params, envelope)
                case _:
                    return RpcError(
                        code=METHOD_NOT_FOUND, message="Method not found", data=method[:100]
                    )
        except Exception as error:
            log_fault("a request", error)
            return RpcError(code=INTERNAL_ERROR, message="Internal error")

    async def _call(
        self,
        method: Method,
        exchange: Exchange,
        params: JsonObject,
        envelope: Envelope,
        headers: HeaderView,
    ) -> JsonObject | RpcError:
        caller = _caller(exchange, params)
        call = propose(method, params, envelope, caller, self._clock)
        if isinstance(call, RpcError):
            return call
        mismatch = self._check_param_headers(call, headers)
        if mismatch is not None:
            return mismatch
        finished = await self._gate.handle(call)
        if finished.status is Status.FORBIDDEN and finished.scopes and not exchange.is_stream:
            step_up = self._step_up(finished, envelope.principal)
            if step_up is not None:
                return step_up
        if finished.error is not None:
            return of_wire(finished.error)
        return self._results.stamp(finished.result, method)

    def _check_param_headers(self, call: ProposedCall, headers: HeaderView) -> RpcError | None:
        if call.input_error or not (call.arguments or headers.has_params):
            return None
        if call.method is not Method.CALL_TOOL:
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
        self, kind: Listed, exchange: Exchange, params: JsonObject, envelope: Envelope
    ) -> JsonObject | RpcError:
        cursor = cursor_of(params)
        if isinstance(cursor, RpcError):
            return cursor
        caller = _caller(exchange, params)
        try:
            page = await self._gate.list_items(kind, envelope.principal, caller, cursor=cursor)
        except BadCursor:
            return RpcError(code=INVALID_PARAMS, message="`cursor` is not one of this server's")
        return self._results.listed(kind, page)

    async def _listen(
        self, exchange: Exchange, params: JsonObject, envelope: Envelope
    ) -> JsonObject | RpcError:
        def push(method: str, params: JsonObject) -> None:
            exchange.push_once(notification_bytes(method, params))

        listener = Listener(envelope=envelope, caller=_caller(exchange, params), push=push)
        answer = await self.subscriptions.listen(params, listener)
        return answer if isinstance(answer, RpcError) else self._results.stamp(answer)


def _caller(exchange: Exchange, params: JsonObject) -> ModernHttpCaller:
    meta = params["_meta"]
    assert isinstance(meta, dict)  # noqa: S101 - the ladder has seen it, and what is in it
    capabilities, level = meta[CAPABILITIES_KEY], meta.get(LOG_LEVEL_KEY)
    return ModernHttpCaller(
        push=exchange.push,
        token=progress_token(meta),
        capabilities=capabilities if isinstance(capabilities, dict) else {},
        log_level=level if isinstance(level, str) else "",
    )
