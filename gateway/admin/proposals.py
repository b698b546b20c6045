"""Other arguments that an approver would rather have: drafted for a form, and read back from it."""

import json
from collections.abc import Sequence

from gateway import jsontext
from gateway.approvals.lines import MOST_BYTES
from gateway.approvals.visible import is_hidden
from gateway.errors import JsonError, WeighbridgeError
from gateway.types.json import Json, JsonObject


class ProposalRefused(WeighbridgeError):
    """A proposal can't be taken as it stands; `faults` say why, field by field."""

    def __init__(self, message: str, faults: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.faults = faults


def draft(document: JsonObject | None) -> str:
    """Return the arguments as a text to edit; empty where some are hidden from approvers.

    What hides is written as JSON writes it, so that an eye sees it and it stays the same value.
    """
    arguments = document.get("arguments") if document is not None else None
    if document is None or document.get("masked") or not isinstance(arguments, dict):
        return ""
    if len(jsontext.dump(arguments)) > MOST_BYTES:
        return ""
    return laid_out(arguments)


def read(text: str, document: JsonObject | None) -> JsonObject:
    """Return the proposed arguments, or raise ProposalRefused with the mend."""
    if not draft(document):
        raise ProposalRefused(
            "some arguments are hidden from approvers, so that nobody can propose all of them; "
            "deny it, and say in words what should be different"
        )
    try:
        proposed = jsontext.parse(text, max_bytes=MOST_BYTES)
    except JsonError as error:
        raise ProposalRefused(f"the proposal is not JSON: {error}") from error
    if not isinstance(proposed, dict):
        raise ProposalRefused("the proposal has to be a JSON object with all arguments")
    if document is not None and jsontext.dump(proposed) == jsontext.dump(document["arguments"]):
        raise ProposalRefused("the proposal is what was asked for; approve or deny it")
    return proposed


def check(faults: Sequence[str]) -> None:
    """Refuse what the tool would not take; raises ProposalRefused."""
    if faults:
        raise ProposalRefused("the tool doesn't take these arguments; mend them", faults)


def laid_out(value: Json, indent: str = "") -> str:
    """Return JSON over several lines, without touching a digit; what hides is written out."""
    inner = f"{indent}  "
    match value:
        case dict() if value:
            members = [
                f"{inner}{_text(key)}: {laid_out(item, inner)}" for key, item in value.items()
            ]
            return "{\n" + ",\n".join(members) + f"\n{indent}}}"
        case list() if value:
            items = [f"{inner}{laid_out(item, inner)}" for item in value]
            return "[\n" + ",\n".join(items) + f"\n{indent}]"
        case _:
            return _text(value)


def _text(value: Json) -> str:
    return "".join(
        json.dumps(each)[1:-1] if is_hidden(each) else each
        for each in jsontext.dump(value).decode()
    )
