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
    judged,
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
from gateway.events.named import URI, named
from gateway.events.redact import Redacted, Redactor
from gateway.events.retrievals import Document
from gateway.types import repeats
from gateway.types.audit import Level
from gateway.types.decisions import NO_ROWS, Decision, RowCount
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.observed import Observed
from gateway.types.outcomes import TABLE, Refusal, Status
from gateway.types.records import CallRecord
from gateway.types.relay import Inquiry
from gateway.types.tools import Effect, Kind
from gateway.types.values import maker, replaced

_made = maker(Event)

_NO_TAGS: Final[concealed.Tags] = {}
_UNDECIDED: Final = Decision()
_UNHARMED: Final = (Status.OK, Status.INPUT_REQUIRED)
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
    if refusal is None and decision.is_plain:
        verdict, grounds = judged.plain(decision)
    else:
        reason = hiding.text(record, redactor, (refusal or decision).reason)
        verdict = judged.verdict(decision, refusal, reason, record.revision)
        grounds = judged.grounds(decision)
    body: JsonObject = {
        **named(record, redactor),
        **verdict,
        "arguments": capped(arguments.value),
        **grounds,
    }
    if record.level is not Level.REQUEST:
        body["level"] = str(record.level)
    if record.contract is not None:
        body["contract"] = record.contract.pin
    if snapshot is not None:
        body |= _snapshot(record, redactor, snapshot, at)
    if record.effect is not Effect.READ:
        body |= _repeats(record, redactor)
    if record.observed is not None:
        body |= observing.described(
            record.observed, text=lambda text: hiding.text(record, redactor, text)
        )
    if record.judged_ns:
        body["duration_us"] = elapsed_us(record.received_ns, record.judged_ns)
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
    body = named(record, redactor)
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
    status = record.status
    row = TABLE[status]
    body: JsonObject = {
        **named(record, redactor),
        "status": str(status),
        "code": record.code,
        "executed": str(record.executed),
        "tool_error": record.tool_error,
        "duration_us": elapsed_us(record.received_ns, record.closed_ns),
        "result_size": record.result_size,
        "redactions": record.redactions,
    }
    if row.error_class is not None:
        body["error_class"] = str(row.error_class)
    if reason:
        body |= _said(record, redactor, reason, next_step)
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
        body["downstream_us"] = elapsed_us(record.sent_ns, record.answered_ns or record.closed_ns)
    if record.observed_result is not None:
        body |= _observed(record, redactor, record.observed_result)
    stage = Stage.FINISHED if status in _UNHARMED else Stage.FAILED
    return _event(record, body, EventKind.TOOL_CALL, stage, id=id, at=at)


def _said(record: CallRecord, redactor: Redactor, reason: str, next_step: str) -> JsonObject:
    if hiding.may_quote(record):
        return {}
    told: JsonObject = {"reason": hiding.text(record, redactor, reason)}
    if next_step:
        told["next"] = hiding.text(record, redactor, next_step)
    return told


def _observed(record: CallRecord, redactor: Redactor, observed: Observed) -> JsonObject:
    quotes = not hiding.may_quote(record)
    return observing.described(
        observed, text=lambda text: hiding.text(record, redactor, text) if quotes else ""
    )


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
    told = retrievals.described(
        documents,
        sources,
        rows,
        decision=decision,
        contract=record.contract,
        asked=lambda: _arguments(record, redactor, record.call.arguments).value,
    )
    body: JsonObject = {
        **named(record, redactor),
        "query_digest": query_digest or record.arguments_digest,
        "constraints": [decisions.constraint(each) for each in decision.constraints],
        **told,
    }
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
    body = named(record, redactor) | told.body
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
    body = named(record, redactor) | turns.described(
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
    body = named(record, redactor) | questions.described(
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
    call, actor = record.call, record.actor
    return _made(
        id=id,
        at=at,
        kind=kind,
        stage=stage,
        body=body,
        tenant=actor.tenant if actor is not None else call.principal.tenant,
        call=call.call_id,
        run=record.run_id,
        phase=record.phase,
        parent=call.parent,
        trace_id=record.trace_id,
        span_id=(record.authorize_span if kind is EventKind.AUTHORIZATION else record.server_span),
        actor=actor,
        erased=_under_arguments(redacted.erased) if redacted and redacted.erased else (),
        masked=_under_arguments(redacted.masked) if redacted and redacted.masked else (),
    )


def _under_arguments(places: tuple[JsonPointer, ...]) -> tuple[JsonPointer, ...]:
    return tuple(f"/arguments{place}" for place in places)


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
    if tool is not None and tool.kind is Kind.RESOURCE and record.resource[:URI] != tool.name:
        snapshot = replaced(snapshot, hides_uri=True)
    told = snapshots.described(
        snapshot, at=at, redact=redact, text=lambda text: hiding.text(record, redactor, text)
    )
    return {"snapshot": told} if told else {}


def _repeats(record: CallRecord, redactor: Redactor) -> JsonObject:
    """Say that a write was repeated on purpose, as its host said."""
    try:
        asked = repeats.asked(record.call.meta)
    except repeats.BadRepeat:
        return {}
    if asked is None:
        return {}
    return {"repeats": {"op": asked.op_id, "reason": hiding.text(record, redactor, asked.reason)}}


def elapsed_us(start_ns: int, end_ns: int) -> int:
    """Return the whole microseconds between two times in nanoseconds."""
    return (end_ns - start_ns) // _US if end_ns > start_ns else 0
