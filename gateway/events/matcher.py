"""RE2, and nothing else of the product: many patterns over one text in linear time."""

from collections.abc import Sequence
from typing import Any, Final

import re2

# google-re2 ships no types, so this module is where they end.
_re2: Final[Any] = re2
_MEMORY: Final = 64 << 20  # bytes for the automaton of all patterns together


class Matcher:
    """A fixed tuple of RE2 patterns; a pattern that can't be compiled raises at once."""

    def __init__(self, patterns: Sequence[str]) -> None:
        options = _re2.Options()
        options.max_mem = _MEMORY
        options.log_errors = False
        self._set = _re2.Set.SearchSet(options)
        for pattern in patterns:
            self._set.Add(pattern)
        self._set.Compile()
        self._patterns = tuple(_re2.compile(pattern, options) for pattern in patterns)

    def which(self, text: str) -> list[int]:
        """Return the indices of the patterns that match somewhere, in order; `[]` is the rule."""
        found = self._set.Match(text)
        return sorted(found) if found else []

    def spans(self, index: int, text: str) -> list[tuple[int, int]]:
        """Return start and end of each match: of its first group if it has one."""
        pattern = self._patterns[index]
        group = 1 if pattern.groups else 0
        return [match.span(group) for match in pattern.finditer(text)]


def escape(text: str) -> str:
    """Return a pattern that matches exactly this text."""
    return str(_re2.escape(text))
