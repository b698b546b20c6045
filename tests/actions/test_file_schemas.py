"""JSON Schemas of files, held against the models that load the same files."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias, cast

import jsonschema_rs
import pytest
from pydantic import ValidationError

from gateway import yamltext
from gateway.actions import meanings
from gateway.actions.file_schemas import MODELS, document, render, undescribed
from gateway.config.expand import expand
from gateway.yamltext.editors import KINDS, Name, schema_line

ROOT = Path(__file__).resolve().parents[2]
KUBERNETES = ROOT / "deploy" / "kubernetes"
VALIDATORS = {name: jsonschema_rs.Draft7Validator(document(name)) for name in MODELS}

WRONG: tuple[Any, ...] = (
    None,
    True,
    7,
    -1.5,
    "",
    "no such word",
    "${ANY}",
    [],
    ["x"],
    {},
    {"a": 1},
)


BELOW: dict[str, Name] = {"contracts": "contracts", "tests": "policy-test", "runs": "runs"}
Path_: TypeAlias = tuple[str | int, ...]


def files() -> Iterator[tuple[Name, Path]]:
    """Yield every file of a kind that the repository has."""
    yield "config", ROOT / "config.example.yaml"
    shipped = (ROOT / "policies", *ROOT.glob("examples/**/policies"), KUBERNETES / "policies")
    for folder in shipped:
        for path in sorted(folder.rglob("*.yaml")):
            yield BELOW.get(path.parent.name, "policy"), path
    for path in (*sorted(ROOT.glob("examples/**/config*.yaml")), KUBERNETES / "config.yaml"):
        yield "config", path


FILES = [pytest.param(name, path, id=str(path.relative_to(ROOT))) for name, path in files()]


def value_of(path: Path) -> dict[str, Any]:
    return yamltext.load(path.read_text(encoding="utf-8"), file=str(path)).value


@pytest.mark.parametrize(("name", "path"), FILES)
def test_a_file_that_is_shipped_begins_with_the_line_that_editors_look_for(
    name: Name, path: Path
) -> None:
    assert path.read_text(encoding="utf-8").startswith(schema_line(name))


@pytest.mark.parametrize(("name", "path"), FILES)
def test_a_schema_takes_every_file_of_its_kind(name: Name, path: Path) -> None:
    errors = [
        f"{each.instance_path}: {each.message}"
        for each in VALIDATORS[name].iter_errors(value_of(path))
    ]
    assert not errors, errors[:3]


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Yield the path of everything in a value; of long lists the first few items."""
    yield path
    for key, item in members(value):
        if key not in ("definition", "args", "metadata"):
            yield from places(item, (*path, key))


def members(value: Any) -> list[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return [*cast("dict[str | int, Any]", value).items()]
    return [*enumerate(cast("list[Any]", value)[:3])] if isinstance(value, list) else []


def changed(value: Any, path: Path_, new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


def mutants(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield changed values, each with what was changed: another type, a key more, a key less."""
    for path in places(value):
        found = value
        for step in path:
            found = found[step]
        if path:
            yield from ((f"{path} = {new!r}", changed(value, path, new)) for new in WRONG)
        if isinstance(found, dict):
            kept = cast("dict[str, Any]", found)
            yield f"{path} + no_such_key", changed(value, path, {**kept, "no_such_key": 1})
            for key in kept:
                less = {name: item for name, item in kept.items() if name != key}
                yield f"{path} - {key}", changed(value, path, less)


def without_definitions(value: Any) -> Any:
    """Return contracts with next to nothing in their definitions, which no schema looks into."""
    tools = value.get("tools")
    if not isinstance(tools, dict):
        return value
    entries: dict[str, Any] = {
        name: {**each, "definition": {}} for name, each in cast("dict[str, Any]", tools).items()
    }
    return {**value, "tools": entries}


def structural(error: ValidationError) -> list[str]:
    """Return the faults that a schema has to see as well."""
    return [each["type"] for each in error.errors() if each["type"] in STRUCTURE]


STRUCTURE = {
    "extra_forbidden", "missing", "enum", "literal_error", "string_pattern_mismatch",
    "string_type", "dict_type", "tuple_type", "list_type", "frozen_set_type", "model_type",
    "int_type", "float_type", "bool_type", "path_type", "section", "list", "duration", "size",
    "string_too_short", "too_short", "own_tools",
}  # fmt: skip


def faults(name: Name, value: Any) -> list[str] | None:
    """Return the faults of structure that the loader finds; None when it takes the value."""
    try:
        MODELS[name].model_validate(expanded(name, value), by_alias=True, by_name=False)
    except ValidationError as error:
        return structural(error)
    return None


def is_taken_as_it_is(name: Name, value: Any) -> bool:
    """Whether the loader takes it without converting: `"5"` is no number, and `yes` isn't true."""
    text = json.dumps(expanded(name, value))
    try:
        MODELS[name].model_validate_json(text, strict=True, by_alias=True, by_name=False)
    except ValidationError:
        return False
    return True


def expanded(name: Name, value: Any) -> Any:
    return expand(value, {"ANY": "any"}).value if name == "config" else value


@pytest.mark.parametrize(
    ("name", "path"), [each for each in FILES if "examples" not in str(each.id)]
)
def test_schema_and_loader_agree_on_every_changed_file(name: Name, path: Path) -> None:
    wrong: list[str] = []
    tried = 0
    for what, value in mutants(without_definitions(value_of(path))):
        tried += 1
        found = faults(name, value)
        if VALIDATORS[name].is_valid(value):
            # What a variable stands for, no editor knows.
            if found and "${ANY}" not in what:
                wrong.append(f"the schema takes {what}, and the loader says {found}")
        elif found is None and is_taken_as_it_is(name, value):
            wrong.append(f"the schema refuses what the loader takes: {what}")
    assert tried > 20
    assert not wrong, f"{len(wrong)} of {tried}: {wrong[:8]}"


@pytest.mark.parametrize("name", list(KINDS))
def test_every_key_says_what_it_means(name: Name) -> None:
    assert undescribed(name) == []


def test_nothing_is_explained_that_no_file_has() -> None:
    known: set[str] = set()
    for name, model in MODELS.items():
        made: dict[str, Any] = document(name)
        for part, schema in {model.__name__: made, **made["definitions"]}.items():
            known |= {f"{part}.{key}" for key in schema.get("properties", {})}
    said = {f"{part}.{key}" for part, keys in meanings.KEYS.items() for key in keys}
    assert said <= known


@pytest.mark.parametrize("name", list(KINDS))
def test_what_is_published_is_a_schema_of_draft_7(name: Name) -> None:
    made = json.loads(render(name))
    jsonschema_rs.meta.validate(made)
    assert made["additionalProperties"] is False
    assert "$defs" not in render(name)


def test_defaults_are_written_as_a_file_has_them() -> None:
    limits: Any = document("config")["definitions"]
    found = limits["LimitsSettings"]["properties"]
    assert (found["call_timeout"]["default"], found["max_result_bytes"]["default"]) == (
        "1m",
        "256KiB",
    )
