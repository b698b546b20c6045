"""Whether arguments of which not all is known match a schema.

Where the part of a schema that speaks of an unknown value is the very same as then, that part says
what it said. It can be told apart where objects alone lead to it, by `properties`, in schemas that
don't look at the values of members otherwise; else nobody can know.
"""

from collections.abc import Iterable
from typing import Final

from gateway import jsontext
from gateway.contracts.schemas import Schema, compile_tool
from gateway.errors import SchemaError
from gateway.replay.types import Gone
from gateway.replay.unknown import Unknown
from gateway.types.json import Json, JsonObject, JsonPointer

# Keywords that speak of an object without looking at the values of its members.
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
    }
)


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
    loose = _without(new.source, unknown)
    if loose is None:
        return None
    compiled = _compiled(loose)
    if compiled is None:
        return None
    if not compiled.is_valid(arguments):
        return False  # whatever the unknown values are
    if old is None or was is None or not _same(new.source, old.source, unknown):
        return None
    if was:
        return True
    before = _without(old.source, unknown)
    compiled = _compiled(before) if before is not None else None
    # All that is known did match then: so it was an unknown value that did not, and still does not.
    return False if compiled is not None and compiled.is_valid(arguments) else None


def _same(new: JsonObject, old: JsonObject, unknown: Iterable[JsonPointer]) -> bool:
    parts = [(_part(new, each), _part(old, each)) for each in unknown]
    return all(one == other and not _refers(one) for one, other in parts)


def _refers(part: Json) -> bool:
    """Whether a part may say something else though its text is the same."""
    return b"ref" in jsontext.dump(part).lower()


def _without(schema: JsonObject, unknown: Unknown) -> JsonObject | None:
    """Return a schema that says nothing of unknown values, or None where it can't be made."""
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
        members = schema.get("properties")
        if not isinstance(members, dict) or token not in members:
            return None
        place += f"/properties/{jsontext.escape(token)}"
        schema = members[token]
    return place or None


def _compiled(schema: JsonObject) -> Schema | None:
    try:
        return compile_tool({"inputSchema": schema}).input
    except SchemaError:
        return None
