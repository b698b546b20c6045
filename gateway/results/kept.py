"""How a call ended, as JSON and back: what an operation keeps for calls that repeat it."""

from gateway.errors import WeighbridgeError
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Execution, Verification, VerificationState
from gateway.types.outcomes import Answer, Refusal, Status, WireError

_VERSION = 1
OUTPUT = "output"  # member beside an outcome: by what it was minimised


class NotKept(WeighbridgeError):
    """What was kept can't be read as the end of a call."""


def to_json(outcome: Answer | Refusal) -> JsonObject:
    """Return all of an outcome that a repeated call is told."""
    match outcome:
        case Answer():
            return {
                "v": _VERSION,
                "kind": "answer",
                "result": outcome.result,
                "status": str(outcome.status),
                "verification": str(outcome.verification.state),
                "detail": outcome.verification.detail,
                "redactions": outcome.redactions,
                "notes": list(outcome.notes),
            }
        case Refusal():
            error = outcome.error
            return {
                "v": _VERSION,
                "kind": "refusal",
                "status": str(outcome.status),
                "reason": outcome.reason,
                "code": outcome.code,
                "rule": outcome.rule,
                "executed": str(outcome.executed),
                "retry_after_s": outcome.retry_after_s,
                "next": outcome.next,
                "original": outcome.original,
                "details": [dict(detail) for detail in outcome.details],
                "error": None
                if error is None
                else {"code": error.code, "message": error.message, "data": error.data},
            }


def from_json(kept: JsonObject) -> Answer | Refusal:
    """Return the outcome that was kept; raises `NotKept`."""
    try:
        if kept["kind"] == "answer":
            return _answer(kept)
        return _refusal(kept)
    except (KeyError, ValueError, TypeError) as error:
        raise NotKept(f"the kept outcome can't be read: {error!r}") from error


def _answer(kept: JsonObject) -> Answer:
    notes = kept["notes"]
    state = VerificationState(_text(kept["verification"]))
    return Answer(
        result=_object(kept["result"]),
        status=Status(_text(kept["status"])),
        verification=Verification(state=state, detail=_text(kept["detail"])),
        redactions=_integer(kept["redactions"]),
        notes=tuple(map(_text, notes if isinstance(notes, list) else ())),
    )


def _refusal(kept: JsonObject) -> Refusal:
    error, original, wait = kept["error"], kept["original"], kept["retry_after_s"]
    details = kept["details"]
    return Refusal(
        status=Status(_text(kept["status"])),
        reason=_text(kept["reason"]),
        code=_text(kept["code"]),
        rule=_text(kept["rule"]),
        executed=Execution(_text(kept["executed"])),
        retry_after_s=float(wait) if isinstance(wait, int | float) else None,
        next=_text(kept["next"]),
        original=None if original is None else _object(original),
        details=tuple(map(_object, details if isinstance(details, list) else ())),
        error=None if error is None else _error(_object(error)),
    )


def _error(kept: JsonObject) -> WireError:
    return WireError(code=_integer(kept["code"]), message=_text(kept["message"]), data=kept["data"])


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _integer(value: Json) -> int:
    if not isinstance(value, int):
        raise TypeError("not a whole number")
    return value


def _object(value: Json) -> JsonObject:
    if not isinstance(value, dict):
        raise TypeError("not an object")
    return value
