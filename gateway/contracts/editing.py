"""One key of one entry of a contract file, written anew; every other letter stays as it is."""

import re
import textwrap
from collections.abc import Iterator
from typing import Final

from gateway import yamltext
from gateway.contracts import writing
from gateway.errors import FileError
from gateway.types.json import Json, JsonObject
from gateway.yamltext import YamlDocument

_TOOLS: Final = "tools"
_LAST: Final = "definition"  # the longest: what is added stands before it
# A value in one line, in any quotes, and what is behind it: nothing, or a comment.
_SCALAR: Final = re.compile(
    r"""(?P<value>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#"'{\[&*!|>][^#]*?)(?P<after>\s*(?:\s\#.*)?)"""
)


def with_key(text: str, tool: str, key: str, value: Json, *, file: str) -> str:
    """Return the file with a key of an entry set, added, or with None taken out.

    `idempotency.intent` names a key in a section, which is made where it isn't there. Raises
    FileError for a text that can't be read, and for an entry that a person has to change.
    """
    document = yamltext.load(text, file=file)
    outer, _, inner = key.partition(".")
    if inner:
        section = _member(_entry(document, tool, file=file), outer)
        if section is None and value is None:
            return text
        if not isinstance(section, dict) or not section:
            return with_key(text, tool, outer, {inner: value}, file=file)
        if value is None and [*section] == [inner]:
            return with_key(text, tool, outer, None, file=file)
    path = (_TOOLS, tool, *filter(None, (outer, inner)))
    parent = path[:-1]
    _in_lines(document, parent, file=file)
    lines = text.splitlines(keepends=True)
    if path in document.keys:
        return _changed(lines, document, path, value)
    return text if value is None else _added(lines, document, parent, path[-1], value)


def _entry(document: YamlDocument, tool: str, *, file: str) -> JsonObject:
    found = _member(_member(document.value, _TOOLS), tool)
    if not isinstance(found, dict):
        raise FileError(f"there is no entry for `{tool}` any more; begin anew", file=file)
    return found


def _member(value: Json, key: str) -> Json:
    return value.get(key) if isinstance(value, dict) else None


def _in_lines(document: YamlDocument, parent: tuple[str, ...], *, file: str) -> None:
    """Refuse a map in braces, whose keys have no lines of their own."""
    own, _ = document.key_place(parent)
    lines = [line for _, line in _children(document, parent)]
    if len({own, *lines}) != len(lines) + 1:
        raise FileError(
            f"`{parent[-1]}` is written in braces; write its keys on lines of their own",
            file=file,
            line=own,
        )


def _children(document: YamlDocument, parent: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Yield the keys of a map with their lines, in the order of the file."""
    for path, (line, _) in document.keys.items():
        if len(path) == len(parent) + 1 and path[:-1] == parent:
            yield str(path[-1]), line


def _changed(lines: list[str], document: YamlDocument, path: tuple[str, ...], value: Json) -> str:
    first, column = document.key_place(path)
    line, start = document.place(path)
    end, said = _end(lines, document, path), lines[line - 1].rstrip("\r\n")
    found = _SCALAR.fullmatch(said, start - 1)
    is_plain = value is not None and not isinstance(value, dict | list)
    if line == first == end and found is not None and is_plain:  # the comment behind it stays
        rest = lines[line - 1][len(said) :]
        lines[line - 1] = f"{said[: start - 1]}{_scalar(value)}{found['after']}{rest}"
        return "".join(lines)
    new = "" if value is None else _block(path[-1], value, column - 1)
    return "".join([*lines[: first - 1], new, *lines[end:]])


def _added(
    lines: list[str], document: YamlDocument, parent: tuple[str, ...], key: str, value: Json
) -> str:
    """Put a key before the definition, or as the last of its section."""
    children = dict(_children(document, parent))
    _, column = document.key_place((*parent, next(iter(children))))
    if _LAST in children:
        at = children[_LAST] - 1
        while at > 0 and lines[at - 1].lstrip().startswith("#"):
            at -= 1  # what stands above the definition belongs to it
    else:
        last = max(children, key=lambda name: children[name])
        at = _end(lines, document, (*parent, last))
    if at > 0 and not lines[at - 1].endswith("\n"):
        lines[at - 1] += "\n"
    return "".join([*lines[:at], _block(key, value, column - 1), *lines[at:]])


def _end(lines: list[str], document: YamlDocument, path: tuple[str, ...]) -> int:
    """Return the number of the last line of a key's value; what comments follow is not its own."""
    first, column = document.key_place(path)
    own, is_list = column - 1, _is_list(document, path)
    end = len(lines)
    for number in range(first, len(lines)):
        bare, indent = lines[number].strip(), _indent(lines[number])
        if not bare or bare.startswith("#") or indent > own:
            continue
        if indent == own and is_list and (bare == "-" or bare.startswith("- ")):
            continue  # a list may stand at the indent of its key
        end = number
        break
    while end > first and _is_around(lines[end - 1], own):
        end -= 1
    return end


def _is_around(line: str, own: int) -> bool:
    """Whether a line is blank, or a comment about what comes next."""
    bare = line.strip()
    return not bare or (bare.startswith("#") and _indent(line) <= own)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_list(document: YamlDocument, path: tuple[str, ...]) -> bool:
    value: Json = document.value
    for key in path:
        value = _member(value, key)
    return isinstance(value, list)


def _block(key: str, value: Json, indent: int) -> str:
    return textwrap.indent(writing.section({key: value}), " " * indent)


def _scalar(value: Json) -> str:
    return writing.section({"v": value}).removeprefix("v: ").rstrip("\n")
