"""`weighbridge doctor`: checks everything, with a mend for each finding."""

from pathlib import Path

import anyio
import click

from gateway.app.doctor import examine
from gateway.cli import logs, output
from gateway.cli.options import config_option, json_option, load
from gateway.cli.progress import busy
from gateway.config import environment


@click.command("doctor", epilog="Example: weighbridge doctor --config config.yaml")
@config_option
@json_option
def command(path: Path, as_json: bool) -> None:
    """Check config, servers, contracts, policies, identity, store, log and telemetry.

    Exit code 0 when all is well, 1 when something wants mending.
    """
    loaded = load(path)
    looking = "looking at servers, contracts, policies, store and log"
    with logs.heard(loaded), busy(looking, is_quiet=as_json):  # each finding says it itself
        found = anyio.run(examine, loaded, path.parent, environment.environ())
    if as_json:
        output.as_json(
            [
                {"part": each.part, "ok": each.ok, "found": each.found, "mend": each.mend}
                for each in found
            ]
        )
    else:
        for each in found:
            output.one_line(f"{'ok  ' if each.ok else 'MEND'}  {each.part:<10} {each.found}")
            if each.mend:
                output.one_line(f"      {'':<10} → {each.mend}")
    if not all(each.ok for each in found):
        raise SystemExit(output.EXIT_FAILED)
