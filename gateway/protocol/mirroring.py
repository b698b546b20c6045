"""Headers that say again what is in the arguments of a call (MCP 2026-07-28, transports).

A tool's schema names them by `x-mcp-header`. Both ends go by this module: what is sent to a server
is made by the rules that a client's headers are checked by. Tests hold it against the SDK's.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gateway.types.json import Json, JsonMapping, JsonObject

Path = tuple[str, ...]  # keys of `properties`, from the root of a schema
HeaderMap = Mapping[Path, str]  # argument → token of its `Mcp-Param-` header

_ANNOTATION: Final = "x-mcp-header"
_PREFIX: Final = "Mcp-Param-"
_TYPES: Final = frozenset({"string", "integer", "boolean"})  # of numbers texts may differ
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110, 5.6.2
_PLAIN: Final = re.compile(r"[\x20-\x7E]*")
_ENCODED: Final = re.compile(r"=\?base64\?(.*)\?=")
_DECIMAL: Final = re.compile(r"(-?[0-9]+)(?:\.([0-9]+))?")

# Keywords whose values are schemas. Those whose values are data, and references, are none.
_SCHEMA: Final = frozenset(
    {
        "items",
        "contains",
        "unevaluatedItems",
        "additionalProperties",
        "propertyNames",
        "unevaluatedProperties",
        "not",
        "if",
        "then",
        "else",
        "contentSchema",
    }
)
_SCHEMA_LIST: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SCHEMA_MAP: Final = frozenset({"patternProperties", "dependentSchemas", "$defs", "definitions"})


def encoded(value: str) -> str:
    """Return a text as a header carries it; what a header would change travels as base64."""
    if _PLAIN.fullmatch(value) and value == value.strip() and not _ENCODED.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def decoded(header: str) -> str | None:
    """Return the text that a header carries, or None for a form that `encoded` never makes."""
    found = _ENCODED.fullmatch(header)
    if found is None:
        return header
    try:
        content = base64.b64decode(found[1], validate=True)
        is_canonical = base64.b64encode(content).decode() == found[1]
        return content.decode() if is_canonical else None
    except (binascii.Error, ValueError):
        return None


def fault_of(schema: Json) -> str | None:
    """Return why the annotations of a schema can't be used, or None."""
    seen: dict[str, str] = {}
    for path, part in _positions(schema):
        if _ANNOTATION not in part:
            continue
        if not path:
            return f"`{_ANNOTATION}` stands where no chain of `properties` alone leads"
        name, token = ".".join(path), part[_ANNOTATION]
        wrong = _wrong(token, part.get("type"))
        if wrong:
            return f"`{_ANNOTATION}` of `{name}` {wrong}"
        assert isinstance(token, str)  # noqa: S101 - else it were wrong
        if token.lower() in seen:
            return f"`{_ANNOTATION}` of `{name}` is that of `{seen[token.lower()]}`"
        seen[token.lower()] = name
    return None


def map_of(schema: Json) -> HeaderMap:
    """Return which arguments are mirrored; only for schemas without a fault."""
    return {path: token for path, token, _ in _annotated(schema)}


def made(headers: HeaderMap, arguments: JsonMapping) -> dict[str, str]:
    """Return the headers of a call; there is none for an argument that is not there or null."""
    found: dict[str, str] = {}
    for path, token in headers.items():
        text = _text(_at(arguments, path))
        if text is not None:
            found[f"{_PREFIX}{token}"] = encoded(text)
    return found


def mismatch(
    schema: JsonObject, arguments: JsonMapping, raw: Iterable[tuple[bytes, bytes]]
) -> str | None:
    """Return how the headers of a call differ from its arguments, or None.

    Whoever routes by a header relies on it, so a header without its argument differs as well.
    """
    lines: dict[str, list[str]] = {}
    for key, line in raw:
        lines.setdefault(key.decode("latin-1").lower(), []).append(line.decode("latin-1"))
    for path, token, part in _annotated(schema):
        header = f"{_PREFIX}{token}"
        wrong = _differs(lines.get(header.lower(), []), _at(arguments, path), part.get("type"))
        if wrong:
            return f"the {header} header {wrong.format(argument='.'.join(path))}"
    return None


def _differs(lines: list[str], value: Json, kind: Json) -> str:
    """Say how a header differs from its argument; empty: it doesn't."""
    if len(lines) > 1:
        return "appears more than once"
    text = _text(value)
    if not lines:
        return "is missing, and the argument `{argument}` is there" if text is not None else ""
    if value is None:
        return "is there, and the argument `{argument}` is not"
    said = decoded(lines[0])
    if said is None:
        return "carries malformed base64"
    if text is None or not (said == text or _is_same_integer(said, value, kind)):
        return "does not match the argument `{argument}`"
    return ""


def _is_same_integer(said: str, value: Json, kind: Json) -> bool:
    """Whether a header of an integer says the same number in another way: `42.0` for 42."""
    if kind != "integer" or isinstance(value, bool) or not isinstance(value, int | float):
        return False
    number = _DECIMAL.fullmatch(said)
    if number is None or set(number[2] or "") - {"0"} or value != value // 1:
        return False
    try:
        return int(number[1]) == int(value)
    except (ValueError, OverflowError):  # more digits than Python takes, or no finite number
        return False


def _wrong(token: Json, kind: Json) -> str:
    if not isinstance(token, str):
        return "is no text"
    if not _TOKEN.fullmatch(token):
        return "is no token that can stand in the name of a header"
    if not isinstance(kind, str) or kind not in _TYPES:
        return "is for a property whose `type` isn't `string`, `integer` or `boolean`"
    return ""


def _annotated(schema: Json) -> Iterator[tuple[Path, str, JsonObject]]:
    for path, part in _positions(schema):
        token = part.get(_ANNOTATION)
        if path and isinstance(token, str):
            yield path, token, part


def _positions(root: Json) -> Iterator[tuple[Path | None, JsonObject]]:
    """Yield every schema in a schema, with the way to it, or None where others lead there too.

    It recurses by a list of its own, so that no depth of a server's schema is too much.
    """
    stack: list[tuple[Path | None, Json]] = [((), root)]
    while stack:
        path, schema = stack.pop()
        if not isinstance(schema, dict):
            continue
        yield path, schema
        for keyword, value in schema.items():
            if keyword == "properties" and isinstance(value, dict):
                for name, part in value.items():
                    stack.append(((*path, name) if path is not None else None, part))
            elif keyword in _SCHEMA:
                stack.append((None, value))
            elif keyword in _SCHEMA_LIST and isinstance(value, list):
                stack.extend((None, part) for part in value)
            elif keyword in _SCHEMA_MAP and isinstance(value, dict):
                stack.extend((None, part) for part in value.values())


def _at(arguments: JsonMapping, path: Path) -> Json:
    value = arguments.get(path[0])
    for key in path[1:]:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: Json) -> str | None:
    """Return how a header says a value, or None for one that has no such text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        return None
    try:
        return str(value)
    except ValueError:  # more digits than Python takes
        return None
