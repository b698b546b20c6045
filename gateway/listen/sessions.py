"""Sessions of the handshake era over HTTP: what gets in, and whether the SDK has to see it.

The SDK keeps the sessions; in front of it every message is read once and strictly, and a session
answers only to the principal that opened it (a session id is never a credential).
"""

import contextlib
from collections.abc import AsyncGenerator, Awaitable
from typing import Final

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Message, Scope

from gateway import jsontext
from gateway.clock import Clock
from gateway.listen import responses
from gateway.listen.arrivals import ARRIVAL, Arrival, stand_in
from gateway.listen.body import body_of
from gateway.listen.direct import direct_of
from gateway.listen.faults import log_fault
from gateway.listen.gate import Gate, ServerInfo
from gateway.listen.headers import HeaderView
from gateway.listen.legacy import SdkFront
from gateway.listen.manners import Manner
from gateway.listen.methods import CANCELLED
from gateway.listen.options import HttpOptions
from gateway.listen.owned import OwnedSessions
from gateway.listen.replies import Asgi, send_error
from gateway.listen.rpc import OVERLOADED, RequestId, RpcError
from gateway.listen.straight import Straight, Visit
from gateway.listen.strict import Incoming, check_request, decode, is_request, usable_id
from gateway.listen.weighed import watching
from gateway.protocol.words import (
    HANDSHAKE_VERSIONS,
    HEADER_MISMATCH,
    INVALID_REQUEST,
    MODERN_VERSION,
    SESSION_HEADER,
    VERSION_HEADER,
    VERSION_KEY,
)
from gateway.types.calls import Principal
from gateway.types.json import JsonObject
from gateway.types.values import maker, value

_SESSION: Final = SESSION_HEADER.encode()
_LAST_EVENT: Final = b"last-event-id"
_VERSION: Final = VERSION_HEADER.encode()
_BOTH: Final = (True, True)  # JSON and event streams: the server chooses
_GONE: Final = RpcError(code=INVALID_REQUEST, message="Session not found")

_DOUBLED: Final = RpcError(
    code=INVALID_REQUEST, message="the mcp-session-id header appears more than once"
)
_NO_SESSION: Final = RpcError(
    code=INVALID_REQUEST,  # and status 400, as the SDK answers
    message="this request belongs to no session: send `initialize` first and its `Mcp-Session-Id` "
    f"header with each later request, or speak {MODERN_VERSION}, which has no sessions: send "
    f"`MCP-Protocol-Version: {MODERN_VERSION}`, `Mcp-Method` and `params._meta` with each request",
    data={"supported": [MODERN_VERSION, *HANDSHAKE_VERSIONS[::-1]]},
)


