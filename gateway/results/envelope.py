"""The envelope: what every result and every refusal says to programs and to models."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from gateway import jsontext
from gateway.types.calls import Era, Method
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import (
    TABLE,
    Answer,
    ApprovalTold,
    Finished,
    Refusal,
    Status,
    WireError,
)
from gateway.types.values import maker, value

_finished = maker(Finished)

OUTCOME = "weighbridge/outcome"  # key in `_meta`
DATA = "weighbridge/data"  # key in the data of an error: what a server gave that is no object
UNTRUSTED = "weighbridge/untrusted"  # key in `_meta`
# JSON-RPC codes of refusals where MCP has no result that could carry one.
REFUSED: Final = 1000  # our own: outside of what JSON-RPC (-32768 to -32000) and MCP reserve
NO_RESOURCE: Final = -32002  # MCP 2025-11-25, server/resources; retired in 2026-07-28
INVALID_PARAMS: Final = -32602

_NAME: Final = 128  # characters of a name that a caller made up


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """What a method names, and where its names are to be had."""

    noun: str
    next: str = ""


_RESOURCE: Final = _Target(noun="resource", next="use a URI from resources/list")
_TASK: Final = _Target(noun="task", next="use the id of a task that a call of yours returned")
_TARGETS: Final[Mapping[Method, _Target]] = {
    Method.CALL_TOOL: _Target(noun="tool"),
    Method.READ_RESOURCE: _RESOURCE,
    Method.SUBSCRIBE: _RESOURCE,
    Method.GET_PROMPT: _Target(noun="prompt", next="use a prompt name from prompts/list"),
    Method.COMPLETE: _Target(
        noun="prompt or resource", next="use a name from prompts/list or resources/templates/list"
    ),
    Method.GET_TASK: _TASK,
    Method.UPDATE_TASK: _TASK,
    Method.CANCEL_TASK: _TASK,
}


@value
class Subject:
    """What an envelope names besides the outcome."""

    call_id: str
    run_id: str = ""
    op_id: str = ""  # the operation that the call is about
    replay_until: str = ""  # when its answer ceases to be told again, in ISO 8601
    tool: str = ""  # or what else is named, as the caller named it
    rule: str = ""  # the one that decided
    has_output_schema: bool = False
    method: Method = Method.CALL_TOOL
    era: Era = Era.MODERN  # of the caller


# Of each status what an envelope says: its name, and the class of its error if it is one.
_SAID: Final[Mapping[Status, tuple[str, str | None]]] = {
    status: (str(status), str(row.error_class) if row.error_class is not None else None)
    for status, row in TABLE.items()
}


def answer(outcome: Answer, subject: Subject) -> Finished:
    """Wrap a result that passes: its own members stay, one key of `_meta` is added."""
    status, error_class = _SAID[outcome.status]
    said: JsonObject = {"call_id": subject.call_id, "status": status}
    if subject.run_id:
        said["run_id"] = subject.run_id
    if subject.op_id:
        said |= _operation(subject)
    if outcome.replayed:
        said["replayed"] = True
    if subject.rule:
        said["rule"] = subject.rule
    said["verification"] = str(outcome.verification.state)
    if outcome.redactions:
        said["redactions"] = outcome.redactions
    if outcome.notes:
        said["notes"] = list(outcome.notes)
    if error_class is not None:
        said["error_class"] = error_class
    meta = outcome.result.get("_meta")
    merged: JsonObject = {**meta, OUTCOME: said} if isinstance(meta, dict) else {OUTCOME: said}
    return _finished(result={**outcome.result, "_meta": merged}, status=outcome.status)


def refuse(refusal: Refusal, subject: Subject) -> Finished:
    """Say no so that a model can act on it; hidden names look like names that don't exist.

    A tool's refusal is a result; for other methods it is an error with the same text and data.
    """
    told = missing(subject.tool, subject.method) if refusal.hidden else refusal
    outcome = _outcome(told, subject)
    if told.error is not None:
        return _finished(result={}, status=told.status, error=_told(told.error, outcome))
    text = f"[{told.status.value}] {told.reason}. "
    text += f"Executed: {told.executed.value}. Next: {outcome['next']}."
    if subject.method is not Method.CALL_TOOL:
        code = _error_code(told.status, subject)
        error = WireError(code=code, message=text, data={OUTCOME: outcome})
        return _finished(result={}, status=told.status, scopes=told.scopes, error=error)
    content: list[Json] = [{"type": "text", "text": text}]
    if told.approval is not None and told.approval.suggested is not None:
        # Hosts show models the texts, and rarely anything else.
        suggested = jsontext.dump(told.approval.suggested).decode()
        content.append({"type": "text", "text": f"suggested_arguments: {suggested}"})
    original = told.original
    if original is not None and isinstance(original.get("content"), list):
        content += original["content"]  # type: ignore[operator] - a list, checked the line above
    meta: JsonObject = {OUTCOME: outcome}
    marked = original.get("_meta") if original is not None else None
    if isinstance(marked, dict) and UNTRUSTED in marked:
        meta[UNTRUSTED] = marked[UNTRUSTED]
    result: JsonObject = {"content": content, "isError": True, "_meta": meta}
    if not subject.has_output_schema:
        result["structuredContent"] = outcome
    return _finished(result=result, status=told.status, scopes=told.scopes)


def _error_code(status: Status, subject: Subject) -> int:
    if status is Status.UNKNOWN_TOOL:
        is_resource = _TARGETS[subject.method] is _RESOURCE
        return NO_RESOURCE if is_resource and subject.era is Era.LEGACY else INVALID_PARAMS
    return INVALID_PARAMS if status is Status.INVALID_ARGUMENTS else REFUSED


def _told(error: WireError, outcome: JsonObject) -> WireError:
    """Add the outcome to a server's error where its data has room for a member, or has to."""
    if error.data is None:
        return replace(error, data={OUTCOME: outcome})
    if isinstance(error.data, dict):
        return replace(error, data={**error.data, OUTCOME: outcome})
    if outcome["status"] != Status.INDETERMINATE.value:
        return error
    # Its caller has to learn that nobody knows, and by which id to find out.
    return replace(error, data={DATA: error.data, OUTCOME: outcome})


