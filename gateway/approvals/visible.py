r"""Text as an approver may trust his eyes on it: what hides or deceives is written out.

Whatever has no shape of its own, or changes where others stand, becomes `\u{202E}`; a run of the
same becomes `\u{200B ×40}`. A line end is `⏎`, a tab is `⇥`. No two texts look the same: where a
text itself spells such a sign, its first character is written out.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

_LONGEST_RUN: Final = 8  # of one written-out character, or of blanks, before it is counted instead
_MOST_STACKED: Final = 3  # marks on one letter; more climb over the lines around
_SIGNS: Final = {"\n": "⏎", "\t": "⇥"}
# Printable by Unicode's categories, and yet nothing to see, or nothing that stands by itself:
# grapheme joiner, Hangul and Khmer fillers, the blank of Braille, a note without a head, what
# stands for an object, variation selectors of Mongolian and of all.
_BLANK: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc\U0001d159\u180b\u180c\u180d\u180f"
)
_SELECTORS: Final = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
# One alternative for each thing that is looked at; nothing here can be tried twice at one place.
_LOOKED_AT: Final = re.compile(
    r"(?P<run>([^\x20-\x7e])\2*)"
    r"|(?P<blanks>\x20{9,}|\A\x20{1,8}|\x20{1,8}\Z)"
    r"|(?P<spelled>\\(?=u\{))"
)


def visible(text: str) -> str:
    """Return the text with everything that hides written out; the same if there is nothing."""
    if text.isascii() and text.isprintable() and not _may_change(text):
        return text
    shown: list[str] = []
    done = stacked = 0  # marks that stand on one letter already
    for found in _LOOKED_AT.finditer(text):
        shown.append(text[done : found.start()])
        if found.start() != done:
            stacked = 0
        run, done = found.group(), found.end()
        if found["run"] is not None and _stands_on_others(run[0]):
            kept = max(0, min(len(run), _MOST_STACKED - stacked)) if found.start() else 0
            shown += (run[:kept], _written(run[0], len(run) - kept))
            stacked += len(run)
        else:
            shown.append(_of_run(run))
            stacked = 0
    shown.append(text[done:])
    return "".join(shown)


def spelled(text: str) -> str:
    """Return the text with everything but printable ASCII written out, letter for letter."""
    return "".join(
        each if each.isascii() and each.isprintable() else _written(each, 1) for each in text
    )


@lru_cache(maxsize=4096)
def is_hidden(character: str) -> bool:
    """Whether a character has no shape of its own: `visible` writes it out.

    Controls, formats (bidi, zero width, tags, soft hyphen), lone surrogates, private and
    unassigned ones, and every blank but the plain one.
    """
    if not character.isprintable() or character in _BLANK:
        return True
    return any(ord(character) in each for each in _SELECTORS)


def _may_change(text: str) -> bool:
    return text[:1] == " " or text[-1:] == " " or "\\u{" in text or " " * 9 in text


@lru_cache(maxsize=4096)
def _stands_on_others(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Me") and not is_hidden(character)


def _of_run(run: str) -> str:
    first = run[0]
    if first in _SIGNS and len(run) <= _LONGEST_RUN:
        return _SIGNS[first] * len(run)
    if first.isascii() or first in _SIGNS.values() or is_hidden(first):
        return _written(first, len(run))
    return run


def _written(character: str, times: int) -> str:
    code = f"{ord(character):X}"
    if times > _LONGEST_RUN:
        return f"\\u{{{code} ×{times}}}"
    return f"\\u{{{code}}}" * times
