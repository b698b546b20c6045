"""The envelope: what every result and every refusal says to programs and to models."""

import math
from dataclasses import dataclass, replace

from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import TABLE, Answer, Finished, Refusal, Status, WireError

OUTCOME = "weighbridge/outcome"  # key in `_meta`
UNTRUSTED = "weighbridge/untrusted"  # key in `_meta`


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What an envelope names besides the outcome."""

    call_id: str
    run_id: str = ""
    tool: str = ""  # as the caller named it
    rule: str = ""  # the one that decided
    has_output_schema: bool = False


def answer(outcome: Answer, subject: Subject) -> Finished:
    """Wrap a result that passes: its own members stay, one key of `_meta` is added."""
    said: JsonObject = {"call_id": subject.call_id, "status": outcome.status.value}
    if subject.run_id:
        said["run_id"] = subject.run_id
    if subject.rule:
        said["rule"] = subject.rule
    said["verification"] = outcome.verification.state.value
    if outcome.redactions:
        said["redactions"] = outcome.redactions
    if outcome.notes:
        said["notes"] = list(outcome.notes)
    error_class = TABLE[outcome.status].error_class
    if error_class is not None:
        said["error_class"] = error_class.value
    meta = outcome.result.get("_meta")
    merged: JsonObject = {**meta, OUTCOME: said} if isinstance(meta, dict) else {OUTCOME: said}
    return Finished(result={**outcome.result, "_meta": merged}, status=outcome.status)


def refuse(refusal: Refusal, subject: Subject) -> Finished:
    """Say no so that a model can act on it; hidden tools look like names that don't exist."""
    shown = masked(refusal, subject.tool) if refusal.hidden else refusal
    outcome = _outcome(shown, subject)
    if shown.error is not None:
        return Finished(result={}, status=shown.status, error=_told(shown.error, outcome))
    text = f"{shown.reason}. Executed: {shown.executed.value}. Next: {outcome['next']}."
    content: list[Json] = [{"type": "text", "text": f"[{shown.status.value}] {text}"}]
    original = shown.original
    if original is not None and isinstance(original.get("content"), list):
        content += original["content"]  # type: ignore[operator] - a list, checked the line above
    result: JsonObject = {"content": content, "isError": True, "_meta": {OUTCOME: outcome}}
    if not subject.has_output_schema:
        result["structuredContent"] = outcome
    return Finished(result=result, status=shown.status, scopes=shown.scopes)


def _told(error: WireError, outcome: JsonObject) -> WireError:
    """Add the outcome to a server's error where its data has room for a member."""
    if error.data is None:
        return replace(error, data={OUTCOME: outcome})
    return (
        replace(error, data={**error.data, OUTCOME: outcome})
        if isinstance(error.data, dict)
        else error
    )


def masked(refusal: Refusal, tool: str) -> Refusal:
    """Return what a caller is told about a tool that it may not know of."""
    del refusal  # nothing of it may show
    return Refusal(status=Status.UNKNOWN_TOOL, reason=f"there is no tool `{tool}`")


def _outcome(refusal: Refusal, subject: Subject) -> JsonObject:
    row = refusal.row
    outcome: JsonObject = {
        "status": refusal.status.value,
        "error_class": row.error_class.value if row.error_class is not None else None,
        "executed": refusal.executed.value,
        "reason": refusal.reason,
        "retryable": row.retryable,
        "next": refusal.next or row.next,
        "call_id": subject.call_id,
    }
    if subject.run_id:
        outcome["run_id"] = subject.run_id
    if refusal.code:
        outcome["code"] = refusal.code
    if refusal.rule:
        outcome["rule"] = refusal.rule
    if refusal.retry_after_s is not None:
        outcome["retry_after_s"] = math.ceil(refusal.retry_after_s * 10) / 10
    if refusal.details:
        outcome["details"] = [dict(detail) for detail in refusal.details]
    return outcome
