"""What the JSON Schemas of events are made of."""

from enum import StrEnum
from typing import Final

from gateway.types.json import JsonObject

TEXT: Final[JsonObject] = {"type": "string"}
TEXTS: Final[JsonObject] = {"type": "array", "items": {"type": "string"}}
ANY: Final[JsonObject] = {}
FLAG: Final[JsonObject] = {"type": "boolean"}
COUNT: Final[JsonObject] = {"type": "integer", "minimum": 0}
WHOLE: Final[JsonObject] = {"type": "integer"}
TIME: Final[JsonObject] = {"type": "string", "format": "date-time"}
POINTERS: Final[JsonObject] = {
    "type": "array",
    # RFC 6901; a key may hold line ends, which `.` doesn't match.
    "items": {"type": "string", "pattern": "^(/[\\s\\S]*)?$"},
    "maxItems": 200,
}


def about(schema: JsonObject, description: str) -> JsonObject:
    """Return a schema with a sentence for people."""
    return {**schema, "description": description}


def one_of(values: type[StrEnum]) -> JsonObject:
    """Return the schema of the members of an enumeration."""
    return {"enum": [value.value for value in values]}


def an_object(properties: JsonObject, optional: frozenset[str] = frozenset()) -> JsonObject:
    """Return the schema of an object with these members, no others, and only some left out."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def an_action(
    name: str, properties: JsonObject, optional: frozenset[str] = frozenset()
) -> JsonObject:
    """Return the schema of the body of one kind of `admin` event."""
    return an_object({"action": {"const": name}, **properties}, optional)
