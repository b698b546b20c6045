"""Near misses: the ids that one slip away from a value, to ask whether one of them was returned.

Nothing is ever accepted for being near: that is what an attack looks like, and an invention too.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from gateway.types.json import Json

_LONGEST: Final = 40  # characters of an id; longer ones are copied rather than remembered
_SHORT: Final = 20  # up to here a character that is missing is looked for
_MOST: Final = 3_000
_DIGITS: Final = "0123456789"
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_LOOKALIKES: Final[Mapping[str, str]] = {
    **{"0": "Oo", "1": "Il", "2": "Zz", "5": "Ss", "8": "B"},
    **{"O": "0", "o": "0", "I": "1l", "l": "1I", "Z": "2", "z": "2", "S": "5", "s": "5", "B": "8"},
}


def neighbours(value: Json) -> tuple[Json, ...]:
    """Return other ids that one slip would make of a value, the likeliest first, up to 3,000.

    A slip is another case, blanks around it, the same digits as a number or a text, or one
    character that is wrong, too many, swapped with the next, or missing in a short id.
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ()
    text = str(value)
    if not 1 <= len(text) <= _LONGEST or "@" in text:  # addresses are no ids
        return ()
    found = dict.fromkeys(_slips(unicodedata.normalize("NFC", text)))
    if isinstance(value, str):
        found.pop(text, None)
        others: list[Json] = [int(text)] if _is_whole(text) else []
        others += list(found)
    else:
        others = [text, *(int(each) for each in found if each != text and _is_whole(each))]
    return tuple(others[:_MOST])


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")


def _slips(text: str) -> Iterator[str]:
    yield from (text.strip(), text.lower(), text.upper(), text.swapcase())
    for place in range(len(text) - 1):
        yield text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    for place in range(len(text)):
        yield text[:place] + text[place + 1 :]
    like = _hexadecimal if _is_hex(text) else _like
    for place, mark in enumerate(text):
        for other in like(mark):
            yield text[:place] + other + text[place + 1 :]
    if len(text) > _SHORT:
        return
    for place in range(len(text) + 1):
        around = {other for mark in text[max(0, place - 1) : place + 1] for other in like(mark)}
        for other in sorted(around):
            yield text[:place] + other + text[place:]


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
