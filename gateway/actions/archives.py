"""Sealed archives: events that left the log, with the checkpoint they were under and both edges.

The first line is a JSON object that says what follows: the events, one a line, byte for byte.
"""

import hashlib
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from gateway import jsontext
from gateway.errors import ConfigurationError, JsonError, LogChanged
from gateway.events import tiles, tree
from gateway.events.tree import Edge
from gateway.types.json import JsonObject

_FORMAT: Final = "weighbridge_archive"
_VERSION: Final = 1
_LONGEST: Final = 4 << 20  # bytes of a line; events are never that long


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What an archive says of itself: events after the edge `begin` up to the edge `end`."""

    origin: str
    begin: Edge
    end: Edge
    note: str

    @property
    def first(self) -> int:
        """Number of the first event."""
        return self.begin.size + 1

    @property
    def last(self) -> int:
        """Number of the last one."""
        return self.end.size

    def line(self) -> bytes:
        """Write the first line."""
        told: JsonObject = {
            _FORMAT: _VERSION,
            "origin": self.origin,
            "first": self.first,
            "last": self.last,
            "begin": tiles.pack(self.begin.hashes),
            "edge": tiles.pack(self.end.hashes),
            "note": self.note,
        }
        return jsontext.dump(told) + b"\n"


class ArchiveFile:
    """An archive that is read once, from its first event to its last."""

    def __init__(self, path: Path) -> None:
        """Open it; raises ConfigurationError for what is no archive."""
        self.path = path
        try:
            self._file: BinaryIO = path.open("rb")
        except OSError as error:
            raise ConfigurationError(f"`{path}`: {_reason(error)}") from None
        line = self._file.readline(_LONGEST)
        try:
            self.head = _head(path, line)
        except ConfigurationError:
            self._file.close()
            raise
        self._next = self.head.first
        self._digest = hashlib.sha256(line)

    @property
    def start(self) -> Edge:
        """The edge that it goes on from."""
        return self.head.begin

    @property
    def digest(self) -> str:
        """The digest over what was read so far."""
        return f"sha256:{self._digest.hexdigest()}"

    def rows(self, last: int) -> Iterator[tuple[int, bytes]]:
        """Yield the next events with their numbers, up to `last` at most.

        Raises LogChanged where more comes behind the last one: nobody has ever signed that.
        """
        while self._next <= min(last, self.head.last):
            line = self._file.readline(_LONGEST)
            if not line.endswith(b"\n"):
                return  # cut off: whoever counts finds out
            self._digest.update(line)
            self._next += 1
            yield self._next - 1, line[:-1]
        if self._next > self.head.last and self._file.read(1):
            raise LogChanged(f"`{self.path}`: more follows than its first line says")

    def check(self) -> str:
        """Read all of it and return its digest; raises LogChanged when it isn't what it says."""
        edge = self.head.begin.copy()
        for _, body in self.rows(self.head.last):
            edge.append(tree.leaf_hash(body))
        if edge.hashes != self.head.end.hashes:
            raise LogChanged(f"`{self.path}`: the archive is not what its first line says")
        return self.digest

    def __enter__(self) -> "ArchiveFile":
        return self

    def __exit__(self, *fault: object) -> None:
        self._file.close()


@contextmanager
def written(path: Path, head: Head) -> Generator[Callable[[bytes], None]]:
    """Give what adds an event; the file is in its place, and safe on its disk, once all are added.

    Raises ConfigurationError when it is there already or can't be written, and LogChanged when the
    events don't lead to the edge that it ends with: then there is no file.
    """
    edge = head.begin.copy()
    aside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(head.line())

                def add(body: bytes) -> None:
                    edge.append(tree.leaf_hash(body))
                    file.write(body + b"\n")

                yield add
                if edge.hashes != head.end.hashes:
                    raise LogChanged("the events are not those of the tree; nothing is archived")
                file.flush()
                os.fsync(file.fileno())
            os.link(aside, path)
        finally:
            aside.unlink()
        _sync(path.parent)
    except FileExistsError:
        raise ConfigurationError(f"`{path}` is there already; name a new file") from None
    except OSError as error:
        raise ConfigurationError(f"`{path}`: {_reason(error)}") from None


def _sync(folder: Path) -> None:
    """Have the name of a new file survive a loss of power as well."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _head(path: Path, line: bytes) -> Head:
    try:
        told: Any = jsontext.parse_result(line)
        if told[_FORMAT] != _VERSION:
            raise KeyError(_FORMAT)
        return Head(
            origin=str(told["origin"]),
            begin=Edge(int(told["first"]) - 1, tiles.unpack(told["begin"])),
            end=Edge(int(told["last"]), tiles.unpack(told["edge"])),
            note=str(told["note"]),
        )
    except (JsonError, KeyError, TypeError, ValueError):
        raise ConfigurationError(f"`{path}` is no archive of an event log") from None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