def missing(name: str, method: Method) -> Refusal:
    """Return what is said of a name that nothing has, or that its caller may not know of."""
    target = _TARGETS[method]
    return Refusal(
        status=Status.UNKNOWN_TOOL,
        code=f"unknown_{target.noun.replace(' ', '_')}",
        reason=f"there is no {target.noun} `{shown(name)}`",
        next=target.next,
    )


def shown(name: str) -> str:
    """Return as much of a name as is worth repeating to whoever sent it."""
    return name if len(name) <= _NAME else name[:_NAME] + "…"


def _operation(subject: Subject) -> JsonObject:
    told: JsonObject = {"op_id": subject.op_id}
    if subject.replay_until:
        told["replay_until"] = subject.replay_until
    return told


def _approval(told: ApprovalTold) -> JsonObject:
    said: JsonObject = {"approval_id": told.approval_id}
    if told.url:
        said["approve_url"] = told.url
    if told.decide_by:
        said["decide_by"] = told.decide_by
    if told.suggested is not None:
        said["suggested_arguments"] = told.suggested
    return said


def _outcome(refusal: Refusal, subject: Subject) -> JsonObject:
    row = refusal.row
    outcome: JsonObject = {
        "status": str(refusal.status),
        "error_class": str(row.error_class) if row.error_class is not None else None,
        "executed": str(refusal.executed),
        "reason": refusal.reason,
        "retryable": row.retryable,
        "next": refusal.next or row.next,
        "call_id": subject.call_id,
    }
    if subject.run_id:
        outcome["run_id"] = subject.run_id
    if subject.op_id:
        outcome |= _operation(subject)
    if refusal.replayed:
        outcome["replayed"] = True
    if refusal.code:
        outcome["code"] = refusal.code
    if refusal.rule:
        outcome["rule"] = refusal.rule
    if refusal.approval is not None:
        outcome |= _approval(refusal.approval)
    if refusal.retry_after_s is not None:
        outcome["retry_after_s"] = math.ceil(refusal.retry_after_s * 10) / 10
    if refusal.details:
        outcome["details"] = [dict(detail) for detail in refusal.details]
    return outcome
