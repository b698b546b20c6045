"""The three spans of a call, made after it: SERVER, INTERNAL (authorize), CLIENT.

They are values of our own, which `wire` writes as they are: making objects of the SDK and having
its exporter encode them took most of what a traced call cost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias

from gateway.telemetry import attributes as keys
from gateway.telemetry.facts import ApprovalFacts, CallFacts
from gateway.types.calls import Method, TraceContext
from gateway.types.outcomes import Status
from gateway.types.tools import Kind

Pseudonym: TypeAlias = Callable[[str, str], str]  # (tenant, user) → what stands for the user
Value: TypeAlias = "str | int | float | tuple[str, ...]"
Values: TypeAlias = dict[str, Value]

_NETWORK: Final = {"http": "tcp", "stdio": "pipe"}


class SpanKind(IntEnum):
    """The kinds that occur, with their numbers in OTLP."""

    INTERNAL = 1
    SERVER = 2
    CLIENT = 3


@dataclass(slots=True, kw_only=True)
class Span:
    """A finished span; ids are lower-case hex.

    A value that is an empty text or tuple says nothing and does not leave.
    """

    name: str
    kind: SpanKind
    trace_id: str
    span_id: str
    parent: str = ""  # the parent's span id; empty for the first span of a trace
    is_parent_remote: bool = False
    state: str = ""  # `tracestate` of the trace
    start_ns: int
    end_ns: int
    values: Values
    failure: str = ""  # what failed, as a code: the status is an error then
    links: tuple[TraceContext, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Shared:
    """What more than one span of a call says."""

    name: str
    target: str
    state: str
    common: Values
    judgement: Values


class SpanBuilder:
    """Makes spans; `pseudonym` absent means that no user is named."""

    def __init__(self, pseudonym: Pseudonym | None) -> None:
        self._pseudonym = pseudonym

    def build(self, facts: CallFacts | ApprovalFacts) -> list[Span]:
        """Return the spans of one call, the outer one last, as live instrumentation ends them.

        Of a request for approval, the one that says how it ended.
        """
        if isinstance(facts, ApprovalFacts):
            return [_approval(facts)]
        shared = _shared(facts)
        spans: list[Span] = []
        if facts.judged_ns:
            spans.append(_authorize(facts, shared))
        if facts.sent_ns:
            spans.append(_client(facts, shared))
        spans.append(self._server(facts, shared))
        return spans

    def _server(self, facts: CallFacts, shared: _Shared) -> Span:
        failure, parent, tool, actor = facts.failure, facts.parent, facts.tool, facts.actor
        values: Values = {
            **shared.common,
            keys.METHOD: facts.method.value,
            keys.OPERATION: _operation(facts),
            keys.ERROR_TYPE: failure,
            **shared.judgement,
            keys.REQUEST_ID: facts.request_id,
            keys.PROTOCOL: facts.protocol,
            keys.NETWORK: _NETWORK.get(facts.transport, ""),
            keys.PHASE: facts.phase,
            keys.APPROVAL: facts.approval_id,
            keys.DIGEST: facts.digest,
            keys.STATUS: facts.status.value,
            keys.EXECUTED: facts.executed,
            keys.LIMIT if facts.status is Status.LIMIT_EXCEEDED else keys.REASON: facts.reason,
            keys.ARGUMENTS: facts.content,
        }
        _address(values, facts.peer, keys.CLIENT_ADDRESS, keys.CLIENT_PORT)
        if facts.redactions:
            values[keys.REDACTIONS] = facts.redactions
        if tool is not None:
            values[keys.SCHEMA_HASH] = tool.pin
            if shared.target and tool.exposed_name != tool.name:
                values[keys.EXPOSED_NAME] = tool.exposed_name
        if actor is not None:
            values[keys.TENANT] = actor.tenant
            values[keys.ROLES] = tuple(sorted(actor.roles))
            if self._pseudonym is not None:
                values[keys.USER] = self._pseudonym(actor.tenant, actor.user)
        return Span(
            name=shared.name,
            kind=SpanKind.SERVER,
            trace_id=facts.trace_id,
            span_id=facts.server_span,
            parent=parent.span_id if parent is not None else "",
            is_parent_remote=parent is not None,
            state=shared.state,
            start_ns=facts.received_ns,
            end_ns=facts.closed_ns,
            values=values,
            failure=failure,
            links=_links(facts.link, facts.asked_by),
        )


def _shared(facts: CallFacts) -> _Shared:
    """A URI would make a name of its own of every resource, so names have only methods then."""
    target, method = facts.target, facts.method.value
    common = _named(facts)
    common[keys.SERVER] = facts.server
    common[keys.CALL] = facts.call_id
    common[keys.RUN] = facts.run_id
    common[keys.CAUSE] = facts.cause
    return _Shared(
        name=f"{method} {target}" if target else method,
        target=target,
        state=facts.parent.state if facts.parent is not None else "",
        common=common,
        judgement={
            keys.DECISION: facts.verdict,
            keys.CODE: facts.code,
            keys.RULE: facts.rule,
            keys.REVISION: facts.revision,
            keys.RISK: facts.risk,
            keys.EFFECT: facts.effect,
        },
    )


def _authorize(facts: CallFacts, shared: _Shared) -> Span:
    values: Values = {
        **shared.common,
        **shared.judgement,
        keys.ENFORCEMENT: facts.enforcement,
        keys.OBSERVED: facts.observed,
    }
    for shadow in facts.shadow:
        if shadow.effect != facts.verdict:
            values[keys.SHADOW] = shadow.effect.value
            values[keys.SHADOW_RULE] = shadow.rule
            break
    return Span(
        name=f"authorize {shared.target or shared.name}",
        kind=SpanKind.INTERNAL,
        trace_id=facts.trace_id,
        span_id=facts.authorize_span,
        parent=facts.server_span,
        state=shared.state,
        start_ns=facts.received_ns,
        end_ns=facts.judged_ns,
        values=values,
    )


def _client(facts: CallFacts, shared: _Shared) -> Span:
    failure = facts.downstream_failure
    values: Values = {
        **shared.common,
        keys.METHOD: facts.method.value,
        keys.OPERATION: _operation(facts),
        keys.ERROR_TYPE: failure,
        keys.RPC_STATUS: "" if facts.error_code is None else str(facts.error_code),
        keys.PROTOCOL: facts.downstream_version,
        keys.NETWORK: _NETWORK.get(facts.downstream_transport, ""),
    }
    _address(values, facts.downstream_address, keys.SERVER_ADDRESS, keys.SERVER_PORT)
    if facts.result_size:
        values[keys.RESULT_SIZE] = facts.result_size
    return Span(
        name=shared.name,
        kind=SpanKind.CLIENT,
        trace_id=facts.trace_id,
        span_id=facts.client_span,
        parent=facts.server_span,
        state=shared.state,
        start_ns=facts.sent_ns,
        end_ns=facts.answered_ns or facts.closed_ns,
        values=values,
        failure=failure,
    )


def _approval(facts: ApprovalFacts) -> Span:
    """Return a span in a trace of its own: its time is the decision, and not the wait.

    An open span would be lost with the process, and hidden for as long as people take.
    """
    return Span(
        name=f"approval {facts.tool}",
        kind=SpanKind.INTERNAL,
        trace_id=facts.trace_id,
        span_id=facts.span_id,
        start_ns=facts.ended_ns,
        end_ns=facts.ended_ns,
        values={
            keys.APPROVAL: facts.approval_id,
            keys.APPROVAL_OUTCOME: facts.outcome,
            keys.APPROVAL_WAIT: facts.wait_s,
            keys.APPROVAL_QUORUM: facts.quorum,
            keys.TOOL: facts.tool,
            keys.SERVER: facts.server,
            keys.RISK: facts.risk,
            keys.RULE: facts.rule,
            keys.REVISION: facts.revision,
            keys.TENANT: facts.tenant,
            keys.RUN: facts.run_id,
            keys.CALL: facts.call_id,
        },
        links=_links(facts.asked_by),
    )


def _links(*contexts: TraceContext | None) -> tuple[TraceContext, ...]:
    return tuple(each for each in contexts if each is not None)


def _named(facts: CallFacts) -> Values:
    match facts.kind:
        case Kind.TOOL:
            return {keys.TOOL: facts.tool_name}
        case Kind.PROMPT:
            return {keys.PROMPT: facts.tool_name}
        case Kind.RESOURCE:
            return {keys.RESOURCE: facts.resource}
        case None:
            return {}


def _operation(facts: CallFacts) -> str:
    return "execute_tool" if facts.method is Method.CALL_TOOL else ""


def _address(values: Values, text: str, address_key: str, port_key: str) -> None:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or (":" in host and not host.endswith("]")):
        values[address_key] = text  # no port: a name, or a bare IPv6 address
        return
    values[address_key] = host.strip("[]")
    values[port_key] = int(port)
