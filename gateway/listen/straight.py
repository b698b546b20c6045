"""The short way of a session's requests: to the gate and back, past the SDK's streams and tasks.

What the gateway answers itself needs nothing of the SDK once the handshake is done, so its tasks,
channels and models carry only what is left: the handshake, pings, the session's own stream.
"""

from collections.abc import Awaitable
from typing import Final, NamedTuple

from gateway.listen.answering import ANSWERED, Answers, Request, in_session, meta_of
from gateway.listen.callers import progress_token
from gateway.listen.clients import Client
from gateway.listen.doorstep import of_code
from gateway.listen.gate import Gate
from gateway.listen.headers import HeaderView
from gateway.listen.methods import CANCELLED
from gateway.listen.overdue import Overdue
from gateway.listen.owned import OwnedSessions, Session
from gateway.listen.proposals import Envelope
from gateway.listen.replies import Asgi, send_empty
from gateway.listen.responses import is_response
from gateway.listen.rpc import RpcError, error_bytes, result_bytes
from gateway.listen.sse import WATCH_AFTER_S
from gateway.listen.strict import Incoming, usable_id
from gateway.listen.underway import UnderWay
from gateway.types.calls import Era, Principal
from gateway.types.json import JsonObject
from gateway.types.values import maker

_envelope = maker(Envelope)

_HERE: Final = ANSWERED[Era.LEGACY]
# As the SDK has it: in that era a stream ends with a message, which its client waits for no more.
_REQUEST_CANCELLED: Final = RpcError(code=-32800, message="Request cancelled")


class Visit(NamedTuple):
    """A session whose handshake is done, and who is there."""

    principal: Principal
    session: Session
    client: Client


class Straight:
    """Serves what it can of sessions whose handshake is done."""

    def __init__(self, gate: Gate, answers: Answers, sessions: OwnedSessions) -> None:
        self._gate = gate
        self._answers = answers
        self._sessions = sessions
        self._overdue = Overdue(WATCH_AFTER_S)

    def serve(
        self, incoming: Incoming, headers: HeaderView, http: Asgi, visit: Visit
    ) -> Awaitable[None] | None:
        """Serve a message of the session's owner; None, with nothing done, for the SDK's."""
        message, client = incoming.message, visit.client
        method = message.get("method")
        if isinstance(method, str) and method in _HERE:
            request_id = incoming.request_id
            if request_id is None:
                return None
            if request_id in visit.session.requests and client.waits(request_id):
                return None  # the id is in use
            peer = http.scope.get("client")
            envelope = _envelope(
                principal=visit.principal,
                request_id=request_id,
                input_error=incoming.input_error,
                trace_header=headers.text(b"traceparent"),
                idempotency_key=headers.idempotency_key,
                run_header=headers.run,
                peer=peer[0] if peer else "",
                client_name=client.name,
            )
            return self._request(method, _params(message), envelope, http, visit)
        is_taken = (
            client.questions.answer(message) if is_response(message) else _cut(message, client)
        )
        return send_empty(http.send, 202) if is_taken else None

    async def _request(
        self, method: str, params: JsonObject, envelope: Envelope, http: Asgi, visit: Visit
    ) -> None:
        session, client, request_id = visit.session, visit.client, envelope.request_id
        token = progress_token(meta_of(params)) if "_meta" in params else None
        under_way = UnderWay(request_id, http, client.questions, token)
        self._overdue.watch(under_way)
        client.under_way[request_id] = under_way
        self._sessions.begin(session, request_id)
        try:
            async with under_way:
                request = in_session(
                    method,
                    params,
                    envelope,
                    client=client,
                    version=client.version,
                    session=session.session_id,
                    transport="http",
                    wants_progress=token is not None,
                    channel=under_way,
                    carried=_as_it_is,
                )
                text = self._told(request, await self._answers.answer(request))
                if not under_way.answer(text):
                    await under_way.finish(text)
        finally:
            is_latest = client.done(request_id, under_way)
            self._sessions.end(session, request_id if is_latest else None)

    def _told(self, request: Request, answer: JsonObject | RpcError) -> bytes:
        """Return a response; whatever it says, clients of that era want it under status 200."""
        request_id = request.envelope.request_id
        if not isinstance(answer, RpcError):
            return result_bytes(request_id, answer)
        if not answer.is_weighed:
            peer = request.envelope.peer
            noted = of_code(answer.code, transport="http", peer=peer, method=request.method)
            if noted is not None:
                self._gate.turned_away(noted)
        return error_bytes(request_id, answer)


def _cut(message: JsonObject, client: Client) -> bool:
    """Cut short the request that a notification cancels; False for any other message."""
    if message.get("method") != CANCELLED or "id" in message:
        return False
    cancelled = usable_id(_params(message).get("requestId"))
    under_way = client.under_way.get(cancelled) if cancelled is not None else None
    if under_way is None:
        return False
    under_way.cut(_REQUEST_CANCELLED)
    return True


def _params(message: JsonObject) -> JsonObject:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _as_it_is(value: JsonObject) -> JsonObject:
    return value
