"""Notices requests that are turned away, whichever front does it, and tells the gate.

It looks at the answers: the fronts decide, and each refusal of theirs ends in one place here.
"""

from typing import Final

from starlette.types import Message, Scope, Send

from gateway import jsontext
from gateway.errors import JsonError
from gateway.identity.challenge import Challenge
from gateway.listen.arrivals import WEIGHED
from gateway.listen.gate import Gate
from gateway.listen.methods import KNOWN
from gateway.listen.rpc import OVERLOADED
from gateway.protocol.words import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
)
from gateway.types.json import Json
from gateway.types.refused import TurnedAway, TurnedAwayFor

_BY_CODE: Final = {
    PARSE_ERROR: TurnedAwayFor.PARSE_ERROR,
    INVALID_REQUEST: TurnedAwayFor.INVALID_REQUEST,
    METHOD_NOT_FOUND: TurnedAwayFor.METHOD_NOT_FOUND,
    INVALID_PARAMS: TurnedAwayFor.INVALID_PARAMS,
    HEADER_MISMATCH: TurnedAwayFor.HEADER_MISMATCH,
    UNSUPPORTED_VERSION: TurnedAwayFor.UNSUPPORTED_VERSION,
    OVERLOADED: TurnedAwayFor.OVERLOADED,
}
_BY_STATUS: Final = {
    405: TurnedAwayFor.HTTP_METHOD,
    406: TurnedAwayFor.NOT_ACCEPTABLE,
    408: TurnedAwayFor.TOO_SLOW,
    413: TurnedAwayFor.TOO_LARGE,
}
_BY_CHALLENGE: Final = {
    "": TurnedAwayFor.NO_CREDENTIAL,
    "insufficient_scope": TurnedAwayFor.INSUFFICIENT_SCOPE,
    "unavailable": TurnedAwayFor.KEYS_UNAVAILABLE,
}


def of_challenge(challenge: Challenge, scope: Scope) -> TurnedAway:
    """Return what to note of a request without a good credential."""
    reason = _BY_CHALLENGE.get(challenge.error, TurnedAwayFor.INVALID_CREDENTIAL)
    return TurnedAway(
        reason=reason, transport="http", peer=_peer(scope), detail=challenge.description
    )


def of_scope(scope: Scope, reason: TurnedAwayFor) -> TurnedAway:
    """Return what to note of a request that was turned away by its headers alone."""
    return TurnedAway(reason=reason, transport="http", peer=_peer(scope), method=_named(scope))


def of_code(code: int, *, transport: str, peer: str = "", method: object = "") -> TurnedAway | None:
    """Return what to note of a JSON-RPC error, or None for one that isn't the sender's fault."""
    reason = _BY_CODE.get(code)
    if reason is None:
        return None
    # Any other method is the sender's own text, and stays out of the log.
    known = method if isinstance(method, str) and method in KNOWN else ""
    return TurnedAway(reason=reason, transport=transport, peer=peer, method=known)


class WatchedSend:
    """Sends an HTTP answer on, and tells the gate of one that turns the request away."""

    __slots__ = ("_gate", "_scope", "_send", "_status")

    def __init__(self, send: Send, scope: Scope, gate: Gate) -> None:
        self._send = send
        self._scope = scope
        self._gate = gate
        self._status = 0  # of an answer whose body tells why it is none that was asked for

    async def __call__(self, event: Message) -> None:
        """Pass one event of the answer on."""
        if event["type"] == "http.response.start" and event["status"] >= 400:
            self._status = 0 if self._scope.get(WEIGHED) else event["status"]
        elif self._status:
            found = _of_answer(self._status, event.get("body", b""), self._scope)
            self._status = 0
            if found is not None:
                self._gate.turned_away(found)
        await self._send(event)


def _of_answer(status: int, body: bytes, scope: Scope) -> TurnedAway | None:
    code = _code(body)
    if status == 404 and code == INVALID_REQUEST:
        return of_scope(scope, TurnedAwayFor.UNKNOWN_SESSION)
    reason = _BY_STATUS.get(status) or _BY_CODE.get(code)
    return of_scope(scope, reason) if reason is not None else None


def _code(body: bytes) -> int:
    """Return the code of the JSON-RPC error in an answer; an answer without one is a bare 400."""
    try:
        answer: Json = jsontext.parse(body)
    except JsonError:
        return INVALID_REQUEST
    error = answer.get("error") if isinstance(answer, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) else INVALID_REQUEST


def _peer(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""


def _named(scope: Scope) -> str:
    """Return the method that the headers name, when MCP knows it."""
    for key, value in scope["headers"]:
        if key == b"mcp-method":
            method: str = value.decode("latin-1")
            return method if method in KNOWN else ""
    return ""
