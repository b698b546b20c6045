"""One text that a regular expression or a pattern over names covers, for trying things out.

No solver: alternatives are taken as they come, repetitions as short as they may be. Whether the
text is really covered is for whoever uses it to see.
"""

import re
from typing import Final

_SETS: Final = {"d": "0", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a"}
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r"}
_COUNT: Final = re.compile(r"\{(\d+)(?:,\d*)?\}\??")
_GROUP: Final = re.compile(r"\?(?:P?<\w+>|[a-zA-Z-]*:)")
_FLAGS: Final = re.compile(r"\(\?[a-zA-Z-]+\)")
_CLASS: Final = re.compile(r"\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]")
_PLAIN: Final = re.compile(r"\[|--|&&|~~|\|\|")  # which `re` may take for sets in sets one day
_MOST: Final = 1_000  # characters


def of_glob(pattern: str) -> str:
    """Return a name or URI that a pattern with `*` and `?` covers."""
    return pattern.replace("*", "x").replace("?", "x")


def of_regex(pattern: str) -> str | None:
    """Return a text that a regular expression covers, or None for one that isn't understood."""
    reader = _Reader(_FLAGS.sub("", pattern))
    try:
        text = reader.alternatives()
    except (IndexError, ValueError):
        return None
    return text if reader.at == len(reader.pattern) and len(text) <= _MOST else None


class _Reader:
    """Reads a regular expression from left to right, and writes a text that it covers."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def alternatives(self) -> str:
        """Read to the end of a group; the first alternative counts."""
        first = self._sequence()
        while self._peek() == "|":
            self.at += 1
            self._sequence()
        return first

    def _sequence(self) -> str:
        parts: list[str] = []
        while self._peek() not in ("", "|", ")"):
            atom = self._atom()
            parts.append(atom * self._times())
            if sum(map(len, parts)) > _MOST:
                raise ValueError("too long")
        return "".join(parts)

    def _times(self) -> int:
        """Read how often the last part comes, and return the least."""
        counted = _COUNT.match(self.pattern, self.at)
        if counted is not None:
            self.at = counted.end()
            return min(int(counted[1]), _MOST)
        if self._peek() not in ("*", "+", "?"):
            return 1
        least = 1 if self._peek() == "+" else 0
        self.at += 1
        if self._peek() in ("?", "+"):
            self.at += 1
        return least

    def _atom(self) -> str:
        sign = self._peek()
        if sign == "[":
            return self._class()
        self.at += 1
        match sign:
            case "(":
                return self._group()
            case "^" | "$":
                return ""
            case ".":
                return "a"
            case "\\":
                return self._escaped()
            case _:
                return sign

    def _group(self) -> str:
        named = _GROUP.match(self.pattern, self.at)
        if named is not None:
            self.at = named.end()
        elif self._peek() == "?":
            raise ValueError("a look-around, or nothing that is known")
        text = self.alternatives()
        if self._peek() != ")":
            raise ValueError("no end of a group")
        self.at += 1
        return text

    def _class(self) -> str:
        found = _CLASS.match(self.pattern, self.at)
        if found is None:
            raise ValueError("no end of a class")
        self.at = found.end()
        inside = _PLAIN.sub(r"\\\g<0>", found[0][1:-1])
        try:
            allowed = re.compile(f"[{inside}]")
        except re.error as error:
            raise ValueError("a class of RE2's own") from error
        for code in (*range(0x61, 0x7B), *range(0x30, 0x3A), *range(0x20, 0x7F)):
            if allowed.match(chr(code)):
                return chr(code)
        raise ValueError("a class of nothing that can be typed")

    def _escaped(self) -> str:
        sign = self.pattern[self.at]
        self.at += 1
        if sign in ("b", "B", "A", "z", "Z"):
            return ""
        return _SETS.get(sign) or _CONTROLS.get(sign) or sign

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]
