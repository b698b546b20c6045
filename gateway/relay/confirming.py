"""The question that the caller's own client is asked, and what its answer says.

An answer shows that the client said yes, and no more: it may answer by itself (ADR 0013).
"""

from typing import Final

from gateway import jsontext
from gateway.approvals import lines
from gateway.approvals.binding import short
from gateway.types.approvals import Approval, Choice
from gateway.types.json import Json, JsonObject

_DECISION: Final = "decision"
_TYPED: Final = "typed"
_CONFIRM: Final = "confirm"  # in the document: pointer of the value that has to be typed
_LONGEST: Final = 4_000  # characters of a message; who wants to see more has the page


def can_ask(capabilities: JsonObject) -> bool:
    """Whether a client shows forms: `elicitation: {}` means just that (MCP, client/elicitation)."""
    declared = capabilities.get("elicitation")
    return isinstance(declared, dict) and (not declared or "form" in declared)


def form(document: JsonObject, approval: Approval) -> JsonObject:
    """Return the params of `elicitation/create`: a choice without a default, a value to type."""
    properties: JsonObject = {
        _DECISION: {
            "type": "string",
            "title": "Decision",
            "enum": [str(Choice.APPROVE), str(Choice.DENY)],
        }
    }
    required: list[Json] = [_DECISION]
    pointer = document.get(_CONFIRM)
    if expected(document) is not None:
        properties[_TYPED] = {
            "type": "string",
            "title": f"Type the value of {pointer} to confirm it",
        }
        required.append(_TYPED)
    return {
        "message": _message(document, approval),
        "requestedSchema": {"type": "object", "properties": properties, "required": required},
    }


def _message(document: JsonObject, approval: Approval) -> str:
    said = [f"{row.label}: {row.text}" for row in lines.rows(document)]
    text = "\n".join(said)
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}… ({len(text)} characters; the whole is on the approvals page)"
    return f"{text}\nRequest {approval.approval_id}, {short(approval.binding)}"


def expected(document: JsonObject) -> str | None:
    """Return what has to be typed to say yes; None where nothing has."""
    pointer = document.get(_CONFIRM)
    if not isinstance(pointer, str) or not pointer:
        return None
    try:
        value = jsontext.get(document.get("arguments"), pointer)
    except KeyError:
        return None
    return value if isinstance(value, str) else jsontext.dump(value).decode()


def choice(said: JsonObject, *, typed: str | None = None) -> Choice | None:
    """Return what a client's user decided; None where he did not.

    `cancel` is no decision, and neither is a yes without the value that has to be typed.
    """
    action, content = said.get("action"), said.get("content")
    if action == "decline":
        return Choice.DENY
    if action != "accept" or not isinstance(content, dict):
        return None
    match content.get(_DECISION):
        case "deny":
            return Choice.DENY
        case "approve" if typed is None or _same(content.get(_TYPED), typed):
            return Choice.APPROVE
        case _:
            return None


def _same(given: Json, typed: str) -> bool:
    return isinstance(given, str) and given.strip() == typed
