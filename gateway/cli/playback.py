"""`--playback RUN` of `serve` and `stdio`: a recorded run answers in place of the servers."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from gateway.cli import output

Command = TypeVar("Command", bound=Callable[..., None])


def playback_options(command: Command) -> Command:
    """Add the options that have a run answer in place of the servers."""
    for option in (
        click.option(
            "--report",
            type=click.Path(path_type=Path, dir_okay=False),
            help="With --playback: write the summary to a file, as JSON.",
        ),
        click.option(
            "--json", "as_json", is_flag=True, help="With --playback: the summary as JSON."
        ),
        click.option(
            "--playback",
            "run",
            default="",
            metavar="RUN",
            help="Answer from the record of a run; no server is started, and all that "
            "is kept is who read it.",
        ),
    ):
        command = option(command)
    return command


def check(run: str, report: Path | None, *, as_json: bool) -> None:
    """End the command where options of a playback are given without one."""
    if not run and (as_json or report is not None):
        output.fail("--json and --report are for --playback; name a run with it")
