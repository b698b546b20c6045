"""Which places of a recorded value the log does not hold: what was redacted, or cut.

When in doubt a place counts as unknown. A caller who sends what looks like a marker gains nothing:
his call is undecidable where a rule looks at it, and is nowhere taken for something else.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from gateway import jsontext
from gateway.events import levels
from gateway.events.markers import KEY
from gateway.replay.types import Gone
from gateway.types.json import Json, JsonPointer

_IN_TEXT: Final = re.compile(r"\[redacted[:\]]|" + re.escape(f'"{KEY}"'))
_SHORTENED: Final = re.compile(r"… \[\d+ more characters\]\Z")
_LAST: Final = " more characters]"  # of what is shortened
_CUT: Final = "$cut"

Unknown = Mapping[JsonPointer, Gone]


def places(value: Json) -> dict[JsonPointer, Gone]:
    """Return the places of a value that hold something else than what was there; `""`: all."""
    found: dict[JsonPointer, Gone] = {}
    _find(value, "", found)
    return found


def noted(pointers: Iterable[str], root: str) -> dict[JsonPointer, Gone]:
    """Return the places below a root of an event's body that the event itself names."""
    return {
        pointer.removeprefix(root): Gone.REDACTED
        for pointer in pointers
        if pointer == root or pointer.startswith(f"{root}/")
    }


def touches(unknown: Iterable[JsonPointer], pointer: JsonPointer) -> tuple[JsonPointer, ...]:
    """Return the unknown places that are at a pointer, inside of it or around it."""
    return tuple(
        each
        for each in unknown
        if each == pointer or each.startswith(f"{pointer}/") or pointer.startswith(f"{each}/")
    )


def is_text_whole(text: str) -> bool:
    """Whether a text that passed the redactor is as it was."""
    if "redacted" not in text and not text.endswith(_LAST):  # nearly all; the rest is looked at
        return True
    return not _IN_TEXT.search(text) and not _SHORTENED.search(text)


def _find(value: Json, pointer: JsonPointer, found: dict[JsonPointer, Gone]) -> None:
    if isinstance(value, str):
        if not is_text_whole(value):
            found[pointer] = Gone.CUT if _SHORTENED.search(value) else Gone.REDACTED
    elif isinstance(value, dict):
        _find_in_object(value, pointer, found)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            _find(item, f"{pointer}/{at}", found)


def _find_in_object(
    value: Mapping[str, Json], pointer: JsonPointer, found: dict[JsonPointer, Gone]
) -> None:
    if KEY in value:
        found[pointer] = Gone.LEFT_OUT if value[KEY] == levels.KIND else Gone.REDACTED
    elif len(value) == 1 and _CUT in value:
        found[pointer] = Gone.CUT
    elif "[redacted" in "\0".join(value):  # a key: so it is not known which members there are
        found[pointer] = Gone.REDACTED
    else:
        for key, member in value.items():
            _find(member, f"{pointer}/{jsontext.escape(key)}", found)
