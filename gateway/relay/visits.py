"""URLs that a server wants visited before it does what it was called for: JSON-RPC -32042.

Revision 2025-11-25 has this error, and none after it: a stateless caller is asked instead.
"""

from typing import Final

from gateway.types.calls import Method
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Rejected

_MEMBER: Final = "elicitations"  # of the error's data: the params of an elicitation each
_KEY: Final = "weighbridge/url-"  # of questions that are the gateway's way to put it


def as_questions(wanted: Rejected) -> Delivered | None:
    """Return the result by which a stateless server asks the same; None for other things."""
    entries = wanted.data.get(_MEMBER) if isinstance(wanted.data, dict) else None
    requests: JsonObject = {}
    for number, each in enumerate(entries if isinstance(entries, list) else (), start=1):
        if not isinstance(each, dict) or each.get("mode") != "url":
            return None
        requests[f"{_KEY}{number}"] = {"method": Method.ELICIT.value, "params": each}
    asked: JsonObject = {"resultType": "input_required", "inputRequests": requests}
    return Delivered(result=asked, size=wanted.size)


def as_error(wanted: Rejected, asked: JsonObject) -> Rejected:
    """Return the error with the questions of `asked`, as they are put to the caller."""
    requests = asked.get("inputRequests")
    shown: list[Json] = [
        each.get("params")
        for each in (requests.values() if isinstance(requests, dict) else ())
        if isinstance(each, dict)
    ]
    data = wanted.data if isinstance(wanted.data, dict) else {}
    return Rejected(
        code=wanted.code,
        message=wanted.message,
        data={**data, _MEMBER: shown},
        size=wanted.size,
        status=wanted.status,
    )


def without_answers(responses: Json) -> Json:
    """Return what a server gets of a caller's answers: it has not asked for these in this way."""
    if not isinstance(responses, dict):
        return responses
    return {key: each for key, each in responses.items() if not key.startswith(_KEY)}
