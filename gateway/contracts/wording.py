"""What a schema asks for and what a value is, in words; limits are told, values never."""

from collections.abc import Callable, Mapping

from gateway import jsontext
from gateway.types.json import Json, JsonObject

# Draft 4 has a flag beside the limit where later drafts have a limit of its own.
FLAGGED = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}

_MOST_CHOICES = 10
_LONGEST_CHOICE = 40


def kind(value: Json) -> str:
    """Return the JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case dict():
            return "object"
        case list():
            return "array"
        case int():
            return "integer"
        case _:
            return "number"


def expected(schema: JsonObject, keyword: str) -> str:
    """Say what one keyword of a schema asks for."""
    limit = schema[keyword]
    if limit is True and keyword in FLAGGED:
        limit = schema.get(FLAGGED[keyword])
    return LEAVES[keyword](limit)


def types(wanted: Json) -> str:
    """Return the value of `type` in words."""
    return " or ".join(map(str, wanted)) if isinstance(wanted, list) else str(wanted)


def _choices(values: Json) -> str:
    shown = [_shown(value) for value in values] if isinstance(values, list) else []
    if len(shown) <= _MOST_CHOICES and all(len(text) <= _LONGEST_CHOICE for text in shown):
        return "one of " + ", ".join(shown)
    return f"one of {len(shown)} values"


def _shown(value: Json) -> str:
    return jsontext.dump(value).decode()


# The keywords that look at one value alone; `type` first, since the rest follows from it.
LEAVES: Mapping[str, Callable[[Json], str]] = {
    "type": types,
    "enum": _choices,
    "const": lambda value: f"the constant {_shown(value)}",
    "minimum": lambda limit: f"at least {limit}",
    "exclusiveMinimum": lambda limit: f"more than {limit}",
    "maximum": lambda limit: f"at most {limit}",
    "exclusiveMaximum": lambda limit: f"less than {limit}",
    "multipleOf": lambda step: f"a multiple of {step}",
    "minLength": lambda limit: f"at least {limit} characters",
    "maxLength": lambda limit: f"at most {limit} characters",
    "pattern": lambda pattern: f"text that matches the pattern `{pattern}`",
    "minItems": lambda limit: f"at least {limit} items",
    "maxItems": lambda limit: f"at most {limit} items",
    "uniqueItems": lambda _: "items that differ from each other",
    "minProperties": lambda limit: f"at least {limit} fields",
    "maxProperties": lambda limit: f"at most {limit} fields",
}
