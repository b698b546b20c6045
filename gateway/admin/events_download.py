"""The events of a search as a file: lines of JSON as they are kept, or CSV for a spreadsheet."""

from collections.abc import AsyncIterator, Callable, Iterable
from typing import Final, Literal

import anyio.to_thread

from gateway import jsontext
from gateway.actions import questions, spreadsheets, timeline
from gateway.actions.questions import Log
from gateway.store.events import StoredEvent
from gateway.store.selection import Selection
from gateway.types.json import JsonObject

Form = Literal["csv", "json"]
TYPES: Final[dict[Form, str]] = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/jsonl; charset=utf-8",
}
MOST: Final = 100_000  # events of one file
_COLUMNS: Final = (
    *("seq", "id", "ts", "kind", "stage", "tenant", "user", "client", "tool", "outcome", "rule"),
    *("detail", "run", "phase", "call", "trace_id", "approval", "op"),
)


async def pieces(
    log: Log, wanted: Selection, form: Form, *, most: int = MOST
) -> AsyncIterator[bytes]:
    """Yield the file piece by piece, the newest event first; raises StoreUnavailable."""
    write, left, cursor = _WRITERS[form], most, None
    if form == "csv":
        yield _row(_COLUMNS)
    while left > 0:
        size = min(left, questions.PAGE)
        page = await questions.page(log, wanted, limit=size, newest_first=True, cursor=cursor)
        yield await anyio.to_thread.run_sync(write, page.events)
        left, cursor = left - len(page.events), page.cursor
        if cursor is None:
            return


def _as_json(events: Iterable[StoredEvent]) -> bytes:
    return b"".join(jsontext.dump(each.json()) + b"\n" for each in events)


def _as_csv(events: Iterable[StoredEvent]) -> bytes:
    return b"".join(_row(_cells(each)) for each in events)


_WRITERS: Final[dict[Form, Callable[[Iterable[StoredEvent]], bytes]]] = {
    "csv": _as_csv,
    "json": _as_json,
}


def _cells(event: StoredEvent) -> Iterable[str]:
    told, line = event.json(), timeline.line(event)
    actor = told.get("actor")
    known: JsonObject = {
        **told,
        "user": line.by,
        "client": actor.get("client") if isinstance(actor, dict) else "",
        "tool": line.tool,
        "outcome": line.outcome,
        "rule": line.rule,
        "detail": line.detail,
        "approval": line.approval,
        "op": line.op,
    }
    return ("" if (told := known.get(name)) is None else str(told) for name in _COLUMNS)


def _row(cells: Iterable[str]) -> bytes:
    return spreadsheets.line(cells).encode("utf-8", "replace")
