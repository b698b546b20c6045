"""`weighbridge events keys`: what signs checkpoints of the log, and what seals arguments."""

from pathlib import Path

import click

from gateway import ids
from gateway.actions.rotating import common_checkpoint
from gateway.app import sealing
from gateway.app.signing import OFF, key_path, signer_of
from gateway.cli import output
from gateway.cli.opening import fine, opened, run
from gateway.cli.options import config_option, json_option, load
from gateway.cli.people import who
from gateway.clock import SystemClock
from gateway.config.settings import Settings
from gateway.events import copies, notes, upkeep
from gateway.store import key_files, sealing_keys
from gateway.types.json import JsonObject

_TRIES = 5  # a gateway may make a checkpoint in between, so the event is said again


@click.command(epilog="Example: weighbridge events keys new --origin example.com/weighbridge")
@config_option
@click.option("--origin", default="", help="Name of the log; default: `events.checkpoints.origin`.")
@click.option(
    "--file", type=click.Path(path_type=Path), default=None, help="Default: as configured."
)
@json_option
def new(path: Path, origin: str, file: Path | None, as_json: bool) -> None:
    """Make a key in a private file; what is there is never replaced."""
    settings = load(path).settings
    place = file or key_path(settings)
    name = origin or settings.events.checkpoints.origin or ""
    if place is None:
        output.fail("name the file of the key: `--file`, then `events.checkpoints.key`")
    if not notes.is_name(name):
        output.fail("name the log: `--origin example.com/weighbridge`, without blanks and `+`")
    if place.exists():
        output.fail(f"`{place}` is there already; `weighbridge events keys rotate` replaces it")
    made = fine(lambda: key_files.make(place, name))
    if as_json:
        output.as_json({"file": str(place), "key": str(made.key)})
        return
    output.one_line(f"private key, for nobody else's eyes: {place}")
    output.one_line(f"public key, for whoever verifies:    {made.key}")


@click.command(epilog="Example: weighbridge events keys seal --file /etc/weighbridge/sealing.key")
@config_option
@click.option(
    "--file", type=click.Path(path_type=Path), default=None, help="Default: as configured."
)
@json_option
def seal(path: Path, file: Path | None, as_json: bool) -> None:
    """Make the key that sealed copies of arguments hang on; what is there is never replaced.

    Every gateway of a store needs the same one, and so does whoever unseals.
    """
    place = file or sealing.key_path(load(path).settings)
    if place is None:
        output.fail("name the file of the key: `--file`, then `events.sealing.key`")
    if place.exists():
        output.fail(f"`{place}` is there already; it may open what was sealed before")
    fine(lambda: sealing_keys.make(place))
    if as_json:
        output.as_json({"file": str(place)})
        return
    output.one_line(f"key for sealed copies, for nobody else's eyes: {place}")
    output.one_line("keep a copy of it elsewhere: without it nothing that is sealed is ever read")


@click.command(epilog="Example: weighbridge events keys show --json")
@config_option
@json_option
def show(path: Path, as_json: bool) -> None:
    """Show the public keys, the one that signs first; a copy belongs to whoever verifies."""
    settings = load(path).settings
    place = _place(settings)
    keys = fine(lambda: key_files.public(place))
    if not keys:
        output.fail(f"`{place}`: there is no key; the first checkpoint, or `keys new`, makes one")
    if as_json:
        output.as_json({"file": str(place), "keys": [str(key) for key in keys]})
        return
    for number, key in enumerate(keys):
        output.one_line(f"{key}{'  (replaced)' if number else ''}")


@click.command(epilog="Example: weighbridge events keys rotate")
@config_option
@click.option("--by", default="", help="Who wants it; default: the user of this machine.")
@json_option
def rotate(path: Path, by: str, as_json: bool) -> None:
    """Replace the key: the old and the new one sign one checkpoint, then the old one is gone.

    Gateways take the new key from the file at once; where each has a copy, hand it to all of them.
    """
    settings = load(path).settings
    place = _place(settings)
    old = fine(lambda: signer_of(place, settings.events.checkpoints))
    new = key_files.new(old.name)
    person = who(by)

    async def change() -> JsonObject:
        async with opened(path) as store:
            events = [
                upkeep.key_rotated(
                    id=ids.ulid(),
                    at=SystemClock().now(),
                    old=str(old.key),
                    new=str(new.key),
                    by=person.by,
                    account=person.account,
                )
                for _ in range(_TRIES)
            ]
            with key_files.replacing(place, new) as put:
                made = await common_checkpoint(store, [old, new], events)
                put()
            return copies.record(made.note, new.key, made.at)

    record = run(change)
    if as_json:
        output.as_json({"file": str(place), "key": str(new.key), "checkpoint": record})
        return
    output.one_line(f"public key from now on: {new.key}")
    output.one_line(f"both keys have signed the checkpoint of {record['size']} events")
    click.echo(str(record["note"]), nl=False)


def _place(settings: Settings) -> Path:
    place = key_path(settings)
    if place is None:
        output.fail(OFF)
    return place
