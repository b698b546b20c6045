"""The three spans of a call, made after it: SERVER, INTERNAL (authorize), CLIENT.

Imports the SDK, so it is itself imported late: by the export thread only.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, TraceFlags, TraceState
from opentelemetry.trace.status import Status, StatusCode

from gateway import __version__
from gateway.telemetry import attributes as keys
from gateway.telemetry.facts import ApprovalFacts, CallFacts
from gateway.types.calls import Method, TraceContext
from gateway.types.outcomes import Status as Outcome
from gateway.types.tools import Kind

SCOPE: Final = InstrumentationScope("weighbridge", __version__)
Pseudonym: TypeAlias = Callable[[str, str], str]  # (tenant, user) → what stands for the user
Values: TypeAlias = "dict[str, str | int | float | tuple[str, ...]]"

_SAMPLED: Final = TraceFlags(TraceFlags.SAMPLED)
_NETWORK: Final = {"http": "tcp", "stdio": "pipe"}


class SpanBuilder:
    """Makes spans for one resource; `pseudonym` absent means that no user is named."""

    def __init__(self, resource: Resource, pseudonym: Pseudonym | None) -> None:
        self._resource = resource
        self._pseudonym = pseudonym

    def build(self, facts: CallFacts | ApprovalFacts) -> list[ReadableSpan]:
        """Return the spans of one call, the outer one last, as live instrumentation ends them.

        Of a request for approval, the one that says how it ended.
        """
        if isinstance(facts, ApprovalFacts):
            return [self._approval(facts)]
        trace_id = int(facts.trace_id, 16)
        state = _state(facts.parent)
        server = _context(trace_id, facts.server_span, state)
        spans: list[ReadableSpan] = []
        if facts.judged_ns:
            context = _context(trace_id, facts.authorize_span, state)
            spans.append(self._authorize(facts, context, server))
        if facts.sent_ns:
            spans.append(self._client(facts, _context(trace_id, facts.client_span, state), server))
        spans.append(self._server(facts, server))
        return spans

    def _server(self, facts: CallFacts, context: SpanContext) -> ReadableSpan:
        return ReadableSpan(
            name=_name(facts),
            context=context,
            parent=_remote(facts.parent) if facts.parent is not None else None,
            resource=self._resource,
            attributes=self._server_values(facts),
            links=_links(facts.link, facts.asked_by),
            kind=SpanKind.SERVER,
            status=_status(facts.failure),
            start_time=facts.received_ns,
            end_time=facts.closed_ns,
            instrumentation_scope=SCOPE,
        )

    def _authorize(
        self, facts: CallFacts, context: SpanContext, parent: SpanContext
    ) -> ReadableSpan:
        values = _common(facts) | _judgement(facts)
        values[keys.ENFORCEMENT] = facts.enforcement
        values[keys.OBSERVED] = facts.observed
        for shadow in facts.shadow:
            if shadow.effect != facts.verdict:
                values[keys.SHADOW] = shadow.effect.value
                values[keys.SHADOW_RULE] = shadow.rule
                break
        return ReadableSpan(
            name=f"authorize {facts.target or facts.method.value}",
            context=context,
            parent=parent,
            resource=self._resource,
            attributes=_present(values),
            kind=SpanKind.INTERNAL,
            start_time=facts.received_ns,
            end_time=facts.judged_ns,
            instrumentation_scope=SCOPE,
        )

    def _client(self, facts: CallFacts, context: SpanContext, parent: SpanContext) -> ReadableSpan:
        values = _common(facts) | _mcp(facts, facts.downstream_failure)
        values[keys.RPC_STATUS] = "" if facts.error_code is None else str(facts.error_code)
        values[keys.PROTOCOL] = facts.downstream_version
        values[keys.NETWORK] = _NETWORK.get(facts.downstream_transport, "")
        values |= _address(facts.downstream_address, keys.SERVER_ADDRESS, keys.SERVER_PORT)
        if facts.result_size:
            values[keys.RESULT_SIZE] = facts.result_size
        return ReadableSpan(
            name=_name(facts),
            context=context,
            parent=parent,
            resource=self._resource,
            attributes=_present(values),
            kind=SpanKind.CLIENT,
            status=_status(facts.downstream_failure),
            start_time=facts.sent_ns,
            end_time=facts.answered_ns or facts.closed_ns,
            instrumentation_scope=SCOPE,
        )

    def _approval(self, facts: ApprovalFacts) -> ReadableSpan:
        """Return a span in a trace of its own: its time is the decision, and not the wait.

        An open span would be lost with the process, and hidden for as long as people take.
        """
        values: Values = {
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
        }
        return ReadableSpan(
            name=f"approval {facts.tool}",
            context=_context(int(facts.trace_id, 16), facts.span_id, None),
            resource=self._resource,
            attributes=_present(values),
            links=_links(facts.asked_by),
            kind=SpanKind.INTERNAL,
            start_time=facts.ended_ns,
            end_time=facts.ended_ns,
            instrumentation_scope=SCOPE,
        )

    def _server_values(self, facts: CallFacts) -> Values:
        values = _common(facts) | _mcp(facts, facts.failure) | _judgement(facts)
        values[keys.REQUEST_ID] = facts.request_id
        values[keys.PROTOCOL] = facts.protocol
        values[keys.NETWORK] = _NETWORK.get(facts.transport, "")
        values |= _address(facts.peer, keys.CLIENT_ADDRESS, keys.CLIENT_PORT)
        values[keys.PHASE] = facts.phase
        values[keys.APPROVAL] = facts.approval_id
        values[keys.DIGEST] = facts.digest
        values[keys.STATUS] = facts.status.value
        values[keys.EXECUTED] = facts.executed
        over_limit = facts.status is Outcome.LIMIT_EXCEEDED
        values[keys.LIMIT if over_limit else keys.REASON] = facts.reason
        values[keys.ARGUMENTS] = facts.content
        if facts.redactions:
            values[keys.REDACTIONS] = facts.redactions
        if facts.tool is not None:
            values[keys.SCHEMA_HASH] = facts.tool.pin
            if facts.target and facts.tool.exposed_name != facts.tool.name:
                values[keys.EXPOSED_NAME] = facts.tool.exposed_name
        if facts.actor is not None:
            values[keys.TENANT] = facts.actor.tenant
            values[keys.ROLES] = tuple(sorted(facts.actor.roles))
            if self._pseudonym is not None:
                values[keys.USER] = self._pseudonym(facts.actor.tenant, facts.actor.user)
        return _present(values)


def _links(*contexts: TraceContext | None) -> tuple[Link, ...]:
    return tuple(Link(_remote(each)) for each in contexts if each is not None)


def _name(facts: CallFacts) -> str:
    """Return `{method} {target}`; a URI would make a name of its own of every resource."""
    return f"{facts.method.value} {facts.target}" if facts.target else facts.method.value


def _common(facts: CallFacts) -> Values:
    return _named(facts) | {
        keys.SERVER: facts.server,
        keys.CALL: facts.call_id,
        keys.RUN: facts.run_id,
        keys.CAUSE: facts.cause,
    }


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


def _mcp(facts: CallFacts, failure: str) -> Values:
    operation = "execute_tool" if facts.method is Method.CALL_TOOL else ""
    return {
        keys.METHOD: facts.method.value,
        keys.OPERATION: operation,
        keys.ERROR_TYPE: failure,
    }


def _judgement(facts: CallFacts) -> Values:
    return {
        keys.DECISION: facts.verdict,
        keys.CODE: facts.code,
        keys.RULE: facts.rule,
        keys.REVISION: facts.revision,
        keys.RISK: facts.risk,
        keys.EFFECT: facts.effect,
    }


def _address(text: str, address_key: str, port_key: str) -> Values:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or (":" in host and not host.endswith("]")):
        return {address_key: text}  # no port: a name, or a bare IPv6 address
    return {address_key: host.strip("[]"), port_key: int(port)}


def _present(values: Values) -> Values:
    return {key: value for key, value in values.items() if value not in ("", ())}


def _status(failure: str) -> Status:
    return Status(StatusCode.ERROR, failure) if failure else Status(StatusCode.UNSET)


def _context(trace_id: int, span_id: str, state: TraceState | None) -> SpanContext:
    return SpanContext(trace_id, int(span_id, 16), False, _SAMPLED, state)


def _remote(context: TraceContext) -> SpanContext:
    flags = _SAMPLED if context.sampled else TraceFlags(TraceFlags.DEFAULT)
    trace_id, span_id = int(context.trace_id, 16), int(context.span_id, 16)
    return SpanContext(trace_id, span_id, True, flags, _state(context))


def _state(context: TraceContext | None) -> TraceState | None:
    if context is None or not context.state:
        return None
    return TraceState.from_header([context.state])
