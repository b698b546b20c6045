"""What a JSON reader asks about each piece of a text; each answer is a value or a `JsonError`."""

import json
import math
import re
from decimal import Decimal, InvalidOperation
from typing import NoReturn

from gateway.errors import JsonError
from gateway.jsontext.pointers import escape
from gateway.types.json import Json, JsonPointer

MAX_DIGITS = 1_000  # of an integer

_SAFE_FLOAT_CHARS = 16  # a point and 15 digits: every such decimal survives a float
_SURROGATE = re.compile("[\ud800-\udfff]")


def text_of(data: bytes | str, max_bytes: int) -> str:
    """Return the text, or raise `JsonError` if it is too large or not UTF-8."""
    try:
        size = len(data) if isinstance(data, bytes) or data.isascii() else len(data.encode())
        if size > max_bytes:
            raise JsonError(f"{size} bytes of JSON; at most {max_bytes} are read")
        return data if isinstance(data, str) else data.decode()
    except UnicodeError:
        raise JsonError("not valid UTF-8") from None


def members(pairs: list[tuple[str, Json]]) -> Json:
    """Return an object, or raise `JsonError` if two of its keys are the same."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise JsonError("duplicate key")
    return value


def integer(digits: str) -> int:
    """Return an integer of at most 1,000 digits."""
    if len(digits) > MAX_DIGITS:
        raise JsonError(f"integer of more than {MAX_DIGITS} digits")
    return int(digits)


def fraction(digits: str) -> float:
    """Return a number with point or exponent that a float carries without loss."""
    value = float(digits)
    if len(digits) <= _SAFE_FLOAT_CHARS and "e" not in digits and "E" not in digits:
        return value
    if not math.isfinite(value):
        raise JsonError("number too large to be kept exactly; send it as a string")
    if not _same(digits, value):
        raise JsonError(
            "number with more digits than can be kept; round it, or send it as a string"
        )
    return value


def _same(digits: str, value: float) -> bool:
    try:
        return Decimal(digits) == Decimal(repr(value))
    except InvalidOperation:
        return False


def constant(name: str) -> NoReturn:
    """Refuse NaN and the infinities, which Python reads and JSON doesn't have."""
    raise JsonError(f"`{name}` is not JSON")


def syntax(error: json.JSONDecodeError) -> JsonError:
    """Say where a text stops being JSON, without repeating any of it."""
    said = error.msg[:1].lower() + error.msg[1:]
    return JsonError(f"not JSON: {said} (line {error.lineno}, column {error.colno})")


def refuse_surrogates(value: Json, pointer: JsonPointer) -> None:
    """Refuse texts that no UTF-8 can carry; only `\\ud…` escapes make them."""
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise JsonError("half of a surrogate pair", pointer=printable(pointer))
    elif isinstance(value, dict):
        for key, member in value.items():
            if _SURROGATE.search(key):
                raise JsonError("half of a surrogate pair in a key", pointer=printable(pointer))
            refuse_surrogates(member, f"{pointer}/{escape(key)}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            refuse_surrogates(member, f"{pointer}/{index}")


def without_halves(value: Json) -> Json:
    """Return a value with a sign in the place of each half surrogate pair, which has no UTF-8."""
    match value:
        case str():
            return _SURROGATE.sub("\ufffd", value)
        case dict():
            return {
                _SURROGATE.sub("\ufffd", key): without_halves(each) for key, each in value.items()
            }
        case list():
            return [without_halves(each) for each in value]
        case _:
            return value


def printable(pointer: JsonPointer) -> JsonPointer:
    """Return a pointer that can be written as UTF-8 whatever the keys on its way."""
    return _SURROGATE.sub("\ufffd", pointer)
