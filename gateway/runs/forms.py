"""Typed normal forms: by what two values of one type are the same, and which number is larger."""

import re
import unicodedata
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Final, assert_never

from gateway.types.json import Json
from gateway.types.tools import Form

TEXT: Final = "s:"  # how the normal forms of ids begin
WHOLE: Final = "n:"
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:$|[T ])")
_LONGEST_DATE: Final = 40
_MOST_DIGITS: Final = 15  # before the point, of numbers that can be compared
_MOST_DECIMALS: Final = 6
_MOST_PLACES: Final = 1_000


def normal(value: Json, form: Form) -> str | None:
    """Return the text that equal values of a form share; None for what can't be of the form.

    No form is fuzzy, and no two forms share a text.
    """
    match form:
        case Form.ID:
            return identity(value)
        case Form.TEXT:
            return _text(value)
        case Form.NUMBER:
            found = number(value)
            return None if found is None else f"#:{_plain(found)}"
        case Form.DATE:
            day = day_of(value)
            return None if day is None else f"@:{day.isoformat()}"
        case _:
            assert_never(form)


def same(left: Json, right: Json) -> bool:
    """Say whether two values are the same thing by the strictest form."""
    known = identity(left)
    return known is not None and known == identity(right)


def identity(value: Json) -> str | None:
    """Return the normal form of an id: a text never equals a number.

    None for flags, gaps and containers, which identify nothing.
    """
    match value:
        case bool() | None | "":
            return None
        case str():
            return TEXT + (value if value.isascii() else unicodedata.normalize("NFC", value))
        case int():
            return f"{WHOLE}{value}"
        case float() | Decimal():
            found = number(value)
            return None if found is None else f"{WHOLE}{_plain(found)}"
        case _:
            return None


def number(value: Json) -> Decimal | None:
    """Return the finite number that a value is, or that a text spells in plain digits."""
    match value:
        case bool():
            return None
        case int() | Decimal():
            found = Decimal(value)
        case float():
            found = Decimal(str(value))
        case str() if _NUMBER.fullmatch(value):
            found = Decimal(value)
        case _:
            return None
    # Whole numbers of ours have a thousand digits at most; a power of ten could have far more.
    return found if found.is_finite() and abs(found.adjusted()) <= _MOST_PLACES else None


def day_of(value: Json) -> date | None:
    """Return the day in UTC of an ISO 8601 date or time; a time without an offset is in UTC."""
    if not isinstance(value, str) or not _DAY.match(value) or len(value) > _LONGEST_DATE:
        return None
    try:
        if len(value) == len("2026-01-01"):
            return date.fromisoformat(value)
        at = datetime.fromisoformat(value)
        return (at.astimezone(UTC) if at.tzinfo is not None else at).date()
    except (ValueError, OverflowError):
        return None


def rungs(value: Json) -> tuple[str, ...]:
    """Return the texts by which a number can be found to be at least as large as another.

    They are how many digits it has before the point, and each beginning of its digits. So keyed
    digests of them are enough, and the number itself need not be kept. Empty for what is negative
    or has more than 15 digits before or 6 after the point.
    """
    split = _split(value)
    if split is None:
        return ()
    size, digits = split
    return tuple(f">{size}:{digits[:length]}" for length in range(len(digits) + 1))


def above(value: Json) -> tuple[str, ...]:
    """Return the texts of which every number that is at least as large has one as a rung."""
    split = _split(value)
    if split is None:
        return ()
    size, digits = split
    larger = [f">{more}:" for more in range(size + 1, _MOST_DIGITS + 1)]
    for place, digit in enumerate(digits):
        larger += [f">{size}:{digits[:place]}{more}" for more in range(int(digit) + 1, 10)]
    return (*larger, f">{size}:{digits}")


def _text(value: Json) -> str | None:
    if not isinstance(value, str) or not value:
        return None
    folded = unicodedata.normalize("NFC", value).casefold()
    return "t:" + unicodedata.normalize("NFC", folded)


def _plain(found: Decimal) -> str:
    whole, _, decimals = f"{found:f}".partition(".")
    decimals = decimals.rstrip("0")
    if not decimals:
        return str(int(whole))
    return f"{whole}.{decimals}"


def _split(value: Json) -> tuple[int, str] | None:
    """Return how many digits stand before the point, and all digits up to the last that counts."""
    found = number(value)
    if found is None or found < 0:
        return None
    whole, _, decimals = f"{abs(found):f}".partition(".")
    whole, decimals = whole.lstrip("0"), decimals.rstrip("0")
    if len(whole) > _MOST_DIGITS or len(decimals) > _MOST_DECIMALS:
        return None
    return len(whole), whole + decimals
