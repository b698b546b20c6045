"""Files of variables, `NAME=value` a line, from which references are filled."""

import json
import re
from collections.abc import Mapping
from typing import Final

from gateway import jsontext
from gateway.errors import FileError, FilesError, JsonError

_LINE: Final = re.compile(r"(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]{0,127})[ \t]*=(.*)", re.ASCII)
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./:@%+,=~-]*", re.ASCII)


def parse(text: str, *, file: str) -> dict[str, str]:
    """Return the variables of a text, or raise every fault of it with its line.

    A value is the rest of its line, without the blanks around it, as it stands; or a text in double
    quotes with the escapes of JSON, or one in single quotes without any.
    """
    found: dict[str, str] = {}
    faults: list[FileError] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        plain = line.strip()
        if not plain or plain.startswith("#"):
            continue
        try:
            name, value = _read(plain)
        except ValueError as error:
            faults.append(FileError(str(error), file=file, line=number, column=1))
            continue
        if name in found:
            said = f"`{name}` is set twice; remove one of the two lines"
            faults.append(FileError(said, file=file, line=number, column=1))
        found[name] = value
    if faults:
        raise FilesError(faults)
    return found


def write(values: Mapping[str, str]) -> str:
    """Return a text that `parse` reads back as the same variables."""
    return "".join(f"{name}={_written(value)}\n" for name, value in values.items())


def _read(line: str) -> tuple[str, str]:
    # What stands in the line may be a secret, so no message repeats it.
    named = _LINE.fullmatch(line)
    if named is None:
        raise ValueError("is no line of a file of variables; write `NAME=value`")
    name, value = named[1], named[2].strip()
    if value[:1] == "'":
        if len(value) < 2 or value[-1] != "'" or "'" in value[1:-1]:
            raise ValueError(f"`{name}` begins with a quote and does not end with it; add it")
        return name, value[1:-1]
    if value[:1] == '"':
        try:
            return name, str(jsontext.parse(value))
        except JsonError:
            raise ValueError(
                f"`{name}` is no text in double quotes; write it as in JSON, or in single quotes"
            ) from None
    if "\0" in value:
        raise ValueError(
            f"`{name}` holds a NUL character, which can't be handed to a process; remove it"
        )
    return name, value


def _written(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else json.dumps(value)
