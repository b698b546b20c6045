"""Names of arguments that a server may take for others, though no rule about those sees them.

Many decoders take `Tenant` for `tenant` (Go's `encoding/json` does), and some `tenantId` for
`tenant_id`; of two of them in one object often the last one counts. So what a schema lets in
beside its own names must not be one of these in another spelling.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from gateway import jsontext
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.values import value

_MOST: Final = 200  # schemas that one place is followed through
_WORDS: Final = ("allOf", "anyOf", "oneOf")
_FLAT: Final = frozenset({str, int, float, bool, Decimal, type(None)})
_MARKS: Final = str.maketrans("", "", "_-")


@value
class Misspelt:
    """A name that is none, and the one that it could be taken for."""

    pointer: JsonPointer  # where it stands
    name: str  # as it should be


def fold(name: str) -> str:
    """Return what all spellings of a name have in common."""
    return name.casefold().translate(_MARKS)


def like(names: Collection[str], given: Iterable[str]) -> tuple[str, str] | None:
    """Return the first given name that is another spelling of a name, and that name."""
    strange = [each for each in given if each not in names]
    if not strange:  # of nearly all calls
        return None
    known = {fold(each): each for each in names}
    return next(((each, known[fold(each)]) for each in strange if fold(each) in known), None)


def misspelt(schema: Json, arguments: JsonObject, also: Collection[str] = ()) -> Misspelt | None:
    """Return the first misspelt name in arguments; `also` are names at the top, beside others."""
    if isinstance(schema, dict) and _is_plain(schema, arguments):  # nearly all calls are
        return None
    return _in(arguments, [schema], schema, "", also)


def _is_plain(schema: JsonObject, arguments: JsonObject) -> bool:
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties.keys() >= arguments.keys():
        return False
    return are_flat(arguments.values())


def are_flat(values: Collection[Json]) -> bool:
    """Whether values certainly have nothing below them: by their classes, which C looks at."""
    return _FLAT.issuperset(map(type, values))


def _in(
    value: Json, schemas: Sequence[Json], root: Json, pointer: JsonPointer, also: Collection[str]
) -> Misspelt | None:
    parts = [*_parts(schemas, root)]
    match value:
        case dict():
            names = {name for part in parts for name in _object(part.get("properties"))}
            found = like(names.union(also), value)
            if found is not None:
                return Misspelt(pointer=f"{pointer}/{jsontext.escape(found[0])}", name=found[1])
            inner = (
                (jsontext.escape(key), each, [*_of(parts, key)]) for key, each in value.items()
            )
        case list():
            items = [part["items"] for part in parts if "items" in part]
            inner = ((str(index), each, items) for index, each in enumerate(value))
        case _:
            return None
    for token, each, below in inner:
        if below and isinstance(each, dict | list):
            wrong = _in(each, below, root, f"{pointer}/{token}", ())
            if wrong is not None:
                return wrong
    return None


def _of(parts: Sequence[JsonObject], key: str) -> Iterator[Json]:
    for part in parts:
        properties = _object(part.get("properties"))
        if key in properties:
            yield properties[key]
        elif "additionalProperties" in part:
            yield part["additionalProperties"]


def _parts(schemas: Sequence[Json], root: Json) -> Iterator[JsonObject]:
    """Yield every schema that speaks of a place: those referred to and combined as well."""
    waiting = [*schemas]
    for _ in range(_MOST):
        if not waiting:
            return
        schema = waiting.pop(0)
        if not isinstance(schema, dict):
            continue
        yield schema
        ref = schema.get("$ref")
        if isinstance(ref, str) and ref.startswith("#"):
            waiting.append(_target(root, ref[1:]))
        for word in _WORDS:
            others = schema.get(word)
            waiting += others if isinstance(others, list) else []


def _target(root: Json, pointer: JsonPointer) -> Json:
    try:
        return jsontext.get(root, pointer)
    except (KeyError, ValueError):
        return None


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
