r"""Lines of CSV (RFC 4180) that a spreadsheet takes for nothing but text.

A cell that begins like a formula is put behind an apostrophe, which spreadsheets show as text; so
is what follows a semicolon like one, since some take it for the end of a cell, quotes or not.
Line ends, tabs and hidden characters are written visibly (`\u{a}`), so that every line of the file
is one row, and no cell reaches for the terminal that shows it. Programs that need each character
as it is read JSON.
"""

import re
from collections.abc import Iterable
from typing import Final

from gateway.results import marks

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
_QUOTED: Final = frozenset(',;"')
_AFTER_SEMICOLON: Final = re.compile(r';(?=[ "]*[=+\-@])')
_LINE_ENDS: Final = str.maketrans({each: f"\\u{{{ord(each):x}}}" for each in "\t\n\r\x85"})


def line(cells: Iterable[str]) -> str:
    """Return one row with its line end."""
    return ",".join(map(_cell, cells)) + "\r\n"


def _cell(text: str) -> str:
    is_formula = text.lstrip(" ").startswith(_FORMULA)
    shown = marks.visible(text).translate(_LINE_ENDS)
    safe = _AFTER_SEMICOLON.sub(";'", f"'{shown}" if is_formula else shown)
    if _QUOTED.isdisjoint(safe) and safe == safe.strip(" "):
        return safe
    return '"' + safe.replace('"', '""') + '"'
