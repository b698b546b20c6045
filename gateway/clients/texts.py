"""What the editors of client files share: faults with their place, line ends, indentation."""

import re
from typing import Final

from gateway.errors import FileError

LARGEST: Final = 4 << 20  # bytes; Claude Code keeps more than servers in its file
DEEPEST: Final = 64
_BLANKS: Final = re.compile(r"[ \t]*")


def decoded(data: bytes, file: str, largest: int = LARGEST) -> str:
    """Return the text of a file, byte order mark and line ends included."""
    if len(data) > largest:
        raise FileError(f"larger than {largest >> 10} KiB; is it the right file?", file=file)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileError("UTF-16; save it as UTF-8", file=file, line=1, column=1)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        start = data.rfind(b"\n", 0, error.start) + 1
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(
            "not UTF-8; save it as UTF-8", file=file, line=line, column=error.start - start + 1
        ) from None


def fault(message: str, text: str, at: int, file: str) -> FileError:
    """Return a fault at an offset of a text."""
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    return FileError(message, file=file, line=line, column=column)


def line_end(text: str) -> str:
    r"""Return how the lines of a text end: `\r\n` where its first one does."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def indentation(text: str, at: int) -> str | None:
    """Return the blanks before an offset if nothing else stands before it in its line."""
    start = text.rfind("\n", 0, at) + 1
    before = text[start:at].removeprefix("\ufeff")
    return before if _BLANKS.fullmatch(before) else None


def skip_blanks(text: str, at: int) -> int:
    """Return the offset after blanks, in the same line."""
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def shown(name: str) -> str:
    """Return a name from a client's file, cut to what fits into a sentence."""
    return name if len(name) <= 60 else f"{name[:57]}..."