class LegacySessions:
    """Answers requests of the handshake era; Host, Origin and credential have been checked."""

    def __init__(self, gate: Gate, *, info: ServerInfo, options: HttpOptions, clock: Clock) -> None:
        self._options = options
        self._run_header = options.run_header.lower().encode("latin-1")
        self._sdk = SdkFront(gate, info=info, clock=clock)
        self._sdk.server.middleware.insert(0, watching(gate))
        self._manager = StreamableHTTPSessionManager(
            self._sdk.server,
            # JSON mode would drop progress, and requests could not be cancelled.
            json_response=False,
            # Host and Origin are checked for every endpoint alike, by `origin`.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            session_idle_timeout=None,  # it sees too few requests to tell which session is idle
            max_request_body_size=options.max_body_bytes,
            max_sessions=options.max_sessions,
        )
        self._sessions = OwnedSessions(
            clock, most_of_one=options.max_sessions_per_principal, idle_s=options.session_idle_s
        )
        self._straight = Straight(gate, self._sdk.answers, self._sessions)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Serve for as long as the context is open; every session ends with it."""
        async with self._manager.run(), self._sdk.announcing(), anyio.create_task_group() as tasks:
            tasks.start_soon(self._end_idle)
            yield
            tasks.cancel_scope.cancel()

    def __call__(
        self, http: Asgi, headers: HeaderView, manner: Manner, principal: Principal
    ) -> Awaitable[None]:
        """Serve one HTTP request."""
        shown = headers.first(_SESSION)
        session_id = None if shown is None else shown.decode("latin-1")
        if http.scope["method"] == "POST":
            return self._post(session_id, http, headers, manner, principal)
        return self._by_sdk(_NOTHING, session_id, http, headers, principal)

    async def _by_sdk(
        self,
        read: "_Read",
        session_id: str | None,
        http: Asgi,
        headers: HeaderView,
        principal: Principal,
    ) -> None:
        """Let the SDK answer, or refuse what belongs to no session of this principal."""
        scope, send = http.scope, http.send
        client = scope.get("client")
        request_id = _request_id(read.message)
        arrival = Arrival(
            principal=principal,
            transport="http",
            input_error=read.incoming.input_error,
            trace_header=headers.text(b"traceparent"),
            idempotency_key=headers.idempotency_key,
            run_header=headers.run,
            peer=client[0] if client else "",
            request_id=request_id,
            stand_in=stand_in() if isinstance(request_id, str) else "",
            tickets={},
        )
        if scope["method"] == "POST":
            http = http.replayed(self._named(read, session_id, arrival.stand_in))
        http = http._replace(scope={**_from_now_on(scope), ARRIVAL: arrival})
        if headers.differ(_SESSION):
            await send_error(send, _DOUBLED)
        elif session_id is None and _needs_session(scope["method"], read.message):
            await send_error(send, _NO_SESSION)
        elif session_id is None:
            await self._open(read.message, arrival, http)
        else:
            await self._use(session_id, arrival, http)

    async def negotiate(self, http: Asgi, manner: Manner, principal: Principal) -> None:
        """Serve an `initialize` under the header of a revision that nobody knows."""
        raw = [pair for pair in http.scope["headers"] if pair[0] != _VERSION]
        http = http._replace(scope={**http.scope, "headers": raw})
        await self(http, HeaderView(raw, self._run_header), manner, principal)

    async def close_streams(self) -> None:
        """End sessions in which nobody waits for an answer, so that they don't hold us."""
        for session in self._sessions.all():
            client = self._sdk.clients.in_session(session.session_id)
            if not any(client is None or client.waits(each) for each in [*session.requests]):
                await self._end(session.session_id)

    def _visit(self, session_id: str | None, principal: Principal) -> Visit | None:
        """Return the session whose owner is there, once its handshake is done."""
        session = self._sessions.find(session_id, principal) if session_id is not None else None
        if session is None:
            return None
        client = self._sdk.clients.in_session(session.session_id)
        return Visit(principal, session, client) if client is not None else None

    async def _post(
        self,
        session_id: str | None,
        http: Asgi,
        headers: HeaderView,
        manner: Manner,
        principal: Principal,
    ) -> None:
        """Serve a POST: what needs nothing of the SDK is answered past it."""
        if not manner.is_json:
            error = RpcError(code=INVALID_REQUEST, message="Content-Type must be application/json")
            await send_error(http.send, error)
            return
        most, direct = self._options.max_body_bytes, direct_of(http.scope)
        body = direct.take() if direct is not None else None
        if body is None or len(body) > most:
            body = await body_of(http, headers, body, self._options)
            if body is None:
                return
        read, visit = _understood(body, most), self._visit(session_id, principal)
        if read.error is not None:
            if read.question is not None and visit is not None:
                visit.client.questions.answer(responses.instead(read.question))
            await send_error(http.send, read.error)
            return
        # Whatever is refused for its session is refused with the SDK, below.
        if visit is not None and manner.takes == _BOTH and not headers.differ(_SESSION):
            serving = self._straight.serve(read.incoming, headers, http, visit)
            if serving is not None:
                await serving
                return
        await self._by_sdk(read, session_id, http, headers, principal)

    def _named(self, read: "_Read", session_id: str | None, name: str) -> bytes:
        """Return the body with the ids that the SDK knows in the place of those that are texts."""
        if name:
            return jsontext.dump({**read.message, "id": name})
        params = read.message.get("params")
        if read.message.get("method") != CANCELLED or not isinstance(params, dict):
            return read.body
        request_id = params.get("requestId")
        if not isinstance(request_id, str):
            return read.body
        known = self._sessions.known(session_id or "", request_id)
        return jsontext.dump({**read.message, "params": {**params, "requestId": known}})

    async def _open(self, message: JsonObject, arrival: Arrival, http: Asgi) -> None:
        """Let the SDK open a session, and note whose it is."""
        owner = arrival.principal.owner
        is_opening = message.get("method") == "initialize"
        if is_opening:
            in_its_place = self._sessions.admit(owner)
            if in_its_place is None:
                text = "too many open sessions; end one first"
                await send_error(http.send, RpcError(code=OVERLOADED, message=text), status=429)
                return
            if in_its_place:
                await self._end(in_its_place)

        async def noting(event: Message) -> None:
            nonlocal is_opening
            if event["type"] == "http.response.start" and event["status"] < 400:
                opened = _header(event["headers"], _SESSION)
                if opened is not None:
                    self._sessions.opened(opened, owner)
                    is_opening = False
            await http.send(_redeemed(event, arrival))

        try:
            await self._manager.handle_request(http.scope, http.receive, noting)
        finally:
            if is_opening:
                self._sessions.not_opened(owner)

    async def _use(self, session_id: str, arrival: Arrival, http: Asgi) -> None:
        session = self._sessions.find(session_id, arrival.principal)
        if session is None:
            await send_error(http.send, _GONE, status=404)  # the same answer: no oracle
            return
        request_id = arrival.request_id
        if request_id is not None and request_id in session.requests:
            error = RpcError(code=INVALID_REQUEST, message="`id` is in use by a request under way")
            await send_error(http.send, error)
            return

        async def noting(event: Message) -> None:
            if event["type"] == "http.response.start" and (
                event["status"] == 404
                or (http.scope["method"] == "DELETE" and event["status"] < 400)
            ):
                self._sessions.forget(session_id)
            await http.send(_redeemed(event, arrival))

        self._sessions.begin(session, request_id, arrival.stand_in)
        try:
            await self._manager.handle_request(http.scope, http.receive, noting)
        finally:
            self._sessions.end(session, request_id)

    async def _end_idle(self) -> None:
        """End sessions that nothing has used for too long."""
        while True:
            await anyio.sleep(self._sessions.next_in_s())
            for session_id in self._sessions.expired():
                try:
                    await self._end(session_id)
                except Exception as error:
                    log_fault("the end of an idle session", error)

    async def _end(self, session_id: str) -> None:
        """End a session the way a client would: by DELETE."""
        self._sessions.forget(session_id)
        scope: Scope = {
            "type": "http",
            "method": "DELETE",
            "path": self._options.path,
            "query_string": b"",
            "headers": [(_SESSION, session_id.encode("latin-1"))],
        }
        await self._manager.handle_request(scope, _left, _nowhere)


