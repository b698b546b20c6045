"""The line of a configuration file that says whether decisions are enforced, changed by itself."""

import re
from typing import Final

from gateway import yamltext
from gateway.errors import FileError
from gateway.types.decisions import Mode

_KEY: Final = "mode"
# The key and its value on one line, in any quotes; what follows is a comment.
_LINE: Final = re.compile(
    r"""(?P<before>(?P<quote>["']?)mode(?P=quote)\s*:[ \t]+)"""
    r"""(?P<value>"\w+"|'\w+'|\w+)(?P<after>[ \t]*(?:#.*)?)""",
    re.ASCII,
)
_COMMENT: Final = re.compile(r"[ \t]*(?:#.*)?")
_MARK: Final = "\ufeff"


def with_mode(text: str, mode: Mode, *, file: str) -> str:
    """Return a configuration with another mode, and every other letter as it was.

    A file without the line gets one before its first key. Raises FileError for a text that can't
    be read, and for a line that a person has to change.
    """
    bare = text.removeprefix(_MARK)
    mark = text[: len(text) - len(bare)]
    document = yamltext.load(bare, file=file)
    lines = bare.splitlines(keepends=True)
    if _KEY not in document.value:
        return mark + _added(lines, mode, file=file)
    number, column = document.key_place((_KEY,))
    said = lines[number - 1]
    end = said[len(said.rstrip("\r\n")) :]
    found = _LINE.fullmatch(said.rstrip("\r\n"))
    if found is None or column != 1:
        raise FileError(
            f"`mode` does not stand on a line of its own; write `mode: {mode}` there by hand",
            file=file,
            line=number,
            column=column,
        )
    quote = found["value"][0] if found["value"][0] in "\"'" else ""
    lines[number - 1] = f"{found['before']}{quote}{mode}{quote}{found['after']}{end}"
    return mark + "".join(lines)


def _added(lines: list[str], mode: Mode, *, file: str) -> str:
    """Put the line before the first key, behind the comments at the head of the file."""
    at = next(
        (
            number
            for number, line in enumerate(lines)
            if _COMMENT.fullmatch(line.rstrip("\r\n")) is None and line.strip() != "---"
        ),
        len(lines),
    )
    if at < len(lines) and lines[at].lstrip().startswith("{"):
        raise FileError(
            f"the file is one map in braces; write `mode: {mode}` into it by hand",
            file=file,
            line=at + 1,
            column=1,
        )
    end = "\r\n" if any(line.endswith("\r\n") for line in lines) else "\n"
    if at > 0 and not lines[at - 1].endswith(("\n", "\r")):
        lines[at - 1] += end
    while at > 0 and lines[at - 1].lstrip().startswith("#") and at < len(lines):
        at -= 1  # a comment directly above the first key belongs to it
    if at == 0 and lines and "yaml-language-server" in lines[0]:
        at = 1
    return "".join([*lines[:at], f"mode: {mode}{end}", *lines[at:]])
