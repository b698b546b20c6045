"""JSON out: as it is, or in the one form that equal values share."""

import hashlib
import math
import re
from decimal import Decimal

import orjson
import rfc8785

from gateway.errors import JsonError
from gateway.types.json import Json, JsonObject

_NOT_FINITE = "a number that is not finite can't be written as JSON"
_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
_FRACTIONS = (float, Decimal)
# How orjson spells numbers that RFC 8785 spells otherwise: `1.0`, `1e+16`, `1e-6`, not a number;
# and how it might spell `1e-7`.
_SPELLED_OTHERWISE = re.compile(rb"\.0(?:[,}\]]|\Z)|e(?<=[0-9]e)|null|\.000000")
# The same each by itself, which begins with one character: such looks are the quickest.
_WHOLE = re.compile(rb"\.0(?:[,}\]]|\Z|00000)")
_EXPONENT = b"+" if b"+" in orjson.dumps(1e16) else b"e"  # once it wrote `1e16`
_TINY = re.compile(rb"-(?<=[0-9]e-)")
_SMALL = 1_024  # bytes
_FROM, _BELOW = 1e-5, 1e16  # in between, orjson writes floats without an exponent
_SPACE = b" \t\r\n"
_INT64 = range(-(2**63), 2**64)  # what orjson writes


def dump(value: Json) -> bytes:
    """Write compact UTF-8 with every digit kept; raises `JsonError` for what isn't JSON."""
    try:
        written = orjson.dumps(value, default=_spell)
    except TypeError as error:
        if "Integer" not in str(error):
            raise _unwritable(error) from None
        return _write(_with_large_integers(value))
    if b"null" in written:  # also what orjson makes of NaN
        _refuse_not_finite(value)
    return written


def canonical(value: Json) -> bytes:
    """Write the one form that equal values share: RFC 8785, with all digits of larger numbers.

    RFC 8785 has no form for integers beyond 2^53-1 and decimals beyond a float. They stand as
    plain numbers here: a marker object would be the same bytes as an argument that spells it.
    """
    try:
        written = orjson.dumps(value, option=_SORTED)
        # That is the form unless keys are not ASCII or a number is spelled otherwise. Of most that
        # is small a few looks at the bytes show it; of what is large, a walk does at less cost.
        is_ascii = written.isascii()
        if is_ascii and len(written) <= _SMALL:
            is_doubtful = _EXPONENT in written or b"null" in written
            if not (is_doubtful or _WHOLE.search(written) or _TINY.search(written)):
                return written
        is_otherwise = has_fractions(value) and _SPELLED_OTHERWISE.search(written)
        if not is_otherwise and (is_ascii or _has_ascii_keys(value)):
            return written
    except TypeError:
        pass  # large integers, and what is refused in better words below
    try:
        return _write(_spelled(value))
    except RecursionError:
        raise JsonError("nested too deeply") from None


def digest(value: Json) -> str:
    """Return `sha256:` and 64 hex digits over the canonical bytes."""
    return "sha256:" + hashlib.sha256(canonical(value)).hexdigest()


def writes_back(value: Json, data: bytes) -> bool:
    """Whether a text that orjson has read as this value is what it writes, but for white space.

    Such a text has one meaning: a second key with the same name would have been lost on the way,
    and a number, or half a pair, that can't be kept would have been changed or refused. White
    space adds nothing: without any, both are the same tokens still.
    """
    try:
        written = orjson.dumps(value)
    except TypeError:  # nested deeper than it writes
        return False
    if len(written) >= len(data):
        return written == data
    return written.translate(None, _SPACE) == data.translate(None, _SPACE)


def _write(value: object) -> bytes:
    try:
        return orjson.dumps(value, default=_spell)
    except TypeError as error:
        raise _unwritable(error) from None


def _unwritable(error: TypeError) -> JsonError:
    cause = error.__cause__
    return cause if isinstance(cause, JsonError) else JsonError(f"can't be written: {error}")


def _spell(value: object) -> orjson.Fragment:
    """Answer orjson about a type that it doesn't know."""
    if not isinstance(value, Decimal):
        raise JsonError(f"`{type(value).__name__}` is not a JSON type")
    if not value.is_finite():
        raise JsonError(_NOT_FINITE)
    return orjson.Fragment(str(value))


def _with_large_integers(value: Json) -> object:
    """Copy a value, with the integers that orjson refuses as text of their own."""
    if isinstance(value, dict):
        return {key: _with_large_integers(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_with_large_integers(member) for member in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise JsonError(_NOT_FINITE)
    if isinstance(value, int) and value not in _INT64:
        return orjson.Fragment(str(value))
    return value


def _refuse_not_finite(value: Json) -> None:
    """Look at every float."""
    found: list[Json] = [value]  # grows while it is gone through
    for each in found:
        if isinstance(each, float):
            if not math.isfinite(each):
                raise JsonError(_NOT_FINITE)
        elif isinstance(each, dict):
            found += each.values()
        elif isinstance(each, list):
            found += each


def has_fractions(value: Json) -> bool:
    """Whether there are numbers in it that are floats or decimals."""
    # One list that grows while it is gone through, and the usual first: a call for each value, or
    # a list for each level, would take several times as long.
    found: list[Json] = [value]
    for each in found:
        kind = type(each)
        if kind is str or kind is int:
            continue
        if isinstance(each, dict):
            found += each.values()
        elif isinstance(each, list):
            found += each
        elif isinstance(each, _FRACTIONS):
            return True
    return False


def _has_ascii_keys(value: Json) -> bool:
    found: list[Json] = [value]
    for each in found:
        if isinstance(each, dict):
            if not "".join(each).isascii():
                return False
            found += each.values()
        elif isinstance(each, list):
            found += each
    return True


def _spelled(value: Json) -> object:
    """Copy a value in canonical order, its numbers as canonical text; strings are as RFC 8785."""
    if isinstance(value, str):  # as most are
        return value
    match value:
        case dict():
            return {key: _spelled(member) for key, member in _by_utf16(value)}
        case list():
            return [_spelled(member) for member in value]
        case float():
            return _spelled_float(value)
        case Decimal():
            return orjson.Fragment(_decimal_text(value))
        case int() if value not in _INT64:
            return orjson.Fragment(str(value))
        case _:
            return value


def _spelled_float(value: float) -> object:
    """Return what orjson writes as RFC 8785 asks: most numbers themselves, whole ones as such."""
    if abs(value) < _BELOW and value.is_integer():
        return int(value)
    return value if _FROM <= abs(value) < _BELOW else orjson.Fragment(_float_text(value))


def _by_utf16(value: JsonObject) -> list[tuple[str, Json]]:
    """Order keys as RFC 8785, 3.2.3 asks; half pairs come through, to be refused as texts."""
    if "".join(value).isascii():
        return sorted(value.items())  # by the keys alone, as no two are the same
    return sorted(value.items(), key=lambda item: item[0].encode("utf-16-be", "surrogatepass"))


def _float_text(value: float) -> str:
    try:
        return rfc8785.dumps(value).decode()
    except rfc8785.FloatDomainError:
        raise JsonError(_NOT_FINITE) from None


def _decimal_text(value: Decimal) -> str:
    """Write a decimal so that equal ones agree: like a float if it is one."""
    if not value.is_finite():
        raise JsonError(_NOT_FINITE)
    as_float = float(value)
    if math.isfinite(as_float) and Decimal(repr(as_float)) == value:
        return _float_text(as_float)
    mantissa, _, exponent = f"{value:e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{int(exponent):+d}"
