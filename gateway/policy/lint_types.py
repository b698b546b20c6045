"""Check a condition's types against a tool's input schema.

The engine's checker knows protobuf messages, so the schema becomes one. A JSON number may arrive
as an int or as a double, so a condition must hold for both; comparing the two kinds is fine in
the engine at run time, and complaints about nothing else than that are dropped. What a message
can't say (unions, free-form objects) goes unchecked, and the caller is told which arguments.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from gateway.policy.cel import Environment, ExpressionError, Issue
from gateway.policy.compile import environment_of
from gateway.policy.constraints import tokens_of
from gateway.policy.messages import MESSAGE, Kind, NumberAs, Shape, pool_of
from gateway.types.json import Json, JsonObject

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = re.compile(  # the CEL specification's list
    r"as|break|const|continue|else|false|for|function|if|import|in|let|loop|namespace|null|package"
    r"|return|true|var|void|while"
)
_BY_INDEX = re.compile(r"""(?<=[\w)\]])(?<!\bin)\[(?P<q>["'])(?P<name>[^"'\\]+)(?P=q)\]""")
_BY_IN = re.compile(
    r"""(?P<q>["'])(?P<name>[^"'\\]+)(?P=q) in (?P<of>args(?:\.\w+)*)(?![\w.\[(])"""
)
_NUMBERS = r"(?:list\()?(?:int|double)\)?"
_MIXED = re.compile(
    rf"found no matching overload for '(?:_[<>]=?_|_[=!]=_|@in)' applied to "
    rf"'\({_NUMBERS}, {_NUMBERS}\)'"
)
_UNKNOWN_FIELD = re.compile(r"undefined field '([^']*)' not found in struct '[^']*'")
_DEPTH = 12


class ArgumentTypes:
    """The arguments of one tool as types, ready to check any number of conditions."""

    def __init__(
        self, schema: Json, sets: Iterable[str], names: Mapping[str, str] | None = None
    ) -> None:
        """Take the schema; `names` stand beside `args` in place of those of a policy."""
        root = schema if isinstance(schema, dict) else {}
        shape = shape_of(root, root)
        if shape.kind is not Kind.MESSAGE:
            shape = Shape(kind=Kind.MESSAGE)
        self.is_open = not shape.fields
        self.unchecked = tuple(_unchecked(shape, ""))
        known = environment_of(sets, args=MESSAGE) if names is None else {**names, "args": MESSAGE}
        self._environments = tuple(
            Environment(known, pool=pool_of(shape, number)) for number in NumberAs
        )

    def issues(self, text: str) -> tuple[Issue, ...]:
        """Return what is wrong with a condition for this tool, once for each place."""
        if self.is_open:
            return ()
        found: dict[tuple[int, int], Issue] = {}
        rewritten = as_fields(text)
        for environment in self._environments:
            try:
                environment.compile(rewritten)
            except ExpressionError as error:
                for issue in error.issues:
                    if not _MIXED.fullmatch(issue.message):
                        found.setdefault((issue.line, issue.column), _readable(issue))
        return tuple(found[place] for place in sorted(found))

    def is_number(self, text: str) -> bool:
        """Say whether an expression may give a number; one with faults is reported elsewhere."""
        if self.is_open:
            return True
        kinds: list[str] = []
        for environment in self._environments:
            try:
                kinds.append(environment.compile(as_fields(text)).gives)
            except ExpressionError:
                return True
        return all(any(word in kind for word in ("int", "double", "dyn")) for kind in kinds)


def as_plain_schema(schema: Json, root: JsonObject, depth: int = 0) -> JsonObject:
    """Follow references and `anyOf` with null; the result has one `type`, or none to rely on."""
    if not isinstance(schema, dict) or depth > _DEPTH:
        return {}
    if "$ref" in schema:
        return as_plain_schema(target(schema["$ref"], root), root, depth + 1)
    kind, _ = _kinds(schema)
    if kind is not None:
        return {**schema, "type": kind}
    option = _only_option(schema)
    return {} if option is None else as_plain_schema(option, root, depth + 1)


def shape_of(schema: Json, root: JsonObject, depth: int = 0) -> Shape:
    """Turn a schema into the shape of a value; whatever can't be told is `Kind.ANY`."""
    if not isinstance(schema, dict) or depth > _DEPTH:
        return Shape(kind=Kind.ANY)
    if "$ref" in schema:
        return shape_of(target(schema["$ref"], root), root, depth + 1)
    kinds, nullable = _kinds(schema)
    if kinds is None:
        return _alternative(schema, root, depth)
    match kinds:
        case "object":
            return _object(schema, root, depth, nullable=nullable)
        case "array":
            item = shape_of(schema.get("items"), root, depth + 1)
            return Shape(kind=Kind.LIST, item=item, nullable=nullable)
        case "string" | "integer" | "number" | "boolean":
            return Shape(kind=Kind(kinds), nullable=nullable)
        case _:
            return Shape(kind=Kind.ANY)


def field_name(name: str) -> str:
    """Return the name that a message's field has for an argument, of the same length if it can."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if not plain[:1].isalpha() and not plain.startswith("_"):
        plain = "_" + plain[1:]
    return plain + "_" if _RESERVED.fullmatch(plain) else plain


def as_fields(text: str) -> str:
    """Write `args["a-b"]` and `"a-b" in args` as field accesses, keeping every position."""

    def by_index(match: re.Match[str]) -> str:
        return f".{field_name(match['name'])}".ljust(len(match.group()))

    def by_in(match: re.Match[str]) -> str:
        return f"has({match['of']}.{field_name(match['name'])})".ljust(len(match.group()))

    return _BY_IN.sub(by_in, _BY_INDEX.sub(by_index, text))


def _object(schema: JsonObject, root: JsonObject, depth: int, *, nullable: bool) -> Shape:
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        return Shape(kind=Kind.ANY)
    fields: dict[str, Shape] = {}
    for name, each in properties.items():
        known = field_name(name)
        # Two names that a message can't tell apart are both left unchecked.
        fields[known] = Shape(kind=Kind.ANY) if known in fields else shape_of(each, root, depth + 1)
    return Shape(kind=Kind.MESSAGE, fields=fields, nullable=nullable)


def _kinds(schema: JsonObject) -> tuple[str | None, bool]:
    """Return the one type of a schema and whether null is allowed too; None when unclear."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return declared, False
    if isinstance(declared, list):
        others = [each for each in declared if each != "null"]
        if len(others) == 1 and isinstance(others[0], str):
            return others[0], len(others) < len(declared)
    if declared is None and isinstance(schema.get("properties"), dict):
        return "object", False
    constants = schema.get("enum")
    words = isinstance(constants, list) and all(isinstance(each, str) for each in constants)
    return ("string" if words and declared is None else None), False


def _alternative(schema: JsonObject, root: JsonObject, depth: int) -> Shape:
    option = _only_option(schema)
    if option is None:
        return Shape(kind=Kind.ANY)
    shape = shape_of(option, root, depth + 1)
    return Shape(kind=shape.kind, item=shape.item, fields=shape.fields, nullable=True)


def _only_option(schema: JsonObject) -> Json:
    """Read `anyOf: [X, {type: null}]`, the common way to write an optional X."""
    for word in ("anyOf", "oneOf"):
        options = schema.get(word)
        if isinstance(options, list):
            others = [each for each in options if each != {"type": "null"}]
            if len(others) == 1:
                return others[0]
    return None


def target(reference: Json, root: JsonObject) -> Json:
    """Return the part of a schema that a local `$ref` names, or None."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    value: Json = root
    for token in tokens_of(reference[1:]):
        if not isinstance(value, dict):
            return None
        value = value.get(token)
    return value


def _unchecked(shape: Shape, path: str) -> Iterator[str]:
    for name, each in shape.fields.items():
        here = f"{path}.{name}" if path else name
        inner = each.item if each.kind is Kind.LIST and each.item else each
        if inner.kind in (Kind.ANY, Kind.LIST):
            yield here
        yield from _unchecked(inner, here)


def _readable(issue: Issue) -> Issue:
    unknown = _UNKNOWN_FIELD.fullmatch(issue.message)
    if unknown is None:
        return issue
    return Issue(line=issue.line, column=issue.column, message=f"no argument `{unknown.group(1)}`")
