"""The statements of a TOML text, and tables taken out of it with another put in their place."""

import json
import re
import tomllib
from collections.abc import Iterator, Set
from typing import Final, TypeAlias, cast

from gateway.clients import texts
from gateway.errors import FileError
from gateway.types.json import Json, JsonObject
from gateway.types.values import value

Path: TypeAlias = tuple[str, ...]

LARGEST: Final = 256 << 10  # bytes; the parser of the standard library takes its time

_KEY: Final = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_DOT: Final = re.compile(r"[ \t]*\.[ \t]*")
_PIECE: Final = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}'
    r"|'''(?:[^']|'(?!''))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[\]{}\n]"
    r"|[^\"'\#\[\]{}\n]+",
    re.DOTALL,
)
_MESSAGE_PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@value
class Statement:
    """A stretch of whole lines; `path` is what it defines, empty for blanks and comments."""

    start: int
    end: int
    path: Path = ()
    is_table: bool = False


def parse(text: str, file: str) -> JsonObject:
    """Read a text, byte order mark or not; raises FileError with the place of what is wrong."""
    if text.count("[") + text.count("{") > texts.DEEPEST:
        _check_depth(text, file)
    try:
        found = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _MESSAGE_PLACE.search(message)
        line, column = map(int, place.groups("0")) if place else (0, 0)
        said = _MESSAGE_PLACE.sub("", message)
        said = f"not TOML: {said[:1].lower()}{said[1:]}"
        raise FileError(said, file=file, line=line, column=column) from None
    except RecursionError:
        raise FileError(f"nested deeper than {texts.DEEPEST} levels", file=file) from None
    return cast("JsonObject", found)  # dates are values that nothing here looks at


def _check_depth(text: str, file: str) -> None:
    depth = 0
    for piece in _PIECE.finditer(text):
        if piece.group() in "[{":
            depth += 1
        elif piece.group() in "]}":
            depth -= 1
        if depth > texts.DEEPEST:
            message = f"nested deeper than {texts.DEEPEST} levels"
            raise texts.fault(message, text, piece.start(), file)


def statements(text: str) -> Iterator[Statement]:
    """Yield all of a text that `parse` has read, in order, nothing left out."""
    table: Path = ()
    at = 1 if text.startswith("\ufeff") else 0
    while at < len(text):
        first = texts.skip_blanks(text, at)
        match text[first : first + 1]:
            case "[":
                opened = first + (2 if text.startswith("[[", first) else 1)
                table, _ = _path(text, opened)
                end = _line_end(text, first)
                yield Statement(start=at, end=end, path=table, is_table=True)
            case "" | "\r" | "\n" | "#":
                end = _line_end(text, first)
                yield Statement(start=at, end=end)
            case _:
                path, end = _path(text, first)
                end = _value_end(text, end)
                yield Statement(start=at, end=end, path=(*table, *path))
        at = end


def _path(text: str, at: int) -> tuple[Path, int]:
    found: list[str] = []
    at = texts.skip_blanks(text, at)
    while (key := _KEY.match(text, at)) is not None:
        raw = key.group()
        is_quoted = raw[0] in "\"'"
        found.append(str(tomllib.loads(f"k = {raw}")["k"]) if is_quoted else raw)
        at = key.end()
        if (dot := _DOT.match(text, at)) is None:
            break
        at = dot.end()
    return tuple(found), at


def _line_end(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _value_end(text: str, at: int) -> int:
    """Return the end of the line in which a value ends; lists and texts may have several."""
    depth = 0
    while (piece := _PIECE.match(text, at)) is not None:
        at = piece.end()
        match piece.group():
            case "[" | "{":
                depth += 1
            case "]" | "}":
                depth -= 1
            case "\n" if depth <= 0:
                return at
            case _:
                pass
    return len(text)


def replaced(text: str, section: str, gone: Set[str], table: str) -> str | None:
    """Return the text with another table where the first of the `gone` ones of a section stood.

    None where these are written in a way that can't be cut out, such as one inline table.
    """
    found = list(statements(text))
    if any(each.path == (section,) and not each.is_table for each in found):
        return None
    pieces = ["\ufeff" if text.startswith("\ufeff") else ""]
    is_put = False
    for block, is_gone in _blocks(found, section, gone):
        if not is_gone:
            pieces += (text[each.start : each.end] for each in block)
        elif not is_put and block[0].is_table:
            pieces.append(table)
            is_put = True
    made = "".join(pieces)
    if not is_put:
        end_of_line = texts.line_end(text)
        gap = "" if not made or made.endswith("\n") else end_of_line
        made = f"{made}{gap}{end_of_line}{table}"
    return made


def _blocks(
    found: list[Statement], section: str, gone: Set[str]
) -> Iterator[tuple[list[Statement], bool]]:
    """Part the statements into those that go and those that stay.

    What stands between two that go, goes with them; blank lines after the last one stay.
    """
    goes = [
        len(each.path) > 1 and each.path[0] == section and each.path[1] in gone for each in found
    ]
    at = 0
    while at < len(found):
        end = at + 1
        if goes[at]:
            last = at
            while end < len(found) and (goes[end] or not found[end].path):
                last = end if goes[end] else last
                end += 1
            end = last + 1
            yield found[at:end], True
        else:
            yield found[at:end], False
        at = end


def cut(text: str, section: str, gone: Set[str]) -> str:
    """Return the tables of a section that would go, as they stand."""
    blocks = [block for block, is_gone in _blocks([*statements(text)], section, gone) if is_gone]
    return "".join(text[each.start : each.end] for block in blocks for each in block)


def table(section: str, name: str, entry: JsonObject, end_of_line: str) -> str:
    """Return a table of texts, lists and tables of them."""
    lines = [f"[{section}.{name}]"]
    lines += [f"{key} = {_written(item)}" for key, item in entry.items()]
    return end_of_line.join((*lines, ""))


def _written(item: Json) -> str:
    """Write a text, a list of texts or a table of texts; escapes of JSON are escapes of TOML."""
    match item:
        case list():
            return f"[{', '.join(map(_written, item))}]"
        case dict():
            inside = ", ".join(
                f"{json.dumps(key)} = {_written(each)}" for key, each in item.items()
            )
            return f"{{ {inside} }}"
        case _:
            return json.dumps(item, ensure_ascii=False).replace("\x7f", "\\u007f")
