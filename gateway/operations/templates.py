"""Templates of calls: what a contract wants called, filled with what is known of an operation.

The grammar is that of `gateway.jsontext.references`; keys of objects are never filled.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway import jsontext
from gateway.errors import WeighbridgeError
from gateway.jsontext.answers import of_result
from gateway.jsontext.references import BadReference, Parts, Reference, parse
from gateway.jsontext.references import references as _references
from gateway.types.json import Json, JsonObject

__all__ = [
    "BadReference",
    "Known",
    "Unfilled",
    "fill",
    "of_result",
    "parse",
    "references",
    "value_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What references stand for; None where there is no such thing."""

    args: JsonObject  # as they were sent
    result: Json = None  # `of_result` of the answer
    old: Json = None  # `of_result` of the read before it
    op: Mapping[str, str] = field(default_factory=dict[str, str])  # `id` and `key`


class Unfilled(WeighbridgeError):
    """A reference that stands for nothing here."""

    def __init__(self, reference: str) -> None:
        super().__init__(f"there is no `{reference}`")
        self.reference = reference


def fill(template: Mapping[str, Json], known: Known) -> JsonObject:
    """Return the arguments of a call; raises `Unfilled`, and `BadReference` as `parse` does.

    A value that is missing is never left out: the call would be another one than was reviewed.
    """
    return {key: _filled(value, known) for key, value in template.items()}


def value_of(text: str, known: Known) -> Json:
    """Return what one text stands for, such as the `of` of a checksum; raises like `fill`."""
    return _text(parse(text), known)


def references(value: Json) -> tuple[str, ...]:
    """Return every reference in a template as it is written; raises `BadReference`."""
    return tuple(reference.text for reference in _references(value))


def _filled(value: Json, known: Known) -> Json:
    match value:
        case str():
            return _text(parse(value), known)
        case dict():
            return {key: _filled(member, known) for key, member in value.items()}
        case list():
            return [_filled(member, known) for member in value]
        case _:
            return value


def _text(parts: Parts, known: Known) -> Json:
    match parts:
        case (Reference() as reference,):
            return _value(reference, known)
        case _:
            return "".join(
                part if isinstance(part, str) else _as_text(part, known) for part in parts
            )


def _value(reference: Reference, known: Known) -> Json:
    value = _root(reference.root, known)
    if value is None:
        raise Unfilled(reference.text)
    for step in reference.steps:
        match value, step:
            case dict(), str() if step in value:
                value = value[step]
            case list(), int() if step < len(value):
                value = value[step]
            case _:
                raise Unfilled(reference.text)
    return value


def _root(name: str, known: Known) -> Json:
    match name:
        case "args":
            return known.args
        case "result":
            return known.result
        case "old":
            return known.old
        case _:
            return dict[str, Json](known.op)


def _as_text(reference: Reference, known: Known) -> str:
    value = _value(reference, known)
    if value is None:  # `/refunds/null` would name something
        raise Unfilled(reference.text)
    return value if isinstance(value, str) else jsontext.dump(value).decode()
