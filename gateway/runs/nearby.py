"""Near misses: the ids that one slip away from a value, to ask whether one of them was returned.

Nothing is ever accepted for being near: that is what an attack looks like, and an invention too.
"""

import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from gateway.runs.forms import TEXT, WHOLE, identity
from gateway.types.json import Json

_LONGEST: Final = 40  # characters of an id; longer ones are copied rather than remembered
_SHORT: Final = 20  # up to here a character that is missing is looked for
_MOST: Final = 3_000
_ZERO: Final = f"{WHOLE}0"
_DIGITS: Final = "0123456789"
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_LOOKALIKES: Final[Mapping[str, str]] = {
    **{"0": "Oo", "1": "Il", "2": "Zz", "5": "Ss", "8": "B"},
    **{"O": "0", "o": "0", "I": "1l", "l": "1I", "Z": "2", "z": "2", "S": "5", "s": "5", "B": "8"},
}


def neighbours(value: Json) -> tuple[str, ...]:
    """Return the normal forms of other ids that one slip would make of a value, up to 3,000.

    The likeliest come first. A slip is another case, blanks around it, the same digits as a number
    or a text, or one character that is wrong, too many, swapped with the next, or missing in a
    short id.
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ()
    text = str(value)
    if not 1 <= len(text) <= _LONGEST or "@" in text:  # addresses are no ids
        return ()
    if isinstance(value, str):
        text = unicodedata.normalize("NFC", text)
        normals = _slips(TEXT, text, _hexadecimal if _is_hex(text) else _like)
        if not text.isascii():  # only there a slip may leave marks that belong together apart
            normals = [unicodedata.normalize("NFC", each) for each in normals]
        if _is_whole(text):
            normals.insert(0, f"{WHOLE}{text}")
    else:  # of a number nothing but another number is looked for, and the same one as a text
        normals = [
            each
            for each in _slips(WHOLE, text, _digits)
            if not each.startswith(_ZERO) or each == _ZERO
        ]
        if value < 0:  # its sign is no digit
            normals = [each for each in normals if _is_whole(each.removeprefix(WHOLE))]
        normals.insert(0, f"{TEXT}{text}")
    found = dict.fromkeys(normals)
    for each in (TEXT, WHOLE, identity(value) or ""):  # nothing at all, and the value itself
        found.pop(each, None)
    return tuple(found)[:_MOST]


def named(normal: str) -> Json:
    """Return the id that one of these normal forms is of."""
    return int(normal.removeprefix(WHOLE)) if normal.startswith(WHOLE) else normal[len(TEXT) :]


def _is_whole(text: str) -> bool:
    return text.isdecimal() and text.isascii() and (text[0] != "0" or text == "0")


def _slips(form: str, text: str, like: Callable[[str], str]) -> list[str]:
    """Return what one slip makes of a text, with `like` for what may stand in a character's place.

    Each begins with its form, and as lists: a call that is refused for an invented id has hundreds
    of them to look up.
    """
    found = [form + each for each in (text.strip(), text.lower(), text.upper(), text.swapcase())]
    found += [
        f"{form}{text[:place]}{text[place + 1]}{text[place]}{text[place + 2 :]}"
        for place in range(len(text) - 1)
    ]
    found += [f"{form}{text[:place]}{text[place + 1 :]}" for place in range(len(text))]
    for place, mark in enumerate(text):
        before, after = form + text[:place], text[place + 1 :]
        found += [f"{before}{other}{after}" for other in like(mark)]
    if len(text) > _SHORT:
        return found
    for place in range(len(text) + 1):
        before, after = form + text[:place], text[place:]
        around = {other for mark in text[max(0, place - 1) : place + 1] for other in like(mark)}
        found += [f"{before}{other}{after}" for other in sorted(around)]
    return found


def _digits(mark: str) -> str:
    return _DIGITS if mark in _DIGITS else ""


def _is_hex(text: str) -> bool:
    """Whether digits and the letters up to `f` stand in each other's place."""
    marks = {mark for mark in text if mark.isalnum()}
    return marks <= {*"0123456789abcdef"} and not (marks <= {*_DIGITS} or marks <= {*_LETTERS})


def _hexadecimal(mark: str) -> str:
    return "0123456789abcdef" if mark.isalnum() else ""


@lru_cache(maxsize=256)
def _like(mark: str) -> str:
    """Return what may stand where a character stands: its own kind, and what looks like it."""
    if mark in _DIGITS:
        kind = _DIGITS
    elif mark in _LETTERS:
        kind = _LETTERS
    elif mark in _LETTERS.upper():
        kind = _LETTERS.upper()
    else:
        return "-_" if mark in "-_" else ""
    return kind + _LOOKALIKES.get(mark, "")
