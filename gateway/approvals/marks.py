"""What in a text could deceive who reads it: said in words, beside the text."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from typing import Final

from gateway.approvals.visible import is_hidden, spelled, visible

_MOST_NOTES: Final = 10  # of one kind; a text that needs more says enough with them
_LONGEST_WORD: Final = 60  # characters of a word or host in a note
_WORD: Final = re.compile(r"[^\W_]+")
_HOST: Final = re.compile(r"(?i)\b[a-z][a-z0-9+.-]{0,20}:[/\\]{2}([^/\\?#\s]{1,300})(\\?)")
_ENCODED: Final = re.compile(r"(?i)\bxn--[a-z0-9-]{1,59}")
_BIDI: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL"})
# Scripts that one word may mix: Chinese, Japanese and Korean writing, with Latin letters in it
# (UTS 39, 5.2, "highly restrictive").
_TOGETHER: Final = frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO", "HANGUL"})
# Small and capital letters of other scripts that look like Latin ones.
_LIKE_LATIN: Final = frozenset("авсԁеһіјӏорԛѕԝхуАВСЕНІЈКМОРԚЅТԜХУανορυωΑΒΕΗΙΚΜΝΟΡΤΥΧΖօսոցհքԼՍՕ")
_SHORTEST_LIKE: Final = 3  # letters of a word that looks like a Latin one


class Kind(StrEnum):
    """A way to deceive the eye; the worst first."""

    BIDI = "bidi"
    TAG = "tag"
    CONTROL = "control"
    ZERO_WIDTH = "zero_width"
    SURROGATE = "surrogate"
    PRIVATE = "private"
    UNASSIGNED = "unassigned"
    BLANK = "blank"
    SELECTOR = "selector"
    MIXED_SCRIPTS = "mixed_scripts"
    LOOKALIKE = "lookalike"
    STYLED = "styled"
    HOST = "host"
    RIGHT_TO_LEFT = "right_to_left"


_IN_WORDS: Final = {
    Kind.BIDI: "characters that turn the direction of the text",
    Kind.TAG: "tag characters, which no screen shows",
    Kind.CONTROL: "control characters",
    Kind.ZERO_WIDTH: "characters without width",
    Kind.SURROGATE: "halves of characters",
    Kind.PRIVATE: "characters that mean something else on every machine",
    Kind.UNASSIGNED: "characters that do not exist",
    Kind.BLANK: "blanks that are no plain space",
    Kind.SELECTOR: "characters that change the look of others",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What was found in a text; `notes` are for people, one line each, nothing hidden in them."""

    kinds: tuple[Kind, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def are_any(self) -> bool:
        """Whether there is anything to be told."""
        return bool(self.kinds)


def marks(text: str) -> Marks:
    """Find what could deceive, in time linear in the text; it may be as long as it likes."""
    if text.isascii() and text.isprintable() and "//" not in text and "xn--" not in text.lower():
        return Marks()
    found = {*filter(None, map(_kind, set(text)))}
    notes: list[str] = []
    hidden = [_IN_WORDS[each] for each in Kind if each in found and each in _IN_WORDS]
    if hidden:
        notes.append(f"holds {', '.join(hidden)}")
    for kind, more in (
        (Kind.MIXED_SCRIPTS, _mixed(text)),
        (Kind.LOOKALIKE, _lookalikes(text)),
        (Kind.STYLED, _styled(text)),
        (Kind.HOST, _hosts(text)),
    ):
        told = [*islice(dict.fromkeys(more), _MOST_NOTES)]
        notes += told
        found |= {kind} if told else set[Kind]()
    if Kind.RIGHT_TO_LEFT in found:
        notes.append("is written from right to left in parts: read the order of its words twice")
    return Marks(kinds=tuple(each for each in Kind if each in found), notes=tuple(notes))


@lru_cache(maxsize=4096)
def _kind(character: str) -> Kind | None:
    if character in "\n\t " or (character.isascii() and character.isprintable()):
        return None
    if not is_hidden(character):
        is_turned = unicodedata.bidirectional(character) in _RIGHT_TO_LEFT
        return Kind.RIGHT_TO_LEFT if is_turned else None
    code = ord(character)
    if character in _BIDI:
        return Kind.BIDI
    if 0xE0000 <= code < 0xE0080:
        return Kind.TAG
    if 0xFE00 <= code < 0xFE10 or 0xE0100 <= code < 0xE01F0 or 0x180B <= code < 0x1810:
        return Kind.ZERO_WIDTH if code == 0x180E else Kind.SELECTOR
    return _OF_CATEGORY.get(unicodedata.category(character), Kind.BLANK)


_OF_CATEGORY: Final = {
    "Cc": Kind.CONTROL,
    "Zl": Kind.CONTROL,
    "Zp": Kind.CONTROL,
    "Cf": Kind.ZERO_WIDTH,
    "Cs": Kind.SURROGATE,
    "Co": Kind.PRIVATE,
    "Cn": Kind.UNASSIGNED,
}


# --- words ---------------------------------------------------------------------------------------


def _words(text: str) -> Iterator[str]:
    return (found.group() for found in _WORD.finditer(text) if not found.group().isascii())


def _mixed(text: str) -> Iterator[str]:
    for word in _words(text):
        scripts = {*filter(None, map(_script, word))}
        if len(scripts) > 1 and not scripts <= _TOGETHER:
            yield f"`{_short(word)}` mixes {' and '.join(sorted(map(str.title, scripts)))} letters"


def _lookalikes(text: str) -> Iterator[str]:
    """Find words of other letters that all look Latin, in texts with no other such letters."""
    letters = {each for word in _words(text) for each in word if _script(each) not in _TOGETHER}
    if not {each for each in letters if each.isalpha()} <= _LIKE_LATIN:
        return
    for word in _words(text):
        if len(word) >= _SHORTEST_LIKE and _LIKE_LATIN.issuperset(word):
            yield f"`{_short(word)}` is {_script(word[0]).title()}, and looks like Latin letters"


def _styled(text: str) -> Iterator[str]:
    for word in _words(text):
        plain = "".join(_plain(each) or each for each in word)
        if plain != word:
            yield f"`{_short(word)}` is written in other forms of `{visible(plain)}`"


@lru_cache(maxsize=4096)
def _plain(letter: str) -> str:
    """Return the ASCII that a letter or digit is another form of, such as a mathematical one."""
    if letter.isascii() or unicodedata.category(letter) not in ("Lu", "Ll", "Lt", "Lo", "Nd"):
        return ""
    plain = unicodedata.normalize("NFKC", letter)
    return plain if plain.isascii() else ""


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    """Return the script of a letter by its name in Unicode; empty for what belongs to all."""
    if not letter.isalpha() or _plain(letter):
        return ""
    return unicodedata.name(letter, "").split(" ")[0].split("-")[0]


# --- hosts ---------------------------------------------------------------------------------------


def _hosts(text: str) -> Iterator[str]:
    for found in _HOST.finditer(text):
        authority = found[1]
        login, at, host = authority.rpartition("@")
        if at:
            yield f"goes to `{_short(host)}`, and not to `{_short(login)}`"
        if found[2]:
            yield f"the address of `{_short(host)}` goes on with `\\`: programs read it differently"
        if not host.isascii():
            yield f"the host `{_short(host)}` is not written in plain letters"
    for found in _ENCODED.finditer(text):
        try:
            label = found.group()[4:].encode().decode("punycode")
        except UnicodeError:
            label = ""
        if label:
            yield f"`{found.group()}` stands for `{_short(label)}`"


def _short(word: str) -> str:
    shown = spelled(word[:_LONGEST_WORD])
    return f"{shown}…" if len(word) > _LONGEST_WORD else shown
