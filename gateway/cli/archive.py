"""`weighbridge events archive`: old events leave the log in a sealed file."""

from pathlib import Path

import click

from gateway import ids
from gateway.actions.archiving import MOST, Archived, Archiving
from gateway.app.signing import key_path, signer_of
from gateway.cli import output, trusting
from gateway.cli.moments import earlier
from gateway.cli.opening import fine, opened, run
from gateway.cli.options import config_option, json_option, load
from gateway.cli.people import who
from gateway.cli.progress import busy
from gateway.clock import SystemClock
from gateway.events import upkeep
from gateway.events.checkpoints import Checkpoint
from gateway.types.events import Event

_FEW = "fewer than 256 events come before that, and only whole 256 can go"


@click.command(
    "archive", epilog="Example: weighbridge events archive --before 400d --out 2025.archive"
)
@config_option
@click.option("--before", required=True, help="A time in UTC (2026-01-01), or an age (400d).")
@click.option("--out", "file", type=click.Path(path_type=Path), required=True, help="A new file.")
@click.option(
    "--most",
    type=click.IntRange(256, 1_000_000),
    default=MOST,
    show_default=True,
    help="Events of one archive.",
)
@click.option("--by", default="", help="Who wants it; default: the user of this machine.")
@json_option
def command(path: Path, before: str, file: Path, most: int, by: str, as_json: bool) -> None:
    """Verify the log, seal its oldest events in a file, and then remove them from the store.

    Only from the beginning on, up to the first event that is younger or on hold, and in whole tiles
    of 256. The log is proven from there on; `verify --archive` goes back to the beginning.
    """
    until = earlier(before)
    if until is None:
        output.fail("say what is old enough: `--before 400d`")
    settings = load(path).settings
    signer = fine(lambda: signer_of(key_path(settings), settings.events.checkpoints))
    keys, person = trusting.keys(settings, ()), who(by)

    def sign(size: int, root: bytes) -> str:
        return Checkpoint(origin=signer.name, size=size, root=root).signed([signer])

    def event(found: Archived, root: bytes) -> Event:
        return upkeep.archived(
            id=ids.ulid(),
            at=SystemClock().now(),
            first=found.first,
            last=found.last,
            root=root.hex(),
            file=str(file),
            digest=found.digest,
            by=person.by,
            account=person.account,
        )

    async def archive() -> Archived:
        async with opened(path, erases=True) as store:
            archiving = Archiving(
                store=store,
                sign=sign,
                origin=signer.name,
                keys=keys,
                clock=SystemClock(),
                event=event,
            )
            found = await archiving.archive(until, file, most)
            while await store.checkpoints.make(sign) is not None:
                pass  # what was done is covered at once
            return found

    with busy("verifying the log, and sealing events", is_quiet=as_json):
        found = run(archive)
    _tell(found, file, as_json=as_json)


def _tell(found: Archived, file: Path, *, as_json: bool) -> None:
    is_done = found.last >= found.first
    if as_json:
        output.as_json(
            {
                "archived": {"first": found.first, "last": found.last} if is_done else None,
                "file": str(file) if is_done else None,
                "digest": found.digest or None,
                "stop": found.stop,
            }
        )
    elif is_done:
        output.one_line(f"events {found.first} to {found.last} left the log for {file}")
        output.one_line(f"{found.digest}")
        output.one_line(f"(no more could go: {found.stop})")
    else:
        output.one_line(f"nothing to archive: {found.stop}; {_FEW}")
