"""The documents that a read brings, as its contract says where they are in its data."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gateway import jsontext
from gateway.types.json import Json, JsonPointer
from gateway.types.tools import DocumentPaths

MOST: Final = 1_000  # of one result
_LONGEST: Final = 2_000  # characters of a part of a reference


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What is needed to find a piece of text again; never the text itself."""

    source: str
    version: str = ""
    chunk: str = ""


def references(paths: DocumentPaths, data: Json) -> list[Reference]:
    """Return the documents in the data of a result, each once, 1,000 at most.

    A result that is to be one itself, and does not say which, is none.
    """
    found = dict.fromkeys(reference(paths, place, each) for place, each in _documents(paths, data))
    return [each for each in found if each.source]


def reference(paths: DocumentPaths, place: JsonPointer, document: Json) -> Reference:
    """Return the reference of one document; without a source of its own, by its place."""
    return Reference(
        source=_text(document, paths.source) or place,
        version=_text(document, paths.version),
        chunk=_text(document, paths.chunk),
    )


def _documents(paths: DocumentPaths, data: Json) -> Iterator[tuple[JsonPointer, Json]]:
    for number, found in enumerate(jsontext.walk(data, paths.path)):
        if number == MOST:
            return
        yield found


def _text(document: Json, pointer: JsonPointer) -> str:
    if not pointer:
        return ""
    try:
        value = jsontext.get(document, pointer)
    except KeyError:
        return ""
    match value:
        case str():
            return value[:_LONGEST]
        case bool() | None | dict() | list():
            return ""
        case _:
            return str(value)[:_LONGEST]
