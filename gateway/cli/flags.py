"""Options that commands share; nothing here needs more than Click, so that help costs nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., None])


def config_option(command: Command) -> Command:
    """Add `--config`."""
    return click.option(
        "--config",
        "-c",
        "path",
        type=click.Path(path_type=Path, dir_okay=False),
        default=Path("config.yaml"),
        show_default=True,
        envvar="WEIGHBRIDGE_CONFIG",
        help="The configuration file.",
    )(command)


def json_option(command: Command) -> Command:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")(command)


def candidate_options(command: Command) -> Command:
    """Add the options that name what past calls are judged by."""
    folder = click.Path(path_type=Path, file_okay=False, exists=True)
    for option in (
        click.option(
            "--revision", "named", default="", help="A kept revision in place of a folder."
        ),
        click.option("--contracts", type=folder, help="Contracts in place of those of the folder."),
        click.option(
            "--policies",
            type=folder,
            help="The folder to judge by; default: the one that the configuration names.",
        ),
    ):
        command = option(command)
    return command


def schemas_option(command: Command) -> Command:
    """Add `--schemas`."""
    return click.option(
        "--schemas",
        "files",
        multiple=True,
        metavar="[SERVER=]FILE",
        help="Other definitions of tools: a result of `tools/list`, or an object with one for "
        "each server, as `tools list --definitions` writes it. May be given several times.",
    )(command)
