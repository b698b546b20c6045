"""`requestState`: what a stateless caller carries from one round of a request to the next.

A state is sealed, so the caller can't read or change it, and bound to who was given it and to the
request that it belongs to (MCP 2026-07-28, basic/patterns/mrtr).
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Final

from gateway import jsontext
from gateway.relay.seals import SealBroken, Seals
from gateway.types.calls import Era, ProposedCall
from gateway.types.json import Json, JsonObject

STATE: Final = "requestState"
RESPONSES: Final = "inputResponses"
_PURPOSE: Final = "request-state"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """The next round of a request whose state its server keeps in the token."""

    call: ProposedCall  # with the server's own state in its params


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaited:
    """The next round of a call that is parked here, or was."""

    id: str
    is_read: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The next round of a call that people decide about, or have decided."""

    approval_id: str
    round: int
    asked: bool  # whether the caller's client was asked, and may bring an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """Seals states on their way out, and opens them when they come back."""

    seals: Seals
    for_s: float

    def pass_on(self, call: ProposedCall, state: Json) -> str:
        """Return the token for a state of the server's own."""
        return self._sealed(call, {"state": state})

    def park(self, call: ProposedCall, parked: str, *, is_read: bool) -> str:
        """Return the token that leads back to a parked call."""
        return self._sealed(call, {"parked": parked, "is_read": is_read})

    def decide(self, call: ProposedCall, approval_id: str, *, round: int, asked: bool) -> str:
        """Return the token that leads back to a request for approval, and is no right to it."""
        return self._sealed(call, {"approval": approval_id, "round": round, "asked": asked})

    def open(self, call: ProposedCall) -> Passed | Awaited | Decided:
        """Say what a state stands for; raises SealBroken, also for another caller or request."""
        token = call.params.get(STATE)
        if not isinstance(token, str):
            raise SealBroken("not a text")
        claims = self.seals.open(_PURPOSE, token)
        if claims.get("bound") != binding(call):
            raise SealBroken("belongs to another caller or request")
        parked = claims.get("parked")
        if isinstance(parked, str):
            return Awaited(id=parked, is_read=claims.get("is_read") is True)
        approval = claims.get("approval")
        if isinstance(approval, str):
            number = claims.get("round")
            return Decided(
                approval_id=approval,
                round=number if isinstance(number, int) else 0,
                asked=claims.get("asked") is True,
            )
        params = {key: value for key, value in call.params.items() if key != STATE}
        if isinstance(claims.get("state"), str):
            params[STATE] = claims["state"]
        return Passed(call=replace(call, params=params, continues=True))

    def _sealed(self, call: ProposedCall, claims: JsonObject) -> str:
        return self.seals.seal(_PURPOSE, {**claims, "bound": binding(call)}, for_s=self.for_s)


def is_continued(call: ProposedCall) -> bool:
    """Whether a request is a further round; there are none in the handshake era."""
    return STATE in call.params and call.caller.era is Era.MODERN


def binding(call: ProposedCall) -> str:
    """Return what ties a state to its caller and its request, the same on every replica."""
    what: Json = [
        list(call.principal.owner),
        call.method.value,
        call.name,
        call.arguments,
    ]
    return hashlib.sha256(jsontext.canonical(what)).hexdigest()
