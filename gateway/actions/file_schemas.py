"""JSON Schemas of the files that people write, made from the models that load them."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from gateway.actions.meanings import meaning
from gateway.config.section import EXTENSION
from gateway.config.settings import Settings
from gateway.config.units import format_duration, format_size
from gateway.contracts.entry import ContractFile
from gateway.policy.cases import PolicyTestModel
from gateway.policy.rules import PolicySet
from gateway.policy.run_rules import RunTemplates
from gateway.types.json import Json, JsonObject
from gateway.yamltext.editors import KINDS, Name, url

MODELS: Final[Mapping[Name, type[BaseModel]]] = {
    "config": Settings,
    "contracts": ContractFile,
    "policy": PolicySet,
    "policy-test": PolicyTestModel,
    "runs": RunTemplates,
}
# yaml-language-server, JetBrains and check-jsonschema all read this one.
_DIALECT: Final = "http://json-schema.org/draft-07/schema#"
_REFERENCE: Final = r"\$\{"  # a text with one stands for whatever the environment holds
_BOUNDS: Final = ("gt", "ge", "lt", "le")
_OF_NUMBERS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
# What the loader takes all the same (a list that becomes a set), or what says nothing in an editor.
_NOISE: Final = ("title", "uniqueItems", "format")


def document(name: Name) -> JsonObject:
    """Return the schema of a kind of file."""
    made = cast(
        "JsonObject", MODELS[name].model_json_schema(schema_generator=_Generator, by_alias=True)
    )
    parts = cast("dict[str, JsonObject]", made.pop("$defs", {}))
    top = MODELS[name].__name__
    made = _object(top, made)
    definitions: JsonObject = {key: _object(key, part) for key, part in sorted(parts.items())}
    if name == "config":
        made = cast("JsonObject", _expanding(made))
        definitions = {key: _expanding(part) for key, part in definitions.items()}
        definitions = {key: _extensible(part) for key, part in definitions.items()}
        made = cast("JsonObject", _extensible(made))
    return {
        "$schema": _DIALECT,
        "$id": url(name),
        "title": f"Weighbridge: {KINDS[name]}",
        **made,
        "definitions": definitions,
    }


def render(name: Name) -> str:
    """Return the text of a schema, as it is published."""
    return json.dumps(document(name), indent=2, ensure_ascii=False) + "\n"


class _Generator(GenerateJsonSchema):
    """Pydantic's generator with names of definitions as draft 7 has them."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **{**more, "ref_template": "#/definitions/{model}"})


def _object(name: str, schema: JsonObject) -> JsonObject:
    """Tidy one model's schema, and say what its members mean."""
    tidy = cast("JsonObject", _tidy(schema))
    members = tidy.get("properties")
    if isinstance(members, dict):
        for key, member in members.items():
            if isinstance(member, dict) and (said := meaning(name, key)):
                members[key] = {"description": said, **member}
    return tidy


def _tidy(schema: Json) -> Json:
    if isinstance(schema, list):
        return [_tidy(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: _members(value) if key in _NAMED else value if key == "default" else _tidy(value)
        for key, value in schema.items()
        if key not in (*_NOISE, *_BOUNDS)
    }
    if "patternProperties" in kept:
        kept.setdefault("additionalProperties", False)
    if kept.get("type") == "array" and "minLength" in kept:
        kept["minItems"] = kept.pop("minLength")  # a bound of what a validator makes a list of
    if kept.get("type") == "string":
        kept = {key: value for key, value in kept.items() if key not in _OF_NUMBERS}
    return _with_default(kept)


_NAMED: Final = ("properties", "patternProperties")  # their keys are names and no keywords


def _members(value: Json) -> Json:
    return {key: _tidy(each) for key, each in value.items()} if isinstance(value, dict) else value


def _with_default(schema: JsonObject) -> JsonObject:
    """Write a default as a file has it; one that only says that there is none goes."""
    default = schema.get("default")
    if "default" not in schema or not isinstance(default, int | float) or default is True:
        return {key: each for key, each in schema.items() if key != "default" or each is not None}
    pattern = json.dumps(schema)
    if "GiB" in pattern:
        return {**schema, "default": format_size(int(default))}
    if "smhd" in pattern or "|s|m|h|d" in pattern:
        return {**schema, "default": format_duration(float(default))}
    return schema


# --- what only configuration files have --------------------------------------------------------


def _expanding(schema: Json) -> Json:
    """Let a text with `${VAR}` stand wherever a value of another form is asked for."""
    return _everywhere(schema, _or_reference)


def _or_reference(schema: JsonObject) -> JsonObject:
    if isinstance(schema.get("anyOf"), list):
        return {**schema, "anyOf": _flat(schema["anyOf"])}
    if "$ref" in schema or schema.get("type") not in ("integer", "number", "boolean", "string"):
        return schema
    is_free = schema["type"] == "string" and not {"pattern", "enum", "const"} & schema.keys()
    if is_free:
        return schema
    about = {key: schema[key] for key in ("description", "default") if key in schema}
    bare = {key: value for key, value in schema.items() if key not in about}
    return {**about, "anyOf": [bare, {"type": "string", "pattern": _REFERENCE}]}


def _flat(alternatives: Json) -> list[Json]:
    """Return alternatives without those that are only alternatives again, each once."""
    found: list[Json] = []
    for each in alternatives if isinstance(alternatives, list) else ():
        inner = each.get("anyOf") if isinstance(each, dict) and len(each) == 1 else None
        found += [one for one in (inner if isinstance(inner, list) else [each]) if one not in found]
    return found


def _everywhere(schema: Json, change: Callable[[JsonObject], JsonObject]) -> Json:
    """Change every schema inside of one, and itself; names of keys stay as they are."""
    if isinstance(schema, list):
        return [_everywhere(each, change) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found: JsonObject = {}
    for key, value in schema.items():
        if key in _NAMED and isinstance(value, dict):
            found[key] = {name: _everywhere(each, change) for name, each in value.items()}
        elif key in ("items", "anyOf", "additionalProperties"):
            found[key] = _everywhere(value, change)
        else:
            found[key] = value
    return change(found)


def _extensible(schema: Json) -> Json:
    """Leave keys that begin with `x-` to other programs, as the loader does in every section."""
    if isinstance(schema, dict) and "properties" in schema:
        return {**schema, "patternProperties": {f"^{EXTENSION}": {}}}
    return schema


def undescribed(name: Name) -> list[str]:
    """Return the keys of a file that nothing is said of, as `Section.key`."""
    made = document(name)
    parts = {MODELS[name].__name__: made, **cast("dict[str, JsonObject]", made["definitions"])}
    return [
        f"{part}.{key}"
        for part, schema in parts.items()
        for key, member in cast("dict[str, JsonObject]", schema.get("properties") or {}).items()
        if not member.get("description") and "$ref" not in member
    ]
