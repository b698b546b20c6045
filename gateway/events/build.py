"""Makes the events of a call from its record; everything in them is redacted here, at the latest.

A call that was judged has one `authorization` that is `decided`; a question that its server asks
has more of that kind, in other stages. Every call has exactly one `tool_call` that ends it:
`finished` when it was carried out, `failed` when it was not or went wrong. `started` comes before
the request leaves, for whatever must be durable then. All are about tools, and about resources,
prompts and whatever else a call may name: `method` tells which.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from gateway.events import (
    concealed,
    decisions,
    effects,
    hiding,
    levels,
    markers,
    observing,
    originals,
    questions,
    retrievals,
    snapshots,
    turns,
)
from gateway.events.envelope import capped
from gateway.events.redact import Redacted, Redactor
from gateway.events.retrievals import Document
from gateway.types import repeats
from gateway.types.audit import Level
from gateway.types.decisions import NO_ROWS, Decision, DecisionEffect, RowCount
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.outcomes import TABLE, Refusal, Status
from gateway.types.records import CallRecord
from gateway.types.relay import Inquiry
from gateway.types.tools import Effect, Kind
from gateway.types.values import maker, replaced

_made = maker(Event)

_NAME: Final = 128  # characters of a name that a caller made up
_URI: Final = 2_000
_NO_TAGS: Final[concealed.Tags] = {}
_UNDECIDED: Final = Decision()
_US: Final = 1_000  # nanoseconds


def authorization(
    record: CallRecord,
    redactor: Redactor,
    *,
    refusal: Refusal | None,
    id: str,
    at: datetime,
    snapshot: snapshots.Snapshot | None = None,
) -> Event:
    """Say how a call was judged, with its arguments; `refusal` is the verdict's, if any.

    `snapshot` is what it was judged by beside them.
    """
    decision = record.decision or _UNDECIDED
    arguments = _arguments(record, redactor, record.call.arguments)
    denied = refusal is not None or decision.effect is DecisionEffect.DENY
    reason = refusal.reason if refusal is not None else decision.reason
    body = _tool(record, redactor) | {
        "decision": str(DecisionEffect.DENY) if denied else str(decision.effect),
        "status": str(Status.OK) if refusal is None else str(refusal.status),
        "code": (refusal.code if refusal is not None else "") or decision.code,
        "reason": hiding.text(record, redactor, reason),
        "rule": (refusal.rule if refusal is not None else "") or decision.rule,
        "revision": decision.revision or record.revision,
        "arguments": capped(arguments.value),
    }
    if decision.place:
        body["place"] = decision.place
    if record.level is not Level.REQUEST:
        body["level"] = str(record.level)
    if record.contract is not None:
        body["contract"] = record.contract.pin
    if decision.matched:
        body["matched"] = list(decision.matched)
    if decision.inputs is not None:
        body["inputs"] = decisions.inputs(decision.inputs)
    body |= decisions.obligations(decision)
    if snapshot is not None:
        body |= _snapshot(record, redactor, snapshot, at)
    body |= _repeats(record, redactor)
    body |= observing.described(
        record.observed, text=lambda text: hiding.text(record, redactor, text)
    )
    if record.judged_ns:
        body["duration_us"] = _elapsed_us(record.received_ns, record.judged_ns)
    return _event(
        record, body, EventKind.AUTHORIZATION, Stage.DECIDED, id=id, at=at, redacted=arguments
    )


def started(
    record: CallRecord,
    redactor: Redactor,
    *,
    id: str,
    at: datetime,
    arguments: JsonObject | None = None,
) -> Event:
    """Say that a call is about to be sent; `arguments` only when policy changed them."""
    body = _tool(record, redactor)
    redacted: Redacted | None = None
    if arguments is not None:
        redacted = _arguments(record, redactor, arguments)
        body["arguments"] = capped(redacted.value)
    if record.downstream_transport:
        body["transport"] = record.downstream_transport
    return _event(record, body, EventKind.TOOL_CALL, Stage.STARTED, id=id, at=at, redacted=redacted)


def ended(
    record: CallRecord,
    redactor: Redactor,
    *,
    id: str,
    at: datetime,
    reason: str = "",
    next_step: str = "",
    original: JsonObject | None = None,
    result: JsonObject | None = None,
) -> Event:
    """Say how a call ended: the one final event that every call has, whatever became of it.

    `next_step` is what its caller was told to do, where that is not what its status always says;
    `original` is a downstream's result that did not leave as it was, `result` what did leave.
    """
    row = TABLE[record.status]
    body = _tool(record, redactor) | {
        "status": str(record.status),
        "code": record.code,
        "executed": str(record.executed),
        "tool_error": record.tool_error,
        "duration_us": _elapsed_us(record.received_ns, record.closed_ns),
        "result_size": record.result_size,
        "redactions": record.redactions,
    }
    if row.error_class is not None:
        body["error_class"] = str(row.error_class)
    if reason and not hiding.may_quote(record):
        body["reason"] = hiding.text(record, redactor, reason)
        if next_step:
            body["next"] = hiding.text(record, redactor, next_step)
    if record.decision is not None and record.decision.rule:
        body["rule"] = record.decision.rule
    if record.error_code is not None:
        body["error_code"] = record.error_code
    if record.result_digest:
        body["result_digest"] = record.result_digest
    if original is not None and record.level is not Level.METADATA:
        body["original"] = _result(record, redactor, original)
    if result is not None and record.level is Level.FULL:
        body["result"] = _result(record, redactor, result)
    if record.sent_ns:
        body["downstream_us"] = _elapsed_us(record.sent_ns, record.answered_ns or record.closed_ns)
    body |= observing.described(
        record.observed_result,
        text=lambda text: "" if hiding.may_quote(record) else hiding.text(record, redactor, text),
    )
    unharmed = record.status in (Status.OK, Status.INPUT_REQUIRED)
    stage = Stage.FINISHED if unharmed else Stage.FAILED
    return _event(record, body, EventKind.TOOL_CALL, stage, id=id, at=at)


def retrieval(
    record: CallRecord,
    redactor: Redactor,
    *,
    id: str,
    at: datetime,
    documents: Sequence[Document],
    query_digest: str = "",
    sources: Sequence[str] = (),
    rows: RowCount = NO_ROWS,
) -> Event:
    """Say what a read brought into play: documents by id and digest, and what was kept back why."""
    decision = record.decision or _UNDECIDED
    body = _tool(record, redactor)
    body["query_digest"] = query_digest or record.arguments_digest
    body["constraints"] = [decisions.constraint(constraint) for constraint in decision.constraints]
    body |= retrievals.described(
        documents,
        sources,
        rows,
        decision=decision,
        contract=record.contract,
        asked=lambda: _arguments(record, redactor, record.call.arguments).value,
    )
    if record.level is Level.METADATA:
        body.pop("query", None)
    return _event(record, body, EventKind.RETRIEVAL, Stage.RECORDED, id=id, at=at)


def side_effect(
    record: CallRecord,
    redactor: Redactor,
    *,
    id: str,
    at: datetime,
    effect: effects.Effect,
) -> Event:
    """Say what a call changed outside, or that nobody knows whether it did."""
    tenant = _tenant(record)
    told = effects.described(
        effect,
        redact=lambda value, tags: redactor.value(
            value, tenant=tenant, tags=concealed.tagged(value, tags, record.call.concealed)
        ),
        digest=lambda value: redactor.digest(value, tenant=tenant),
        text=lambda text: hiding.text(record, redactor, text),
    )
    body = _tool(record, redactor) | told.body
    event = _event(record, body, EventKind.SIDE_EFFECT, Stage.RECORDED, id=id, at=at)
    if record.level is Level.METADATA:
        return replace(event, body=levels.without_results(body, effect.contract.object))
    return replace(event, masked=told.masked, erased=told.erased)


def model_turn(
    record: CallRecord,
    redactor: Redactor,
    *,
    id: str,
    at: datetime,
    request: JsonObject,
    result: JsonObject | None,
    error: str = "",
) -> Event:
    """Say that a server had the caller's model answer (`sampling/createMessage`), or could not.

    `request` is empty where an earlier request asked the caller. No text is kept of either side.
    """
    tenant = _tenant(record)
    body = _tool(record, redactor) | turns.described(
        request,
        result,
        digest=lambda value: redactor.digest(value, tenant=tenant),
        text=redactor.text,
    )
    if error and record.level is not Level.METADATA:
        body["error"] = hiding.text(record, redactor, error)
    stage = Stage.FAILED if result is None else Stage.FINISHED
    return _event(record, body, EventKind.MODEL_TURN, stage, id=id, at=at)


def question(
    record: CallRecord, redactor: Redactor, *, id: str, at: datetime, inquiry: Inquiry
) -> Event:
    """Say that a server asked the caller something, or how that ended: one event for each."""
    tenant = _tenant(record)
    body = _tool(record, redactor) | questions.described(
        inquiry,
        digest=lambda value: redactor.digest(value, tenant=tenant),
        text=lambda text: hiding.text(record, redactor, text),
    )
    stage = questions.stage_of(inquiry.outcome)
    return _event(record, body, EventKind.AUTHORIZATION, stage, id=id, at=at)


def _event(
    record: CallRecord,
    body: JsonObject,
    kind: EventKind,
    stage: Stage,
    *,
    id: str,
    at: datetime,
    redacted: Redacted | None = None,
) -> Event:
    span = record.authorize_span if kind is EventKind.AUTHORIZATION else record.server_span
    return _made(
        id=id,
        at=at,
        kind=kind,
        stage=stage,
        body=body,
        tenant=_tenant(record),
        call=record.call.call_id,
        run=record.run_id,
        phase=record.phase,
        parent=record.call.parent,
        trace_id=record.trace_id,
        span_id=span,
        actor=record.actor,
        erased=_under_arguments(redacted.erased) if redacted is not None else (),
        masked=_under_arguments(redacted.masked) if redacted is not None else (),
    )


def _under_arguments(places: tuple[JsonPointer, ...]) -> tuple[JsonPointer, ...]:
    return tuple(f"/arguments{place}" for place in places) if places else ()


def _tenant(record: CallRecord) -> str:
    return record.actor.tenant if record.actor is not None else record.call.principal.tenant


def _arguments(record: CallRecord, redactor: Redactor, arguments: JsonObject) -> Redacted:
    own = record.contract.sensitive if record.contract is not None else _NO_TAGS
    hidden = hiding.tagged(record)
    if arguments is not record.call.arguments:
        hidden = {**concealed.named(record.call.arguments), **hidden}
    redacted = redactor.value(
        arguments, tenant=_tenant(record), tags=concealed.tagged(arguments, own, hidden)
    )
    return levels.kept(redacted, record.level)


def _result(record: CallRecord, redactor: Redactor, result: JsonObject) -> Json:
    """Return as much of a result as may be kept; it may repeat arguments."""
    tenant, sent = _tenant(record), record.call.arguments
    named = concealed.named(sent)
    if concealed.are_too_many(named):
        return markers.erased(markers.SIZE)
    hidden = {**named, **record.call.concealed}
    kept = originals.kept(
        result,
        record.contract,
        sent,
        redact=lambda value, tags: redactor.value(
            value, tenant=tenant, tags=concealed.tagged(value, tags, hidden)
        ),
    )
    return capped(kept)


def _tool(record: CallRecord, redactor: Redactor) -> JsonObject:
    """Name what the call is about; of a name that no server has, only what can be kept."""
    tool, uri = record.tool, record.resource[:_URI]
    named: JsonObject = {"method": str(record.call.method)}
    if record.call.cause:
        named["cause"] = record.call.cause
    if tool is None:
        named |= {"tool": "", "server": "", "name": redactor.text(record.call.name[:_NAME])}
    elif tool.kind is Kind.RESOURCE:  # callers may choose URIs: only the redacted form is kept
        named |= {"tool": uri, "server": tool.server, "name": uri}
    else:
        named |= {"tool": tool.key, "server": tool.server, "name": tool.exposed_name}
    if record.effect is not None:
        named["effect"] = str(record.effect)
    if record.risk is not None:
        named["risk"] = str(record.risk)
    named["arguments_digest"] = record.arguments_digest
    return named


def _snapshot(
    record: CallRecord, redactor: Redactor, snapshot: snapshots.Snapshot, at: datetime
) -> JsonObject:
    def redact(value: Json) -> Redacted:
        hidden = hiding.hidden(record)
        if hidden is None:
            return Redacted(value=markers.erased(markers.SIZE))
        tags = concealed.tagged(value, _NO_TAGS, hidden)
        return redactor.value(value, tenant=_tenant(record), tags=tags)

    tool = record.tool
    if tool is not None and tool.kind is Kind.RESOURCE and record.resource[:_URI] != tool.name:
        snapshot = replaced(snapshot, hides_uri=True)
    told = snapshots.described(
        snapshot, at=at, redact=redact, text=lambda text: hiding.text(record, redactor, text)
    )
    return {"snapshot": told} if told else {}


def _repeats(record: CallRecord, redactor: Redactor) -> JsonObject:
    """Say that a write was repeated on purpose, as its host said."""
    try:
        asked = repeats.asked(record.call.meta) if record.effect is not Effect.READ else None
    except repeats.BadRepeat:
        return {}
    if asked is None:
        return {}
    return {"repeats": {"op": asked.op_id, "reason": hiding.text(record, redactor, asked.reason)}}


def _elapsed_us(start_ns: int, end_ns: int) -> int:
    return max(0, end_ns - start_ns) // _US
