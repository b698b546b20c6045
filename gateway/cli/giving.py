"""In which form events are given out, and the options for it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol, TypeVar

import click

from gateway.actions import columns, departures, outgoing, questions, strangers
from gateway.cli import disclosing, output, rows
from gateway.cli.progress import Bar
from gateway.cli.rows import Put
from gateway.store.events import StoredEvent
from gateway.store.selection import Selection
from gateway.store.store import Store
from gateway.types.json import JsonObject

Command = TypeVar("Command", bound=Callable[..., None])
SHEETS: Final = ("table", "json", "csv")
FORMS: Final = (*SHEETS, *outgoing.FORMS)
_SECOND: Final = 19  # characters of a time, up to its second


class Giver(Protocol):
    """Where events go."""

    def give(self, event: StoredEvent) -> None:
        """Take one event."""
        ...

    def end(self) -> None:
        """Say that there are no more."""
        ...


class _Sheet:
    """Rows of some columns."""

    def __init__(self, form: str, names: Sequence[str], put: Put) -> None:
        self._names = names
        self._rows = rows.SHEETS[form](names, put)
        self._is_short = form == "table"

    def give(self, event: StoredEvent) -> None:
        found = columns.cells(event, self._names)
        self._rows.add(shortened(found, self._names) if self._is_short else found)

    def end(self) -> None:
        self._rows.end()


class _Lines:
    """A line of JSON an event."""

    def __init__(self, put: Put, translate: Callable[[JsonObject], JsonObject]) -> None:
        self._put = put
        self._translate = translate

    def give(self, event: StoredEvent) -> None:
        self._put(rows.json_line(self._translate(event.json())))

    def end(self) -> None:
        """Nothing waits."""


def giver(form: str, names: Sequence[str], put: Put, *, origin: str = "") -> Giver:
    """Return what writes events in a form.

    `names` are the columns, where it has any; `origin` is what the log is called for others.
    """
    if form in rows.SHEETS:
        return _Sheet(form, names, put)
    if form in outgoing.FORMS:
        translate = outgoing.FORMS[form]
        return _Lines(put, lambda event: translate(event, origin))
    return _Lines(put, lambda event: event)


async def give(
    store: Store,
    wanted: Selection,
    to: Giver,
    *,
    how: str,
    asked: JsonObject,
    tenant: str = "",
    limit: int | None = None,
    newest_first: bool = False,
    bar: Bar | None = None,
) -> tuple[int, bool]:
    """Give out the events that are wanted, and say so in the log before the first of them.

    Return how many there were, and whether there are more than the limit. Raises StoreUnavailable.
    """
    count, is_more, is_told = 0, False, False
    pages = questions.pages(store.events, wanted, limit=limit, newest_first=newest_first)
    async for page in pages:
        if not is_told:
            # Of an answer of many pages nobody knows yet how long it is.
            is_whole = page.cursor is None or len(page.events) == limit
            events = len(page.events) if is_whole else None
            await disclosing.told(store, how, asked, tenant=tenant, events=events)
            await note_archived(store, wanted.since)
            await note_strangers(store, wanted)
            is_told = True
        for event in page.events:
            to.give(event)
        count, is_more = count + len(page.events), page.cursor is not None
        if bar is not None:
            bar.say(f"{count:,} events")
    to.end()
    return count, is_more


async def note_archived(store: Store, since: datetime | None) -> None:
    """Say on standard error that a part of the time that is asked about left the log, if one did.

    Raises StoreUnavailable.
    """
    found = await departures.left(store)
    if found is not None and found.is_about(since):
        click.echo(f"({output.on_one_line(found.named)})", err=True)


async def note_strangers(
    store: Store, wanted: Selection, known: Mapping[str, Iterable[str]] | None = None
) -> None:
    """Say on standard error which names of a question no event has. Raises StoreUnavailable."""
    for each in await strangers.strangers(store.events, wanted, known):
        click.echo(f"({output.on_one_line(each.said)})", err=True)


def shortened(cells: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return cells for people: times to their second."""
    return [
        cell[:_SECOND] if name == "time" else cell for name, cell in zip(names, cells, strict=True)
    ]


def form_options(*forms: str) -> Callable[[Command], Command]:
    """Add `--format`, and `--json` and `--csv` for two of its values."""

    def add(command: Command) -> Command:
        chosen = click.option(
            "--format", "form", type=click.Choice(forms), default=None, help="Default: table."
        )
        as_json = click.option("--json", "as_json", is_flag=True, help="As --format json.")
        as_csv = click.option("--csv", "as_csv", is_flag=True, help="As --format csv.")
        return chosen(as_json(as_csv(command)))

    return add


def form_of(form: str | None, *, as_json: bool, as_csv: bool) -> str:
    """Return the form that the options name; ends the command where they name several."""
    named = [form] if form else []
    named += [name for name, is_set in (("json", as_json), ("csv", as_csv)) if is_set]
    if len(set(named)) > 1:
        output.fail("name one form: `--format`, `--json` or `--csv`")
    return named[0] if named else "table"


def columns_of(text: str, form: str, kinds: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that are named, or the usual ones; ends the command for unknown ones."""
    if not text:
        return tuple(columns.COLUMNS) if form == "csv" else columns.usual(kinds)
    if form not in rows.SHEETS:
        output.fail("`--columns` is for tables and CSV")
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in columns.COLUMNS:
            output.fail(f"there is no column `{name}`; there are {', '.join(columns.COLUMNS)}")
    return names
