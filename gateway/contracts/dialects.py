"""The JSON Schema dialects that are enforced, and where a schema holds other schemas."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias
from urllib.parse import unquote

import jsonschema_rs

from gateway.errors import SchemaError
from gateway.jsontext import escape
from gateway.types.json import Json, JsonObject, JsonPointer

Dialect: TypeAlias = (
    type[jsonschema_rs.Draft4Validator]
    | type[jsonschema_rs.Draft6Validator]
    | type[jsonschema_rs.Draft7Validator]
    | type[jsonschema_rs.Draft201909Validator]
    | type[jsonschema_rs.Draft202012Validator]
)
Validator: TypeAlias = (
    jsonschema_rs.Draft4Validator
    | jsonschema_rs.Draft6Validator
    | jsonschema_rs.Draft7Validator
    | jsonschema_rs.Draft201909Validator
    | jsonschema_rs.Draft202012Validator
)

_DEFAULT = "json-schema.org/draft/2020-12/schema"  # MCP, basic, schema dialect
_CLASSES: Mapping[str, Dialect] = {
    "json-schema.org/draft-04/schema": jsonschema_rs.Draft4Validator,
    "json-schema.org/draft-06/schema": jsonschema_rs.Draft6Validator,
    "json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    _DEFAULT: jsonschema_rs.Draft202012Validator,
}
_LONE_REF = (
    jsonschema_rs.Draft4Validator,
    jsonschema_rs.Draft6Validator,
    jsonschema_rs.Draft7Validator,
)
_PATTERNS = jsonschema_rs.RegexOptions()  # the linear-time engine; it has no look-around


def validator(schema: JsonObject, dialect: Dialect) -> Validator:
    """Compile a schema, checking it against its meta-schema; reaches for nothing outside.

    `format` is an annotation in every dialect, as 2020-12 has it. Patterns are ECMAScript as far
    as a linear-time engine goes: `\\d` and `\\w` are ASCII, `\\p{L}` and escaped punctuation work;
    look-around, back-references, `[^]`, `[\\b]` and `\\0` do not compile.
    """
    return dialect(schema, pattern_options=_PATTERNS, validate_formats=False, offline=True)


def dialect_of(schema: JsonObject) -> Dialect:
    """Return the class for the declared dialect, 2020-12 if none is; `SchemaError` if unknown."""
    declared = schema.get("$schema", "https://" + _DEFAULT)
    if isinstance(declared, str):
        name = declared.removesuffix("#").removeprefix("https://").removeprefix("http://")
        if name in _CLASSES:
            return _CLASSES[name]
    raise SchemaError(
        "dialect not supported; use draft 4, 6, 7, 2019-09 or 2020-12", pointer="/$schema"
    )


def ref_stands_alone(dialect: Dialect) -> bool:
    """Whether what stands beside a `$ref` is ignored, as it was before 2019-09."""
    return dialect in _LONE_REF


def target_of(reference: Json) -> JsonPointer:
    """Return the pointer that a local `$ref` stands for; `ValueError` if it isn't local."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        raise ValueError("only references inside the schema, such as `#/$defs/name`, are followed")
    target = unquote(reference[1:], errors="strict")
    if target and not target.startswith("/"):
        raise ValueError("references by anchor are not followed; use a pointer")
    return target


class Position(StrEnum):
    """Which instance a subschema judges, seen from the schema that holds it."""

    SAME = "same"  # the very value: allOf, not, if, …
    ITEM = "item"
    NAMED = "named"  # the member of one name
    MATCHING = "matching"  # the members whose name matches a pattern
    OTHER = "other"  # members that `properties` doesn't name
    KEY = "key"  # the names themselves
    NOWHERE = "nowhere"  # definitions


@dataclass(frozen=True, slots=True, kw_only=True)
class Subschema:
    """A schema inside another one."""

    pointer: JsonPointer
    position: Position
    schema: Json
    name: str = ""


# Each keyword, whatever the dialect: treating an unknown one as an applicator only costs budget.
_SINGLE = {
    "not": Position.SAME,
    "if": Position.SAME,
    "then": Position.SAME,
    "else": Position.SAME,
    "items": Position.ITEM,
    "additionalItems": Position.ITEM,
    "contains": Position.ITEM,
    "unevaluatedItems": Position.ITEM,
    "additionalProperties": Position.OTHER,
    "unevaluatedProperties": Position.OTHER,
    "propertyNames": Position.KEY,
    "contentSchema": Position.NOWHERE,
}
_LISTS = {
    "allOf": Position.SAME,
    "anyOf": Position.SAME,
    "oneOf": Position.SAME,
    "prefixItems": Position.ITEM,
    "items": Position.ITEM,
}
_MAPS = {
    "properties": Position.NAMED,
    "patternProperties": Position.MATCHING,
    "dependentSchemas": Position.SAME,
    "dependencies": Position.SAME,
    "$defs": Position.NOWHERE,
    "definitions": Position.NOWHERE,
}


def subschemas(schema: JsonObject, pointer: JsonPointer) -> Iterator[Subschema]:
    """Yield the schemas directly inside a schema; `$ref` is not followed."""
    for keyword, value in schema.items():
        place = f"{pointer}/{escape(keyword)}"
        if isinstance(value, list) and keyword in _LISTS:
            for index, member in enumerate(value):
                yield Subschema(pointer=f"{place}/{index}", position=_LISTS[keyword], schema=member)
        elif keyword in _SINGLE and isinstance(value, dict | bool):
            yield Subschema(pointer=place, position=_SINGLE[keyword], schema=value)
        elif keyword in _MAPS and isinstance(value, dict):
            for name, member in value.items():
                if not isinstance(member, list):  # `dependencies` also lists names
                    yield Subschema(
                        pointer=f"{place}/{escape(name)}",
                        position=_MAPS[keyword],
                        schema=member,
                        name=name,
                    )
