"""Strict reading of requests: a text with more than one meaning is refused, with the place."""

import json
import re

import orjson

from gateway.errors import JsonError
from gateway.jsontext import hooks
from gateway.jsontext.pointers import escape
from gateway.jsontext.writing import writes_back
from gateway.types.json import Json, JsonPointer

MAX_BYTES = 1 << 20
MAX_DEPTH = 64
MAX_NODES = 50_000

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)  # never fails, hence linear
_BRACKET = re.compile(r"[\[\]{}]")


_STRICT = json.JSONDecoder(
    object_pairs_hook=hooks.members,
    parse_int=hooks.integer,
    parse_float=hooks.fraction,
    parse_constant=hooks.constant,
)


def parse(
    data: bytes | str,
    *,
    max_bytes: int = MAX_BYTES,
    max_depth: int = MAX_DEPTH,
    max_nodes: int = MAX_NODES,
) -> Json:
    """Read a text that has exactly one meaning, or raise `JsonError` with the pointer of the fault.

    Refused beyond the grammar: NaN and infinities, duplicate keys, lone surrogates, integers of
    more than 1,000 digits, and fractions that a float can't carry; integers stay exact.
    """
    if not (  # few bytes are few values, and few brackets are not deep
        isinstance(data, bytes)
        and max_bytes >= len(data) < max_nodes
        and data.count(b"[") + data.count(b"{") <= max_depth
    ):
        _check_shape(hooks.text_of(data, max_bytes), max_depth, max_nodes)
    known = _written_alike(data)
    if known is not None:
        return known
    text = hooks.text_of(data, max_bytes)
    try:
        value: Json = _STRICT.decode(text)
    except JsonError as fault:
        raise _located(text, fault) from None
    except json.JSONDecodeError as error:
        raise hooks.syntax(error) from None
    except RecursionError:
        raise JsonError(f"nested deeper than {max_depth} levels") from None
    if "\\ud" in text or "\\uD" in text:
        hooks.refuse_surrogates(value, "")
    return value


def _written_alike(data: bytes | str) -> Json:
    """Return the value of a text that a fast reader and writer give back, which has one meaning.

    None for any other. Most clients write JSON in this form, with or without space between values.
    """
    try:
        value: Json = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return value if writes_back(value, data if isinstance(data, bytes) else data.encode()) else None


def _check_shape(text: str, max_depth: int, max_nodes: int) -> None:
    """Bound depth and number of values before memory is spent on them."""
    openings = text.count("[") + text.count("{")
    is_short = len(text) < max_nodes  # each value takes a character
    if openings <= max_depth and (
        is_short or openings + text.count(",") + text.count(":") < max_nodes
    ):
        return
    bare = _STRING.sub("s", text)
    depth = 0
    for found in _BRACKET.finditer(bare):
        depth += 1 if found.group() in "[{" else -1
        if depth > max_depth:
            raise JsonError(f"nested deeper than {max_depth} levels")
    # Each array or object but the root and each scalar follows one of these; `{}` and `[]` too.
    if 1 + bare.count(",") + bare.count("[") + bare.count("{") > max_nodes:
        raise JsonError(f"more than {max_nodes} values")


class _Members:
    """An object as written, duplicate keys included."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        self.pairs = pairs


def _keep_fault(digits: str) -> object:
    try:
        return hooks.integer(digits) if digits.lstrip("-").isdigit() else hooks.fraction(digits)
    except JsonError as fault:
        return fault


_LOOSE = json.JSONDecoder(
    object_pairs_hook=_Members,
    parse_int=_keep_fault,
    parse_float=_keep_fault,
    parse_constant=lambda name: JsonError(f"`{name}` is not JSON"),
)


def _located(text: str, fault: JsonError) -> JsonError:
    try:
        return _find_fault(_LOOSE.decode(text), "") or fault
    except json.JSONDecodeError as error:
        return hooks.syntax(error)


def _find_fault(value: object, pointer: JsonPointer) -> JsonError | None:
    match value:
        case JsonError():
            return JsonError(value.message, pointer=pointer)
        case _Members():
            seen: set[str] = set()
            for key, member in value.pairs:
                place = f"{pointer}/{escape(key)}"
                if key in seen:
                    return JsonError("duplicate key", pointer=hooks.printable(place))
                seen.add(key)
                if found := _find_fault(member, place):
                    return found
        case list():
            for index, member in enumerate(value):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - checked by the call itself
                if found := _find_fault(member, f"{pointer}/{index}"):  # pyright: ignore[reportUnknownArgumentType] - any object may come
                    return found
        case _:
            pass
    return None
