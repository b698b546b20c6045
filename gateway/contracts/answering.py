"""The output schema as callers see it, where policy may take something out of results.

Clients hold results against the schema of their list, the official SDKs among them: one that asks
for a member which policy withholds would have them refuse every answer.
"""

from collections.abc import Collection
from typing import Final

from gateway.types.json import Json, JsonObject

# What a result can miss once something was taken out of it.
_ASKING: Final = frozenset(
    {
        *("required", "dependentRequired", "dependentSchemas", "dependencies", "minProperties"),
        *("minItems", "uniqueItems", "contains", "minContains", "maxContains", "prefixItems"),
        *("if", "then", "else", "not", "unevaluatedProperties", "unevaluatedItems"),
    }
)
_MAPS: Final = frozenset({"properties", "patternProperties", "$defs", "definitions"})
_LISTS: Final = frozenset({"anyOf", "allOf"})
_ONES: Final = frozenset({"items", "additionalProperties", "additionalItems"})
_WORDS: Final = ("title", "description")


def loosened(schema: JsonObject, rewritten: Collection[str] = ()) -> JsonObject | None:
    """Return a schema that any part of a result meets; None where no such schema can be told.

    `rewritten` names members whose values may leave in another form, such as a digest.
    """
    found: set[str] = set()
    loose = _loose(schema, frozenset(rewritten), found)
    return loose if isinstance(loose, dict) and found.issuperset(rewritten) else None


def _loose(schema: Json, rewritten: frozenset[str], found: set[str]) -> Json:
    if not isinstance(schema, dict):
        return schema
    loose: JsonObject = {}
    for key, value in schema.items():
        if key in _ASKING or (key in ("items", "additionalItems") and "prefixItems" in schema):
            continue
        if key in _MAPS and isinstance(value, dict):
            loose[key] = _map(key, value, rewritten, found)
        elif key in _LISTS and isinstance(value, list):
            loose[key] = [_loose(each, rewritten, found) for each in value]
        elif key == "oneOf" and isinstance(value, list):
            # Less than the whole may fit several; what `anyOf` says beside it is enough.
            loose.setdefault("anyOf", [_loose(each, rewritten, found) for each in value])
        else:
            loose[key] = _loose(value, rewritten, found) if key in _ONES else value
    return loose


def _map(key: str, value: JsonObject, rewritten: frozenset[str], found: set[str]) -> JsonObject:
    loose: JsonObject = {}
    for name, each in value.items():
        if key == "properties" and name in rewritten:
            found.add(name)
            kept = each if isinstance(each, dict) else {}
            loose[name] = {word: kept[word] for word in _WORDS if word in kept}
        else:
            loose[name] = _loose(each, rewritten, found)
    return loose
