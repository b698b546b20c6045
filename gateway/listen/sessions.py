"""Sessions of the handshake era over HTTP: who owns one, how many there may be, what gets in.

The SDK keeps the sessions; in front of it every message is read once and strictly, and a session
answers only to the principal that opened it (a session id is never a credential).
"""

import contextlib
from collections import OrderedDict
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Message, Receive, Scope, Send

from gateway import jsontext
from gateway.clock import Clock
from gateway.listen import responses
from gateway.listen.arrivals import ARRIVAL, Arrival, stand_in
from gateway.listen.body import BodyRefused, read_body
from gateway.listen.gate import Gate, ServerInfo
from gateway.listen.ladder import HeaderView, is_json
from gateway.listen.legacy import SdkFront
from gateway.listen.methods import CANCELLED
from gateway.listen.options import HttpOptions
from gateway.listen.replies import Asgi, send_empty, send_error
from gateway.listen.rpc import OVERLOADED, RequestId, RpcError
from gateway.listen.shares import Shares
from gateway.listen.strict import check_request, decode, usable_id
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
from gateway.types.calls import AuthMethod, Principal
from gateway.types.json import Json, JsonObject

_SESSION: Final = SESSION_HEADER.encode()
_LAST_EVENT: Final = b"last-event-id"
_VERSION: Final = VERSION_HEADER.encode()
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

Owner = tuple[str, str, str, str, str, AuthMethod]


@dataclass(slots=True, kw_only=True)
class _Session:
    owner: Owner
    last_used: float  # monotonic seconds
    serving: int = 0  # HTTP requests, an open event stream included
    # Requests under way, each by the id that the SDK has for it.
    requests: dict[RequestId, RequestId] = field(default_factory=dict[RequestId, RequestId])


