"""The page of the fields of events, made from their JSON Schemas."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.events import schemas
from scripts import pages_words

_HEAD = """\
# Fields of events

Made from the JSON Schemas by `scripts/references.py`; these say more, such as what is required
where ([`events/`](events/authorization.v1.json)). What the kinds are, and what is told by which
stage, stands on the page of the [event log](events.md) and in [operation](operation.md).

A path such as `votes[].at` is a member of each item of a list; `<name>` stands for any name. Where
the column of stages is empty, every stage of the kind may have the field. What `admin` events hold
goes by their `action`.

## Of every event

"""


@dataclass(kw_only=True)
class Row:
    """One field: what it holds, in which stages, and what it means."""

    path: tuple[str, ...]
    kinds: list[str] = field(default_factory=list[str])
    stages: list[str] = field(default_factory=list[str])
    meaning: str = ""


def render() -> str:
    """Return the page."""
    first, *_ = schemas.KINDS
    outside = [row for row in rows(first) if row.path[0] != "body"]
    for row in outside:
        if row.path in {("kind",), ("stage",)}:
            values = [*schemas.KINDS] if row.path == ("kind",) else []
            row.kinds = [", ".join(f"`{each.value}`" for each in values) or "text, see each kind"]
    parts = [_HEAD + _table(outside, stages=())]
    for kind, stages in schemas.KINDS.items():
        link = f"[schema](events/{schemas.file_name(kind)})"
        names = [stage.value for stage in stages]
        listed = ", ".join(f"`{name}`" for name in names)
        parts.append(f"## `{kind.value}`\n\nStages: {listed}; {link}.\n")
        actions = [*_actions(kind)]
        if not actions:
            inside = [row for row in rows(kind) if row.path[0] == "body" and len(row.path) > 1]
            parts.append(_table(inside, stages=names))
        for action, fields in actions:
            parts.append(f"### `{action}`\n\n{_table(fields, stages=())}")
    return "\n".join(parts)


def _actions(kind: Any) -> Iterator[tuple[str, list[Row]]]:
    """Yield what each action of a kind has that is told apart by `action`."""
    for branch in schemas.schema(kind).get("allOf", []):
        for leaf in _leaves(branch["then"].get("properties", {}).get("body", {})):
            action = leaf["properties"]["action"]["const"]
            found: dict[tuple[str, ...], Row] = {}
            for path, inner in _fields(leaf, ()):
                if path != ("action",):
                    _note(found, (action, *path), inner, None)
            for row in found.values():
                row.path = row.path[1:]
            yield action, [*found.values()]


def _leaves(schema: Any) -> Iterator[Any]:
    if "const" in schema.get("properties", {}).get("action", {}):
        yield schema
    for joined in ("anyOf", "oneOf"):
        for each in schema.get(joined, []):
            yield from _leaves(each)


def rows(kind: Any) -> list[Row]:
    """Return the fields of a kind, in the order of its schema; one row for each path."""
    found: dict[tuple[str, ...], Row] = {}
    schema = schemas.schema(kind)
    for path, inner in _fields(schema, ()):
        _note(found, path, inner, None)
    for branch in schema.get("allOf", []):
        for stage in _stages(branch["if"]):
            for path, inner in _fields(branch["then"], ()):
                _note(found, path, inner, stage)
    return list(found.values())


def _stages(condition: Mapping[str, Any]) -> list[str]:
    stage = condition.get("properties", {}).get("stage", {})
    return [stage["const"]] if "const" in stage else [*stage.get("enum", [])]


def _note(
    found: dict[tuple[str, ...], Row], path: tuple[str, ...], inner: Any, stage: str | None
) -> None:
    row = found.setdefault(path, Row(path=path))
    kind = _kind(inner)
    if kind and kind not in row.kinds:
        row.kinds.append(kind)
    if stage is not None and stage not in row.stages:
        row.stages.append(stage)
    row.meaning = row.meaning or inner.get("description", "")
    if not row.meaning:
        name = pages_words.key(pages_words.EVENTS, [part.removesuffix("[]") for part in path])
        row.meaning = pages_words.EVENTS.get(name, "")


def _fields(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every field of a schema with its path, those inside of it after it."""
    for name, inner in schema.get("properties", {}).items():
        if isinstance(inner, dict):
            yield (*path, name), inner
            yield from _fields(inner, (*path, name))
    for joined in ("anyOf", "oneOf", "allOf"):
        for each in schema.get(joined, []):
            if "if" not in each:
                yield from _fields(each, path)
    items, more = schema.get("items"), schema.get("additionalProperties")
    if isinstance(items, dict) and path:
        yield from _fields(items, (*path[:-1], f"{path[-1]}[]"))
    if isinstance(more, dict):
        yield from _fields(more, (*path, "<name>"))


def _kind(schema: Any) -> str:
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        values = [f"`{each}`" for each in schema["enum"] if each is not None]
        shown = values if len(values) <= 8 else [*values[:6], f"and {len(values) - 6} more"]
        return ", ".join(shown)
    named = schema.get("type", "")
    if isinstance(named, list):
        named = " or ".join(named)
    if named == "array" and isinstance(schema.get("items"), dict):
        inner = _kind(schema["items"])
        return f"list of {inner}" if inner else "list"
    return {"object": "map", "string": "text", "integer": "number", "boolean": "true or false"}.get(
        named, named
    )


def _table(found: list[Row], stages: list[str] | tuple[()]) -> str:
    head = ["field", "type", "stages", "meaning"] if stages else ["field", "type", "meaning"]
    lines = [_cells(head), _cells(["---"] * len(head))]
    for row in found:
        shown = row.path[1:] if row.path[0] == "body" and len(row.path) > 1 else row.path
        told = [] if len(row.stages) == len(stages) else row.stages
        where = [", ".join(f"`{each}`" for each in told)] if stages else []
        lines.append(_cells([f"`{'.'.join(shown)}`", " or ".join(row.kinds), *where, row.meaning]))
    return "\n".join(lines) + "\n"


def _cells(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def undescribed() -> Iterator[str]:
    """Yield every field about which nothing is said."""
    for kind in schemas.KINDS:
        inside = [row for _, found in _actions(kind) for row in found]
        for row in inside or rows(kind):
            if not row.meaning:
                yield f"{kind.value}: {'/'.join(row.path)}"


def unused() -> set[str]:
    """Return the words that no field of any event has."""
    used: set[str] = set()
    for kind in schemas.KINDS:
        for path, inner in _every(kind):
            if "description" not in inner:
                plain = [part.removesuffix("[]") for part in path]
                used.add(pages_words.key(pages_words.EVENTS, plain))
    return set(pages_words.EVENTS) - used


def _every(kind: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    schema = schemas.schema(kind)
    yield from _fields(schema, ())
    for branch in schema.get("allOf", []):
        leaves = [*_leaves(branch["then"].get("properties", {}).get("body", {}))]
        if not leaves:
            yield from _fields(branch["then"], ())
        for leaf in leaves:
            action = leaf["properties"]["action"]["const"]
            yield from (((action, *path), inner) for path, inner in _fields(leaf, ()))
