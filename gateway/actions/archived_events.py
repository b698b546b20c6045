"""Events of a query that are no longer in the log, out of the archives that somebody gives."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from gateway.actions.archives import ArchiveFile, Head
from gateway.errors import ConfigurationError
from gateway.store.derived import event_of
from gateway.store.events import EventFilter
from gateway.types.json import JsonObject

_PAGE: Final = 1_000

Span = tuple[int, int]
"""Numbers of the first and the last event."""


class ArchivedEvents:
    """What some archives hold of a log whose first `size` events were archived."""

    def __init__(self, paths: Sequence[Path], *, origin: str, size: int) -> None:
        """Look at the files; raises ConfigurationError for what is no archive of this log, and
        LogChanged for one that is not what it says.
        """
        self._size = size
        heads = [(head, path) for path in paths for head in [_checked(path, origin)]]
        self._files = sorted(heads, key=lambda each: each[0].first)

    @property
    def missing(self) -> list[Span]:
        """Which events left the log and are in none of the files."""
        found: list[Span] = []
        after = 0
        for head, _ in self._files:
            if head.first > after + 1:
                found.append((after + 1, min(head.first - 1, self._size)))
            after = max(after, head.last)
        if after < self._size:
            found.append((after + 1, self._size))
        return [(first, last) for first, last in found if first <= last]

    def pages(self, wanted: EventFilter) -> Iterator[list[tuple[int, bytes]]]:
        """Yield the archived events of a tenant and period, each once, in the order of the log."""
        page: list[tuple[int, bytes]] = []
        after = 0
        for head, path in self._files:
            with ArchiveFile(path) as file:
                for seq, body in file.rows(min(head.last, self._size)):
                    if seq > after and _matches(event_of(body), wanted):
                        page.append((seq, body))
                    if len(page) == _PAGE:
                        yield page
                        page = []
            after = max(after, head.last)
        if page:
            yield page


def _checked(path: Path, origin: str) -> Head:
    with ArchiveFile(path) as file:
        if file.head.origin != origin:
            raise ConfigurationError(
                f"`{path}` is an archive of `{file.head.origin}`, and this log is `{origin}`"
            )
        file.check()
        return file.head


def _matches(event: JsonObject | None, wanted: EventFilter) -> bool:
    if event is None or event.get("tenant") != wanted.tenant:
        return False
    said = event.get("ts")
    try:
        at = datetime.fromisoformat(said) if isinstance(said, str) else None
    except ValueError:
        return False
    if at is None:
        return False
    is_late = wanted.since is None or at >= wanted.since
    return is_late and (wanted.until is None or at < wanted.until)
