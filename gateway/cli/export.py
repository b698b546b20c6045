"""`weighbridge events export`: events with proofs of them, or in the forms of other systems."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import click

from gateway.actions import exporting, outgoing, strangers
from gateway.actions.columns import COLUMNS
from gateway.actions.exporting import Exported
from gateway.cli import disclosing, giving, output, rows, trusting
from gateway.cli.moments import earlier
from gateway.cli.opening import opened, run
from gateway.cli.options import config_option, json_option, load
from gateway.cli.progress import busy
from gateway.cli.rows import Put
from gateway.errors import LogChanged
from gateway.events.notes import NoteError
from gateway.events.trust import Trust
from gateway.store.events import EventFilter
from gateway.store.selection import Selection
from gateway.store.store import Store

_PROOFS = "proofs"


@click.command(
    "export", epilog="Example: weighbridge events export --tenant acme --since 30d --out acme-may"
)
@config_option
@click.option("--tenant", default="", help="Whose events; with proofs it has to be named.")
@click.option("--since", default="", help="A time in UTC (2026-11-29T09:00:00) or an age (24h).")
@click.option("--until", default="", help="As --since; this moment itself is left out.")
@click.option(
    "--format",
    "form",
    type=click.Choice([_PROOFS, "json", "csv", *outgoing.FORMS]),
    default=_PROOFS,
    show_default=True,
    help="With proofs; or for a SIEM (ocsf), for queues (cloudevents), for spreadsheets (csv).",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="With proofs, a folder to make; else a file, or standard output.",
)
@click.option(
    "--archive",
    "archives",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="With proofs: a file of events that left the log; once for each.",
)
@json_option
def command(
    path: Path,
    tenant: str,
    since: str,
    until: str,
    form: str,
    out: Path | None,
    archives: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Write events for others: with proofs that anybody can check, or as their systems read them.

    With proofs, one tenant's events are written byte for byte; what no checkpoint covers yet is
    left out, and the export says how to check it, with Python alone. The other forms have every
    event on a line, without proofs; with --out, --json says how many there were.
    """
    if form != _PROOFS:
        if archives:
            output.fail("`--archive` is for exports with proofs; leave `--format` out")
        _translated(path, tenant, since, until, form, out, as_json)
        return
    if not tenant or out is None:
        output.fail("with proofs, name whose events, and a folder: `--tenant` and `--out`")
    folder = out
    wanted = EventFilter(tenant=tenant, since=earlier(since), until=earlier(until))
    keys = trusting.keys(load(path).settings, ())

    async def write() -> tuple[Exported, int]:
        async with opened(path) as store:
            standing = await store.checkpoints.standing()
            if standing.last is None:
                output.fail("the log has no checkpoint yet, so nothing is proven")
            try:
                Trust(keys).checked(standing.last.note)
            except NoteError as error:
                raise LogChanged(f"the last checkpoint: {error}") from error
            await _has_some(store, tenant, archives)
            asked = {"tenant": tenant, "since": since, "until": until}
            await disclosing.told(store, "export", {**asked}, tenant=tenant)
            found = await exporting.export(
                store.checkpoints, wanted, standing.last.note, keys, folder, archives=archives
            )
            return found, standing.since

    with busy("proving events", is_quiet=as_json):
        found, since_then = run(write)
    if as_json:
        output.as_json(
            {
                "folder": str(folder),
                "events": found.count,
                "size": found.size,
                "missing": [{"first": first, "last": last} for first, last in found.missing],
            }
        )
        return
    output.one_line(f"{found.count} events of `{tenant}` are in {folder}; see its README.md")
    for first, last in found.missing:
        output.one_line(
            f"(events {first} to {last} are in archives; with `--archive FILE` those of "
            f"`{tenant}` are taken from them)"
        )
    if since_then:
        output.one_line(f"({since_then} later events of the log are covered by no checkpoint yet)")


async def _has_some(store: Store, tenant: str, archives: tuple[Path, ...]) -> None:
    """End the command for a tenant of which no event is at hand: nothing could be proven."""
    if archives:
        return
    for stranger in await strangers.strangers(store.events, Selection(tenants=(tenant,))):
        left = await store.retention.sealed()
        also = f"; for events 1 to {left.size} name their `--archive`" if left is not None else ""
        output.fail(f"{stranger.said}{also}")


def _translated(
    path: Path, tenant: str, since: str, until: str, form: str, out: Path | None, as_json: bool
) -> None:
    wanted = Selection(
        tenants=(tenant,) if tenant else (), since=earlier(since), until=earlier(until)
    )

    async def write() -> int:
        async with opened(path) as store:
            origin = await outgoing.origin(store.checkpoints)
            with _opened(out) as put, busy(is_quiet=as_json or out is None) as bar:
                count, _ = await giving.give(
                    store,
                    wanted,
                    giving.giver(form, tuple(COLUMNS), put, origin=origin),
                    how="export",
                    asked={"tenant": tenant, "since": since, "until": until, "format": form},
                    tenant=tenant,
                    bar=bar,
                )
            return count

    count = run(write)
    if out is None:
        rows.flush()
    elif as_json:
        output.as_json({"file": str(out), "events": count})
    else:
        output.one_line(f"{count} events are in {out}")


@contextmanager
def _opened(out: Path | None) -> Generator[Put]:
    """Open a new file that only its owner may read, or standard output."""
    if out is None:
        yield rows.put
        return
    try:
        number = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(number, "w", encoding="utf-8", newline="") as file:
            yield file.write
    except FileExistsError:
        output.fail(f"`{out}` is there already; name a new file")
    except OSError as error:
        output.fail(f"`{out}`: {(error.strerror or str(error)).lower()}")
