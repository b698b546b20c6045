"""JSON out: as it is, or in the one form that equal values share."""

import hashlib
import math
from decimal import Decimal

import orjson
import rfc8785

from gateway.errors import JsonError
from gateway.types.json import Json, JsonObject

_NOT_FINITE = "a number that is not finite can't be written as JSON"
_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
_FRACTIONS = (float, Decimal)
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
        if _is_plain(value):
            return orjson.dumps(value, option=_SORTED)
    except (TypeError, RecursionError):
        pass  # large integers, and what is refused in better words below
    try:
        return _write(_spelled(value))
    except RecursionError:
        raise JsonError("nested too deeply") from None


def digest(value: Json) -> str:
    """Return `sha256:` and 64 hex digits over the canonical bytes."""
    return "sha256:" + hashlib.sha256(canonical(value)).hexdigest()


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
    """Look at every float, level by level: a call for each value would cost three times as much."""
    level: list[Json] = [value]
    while level:
        deeper: list[Json] = []
        for member in level:
            if isinstance(member, float):
                if not math.isfinite(member):
                    raise JsonError(_NOT_FINITE)
            elif isinstance(member, dict):
                deeper.extend(member.values())
            elif isinstance(member, list):
                deeper.extend(member)
        level = deeper


def _is_plain(value: Json) -> bool:
    """Whether orjson's sorted output is the RFC 8785 form: no fractions, only ASCII keys."""
    level: list[Json] = [value]
    while level:
        deeper: list[Json] = []
        for member in level:
            kind = type(member)
            if kind is str or kind is int:  # nearly all are
                continue
            if isinstance(member, dict):
                if not "".join(member).isascii():
                    return False
                deeper += member.values()
            elif isinstance(member, list):
                deeper += member
            elif isinstance(member, _FRACTIONS):
                return False
        level = deeper
    return True


def _spelled(value: Json) -> object:
    """Copy a value in canonical order, its numbers as canonical text; strings are as RFC 8785."""
    match value:
        case dict():
            return {key: _spelled(member) for key, member in _by_utf16(value)}
        case list():
            return [_spelled(member) for member in value]
        case float():
            return orjson.Fragment(_float_text(value))
        case Decimal():
            return orjson.Fragment(_decimal_text(value))
        case int() if value not in _INT64:
            return orjson.Fragment(str(value))
        case _:
            return value


def _by_utf16(value: JsonObject) -> list[tuple[str, Json]]:
    """Order keys as RFC 8785, 3.2.3 asks; half pairs come through, to be refused as texts."""
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