_EMPTY: Final = Incoming(message={})  # nobody writes to it


@value
class _Read:
    """What a request brought; nothing, where it has no body."""

    incoming: Incoming = _EMPTY
    body: bytes = b""
    error: RpcError | None = None  # why it goes no further
    question: RequestId | None = None  # that it is to answer

    @property
    def message(self) -> JsonObject:
        return self.incoming.message


_read: Final = maker(_Read)
_NOTHING: Final = _Read()


def _understood(body: bytes, max_bytes: int) -> _Read:
    incoming = decode(body, max_bytes=max_bytes)
    if isinstance(incoming, RpcError):
        return _Read(error=incoming, question=responses.question_in(body))
    message = incoming.message
    if is_request(message) and not incoming.input_error:  # most are
        return _read(incoming=incoming, body=body, error=_misplaced(message))
    if responses.is_response(message):
        question = responses.question_of(message)
        error = responses.fault(message) or _unfit(message)
        return _Read(incoming=incoming, body=body, error=error, question=question)
    if incoming.input_error:  # the SDK gets the message without the arguments
        body = jsontext.dump(message)
    return _read(incoming=incoming, body=body, error=_unfit(message))


def _unfit(message: JsonObject) -> RpcError | None:
    malformed = None if responses.is_response(message) else check_request(message)
    return malformed or _misplaced(message)


def _misplaced(message: JsonObject) -> RpcError | None:
    """Refuse a stateless request without its header (MCP 2026-07-28)."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not isinstance(meta, dict) or VERSION_KEY not in meta:
        return None
    if message.get("method") == "initialize":
        return None
    return RpcError(
        code=HEADER_MISMATCH,
        message="the mcp-protocol-version header does not match the body's protocol version; "
        f"send `MCP-Protocol-Version: {MODERN_VERSION}`",
    )


def _needs_session(method: str, message: JsonObject) -> bool:
    return method in {"POST", "GET", "DELETE"} and message.get("method") != "initialize"


def _request_id(message: JsonObject) -> RequestId | None:
    """Return the id of a request; a response has one too, which is ours."""
    return usable_id(message.get("id")) if "method" in message else None


def _from_now_on(scope: Scope) -> Scope:
    """Return a scope that asks for no earlier events: none has an id, so nothing is resumed."""
    return {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != _LAST_EVENT]}


def _header(headers: list[tuple[bytes, bytes]], name: bytes) -> str | None:
    return next((value.decode("latin-1") for key, value in headers if key.lower() == name), None)


def _redeemed(event: Message, arrival: Arrival) -> Message:
    if event["type"] == "http.response.body" and (arrival.tickets or arrival.stand_in):
        return {**event, "body": arrival.redeem(event.get("body", b""))}
    return event


async def _left() -> Message:
    return {"type": "http.disconnect"}


async def _nowhere(event: Message) -> None:
    del event
