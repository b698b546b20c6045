"""Finds secrets and personal data in text and cuts them out."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from gateway.events.matcher import Matcher
from gateway.events.patterns import Pattern
from gateway.types.tools import Sensitivity

_ROUNDS: Final = 16  # cutting can bring a new match about; text that needs more rounds is hostile
# A key of JSON inside a text whose value may have to be hidden; deliberately wide.
_TELLING_KEY: Final = (
    r"(?i)(?:pass|pwd|secret|token|key|auth|cookie|credential|jwt|bearer|assertion|cvv|cvc|otp)"
    r'[^"]*"\s*:'
)
# A write has the same arguments looked at for its row, its verdict and its effect. Only what holds
# nothing to hide is remembered, and not for long.
_REMEMBERED: Final = 2_048  # characters
_MOST_REMEMBERED: Final = 64
_EDGE: Final = r"(?:\b|\\[bfnrt])"
_JOINED: Final = r"(?:\b|_|\\[bfnrt])"  # a secret in a name, such as of a tool that is none
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Cut:
    """A text after cutting, how much was cut, and the form that the whole text had, if one."""

    text: str
    count: int
    whole: Pattern | None = None


class Scanner:
    """One selection of patterns, compiled; safe to share between threads."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = tuple(patterns)
        self._matcher = _matcher((*map(_opened, patterns), _TELLING_KEY))
        self._telling = len(self._patterns)
        self._innocent: set[tuple[str, bool]] = set()  # looked at a moment ago

    def suspects(self, text: str, *, jsonish: bool) -> bool:
        """Whether anything may have to be cut; one pass over the text, usually the only one.

        `jsonish` texts hold JSON somewhere: keys in them count, and escapes could hide a match.
        """
        if jsonish and "\\" in text:
            return True
        looked_at = (text, jsonish)
        if looked_at in self._innocent:
            return False
        hits = self._matcher.which(encodable(text))
        if hits and (jsonish or hits != [self._telling]):
            return True
        if len(text) <= _REMEMBERED:
            if len(self._innocent) >= _MOST_REMEMBERED:
                self._innocent.clear()
            self._innocent.add(looked_at)
        return False

    def cut(self, text: str) -> Cut:
        """Replace every match by `[redacted:name]`, until nothing matches any more."""
        text, count = encodable(text), 0
        hits = self._hits(text)
        whole = self._whole(hits, text) if hits else None
        for _ in range(_ROUNDS):
            before = text
            for index in hits:
                text, cuts = self._replaced(index, text)
                count += cuts
            if text == before:
                return Cut(text, count, whole if count else None)
            hits = self._hits(text)
        return Cut(marker("text"), count + 1)

    def _hits(self, text: str) -> list[int]:
        return [index for index in self._matcher.which(text) if index != self._telling]

    def _whole(self, hits: Sequence[int], text: str) -> Pattern | None:
        for index in hits:
            if self._spans(index, text) == [(0, len(text))]:
                return self._patterns[index]
        return None

    def _replaced(self, index: int, text: str) -> tuple[str, int]:
        instead = marker(self._patterns[index].name)
        pieces: list[str] = []
        count = done = 0
        for start, end in self._spans(index, text):
            if text[start:end] != instead:
                pieces += (text[done:start], instead)
                done = end
                count += 1
        if not count:
            return text, 0
        return "".join((*pieces, text[done:])), count

    def _spans(self, index: int, text: str) -> list[tuple[int, int]]:
        spans = self._matcher.spans(index, text)
        check = self._patterns[index].check
        if check is None:
            return spans
        checked = ((start, start + check(text[start:end])) for start, end in spans)
        return [(start, end) for start, end in checked if end > start]


@lru_cache(maxsize=8)
def _matcher(patterns: tuple[str, ...]) -> Matcher:
    """Return what finds these, made once for all redactors of a gateway."""
    return Matcher(patterns)


def _opened(pattern: Pattern) -> str:
    r"""Let a pattern begin after an escape such as `\n` too, which in JSON ends no word."""
    flags = "(?i)" if pattern.regex.startswith("(?i)") else ""
    rest = pattern.regex.removeprefix("(?i)")
    if not rest.startswith(r"\b"):
        return pattern.regex
    edge = _JOINED if pattern.kind is Sensitivity.SECRET else _EDGE
    return flags + edge + rest.removeprefix(r"\b")


def literal(regex: str) -> Pattern:
    """Return the pattern for secrets that are known by value."""
    return Pattern(name="secret", kind=Sensitivity.SECRET, regex=regex)


def marker(name: str) -> str:
    """Return what stands in a text where something was cut out."""
    return f"[redacted:{name}]"


def encodable(text: str) -> str:
    """Return the text without half surrogate pairs, which have no bytes."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
