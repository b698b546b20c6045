"""Find conditions that break when an optional argument is absent, by trying samples.

The untyped condition is evaluated on arguments made from the schema, with each optional argument
missing in turn. Values are taken from the condition's own literals, so that guards and
alternatives are reached; an error that names the missing argument is a finding.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import product
from typing import TypeAlias

from gateway.policy.cel import Condition, ConditionError, Environment
from gateway.policy.compile import environment_of
from gateway.policy.lint_types import as_plain_schema
from gateway.policy.rules import Scalar
from gateway.types.json import Json, JsonObject

Sets: TypeAlias = Mapping[str, Sequence[Scalar]]

_TEXT = re.compile(r"""(["'])((?:(?!\1)[^\\])*)\1""")
_NUMBER = re.compile(r"(?<![\w.\"'])\d+(?:\.\d+)?")
_MOST_SAMPLES = 64
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def unguarded(text: str, schema: Json, sets: Sets) -> tuple[str, ...]:
    """Return the optional arguments whose absence makes the condition fail."""
    if not isinstance(schema, dict):
        return ()
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return ()
    needed = required if isinstance(required, list) else []
    optional = [name for name in properties if name not in needed and name in text]
    if not optional:
        return ()
    try:
        condition = Environment(environment_of(sets)).compile(text)
    except ConditionError:
        return ()  # reported as what it is
    samples = list(_samples(text, properties, schema))
    return tuple(name for name in optional if _breaks(condition, name, samples, sets))


def _breaks(condition: Condition, name: str, samples: Sequence[JsonObject], sets: Sets) -> bool:
    for sample in samples:
        arguments = {key: value for key, value in sample.items() if key != name}
        try:
            condition.evaluate(_bindings(arguments, sets))
        except ConditionError as error:
            if error.missing == name:
                return True
    return False


def _bindings(arguments: JsonObject, sets: Sets) -> dict[str, Json | datetime]:
    values: dict[str, Json | datetime] = {}
    for name, kind in environment_of(()).items():
        values[name] = _NOW if kind == "timestamp" else ["x"] if kind == "list<string>" else "x"
    values.update({f"sets.{name}": [*entries] for name, entries in sets.items()})
    values["args"] = arguments
    return values


def _samples(text: str, properties: JsonObject, root: JsonObject) -> Iterator[JsonObject]:
    words: list[Json] = ["x", *dict.fromkeys(found[1] for found in _TEXT.findall(text))]
    numbers: list[Json] = [0, 10**12, *dict.fromkeys(float(n) for n in _NUMBER.findall(text))]
    choices = list(product((True, False), numbers, words))
    step = max(1, len(choices) // _MOST_SAMPLES)
    for flag, number, word in choices[::step]:
        pick: Mapping[str, Json] = {"boolean": flag, "number": number, "string": word}
        yield {name: _value(schema, root, pick, 0) for name, schema in properties.items()}


def _value(schema: Json, root: JsonObject, pick: Mapping[str, Json], depth: int) -> Json:
    plain = as_plain_schema(schema, root)
    match plain.get("type"):
        case "object":
            properties = plain.get("properties")
            if not isinstance(properties, dict) or depth > 8:
                return {}
            return {name: _value(each, root, pick, depth + 1) for name, each in properties.items()}
        case "array":
            return [_value(plain.get("items"), root, pick, depth + 1)] if depth <= 8 else []
        case "integer":
            number = pick["number"]
            return int(number) if isinstance(number, int | float) else 0
        case "number" | "boolean" as kind:
            return pick[kind]
        case _:
            return pick["string"]
