"""`weighbridge events export`: a tenant's events with proofs, and what checks them."""

from pathlib import Path

import click

from gateway import ids
from gateway.actions import exporting
from gateway.actions.exporting import Exported
from gateway.cli import output, trusting
from gateway.cli.moments import earlier
from gateway.cli.opening import opened, run
from gateway.cli.options import config_option, json_option, load
from gateway.cli.people import who
from gateway.clock import SystemClock
from gateway.errors import LogChanged
from gateway.events import admin
from gateway.events.notes import NoteError
from gateway.events.trust import Trust
from gateway.store.events import EventFilter


@click.command(
    "export", epilog="Example: weighbridge events export --tenant acme --since 30d --out acme-may"
)
@config_option
@click.option("--tenant", required=True, help="Whose events.")
@click.option("--since", default="", help="A time in UTC (2026-11-29T09:00:00) or an age (24h).")
@click.option("--until", default="", help="As --since; this moment itself is left out.")
@click.option(
    "--out", "folder", type=click.Path(path_type=Path), required=True, help="A folder to make."
)
@json_option
def command(path: Path, tenant: str, since: str, until: str, folder: Path, as_json: bool) -> None:
    """Write one tenant's events, byte for byte, with proofs that anybody can check.

    What no checkpoint covers yet is left out. The export says how to check it, with Python alone.
    """
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
            found = await exporting.export(
                store.checkpoints, wanted, standing.last.note, keys, folder
            )
            event = admin.log_read(
                id=ids.ulid(),
                at=SystemClock().now(),
                how="export",
                account=who("").account,
                tenant=tenant,
                asked={"tenant": tenant, "since": since, "until": until},
                events=found.count,
            )
            store.events.append([event])
            return found, standing.since

    found, since_then = run(write)
    if as_json:
        output.as_json({"folder": str(folder), "events": found.count, "size": found.size})
        return
    output.one_line(f"{found.count} events of `{tenant}` are in {folder}; see its README.md")
    if since_then:
        output.one_line(f"({since_then} later events of the log are covered by no checkpoint yet)")
