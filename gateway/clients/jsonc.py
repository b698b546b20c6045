"""JSON with comments and trailing commas, with the place of every value."""

import re
from collections.abc import Mapping
from typing import Final

from gateway import jsontext
from gateway.clients import texts
from gateway.errors import JsonError
from gateway.types.json import Json
from gateway.types.values import value

_BLANK: Final = re.compile(r"(?:[ \t\r\n]++|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)*+")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\.)*+"')
_SCALAR: Final = re.compile(r'[^\s,:\[\]{}"/]++')
_WORDS: Final[Mapping[str, Json]] = {"true": True, "false": False, "null": None}


@value
class Node:
    """A value and where it stands: from `start` up to `end`."""

    value: Json
    start: int
    end: int
    members: tuple["Member", ...] = ()  # of an object


@value
class Member:
    """A member of an object: its name, where that begins, and its value."""

    name: str
    start: int
    node: Node


def parse(text: str, file: str) -> Node:
    """Read a text, byte order mark or not; raises FileError with the place of what is wrong.

    A key that is given twice is a fault: which of the two a client takes, nobody sees.
    """
    reader = _Reader(text, file)
    node = reader.value(reader.blank(1 if text.startswith("\ufeff") else 0), 0)
    if (end := reader.blank(node.end)) < len(text):
        raise reader.fault("more follows after the end of the JSON", end)
    return node


def skip_blank(text: str, at: int) -> int:
    """Return the offset after blanks and comments."""
    found = _BLANK.match(text, at)
    return found.end() if found else at


class _Reader:
    """Reads one text by descent; depth is bounded, so the stack is."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file

    def fault(self, message: str, at: int) -> Exception:
        return texts.fault(message, self._text, at, self._file)

    def blank(self, at: int) -> int:
        return skip_blank(self._text, at)

    def value(self, at: int, depth: int) -> Node:
        if depth > texts.DEEPEST:
            raise self.fault(f"nested deeper than {texts.DEEPEST} levels", at)
        match self._text[at : at + 1]:
            case "{":
                return self._object(at, depth)
            case "[":
                return self._array(at, depth)
            case '"':
                text, end = self._string(at)
                return Node(value=text, start=at, end=end)
            case "":
                raise self.fault("ends where a value is expected", at)
            case _:
                return self._scalar(at)

    def _object(self, start: int, depth: int) -> Node:
        found: dict[str, Member] = {}
        at = self.blank(start + 1)
        while self._text[at : at + 1] != "}":
            name, end = self._string(at)
            if name in found:
                line = self._text.count("\n", 0, found[name].start) + 1
                said = f"duplicate key `{texts.shown(name)}`; it stands in line {line} already"
                raise self.fault(said, at)
            node = self.value(self.blank(self._sign(":", self.blank(end))), depth + 1)
            found[name] = Member(name=name, start=at, node=node)
            at = self._next(node.end, "}")
        read: Json = {name: each.node.value for name, each in found.items()}
        return Node(value=read, start=start, end=at + 1, members=tuple(found.values()))

    def _array(self, start: int, depth: int) -> Node:
        items: list[Json] = []
        at = self.blank(start + 1)
        while self._text[at : at + 1] != "]":
            node = self.value(at, depth + 1)
            items.append(node.value)
            at = self._next(node.end, "]")
        return Node(value=items, start=start, end=at + 1)

    def _next(self, at: int, close: str) -> int:
        """Return where the next item, or the end of its list, stands."""
        at = self.blank(at)
        if self._text[at : at + 1] == close:
            return at
        if self._text[at : at + 1] != ",":
            raise self.fault(f"`,` or `{close}` is expected here", at)
        return self.blank(at + 1)

    def _sign(self, sign: str, at: int) -> int:
        if self._text[at : at + 1] != sign:
            raise self.fault(f"`{sign}` is expected here", at)
        return at + 1

    def _string(self, at: int) -> tuple[str, int]:
        found = _STRING.match(self._text, at)
        if found is None:
            raise self.fault('a text in `"` is expected here', at)
        text = found.group()
        plain = "\\" not in text  # then it is what it says, and most texts are
        return text[1:-1] if plain else str(self._read(text, at)), found.end()

    def _scalar(self, at: int) -> Node:
        found = _SCALAR.match(self._text, at)
        if found is None:
            raise self.fault("a value is expected here", at)
        text = found.group()
        value = _WORDS[text] if text in _WORDS else self._read(text, at)
        return Node(value=value, start=at, end=found.end())

    def _read(self, text: str, at: int) -> Json:
        try:
            return jsontext.parse(text, max_bytes=texts.LARGEST * 2)
        except JsonError as error:
            raise self.fault(f"not JSON: {error.message}", at) from None
