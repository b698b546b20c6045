"""What crosses back to the caller while a server works on its request."""

from dataclasses import dataclass

from gateway.case import Case
from gateway.errors import AskRefused
from gateway.relay.outbound import Outbounds
from gateway.types.calls import Caller
from gateway.types.json import JsonObject
from gateway.types.relay import Ear, Outbound

_NOT_OFFERED = -32601  # JSON-RPC: method not found


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    """Progress goes to the caller that asked for it."""

    outbounds: Outbounds

    def outbound(self, case: Case, traceparent: str) -> Outbound:
        """Return the request to the server."""
        return self.outbounds(case, traceparent)

    def ear(self, case: Case, outbound: Outbound) -> Ear | None:
        """Return who hears what the server says, or None when nobody wants to."""
        caller = case.call.caller
        return CallerEar(caller=caller) if caller.wants_progress or outbound.may_ask else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerEar:
    """The caller of one call, as its server gets to hear it."""

    caller: Caller

    @property
    def wants_progress(self) -> bool:
        """Whether the caller asked for progress."""
        return self.caller.wants_progress

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Hand progress on."""
        await self.caller.progress(progress, total, message)

    async def log(self, params: JsonObject) -> None:
        """Nothing is declared that would let a server log to a caller."""
        del params

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Nothing is declared that would let a server ask."""
        del params
        raise AskRefused(_NOT_OFFERED, f"{method} is not offered by this client")
