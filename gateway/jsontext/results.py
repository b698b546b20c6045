"""Reading what downstreams send: fast, and exact where the fast reader would round."""

import json
import re
from decimal import Decimal, InvalidOperation

import orjson
import re2

from gateway.errors import JsonError
from gateway.jsontext import hooks
from gateway.jsontext.writing import dump, has_fractions, writes_back
from gateway.types.json import Json

MAX_DEPTH = 254  # what orjson can write again
MAX_EXPONENT = 1_000  # of a decimal: sums may expand it

# A number that orjson would round: more than 64 bits, more than 15 digits of a fraction (each
# pair of lengths that adds up to 16 meets one alternative) or before an exponent, or a long one.
_RISKY_LARGE = re2.compile(  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped package
    rb"(?:^|[\s:,\[])-?(?:"
    rb"[0-9]{20}|[0-9]+\.[0-9]{13}|[0-9]{3,}\.[0-9]{9}|[0-9]{7,}\.[0-9]|[0-9.]+[eE][+-]?[0-9]{3}"
    rb"|[0-9]{16,}[eE])"
)
# The same, looking back from the first digit: where most bytes are no digits, `re` runs over them
# several times as fast as over places where a number may begin. Linear too, by its anchors.
_RISKY_SMALL = re.compile(
    rb"[0-9](?<![^\s:,\[-][0-9])(?<![^\s:,\[]-[0-9])(?:"
    rb"[0-9]{19}|[0-9]*\.[0-9]{13}|[0-9]{2,}\.[0-9]{9}|[0-9]{6,}\.[0-9]|[0-9.]*[eE][+-]?[0-9]{3}"
    rb"|[0-9]{15,}[eE])"
)
_SMALL = 8_192  # bytes


def parse_result(data: bytes) -> Json:
    """Read what a downstream sent, keeping each number exactly, or raise `JsonError`.

    Integers beyond 64 bits are exact; a fraction that a float can't carry is a `Decimal`. NaN and
    lone surrogates are refused. Duplicate keys are refused only where such numbers are read: the
    fast reader keeps the last one, and nothing is decided by a key that a result repeats.
    """
    is_small = len(data) <= _SMALL
    if not is_small and _RISKY_LARGE.search(data):  # pyright: ignore[reportUnknownMemberType] - untyped package
        return parse_exactly(data)
    try:
        value: Json = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if is_small and _RISKY_SMALL.search(data):
            return parse_exactly(data)
        raise hooks.syntax(error) from None
    if is_small:
        if writes_back(value, data):  # what nearly all servers send: every digit is kept
            return value
        # To go through the few values takes less time than to look for numbers in the text.
        if has_fractions(value) and _RISKY_SMALL.search(data):
            return parse_exactly(data)
    _check_depth(data, value)
    return value


def parse_halves(data: bytes) -> Json:
    """Read like `parse_result`, but let half surrogate pairs stand, which nothing can write."""
    try:
        value = _decoded(data.decode("utf-8", "surrogatepass"))
        _check_depth(data, hooks.without_halves(value))
    except UnicodeError:
        raise JsonError("not valid UTF-8") from None
    except RecursionError:
        raise JsonError(f"nested deeper than {MAX_DEPTH} levels") from None
    return value


def _decoded(text: str) -> Json:
    try:
        value: Json = _EXACT.decode(text)
    except json.JSONDecodeError as error:
        raise hooks.syntax(error) from None
    except RecursionError:
        raise JsonError(f"nested deeper than {MAX_DEPTH} levels") from None
    return value


def parse_exactly(data: bytes) -> Json:
    """Read the same values as `parse_result`, and refuse duplicate keys wherever they are.

    For what people hand in as a file: which of two values was meant is for them to say.
    """
    text = hooks.text_of(data, len(data))
    value = _decoded(text)
    _check_depth(data, value)
    if "\\ud" in text or "\\uD" in text:
        hooks.refuse_surrogates(value, "")
    return value


def _check_depth(data: bytes, value: Json) -> None:
    """Refuse what can't be written again: orjson reads 1,024 levels but writes 254."""
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return
    try:
        dump(value)
    except JsonError:
        raise JsonError(f"nested deeper than {MAX_DEPTH} levels") from None


def _exact_fraction(digits: str) -> float | Decimal:
    try:
        return hooks.fraction(digits)
    except JsonError:
        exact = _decimal(digits)
        if exact is None:
            raise
        return exact


def _decimal(digits: str) -> Decimal | None:
    """Return the number if its digits and exponent are within reason: sums may expand it."""
    if len(digits) > hooks.MAX_DIGITS:
        return None
    try:
        exact = Decimal(digits)
    except InvalidOperation:
        return None
    return exact if not exact or abs(exact.adjusted()) <= MAX_EXPONENT else None


_EXACT = json.JSONDecoder(
    object_pairs_hook=hooks.members,
    parse_int=hooks.integer,
    parse_float=_exact_fraction,
    parse_constant=hooks.constant,
)
