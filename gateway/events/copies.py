"""Copies of checkpoints outside of the store: a line of JSON for each, and how they are read."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from gateway import jsontext
from gateway.errors import JsonError
from gateway.events import checkpoints, notes
from gateway.events.envelope import timestamp
from gateway.events.notes import Key, NoteError
from gateway.events.verifying import Mark
from gateway.types.json import JsonObject

TYPE: Final = "weighbridge.checkpoint"  # of a CloudEvent
_NOTE: Final = "note"


def record(note: str, key: Key, at: datetime) -> JsonObject:
    """Return what is handed outside: the note itself, and for readers what it says."""
    found = checkpoints.parse(notes.parse(note).text)
    return {
        "at": timestamp(at),
        "origin": found.origin,
        "size": found.size,
        "root": found.root.hex(),
        "key": str(key),
        _NOTE: note,
    }


def cloud_event(told: JsonObject) -> JsonObject:
    """Return a CloudEvent 1.0 about a record; its id is the same at every attempt."""
    return {
        "specversion": "1.0",
        "id": f"{told['origin']}/{told['size']}/{told['root']}",
        "source": f"urn:weighbridge:log:{told['origin']}",
        "type": TYPE,
        "time": told["at"],
        "datacontenttype": "application/json",
        "data": told,
    }


def read(text: str, file: str) -> Iterator[Mark]:
    """Yield the checkpoints of a file: one signed note, or lines of JSON that hold notes.

    A last line without its end was never written whole and is left out. Raises NoteError with the
    place for anything else.
    """
    if not text.lstrip().startswith("{"):
        yield _mark(text, file)
        return
    whole, _, _ = text.rpartition("\n")
    lines = whole.split("\n") if whole else [text]
    for number, line in enumerate(lines, 1):
        if line.strip():
            place = f"{file}:{number}"
            yield _mark(_note_of(line, place), place)


def _note_of(line: str, place: str) -> str:
    try:
        found = jsontext.parse_result(line.encode())
    except JsonError as error:
        raise NoteError(f"{place}: it is no JSON: {error}") from error
    inner = found.get("data", found) if isinstance(found, dict) else None
    note = inner.get(_NOTE) if isinstance(inner, dict) else None
    if not isinstance(note, str):
        raise NoteError(f"{place}: it holds no `note`")
    return note


def _mark(note: str, place: str) -> Mark:
    try:
        size = checkpoints.parse(notes.parse(note).text).size
    except NoteError as error:
        raise NoteError(f"{place}: {error}") from error
    return Mark(size=size, note=note, place=place, is_outside=True)
