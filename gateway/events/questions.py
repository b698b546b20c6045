"""What an event keeps of a question of a server: who asked what kind, and how it ended.

Of what was asked and answered, names of fields and keyed digests are left; never a text.
"""

from collections.abc import Callable
from typing import Final

from gateway.types.calls import Method
from gateway.types.decisions import Decision
from gateway.types.events import Stage
from gateway.types.json import Json, JsonObject
from gateway.types.relay import AskOutcome, Inquiry

_NAME: Final = 128
_MOST: Final = 100  # fields of one question
_MODES: Final = ("form", "url")
_ENDED_WELL: Final = frozenset(
    {AskOutcome.ACCEPT, AskOutcome.DECLINE, AskOutcome.CANCEL, AskOutcome.ANSWERED}
)

Digest = Callable[[Json], str]
Text = Callable[[str], str]


def stage_of(outcome: AskOutcome) -> Stage:
    """Return where in the life of a question an outcome stands."""
    if outcome is AskOutcome.ASKED:
        return Stage.STARTED
    return Stage.FINISHED if outcome in _ENDED_WELL else Stage.FAILED


def described(inquiry: Inquiry, *, digest: Digest, text: Text) -> JsonObject:
    """Return the members about one question; `text` redacts, `digest` is keyed."""
    said: JsonObject = {"outcome": inquiry.outcome.value}
    if inquiry.method is not None:
        said["question"] = inquiry.method.value
    if inquiry.key:
        said["key"] = text(inquiry.key[:_NAME])
    if inquiry.params is not None:
        said |= _asked(inquiry.method, inquiry.params, digest, text)
    if inquiry.decision is not None:
        said |= _decided(inquiry.decision, text)
    if inquiry.error_code is not None:
        said["error_code"] = inquiry.error_code
    if inquiry.result is not None:
        said |= _answered(inquiry.result, digest, text)
    return said


def _asked(method: Method | None, params: JsonObject, digest: Digest, text: Text) -> JsonObject:
    said: JsonObject = {"question_digest": digest(_without_meta(params))}
    if method is Method.ELICIT:
        mode = params.get("mode", "form")
        said["mode"] = mode if mode in _MODES else ""
    wanted = params.get("requestedSchema")
    fields = wanted.get("properties") if isinstance(wanted, dict) else None
    if isinstance(fields, dict):
        said["fields"] = [text(name[:_NAME]) for name in list(fields)[:_MOST]]
    return said


def _decided(decision: Decision, text: Text) -> JsonObject:
    said: JsonObject = {
        "decision": str(decision.effect),
        "code": decision.code,
        "reason": text(decision.reason),
        "rule": decision.rule,
        "revision": decision.revision,
    }
    if decision.place:
        said["place"] = decision.place
    return said


def _answered(result: JsonObject, digest: Digest, text: Text) -> JsonObject:
    said: JsonObject = {"answer_digest": digest(_without_meta(result))}
    content = result.get("content")
    if "action" in result and isinstance(content, dict):
        said["answer"] = [
            {"name": text(name[:_NAME]), "digest": digest(value)}
            for name, value in list(content.items())[:_MOST]
        ]
    return said


def _without_meta(value: JsonObject) -> JsonObject:
    return {name: member for name, member in value.items() if name != "_meta"}
