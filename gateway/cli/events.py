"""`weighbridge events query` and `tail`: read the event log, while gateways write it or not."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Unpack

import anyio
import click

from gateway.actions import columns, outgoing, questions
from gateway.cli import disclosing, giving, output, rows
from gateway.cli.filters import Given, asked, filter_options, only, selection, time_options
from gateway.cli.opening import opened
from gateway.cli.opening import run as run_async
from gateway.cli.options import config_option, json_option
from gateway.store.events import EventLog, StoredEvent
from gateway.store.selection import Selection

_POLL_S: Final = 0.25
_MOST: Final = 100  # events that are told unless told otherwise


@click.command(
    "query", epilog="Example: weighbridge events query --tenant acme --decision deny --since 24h"
)
@config_option
@filter_options
@time_options
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=_MOST,
    show_default=True,
    help="How many at most; 0: all.",
)
@click.option("--all", "is_all", is_flag=True, help="As --limit 0.")
@click.option("--newest", is_flag=True, help="The newest first.")
@giving.form_options(*giving.FORMS)
@click.option("--columns", "named", default="", help="Of a table or CSV, such as time,user,tool.")
def query(
    path: Path,
    since: str,
    until: str,
    limit: int,
    is_all: bool,
    newest: bool,
    form: str | None,
    as_json: bool,
    as_csv: bool,
    named: str,
    **given: Unpack[Given],
) -> None:
    """Find events by what they say; each filter may be given several times, and any fits.

    Filters of different names all have to fit. With --json, one event a line, exactly as it is
    kept. That the log was read is in the log.
    """
    form = giving.form_of(form, as_json=as_json, as_csv=as_csv)
    names = giving.columns_of(named, form, given["kind"])
    wanted = selection(given, since, until)
    most = None if is_all or limit == 0 else limit

    async def give() -> tuple[int, bool]:
        async with opened(path) as store:
            origin = await outgoing.origin(store.checkpoints) if form in outgoing.FORMS else ""
            count, is_more = await giving.give(
                store,
                wanted,
                giving.giver(form, names, rows.put, origin=origin),
                how="query",
                asked={**asked(given, since, until), "limit": most, "format": form},
                tenant=only(given),
                limit=most,
                newest_first=newest,
            )
            return count, is_more

    count, is_more = run_async(give)
    rows.flush()
    if not count:
        click.echo("(nothing fits)", err=True)
    if is_more:
        click.echo(f"(the first {most}; --limit gives more)", err=True)


@click.command("tail", epilog="Example: weighbridge events tail --json | jq .body.status")
@config_option
@filter_options
@click.option(
    "--lines", type=click.IntRange(0, 10_000), default=10, help="Older ones to begin with."
)
@json_option
def tail(path: Path, lines: int, as_json: bool, **given: Unpack[Given]) -> None:
    """Follow the log, until interrupted; filters as those of `query`."""
    wanted = selection(given)
    names = columns.usual(given["kind"])

    async def follow() -> None:
        async with opened(path) as store:
            last = await store.events.last_seq()
            own = await disclosing.told(store, "tail", asked(given), tenant=only(given))
            await giving.note_strangers(store, wanted)
            older = await _older(store.events, wanted, last, lines)
            if len(older) < lines:  # more were asked for than the log goes back
                await giving.note_archived(store, None)
            async for event in _following(store.events, wanted, last, older):
                if event.json()["id"] == own:
                    continue
                if as_json:
                    output.as_json_line(event.json())
                else:
                    cells = giving.shortened(columns.cells(event, names), names)
                    output.one_line("  ".join(cells))

    try:
        run_async(follow)
    except KeyboardInterrupt:
        return


async def _older(log: EventLog, wanted: Selection, last: int, lines: int) -> Sequence[StoredEvent]:
    """Return some events up to the last one, oldest first."""
    if not lines:
        return ()
    until = questions.until(wanted, last)
    return (await questions.page(log, until, limit=lines, newest_first=True)).events[::-1]


async def _following(
    log: EventLog, wanted: Selection, last: int, older: Sequence[StoredEvent]
) -> AsyncIterator[StoredEvent]:
    """Yield older events, and then each new one after the last, for ever."""
    for event in older:
        yield event
    while True:
        newest = await log.last_seq()
        new = replace(questions.until(wanted, newest), first=last + 1)
        async for event in questions.each(log, new):
            yield event
        last = newest
        await anyio.sleep(_POLL_S)
