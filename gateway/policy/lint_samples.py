"""Find conditions that break when an argument or field of a run is absent, by trying samples.

The untyped condition is evaluated on arguments made from the schema, with each optional argument
missing in turn, and so with the fields of a run. Values are taken from its own literals, so that
guards and alternatives are reached; an error that names what is missing is a finding.
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
_OF_RUN = {
    "fields": re.compile(r"(?<![\w.])run\s*\.\s*fields\s*\.\s*(\w+)"),
    "said": re.compile(r"(?<![\w.])run\s*\.\s*said\s*\.\s*(\w+)"),
}
_OF_CALL = re.compile(r"(?<![\w.])args\s*\.\s*(\w+)")
_RUN = ("run.phase", "run.template")  # a condition may ask for one of them first
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


def fields_in(text: str, of: str = "fields") -> tuple[str, ...]:
    """Return the fields of a run that a condition names, `said` or known, each once."""
    return tuple(dict.fromkeys(_OF_RUN[of].findall(text)))


def unguarded_fields(
    text: str, fields: Sequence[str], sets: Sets, of: str = "fields"
) -> tuple[str, ...]:
    """Return those of some fields of a run whose absence makes the condition fail."""
    if not fields:
        return ()
    try:
        condition = Environment(environment_of(sets)).compile(text)
    except ConditionError:
        return ()  # reported as what it is
    arguments = dict.fromkeys(_OF_CALL.findall(text))
    named = {each: fields_in(text, each) for each in _OF_RUN}
    found: dict[str, None] = {}
    for pick in _picks(text):
        for value in pick.values():
            args: JsonObject = dict.fromkeys(arguments, value)
            for name in fields:
                bindings = _bindings(args, sets) | dict.fromkeys(_RUN, pick["string"])
                for map_of, names in named.items():
                    others = (each for each in names if (map_of, each) != (of, name))
                    bindings[f"run.{map_of}"] = dict.fromkeys(others, value)
                if _misses(condition, name, bindings):
                    found[name] = None
    return tuple(name for name in fields if name in found)


def _breaks(condition: Condition, name: str, samples: Sequence[JsonObject], sets: Sets) -> bool:
    for sample in samples:
        arguments = {key: value for key, value in sample.items() if key != name}
        # Of the run, everything is there: what it may not have yet is looked for by itself.
        bindings = _bindings(arguments, sets)
        for of in _OF_RUN:
            named = fields_in(condition.text, of)
            bindings[f"run.{of}"] = {each: sample.get(each, "x") for each in named}
        if _misses(condition, name, bindings):
            return True
    return False


def _misses(condition: Condition, name: str, bindings: Mapping[str, Json | datetime]) -> bool:
    try:
        condition.evaluate(bindings)
    except ConditionError as error:
        return error.missing == name
    return False


_OF_TYPE: Mapping[str, Json | datetime] = {"timestamp": _NOW, "list<string>": ["x"], "bool": False}


def _bindings(arguments: JsonObject, sets: Sets) -> dict[str, Json | datetime]:
    values = {name: _OF_TYPE.get(kind, "x") for name, kind in environment_of(()).items()}
    values.update({f"sets.{name}": [*entries] for name, entries in sets.items()})
    values["args"] = arguments
    return values


def _samples(text: str, properties: JsonObject, root: JsonObject) -> Iterator[JsonObject]:
    for pick in _picks(text):
        yield {name: _value(schema, root, pick, 0) for name, schema in properties.items()}


def _picks(text: str) -> Iterator[Mapping[str, Json]]:
    """Yield values to try, one of each type at a time."""
    words: list[Json] = ["x", *dict.fromkeys(found[1] for found in _TEXT.findall(text))]
    numbers: list[Json] = [0, 10**12, *dict.fromkeys(float(n) for n in _NUMBER.findall(text))]
    choices = list(product((True, False), numbers, words))
    step = max(1, len(choices) // _MOST_SAMPLES)
    for flag, number, word in choices[::step]:
        yield {"boolean": flag, "number": number, "string": word}


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
