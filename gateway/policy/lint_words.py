"""Words of closed sets in conditions: one that the set does not have is never met at run time."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.types.calls import Method
from gateway.types.causes import Cause
from gateway.types.runs import Phase, StopReason
from gateway.types.tools import Effect, Risk
from gateway.yamltext.models import suggest

SETS: Final[Mapping[str, Collection[str]]] = {
    "request.cause": tuple(Cause),
    "request.method": tuple(Method),
    "run.phase": tuple(Phase),
    "run.stop": ("", *StopReason),
    "tool.effect": tuple(Effect),
    "tool.risk": tuple(Risk),
}
_TOKEN: Final = re.compile(
    r"""(?P<text>(?P<quote>["'])(?:(?!(?P=quote))[^\\])*(?P=quote))"""
    r"|(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
    r"|(?P<other>[=!]=|\S)"
)
_EQUALS: Final = frozenset({"==", "!="})


@dataclass(frozen=True, slots=True, kw_only=True)
class Slip:
    """A word that its set does not have; `offset` counts characters of the condition from 0."""

    name: str
    word: str
    offset: int
    known: Sequence[str]

    @property
    def message(self) -> str:
        """What is wrong, with the nearest word of the set."""
        return f"`{self.name}` is never `{self.word}`{suggest(self.word, self.known)}"


def slips(text: str, sets: Mapping[str, Collection[str]] = SETS) -> Iterator[Slip]:
    """Find the words that a condition compares with a name of a closed set, or looks for it in."""
    tokens = [*_TOKEN.finditer(text)]
    for index, token in enumerate(tokens):
        known = sets.get(token["name"] or "")
        if known is None:
            continue
        words = {*known}
        for each in _compared(tokens, index):
            word = each["text"][1:-1]
            if word not in words:
                yield Slip(name=token["name"], word=word, offset=each.start(), known=sorted(words))


def _compared(tokens: Sequence[re.Match[str]], index: int) -> Iterable[re.Match[str]]:
    """Yield the texts that the name at an index is held against, on either side of it."""
    before, after = tokens[max(0, index - 2) : index], tokens[index + 1 :]
    if len(before) == 2 and before[1].group() in _EQUALS and before[0]["text"]:
        yield before[0]
    if len(after) < 2:
        return
    if after[0].group() in _EQUALS and after[1]["text"]:
        yield after[1]
    if after[0].group() == "in" and after[1].group() == "[":
        for each in after[2:]:
            if each.group() == "]":
                return
            if each["text"]:
                yield each
