"""Near misses: the ids that one slip away from a value, to ask whether one of them was returned.

Nothing is ever accepted for being near: that is what an attack looks like, and an invention too.
"""

import unicodedata
from collections.abc import Iterator
from typing import Final

from gateway.types.json import Json

_LONGEST: Final = 40  # characters of an id; longer ones are copied rather than remembered
_MOST: Final = 3_000
_DIGITS: Final = "0123456789"
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def neighbours(value: Json) -> tuple[Json, ...]:
    """Return other ids that one slip would make of a value, the likeliest first, up to 3,000.

    A slip is another case, blanks around it, the same digits as a number or a text, or one
    character that is wrong, missing, too many, or swapped with the next.
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ()
    text = str(value)
    if not 1 <= len(text) <= _LONGEST:
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
    alphabet = _alphabet(text)
    for place in range(len(text)):
        for mark in alphabet:
            yield text[:place] + mark + text[place + 1 :]
    for place in range(len(text) + 1):
        for mark in alphabet:
            yield text[:place] + mark + text[place:]


def _alphabet(text: str) -> str:
    """Return the characters that ids like this one are made of."""
    used = set(text)
    has_digits = any(mark in _DIGITS for mark in used)
    marks = _DIGITS if has_digits else ""
    for letters in (_LETTERS, _LETTERS.upper()):
        if used & {*letters}:
            # Few letters beside digits are a prefix or hexadecimal.
            marks += letters[:6] if has_digits and used & {*letters} <= {*letters[:6]} else letters
    return marks + "".join(sorted(used - {*marks}))