class LegacySessions:
    """Answers requests of the handshake era; Host, Origin and credential have been checked."""

    def __init__(self, gate: Gate, *, info: ServerInfo, options: HttpOptions, clock: Clock) -> None:
        self._options = options
        self._run_header = options.run_header.lower().encode("latin-1")
        self._clock = clock
        self._sdk = SdkFront(gate, info=info, clock=clock)
        self._sdk.server.middleware.insert(0, watching(gate))
        self._manager = StreamableHTTPSessionManager(
            self._sdk.server,
            # JSON mode would drop progress, and requests could not be cancelled.
            json_response=False,
            # Host and Origin are checked for every endpoint alike, by `origin`.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            session_idle_timeout=options.session_idle_s,
            max_request_body_size=options.max_body_bytes,
            max_sessions=options.max_sessions,
        )
        self._opening = Shares(options.max_sessions_per_principal)
        self._sessions: OrderedDict[str, _Session] = OrderedDict()  # least recently used first

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Serve for as long as the context is open; every session ends with it."""
        async with self._manager.run(), self._sdk.announcing():
            yield

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send, principal: Principal
    ) -> None:
        """Serve one HTTP request."""
        headers = HeaderView(scope["headers"], self._run_header)
        session_id = _header(scope["headers"], _SESSION)
        message: JsonObject = {}
        input_error = name = ""
        if scope["method"] == "POST":
            incoming = await self._read(headers, receive, send)
            if incoming is None:
                return
            if incoming.error is not None:
                if incoming.question is not None and session_id is not None:
                    http = Asgi({**scope, ARRIVAL: _bare(principal)}, receive, _nowhere)
                    await self._end_question(incoming.question, session_id, http)
                await send_error(send, incoming.error)
                return
            message, input_error = incoming.message, incoming.input_error
            name = stand_in() if isinstance(_request_id(message), str) else ""
            body = self._named(incoming, session_id, name)
            receive = Asgi(scope, receive, send).replayed(body).receive
        client = scope.get("client")
        arrival = Arrival(
            principal=principal,
            transport="http",
            input_error=input_error,
            trace_header=headers.text(b"traceparent"),
            idempotency_key=headers.idempotency_key,
            run_header=headers.run,
            peer=client[0] if client else "",
            request_id=_request_id(message),
            stand_in=name,
            tickets={},
        )
        http = Asgi({**_from_now_on(scope), ARRIVAL: arrival}, receive, send)
        if _is_doubled(scope["headers"], _SESSION):
            await send_error(send, _DOUBLED)
        elif session_id is None and _needs_session(scope["method"], message):
            await send_error(send, _NO_SESSION)
        elif session_id is None:
            await self._open(message, arrival, http)
        else:
            await self._use(session_id, message, arrival, http)

    async def negotiate(self, http: Asgi, principal: Principal) -> None:
        """Serve an `initialize` under the header of a revision that nobody knows."""
        headers = [pair for pair in http.scope["headers"] if pair[0] != _VERSION]
        await self({**http.scope, "headers": headers}, http.receive, http.send, principal)

    async def close_streams(self) -> None:
        """End sessions without a request under way, so that their open streams don't hold us."""
        for session_id, session in list(self._sessions.items()):
            if not session.requests:
                await self._end(session_id)

    async def _read(self, headers: HeaderView, receive: Receive, send: Send) -> "_Read | None":
        """Read and check a POST's body, or answer it and return None."""
        if not is_json(headers.get(b"content-type") or b""):
            error = RpcError(code=INVALID_REQUEST, message="Content-Type must be application/json")
            await send_error(send, error)
            return None
        try:
            body = await read_body(
                receive,
                content_length=headers.get(b"content-length"),
                max_bytes=self._options.max_body_bytes,
                deadline_s=self._options.body_deadline_s,
            )
        except BodyRefused as refused:
            if refused.status:
                await send_empty(send, refused.status, [(b"connection", b"close")])
            return None
        incoming = decode(body, max_bytes=self._options.max_body_bytes)
        if isinstance(incoming, RpcError):
            return _Read(error=incoming, question=responses.question_in(body))
        message = incoming.message
        if responses.is_response(message):
            question = responses.question_of(message)
            error = responses.fault(message) or _unfit(message)
            return _Read(message=message, body=body, error=error, question=question)
        if incoming.input_error:  # the SDK gets the message without the arguments
            body = jsontext.dump(message)
        return _Read(
            message=message, input_error=incoming.input_error, body=body, error=_unfit(message)
        )

    async def _end_question(self, question: RequestId, session_id: str, http: Asgi) -> None:
        """End a question whose answer is none."""
        answer = responses.instead(question)
        arrival = http.scope[ARRIVAL]
        await self._use(session_id, answer, arrival, http.replayed(jsontext.dump(answer)))

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
        session = self._sessions.get(session_id or "")
        known = session.requests.get(request_id, "") if session is not None else ""
        return jsontext.dump({**read.message, "params": {**params, "requestId": known}})

    async def _open(self, message: JsonObject, arrival: Arrival, http: Asgi) -> None:
        """Let the SDK open a session, and note whose it is."""
        owner = _owner(arrival.principal)
        is_opening = message.get("method") == "initialize"
        if is_opening and not await self._make_room(owner):
            text = "too many open sessions; end one first"
            await send_error(http.send, RpcError(code=OVERLOADED, message=text), status=429)
            return

        async def noting(event: Message) -> None:
            nonlocal is_opening
            if event["type"] == "http.response.start" and event["status"] < 400:
                opened = _header(event["headers"], _SESSION)
                if opened is not None:
                    now = self._clock.monotonic()
                    self._sessions[opened] = _Session(owner=owner, last_used=now)
                    self._opening.give_back(owner)  # from here on it counts as a session
                    is_opening = False
            await http.send(_redeemed(event, arrival))

        try:
            await self._manager.handle_request(http.scope, http.receive, noting)
        finally:
            if is_opening:
                self._opening.give_back(owner)

    async def _use(
        self, session_id: str, message: JsonObject, arrival: Arrival, http: Asgi
    ) -> None:
        session = self._sessions.get(session_id)
        if session is None or session.owner != _owner(arrival.principal):
            await send_error(http.send, _GONE, status=404)  # the same answer: no oracle
            return
        request_id = arrival.request_id
        if request_id is not None and request_id in session.requests:
            error = RpcError(code=INVALID_REQUEST, message="`id` is in use by a request under way")
            await send_error(http.send, error)
            return
        if request_id is not None:
            session.requests[request_id] = arrival.stand_in or request_id
        session.serving += 1

        async def noting(event: Message) -> None:
            if event["type"] == "http.response.start" and (
                event["status"] == 404
                or (http.scope["method"] == "DELETE" and event["status"] < 400)
            ):
                self._sessions.pop(session_id, None)
            await http.send(_redeemed(event, arrival))

        try:
            await self._manager.handle_request(http.scope, http.receive, noting)
        finally:
            session.serving -= 1
            session.last_used = self._clock.monotonic()
            if request_id is not None:
                session.requests.pop(request_id, None)
            if session_id in self._sessions:
                self._sessions.move_to_end(session_id)

    async def _make_room(self, owner: Owner) -> bool:
        """Count one more that the owner opens; its longest unused idle session may have to go.

        INVARIANT: open sessions and those under way are counted before anything is waited for, so
        that openings at the same time see each other.
        """
        self._forget_expired()
        mine = [item for item in self._sessions.items() if item[1].owner == owner]
        most = self._options.max_sessions_per_principal
        idle = [session_id for session_id, session in mine if not session.serving]
        is_full = len(mine) + self._opening.held(owner) >= most
        if (is_full and not idle) or not self._opening.take(owner):
            return False
        if is_full:
            await self._end(idle[0])  # which stops counting at once
        return True

    def _forget_expired(self) -> None:
        """Drop the sessions that the SDK has ended for being idle; they are at the front."""
        now = self._clock.monotonic()
        for session_id, session in list(self._sessions.items()):
            if session.serving:
                continue
            if now - session.last_used <= self._options.session_idle_s:
                return
            del self._sessions[session_id]

    async def _end(self, session_id: str) -> None:
        """End a session the way a client would: by DELETE."""
        self._sessions.pop(session_id, None)
        scope: Scope = {
            "type": "http",
            "method": "DELETE",
            "path": self._options.path,
            "query_string": b"",
            "headers": [(_SESSION, session_id.encode("latin-1"))],
        }
        await self._manager.handle_request(scope, _left, _nowhere)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    message: JsonObject = field(default_factory=dict[str, Json])
    input_error: str = ""
    body: bytes = b""
    error: RpcError | None = None  # why it goes no further
    question: RequestId | None = None  # that it is to answer


