"""Plain YAML scalars by the core schema of YAML 1.2, so `no` is a word and `0644` a question."""

import math
import re

from gateway.types.json import Json

_NAMED: dict[str, Json] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)", re.ASCII)
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+", re.ASCII)
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FRACTION = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_MOST_DIGITS = 1_000


def resolve(text: str) -> Json:
    """Return the value of a plain scalar; `ValueError` with the mend if readers disagree on it."""
    if text in _NAMED:
        return _NAMED[text]
    if text[0] not in "+-.0123456789":
        return text
    if len(text) > _MOST_DIGITS:
        raise ValueError(
            f"text of more than {_MOST_DIGITS} characters that looks like a number; quote it"
        )
    if _INTEGER.fullmatch(text):
        return int(text)
    if _LEADING_ZERO.fullmatch(text):
        raise ValueError(f'number with a leading zero; write `"{text}"` or `{int(text)}`')
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FRACTION.fullmatch(text):
        value = float(text)
        if math.isfinite(value):
            return value
    elif not _NOT_FINITE.fullmatch(text):
        return text
    raise ValueError(f"`{text}` is not a number that JSON has; quote it if it is a word")
