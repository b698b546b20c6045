"""Whether arguments of which not all is known match a schema.

Where the part of a schema that speaks of an unknown value is the very same as then, that part says
what it said. It can be told apart where objects and lists lead to it, by `properties` and `items`,
in schemas that don't look at the values of members otherwise; else nobody can know.
"""

from collections.abc import Iterable
from typing import Final

from gateway import jsontext
from gateway.contracts.schemas import Schema, compile_tool
from gateway.errors import SchemaError
from gateway.replay.types import Gone
from gateway.replay.unknown import Unknown
from gateway.types.json import Json, JsonObject, JsonPointer

# Keywords that speak of an object or list without looking at the values of its members.
_PLAIN: Final = frozenset(
    {
        "$schema",
        "$id",
        "$comment",
        "title",
        "description",
        "examples",
        "default",
        "deprecated",
        "type",
        "properties",
        "required",
        "additionalProperties",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "dependentRequired",
        "items",
        "minItems",
        "maxItems",
    }
)
_MOST_LOOSE: Final = 2_000
_LOOSE: Final[dict[tuple[object, ...], tuple[Schema, Schema | None]]] = {}


def valid(
    arguments: JsonObject,
    unknown: Unknown,
    new: Schema,
    old: Schema | None,
    *,
    was: bool | None,
    as_sent: bool = True,
) -> bool | None:
    """Say whether arguments match a schema; None where that depends on what is unknown.

    `was` is whether they matched the `old` schema then, None where that is not known; not
    `as_sent` is what policy has changed since, in what is known.
    """
    if not unknown:
        return new.is_valid(arguments)
    if as_sent and old is not None and was is not None and new.source == old.source:
        return was
    loose = without(new, unknown)
    if loose is None:
        return None
    if not loose.is_valid(arguments):
        return False  # whatever the unknown values are
    if old is None or was is None or not _same(new.source, old.source, unknown):
        return None
    if was:
        return True
    before = without(old, unknown)
    # All that is known did match then: so it was an unknown value that did not, and still does not.
    return False if before is not None and before.is_valid(arguments) else None


def without(schema: Schema, unknown: Unknown) -> Schema | None:
    """Return a schema that says nothing of unknown values, or None where it can't be made."""
    if not unknown:
        return schema
    key = (id(schema), *((pointer, unknown[pointer]) for pointer in sorted(unknown)))
    if key not in _LOOSE:
        if len(_LOOSE) >= _MOST_LOOSE:
            _LOOSE.clear()
        source = _without(schema.source, unknown)
        # With the schema itself, so that nothing else gets its id meanwhile.
        _LOOSE[key] = (schema, _compiled(source) if source is not None else None)
    return _LOOSE[key][1]


def _same(new: JsonObject, old: JsonObject, unknown: Iterable[JsonPointer]) -> bool:
    parts = [(_part(new, each), _part(old, each)) for each in unknown]
    return all(one == other and not _refers(one) for one, other in parts)


def _refers(part: Json) -> bool:
    """Whether a part may say something else though its text is the same."""
    return b"ref" in jsontext.dump(part).lower()


def _without(schema: JsonObject, unknown: Unknown) -> JsonObject | None:
    left: Json = schema
    for pointer, gone in unknown.items():
        place = _place(schema, pointer)
        if place is None or (gone is Gone.CUT and pointer == ""):
            return None
        left = jsontext.replace(left, place, {})
    return left if isinstance(left, dict) else None


def _part(schema: JsonObject, pointer: JsonPointer) -> Json:
    place = _place(schema, pointer)
    return None if place is None else jsontext.get(schema, place)


def _place(schema: Json, pointer: JsonPointer) -> JsonPointer | None:
    """Return where a schema speaks of a value, if only there."""
    place = ""
    for token in jsontext.tokens(pointer):
        if not isinstance(schema, dict) or not schema.keys() <= _PLAIN:
            return None
        members, items = schema.get("properties"), schema.get("items")
        if isinstance(members, dict) and token in members:
            place += f"/properties/{jsontext.escape(token)}"
            schema = members[token]
        elif isinstance(items, dict) and members is None and token.isdecimal():
            place += "/items"  # the items that are known count as unknown with it
            schema = items
        else:
            return None
    return place or None


def _compiled(schema: JsonObject) -> Schema | None:
    try:
        return compile_tool({"inputSchema": schema}).input
    except SchemaError:
        return None
