"""What a server is sent: the caller's own members, with what was checked in their place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from gateway.case import Case
from gateway.protocol.words import CAPABILITIES_KEY, CLIENT_KEY, LOG_LEVEL_KEY, VERSION_KEY
from gateway.relay import visits
from gateway.types.calls import Era, Method, ProposedCall
from gateway.types.json import JsonObject
from gateway.types.relay import Outbound
from gateway.types.tools import Effect, Kind
from gateway.types.values import maker

_outbound = maker(Outbound)

# `_meta` keys that belong to one hop (MCP 2026-07-28, basic), and our own.
_HOP_KEYS = frozenset({"progressToken", "traceparent", "tracestate", "baggage"})
USUAL_KEYS = _HOP_KEYS | {VERSION_KEY, CLIENT_KEY, CAPABILITIES_KEY, LOG_LEVEL_KEY}
_HOP_PREFIXES = ("io.modelcontextprotocol/", "weighbridge/")
# Members that are made anew for the server; every other one is the caller's and passes.
OWN_MEMBERS = frozenset({"_meta", "name", "arguments", "uri", "ref", "taskId"})
NO_HEADERS: Mapping[str, str] = {}
_RESPONSES = "inputResponses"
_ANSWERS = frozenset({"requestState", _RESPONSES})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbounds:
    """Makes the request to the server from a judged case."""

    timeout_s: float
    server_timeouts_s: Mapping[str, float] = field(default_factory=dict[str, float])

    def deadline_s(self, case: Case) -> float:
        """Return how long a server may take: the contract's word, the server's, or the general."""
        return case.contract.timeout_s or self.server_timeouts_s.get(
            case.tool.server, self.timeout_s
        )

    def __call__(self, case: Case, traceparent: str) -> Outbound:
        """Return the request; its final arguments have been checked."""
        return _outbound(
            method=case.call.method,
            params=_params(case),
            deadline_s=self.deadline_s(case),
            is_read=case.effect is Effect.READ,
            traceparent=traceparent,
            era=case.call.caller.era,
            may_cancel=case.contract.idempotency.is_cancel_safe,
            headers=case.injected.headers if case.injected is not None else NO_HEADERS,
        )


def _params(case: Case) -> JsonObject:
    call = case.call
    if call.method is Method.CALL_TOOL and call.params.keys() <= OWN_MEMBERS:  # nearly all are
        params: JsonObject = {"name": case.tool.name, "arguments": case.arguments}
    else:
        params = _passed(call) | _named(case)
    meta = forwardable(call.meta)
    if case.injected is not None:
        meta |= case.injected.meta
    if meta:
        params["_meta"] = meta
    return params


def _passed(call: ProposedCall) -> JsonObject:
    """Return the caller's own members that pass."""
    # The handshake era knows no further rounds: there the words mean nothing, and don't pass.
    left = OWN_MEMBERS if call.caller.era is Era.MODERN else OWN_MEMBERS | _ANSWERS
    params: JsonObject = {key: value for key, value in call.params.items() if key not in left}
    if _RESPONSES in params:
        left_over = visits.without_answers(params[_RESPONSES])
        params[_RESPONSES] = left_over
        if left_over == {} and call.params[_RESPONSES] != {}:
            del params[_RESPONSES]
    return params


def _named(case: Case) -> JsonObject:
    name, call = case.tool.name, case.call
    match call.method:
        case Method.CALL_TOOL:
            return {"name": name, "arguments": case.arguments}
        case Method.READ_RESOURCE | Method.SUBSCRIBE:
            return {"uri": name}
        case Method.GET_PROMPT:
            given = {"arguments": case.arguments} if "arguments" in call.params else {}
            return {"name": name, **given}
        case Method.COMPLETE:
            ref = call.params.get("ref")
            own = "uri" if case.tool.kind is Kind.RESOURCE else "name"
            return {"ref": {**(ref if isinstance(ref, dict) else {}), own: name}}
        case Method.GET_TASK | Method.UPDATE_TASK | Method.CANCEL_TASK:
            return {"taskId": call.name}  # sealed: only the relay knows the server's own id
        case Method.ELICIT | Method.SAMPLE | Method.LIST_ROOTS | Method.LOG:
            raise ValueError(f"{call.method} goes to clients, never to servers")
        case _:
            assert_never(call.method)


def forwardable(meta: JsonObject) -> JsonObject:
    """Drop what belongs to this hop; everything else is the downstream's to read."""
    if meta.keys() <= USUAL_KEYS:  # one look at all: most callers send nothing else
        return {}
    return {
        key: value
        for key, value in meta.items()
        if key not in _HOP_KEYS and not key.startswith(_HOP_PREFIXES)
    }
