"""Which places of a recorded value the log does not hold: what was redacted, or cut.

When in doubt a place counts as unknown. A caller who sends what looks like a marker gains nothing:
his call is undecidable where a rule looks at it, and is nowhere taken for something else.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gateway import jsontext
from gateway.events import levels
from gateway.events.markers import KEY
from gateway.replay.types import Gone
from gateway.types.json import Json, JsonPointer

_IN_TEXT: Final = re.compile(r"\[redacted[:\]]|" + re.escape(f'"{KEY}"'))
_SHORTENED: Final = re.compile(r"… \[\d+ more characters\]\Z")
_CUT: Final = "$cut"

Unknown = Mapping[JsonPointer, Gone]


def places(value: Json) -> dict[JsonPointer, Gone]:
    """Return the places of a value that hold something else than what was there; `""`: all."""
    return dict(_places(value, ""))


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
    return not _IN_TEXT.search(text) and not _SHORTENED.search(text)


def _places(value: Json, pointer: JsonPointer) -> Iterator[tuple[JsonPointer, Gone]]:
    match value:
        case dict():
            yield from _of_object(value, pointer)
        case list():
            for at, item in enumerate(value):
                yield from _places(item, f"{pointer}/{at}")
        case str() if not is_text_whole(value):
            yield pointer, Gone.CUT if _SHORTENED.search(value) else Gone.REDACTED
        case _:
            return


def _of_object(value: Mapping[str, Json], pointer: JsonPointer) -> Iterator[tuple[str, Gone]]:
    if KEY in value:
        yield pointer, Gone.LEFT_OUT if value[KEY] == levels.KIND else Gone.REDACTED
    elif len(value) == 1 and _CUT in value:
        yield pointer, Gone.CUT
    elif any("[redacted" in key for key in value):  # so it is not known which members there are
        yield pointer, Gone.REDACTED
    else:
        for key, member in value.items():
            yield from _places(member, f"{pointer}/{jsontext.escape(key)}")