def _unfit(message: JsonObject) -> RpcError | None:
    """Refuse what is no message, or a stateless request without its header (MCP 2026-07-28)."""
    malformed = None if responses.is_response(message) else check_request(message)
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    if malformed or not isinstance(meta, dict) or VERSION_KEY not in meta:
        return malformed
    if message.get("method") == "initialize":
        return None
    return RpcError(
        code=HEADER_MISMATCH,
        message="the mcp-protocol-version header does not match the body's protocol version; "
        f"send `MCP-Protocol-Version: {MODERN_VERSION}`",
    )


def _bare(principal: Principal) -> Arrival:
    return Arrival(principal=principal, transport="http")


def _needs_session(method: str, message: JsonObject) -> bool:
    return method in {"POST", "GET", "DELETE"} and message.get("method") != "initialize"


def _owner(principal: Principal) -> Owner:
    """Return what stays the same when a token is renewed."""
    return (
        principal.issuer,
        principal.subject,
        principal.client,
        principal.tenant,
        principal.user,
        principal.method,
    )


def _request_id(message: JsonObject) -> RequestId | None:
    """Return the id of a request; a response has one too, which is ours."""
    return usable_id(message.get("id")) if "method" in message else None


def _from_now_on(scope: Scope) -> Scope:
    """Return a scope that asks for no earlier events: none has an id, so nothing is resumed."""
    return {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != _LAST_EVENT]}


def _header(headers: list[tuple[bytes, bytes]], name: bytes) -> str | None:
    return next((value.decode("latin-1") for key, value in headers if key.lower() == name), None)


def _is_doubled(headers: list[tuple[bytes, bytes]], name: bytes) -> bool:
    """Return whether a header comes with different values: proxies may each pick another."""
    return len({value for key, value in headers if key.lower() == name}) > 1


def _redeemed(event: Message, arrival: Arrival) -> Message:
    if event["type"] == "http.response.body" and (arrival.tickets or arrival.stand_in):
        return {**event, "body": arrival.redeem(event.get("body", b""))}
    return event


async def _left() -> Message:
    return {"type": "http.disconnect"}


async def _nowhere(event: Message) -> None:
    del event
