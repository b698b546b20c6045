"""The three spans of a call, made after it: SERVER, INTERNAL (authorize), CLIENT.

They are values of our own, which `wire` writes as they are: making objects of the SDK and having
its exporter encode them took most of what a traced call cost.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from gateway.telemetry import attributes as keys
from gateway.telemetry.facts import ApprovalFacts, CallFacts
from gateway.telemetry.moulds import (
    Alike,
    Mould,
    Pseudonym,
    Shared,
    Values,
    alike,
    mould_of,
    put_address,
)
from gateway.types.calls import TraceContext
from gateway.types.tools import Kind

_MOST_KEPT: Final = 512  # moulds; all go when there are more
_NOTHING: Final = Shared(values={})


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
    shared: Shared
    values: Values  # its own, under other keys
    failure: str = ""  # what failed, as a code: the status is an error then
    links: tuple[TraceContext, ...] = ()


class SpanBuilder:
    """Makes spans; `pseudonym` absent means that no user is named."""

    def __init__(self, pseudonym: Pseudonym | None) -> None:
        self._pseudonym = pseudonym
        self._moulds: dict[Alike, Mould] = {}

    def build(self, facts: CallFacts | ApprovalFacts) -> list[Span]:
        """Return the spans of one call, the outer one last, as live instrumentation ends them.

        Of a request for approval, the one that says how it ended.
        """
        if isinstance(facts, ApprovalFacts):
            return [_approval(facts)]
        mould = self.mould(alike(facts))
        spans: list[Span] = []
        if facts.judged_ns:
            spans.append(_authorize(facts, mould))
        if facts.sent_ns:
            spans.append(_client(facts, mould))
        spans.append(_server(facts, mould))
        return spans

    def mould(self, key: Alike) -> Mould:
        """Return what the spans of calls are made with that have this in common."""
        found = self._moulds.get(key)
        if found is None:
            found = mould_of(key, self._pseudonym)
            if len(self._moulds) >= _MOST_KEPT:
                self._moulds.clear()
            self._moulds[key] = found
        return found


def _server(facts: CallFacts, mould: Mould) -> Span:
    parent = facts.parent
    values = _own(facts, mould)
    values[keys.REQUEST_ID] = facts.request_id
    put_address(values, facts.peer, keys.CLIENT_ADDRESS, keys.CLIENT_PORT)
    values[keys.DIGEST] = facts.digest
    if facts.approval_id:
        values[keys.APPROVAL] = facts.approval_id
    if facts.content:
        values[keys.ARGUMENTS] = facts.content
    if facts.redactions:
        values[keys.REDACTIONS] = facts.redactions
    return Span(
        name=mould.name,
        kind=SpanKind.SERVER,
        trace_id=facts.trace_id,
        span_id=facts.server_span,
        parent=parent.span_id if parent is not None else "",
        is_parent_remote=parent is not None,
        state=parent.state if parent is not None else "",
        start_ns=facts.received_ns,
        end_ns=facts.closed_ns,
        shared=mould.server,
        values=values,
        failure=mould.failure,
        links=_links(facts.link, facts.asked_by),
    )


def _authorize(facts: CallFacts, mould: Mould) -> Span:
    return Span(
        name=mould.authorize_name,
        kind=SpanKind.INTERNAL,
        trace_id=facts.trace_id,
        span_id=facts.authorize_span,
        parent=facts.server_span,
        state=facts.parent.state if facts.parent is not None else "",
        start_ns=facts.received_ns,
        end_ns=facts.judged_ns,
        shared=mould.authorize,
        values=_own(facts, mould),
    )


def _client(facts: CallFacts, mould: Mould) -> Span:
    values = _own(facts, mould)
    if facts.result_size:
        values[keys.RESULT_SIZE] = facts.result_size
    return Span(
        name=mould.name,
        kind=SpanKind.CLIENT,
        trace_id=facts.trace_id,
        span_id=facts.client_span,
        parent=facts.server_span,
        state=facts.parent.state if facts.parent is not None else "",
        start_ns=facts.sent_ns,
        end_ns=facts.answered_ns or facts.closed_ns,
        shared=mould.client,
        values=values,
        failure=mould.downstream_failure,
    )


def _own(facts: CallFacts, mould: Mould) -> Values:
    """Return what all spans of a call say of it and of no other."""
    values: Values = {keys.CALL: facts.call_id, keys.RUN: facts.run_id}
    if mould.kind is Kind.RESOURCE:
        values[keys.RESOURCE] = facts.resource
    return values


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
        shared=_NOTHING,
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
