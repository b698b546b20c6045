"""Arguments to try for a tool: by its schema, at and beside what expressions hold them against."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from gateway.policy.exemplars import of_regex
from gateway.policy.lint_types import as_plain_schema
from gateway.policy.sample_texts import MOST, Pool
from gateway.types.json import Json, JsonObject

_DEEPEST: Final = 4
_MOST_ITEMS: Final = 64
_BY_FORMAT: Final = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "email": "a@example.com",
    "uri": "https://example.com/x",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def values(schema: Json, root: JsonObject, pool: Pool) -> tuple[Json, ...]:
    """Return values to try for one argument, the plainest first; none may be what is valid."""
    return _distinct(_values(schema, root, pool, 0), MOST)


def _values(schema: Json, root: JsonObject, pool: Pool, depth: int) -> Iterator[Json]:
    plain = as_plain_schema(schema, root)
    said = plain or (schema if isinstance(schema, dict) else {})
    if "const" in said:
        yield said["const"]
        return
    constants = said.get("enum")
    if isinstance(constants, list):
        yield from constants
        return
    match plain.get("type"):
        case "boolean":
            yield from (False, True)
        case "integer" | "number" as kind:
            yield from _numbers(plain, pool, whole=kind == "integer")
        case "string":
            yield from _texts(plain, pool)
        case "array":
            yield from _lists(plain, root, pool, depth)
        case "object":
            yield from _objects(plain, root, pool, depth)
        case _:
            yield from _any(plain, root, pool, depth)
    if isinstance(schema, dict) and _may_be_null(schema):
        yield None


def _numbers(plain: JsonObject, pool: Pool, *, whole: bool) -> Iterator[Json]:
    bounds = [_number(plain.get(name)) for name in ("default", "minimum", "maximum")]
    least, most = _number(plain.get("exclusiveMinimum")), _number(plain.get("exclusiveMaximum"))
    inside = (least + 1 if least is not None else None, most - 1 if most is not None else None)
    known = [each for each in (*bounds, *inside) if each is not None]
    for number in (*known[:1], 1, *pool.numbers, *known):
        if number == int(number):
            yield int(number)
        elif not whole:
            yield number


def _texts(plain: JsonObject, pool: Pool) -> Iterator[Json]:
    least, most = _number(plain.get("minLength")), _number(plain.get("maxLength"))
    form, pattern = plain.get("format"), plain.get("pattern")
    known = _BY_FORMAT.get(form) if isinstance(form, str) else None
    if known is None and isinstance(pattern, str):
        known = of_regex(pattern)
    base = known if known is not None else "x"
    yield base if known is not None or least is None else base.ljust(int(least), "x")
    yield from pool.texts
    bounds = [int(each) for each in (least, most) if each is not None]
    for length in (*pool.lengths, *bounds):
        if length <= _MOST_ITEMS * _MOST_ITEMS:
            yield "x" * length


def _lists(plain: JsonObject, root: JsonObject, pool: Pool, depth: int) -> Iterator[Json]:
    least = int(_number(plain.get("minItems")) or 0)
    items = [] if depth >= _DEEPEST else [*_values(plain.get("items"), root, pool, depth + 1)]
    first: Json = items[0] if items else "x"
    for item in items[:MOST]:
        yield [item] + [first] * (least - 1)
    for item in items[1:MOST]:
        yield [first, item]  # one that is not like the others
    for length in (*pool.lengths, 0, least):
        if length <= _MOST_ITEMS:
            yield [first] * length


def _objects(plain: JsonObject, root: JsonObject, pool: Pool, depth: int) -> Iterator[Json]:
    properties = plain.get("properties")
    if not isinstance(properties, dict) or depth >= _DEEPEST:
        yield {}
        return
    needed = plain.get("required")
    required = needed if isinstance(needed, list) else []
    tried = {
        name: _distinct(_values(each, root, pool, depth + 1), MOST)
        for name, each in properties.items()
    }
    base: JsonObject = {name: tried[name][0] for name in properties if name in required}
    yield base
    for name, some in tried.items():
        for value in some:
            yield {**base, name: value}


def _any(plain: JsonObject, root: JsonObject, pool: Pool, depth: int) -> Iterator[Json]:
    options = plain.get("anyOf") or plain.get("oneOf")
    kinds = plain.get("type")
    if isinstance(options, list) and depth < _DEEPEST:
        for option in options:
            yield from _values(option, root, pool, depth + 1)
        return
    if isinstance(kinds, list) and depth < _DEEPEST:
        for kind in kinds:
            yield from _values({**plain, "type": kind}, root, pool, depth + 1)
        return
    yield "x"
    yield from pool.texts
    yield from pool.numbers


def _may_be_null(schema: JsonObject) -> bool:
    kinds, options = schema.get("type"), schema.get("anyOf") or schema.get("oneOf")
    return (isinstance(kinds, list) and "null" in kinds) or (
        isinstance(options, list) and {"type": "null"} in options
    )


def _number(value: Json) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _distinct(found: Iterable[Json], most: int) -> tuple[Json, ...]:
    """Keep each value once; `1` and `True` are two, and so are `1` and `1.0`."""
    seen: dict[str, Json] = {}
    for value in found:
        seen.setdefault(repr(value), value)
        if len(seen) >= most:
            break
    return tuple(islice(seen.values(), most))
