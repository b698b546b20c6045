"""One tool that waits for a review, as a person in a terminal sees it: nothing hides."""

import os
from collections.abc import Iterator
from typing import Final

from gateway import jsontext
from gateway.actions.called import Called
from gateway.actions.reviewing import Edits, Item
from gateway.approvals.visible import visible
from gateway.cli.moments import age
from gateway.contracts.guess import Guess
from gateway.contracts.standing import Standing
from gateway.store.times import microseconds
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Sensitivity

_LONGEST: Final = 400  # characters of a text, until the whole definition is asked for
_MOST: Final = 20  # arguments, and changes
_WHY: Final = {
    Standing.UNREVIEWED: "a draft that nobody has reviewed",
    Standing.NO_CONTRACT: "no contract yet; this is what would be drafted",
    Standing.CHANGED: "its definition is not the one that was reviewed",
}


def lines(item: Item, called: Called | None) -> Iterator[str]:
    """Yield what to know before one accepts it."""
    place = item.contract.place or str(item.path)
    yield f"{item.tool.key}: {_WHY[item.standing]} ({os.path.relpath(place)})"
    yield from _definition(item.tool.definition)
    yield from _changes(item)
    yield from entry(item, Edits())
    yield f"  calls       {_calls(called)}"


def entry(item: Item, edits: Edits) -> Iterator[str]:
    """Yield what the contract would say, and why each of it was guessed."""
    contract = item.contract
    effect, risk = edits.effect or contract.effect, edits.risk or contract.risk
    yield _said("effect", effect.value, _whys(item, "effect", effect.value))
    yield _said("risk", risk.value, _whys(item, "risk", risk.value))
    sensitive = contract.sensitive if edits.sensitive is None else edits.sensitive
    for place, kind in sensitive.items():
        yield _said("sensitive", f"{place} is {kind.value}", _of_place(item, place, kind))
    intent = item.intent if edits.intent is None else edits.intent or None
    if intent is not None:
        yield _said("same call", f"by {' '.join(intent)}", [])
    if contract.scopes:
        yield _said("scopes", ", ".join(sorted(contract.scopes)), [])
    trust = contract.result_trust.value
    yield _said("results", f"as trusted as {trust}", _whys(item, "results.trust", trust))
    said = {"effect": effect.value, "risk": risk.value}
    for guess in item.guesses:
        if guess.offered or said.get(guess.field, guess.value) != guess.value:
            yield f"  maybe       {guess.field} {_short(guess.value)}: {visible(guess.why)}"


def whole(item: Item) -> Iterator[str]:
    """Yield the whole definition, laid out."""
    yield from _laid_out(item.tool.definition, "  ")


def as_json(item: Item, called: Called | None) -> JsonObject:
    """Render for programs."""
    contract = item.contract
    return {
        "tool": item.tool.key,
        "state": item.standing.value,
        "file": str(item.path),
        "effect": contract.effect.value,
        "risk": contract.risk.value,
        "sensitive": {place: kind.value for place, kind in contract.sensitive.items()},
        "guesses": [
            {
                "field": guess.field,
                "value": guess.value,
                "why": guess.why,
                "offered": guess.offered,
            }
            for guess in item.guesses
        ],
        "changes": [
            {
                "pointer": each.pointer,
                "kind": each.kind.value,
                "before": each.before,
                "after": each.after,
            }
            for each in item.changes
        ],
        "definition": item.tool.definition,
        "calls": called.to_json() if called is not None else None,
    }


def _definition(definition: JsonObject) -> Iterator[str]:
    for name in ("title", "description"):
        if isinstance(text := definition.get(name), str) and text:
            yield f"  {name:<11} {_cut(visible(text))}"
    schema = _object(definition.get("inputSchema"))
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    arguments = _object(schema.get("properties"))
    for name, said in [*arguments.items()][:_MOST]:
        about = _object(said)
        kind = _short(about.get("type", "any"))
        text = about.get("description")
        told = f": {_cut(visible(text), 120)}" if isinstance(text, str) and text else ""
        must = ", required" if name in needed else ""
        yield f"  argument    {visible(name)} ({kind}{must}){told}"
    if len(arguments) > _MOST:
        yield f"  argument    and {len(arguments) - _MOST} more"
    if hints := _object(definition.get("annotations")):
        yield f"  says        {_short(hints)}"


def _changes(item: Item) -> Iterator[str]:
    for change in item.changes[:_MOST]:
        yield f"  {change.kind.value:<11} {visible(change.pointer)}"
        yield f"            - {_short(change.before)}"
        yield f"            + {_short(change.after)}"
    if len(item.changes) > _MOST:
        yield f"              and {len(item.changes) - _MOST} more; see `weighbridge tools diff`"


def _whys(item: Item, field: str, value: str) -> list[str]:
    """Return why a draft says the same; what a person wrote has no reason here."""
    return [each.why for each in _guesses(item, field) if each.value == value]


def _of_place(item: Item, place: str, kind: Sensitivity) -> list[str]:
    wanted: Json = {place: kind.value}
    return [each.why for each in _guesses(item, "sensitive") if each.value == wanted]


def _guesses(item: Item, field: str) -> list[Guess]:
    return [each for each in item.guesses if each.field == field and not each.offered]


def _said(name: str, value: str, whys: list[str]) -> str:
    because = f"  ({'; '.join(map(visible, whys))})" if whys else ""
    return f"  {name:<11} {visible(value)}{because}"


def _calls(called: Called | None) -> str:
    if called is None or called.last is None:
        return "none so far"
    times = "once" if called.count == 1 else f"{called.count} times"
    many = len(called.callers)
    who = "1 caller" if many == 1 else f"{many} callers"
    return f"{times}, last {age(microseconds(called.last))} ago, by {who}"


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else jsontext.dump(value).decode()
    return _cut(visible(text))


def _cut(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _laid_out(value: Json, indent: str) -> Iterator[str]:
    items: list[tuple[str, Json]] = []
    if isinstance(value, dict):
        items = [(visible(name), inner) for name, inner in value.items()]
    elif isinstance(value, list):
        items = [("-", inner) for inner in value]
    for name, inner in items:
        if isinstance(inner, dict | list) and inner:
            yield f"{indent}{name}"
            yield from _laid_out(inner, indent + "  ")
        else:
            text = inner if isinstance(inner, str) else jsontext.dump(inner).decode()
            yield f"{indent}{name} {visible(text)}"


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
