"""What of a structured result the schema names that people reviewed: the rest may be anything."""

from collections.abc import Iterator, Sequence
from typing import Final

from gateway import jsontext
from gateway.types.json import Json, JsonObject

_MOST: Final = 200  # schemas that one place is followed through
_WORDS: Final = ("allOf", "anyOf", "oneOf")

Ways = Sequence[tuple[str, ...]]


class Named:
    """A schema, as far as it tells which members a value has."""

    def __init__(self, root: Json) -> None:
        self._root = root

    def left(self, value: Json, ways: Ways) -> Json:
        """Return a value with what lies on the ways to its rows, and beside that what is named.

        A member that the schema names is there whole, and so is a row.
        """
        return self._left(value, ways, [self._root])

    def _left(self, value: Json, ways: Ways, schemas: Sequence[Json]) -> Json:
        if any(not way for way in ways):
            return value
        parts = [*self._parts(schemas)]
        match value:
            case dict():
                kept: JsonObject = {}
                for key, each in value.items():
                    named = list(_members(parts, key))
                    deeper = after(ways, key)
                    if deeper:
                        kept[key] = self._left(each, deeper, named or [*_others(parts)])
                    elif named:
                        kept[key] = each
                return kept
            case list():
                return [
                    self._left(each, deeper, [*_items(parts, index)])
                    for index, each in enumerate(value)
                    if (deeper := after(ways, str(index)))
                ]
            case _:
                return value

    def _parts(self, schemas: Sequence[Json]) -> Iterator[JsonObject]:
        """Yield every schema that speaks of a place: those referred to and combined as well."""
        waiting = [*schemas]
        for _ in range(_MOST):
            if not waiting:
                return
            schema = waiting.pop(0)
            if not isinstance(schema, dict):
                continue
            yield schema
            if isinstance(ref := schema.get("$ref"), str):
                waiting.append(self._target(ref))
            for word in _WORDS:
                others = schema.get(word)
                waiting += others if isinstance(others, list) else []

    def _target(self, ref: str) -> Json:
        try:
            return jsontext.get(self._root, ref.removeprefix("#")) if ref.startswith("#") else None
        except (KeyError, ValueError):
            return None


def after(ways: Ways, step: str) -> list[tuple[str, ...]]:
    """Return what is left of the ways that take a step."""
    return [steps[1:] for steps in ways if steps[:1] in ((step,), ("*",))]


def _members(parts: Sequence[JsonObject], name: str) -> Iterator[Json]:
    for part in parts:
        properties = part.get("properties")
        if isinstance(properties, dict) and name in properties:
            yield properties[name]


def _others(parts: Sequence[JsonObject]) -> Iterator[Json]:
    """Yield what is said of members without a name of their own."""
    for part in parts:
        if isinstance(part.get("additionalProperties"), dict):
            yield part["additionalProperties"]


def _items(parts: Sequence[JsonObject], index: int) -> Iterator[Json]:
    for part in parts:
        first = part.get("prefixItems")
        if isinstance(first, list) and index < len(first):
            yield first[index]
        elif "items" in part:
            yield part["items"]
