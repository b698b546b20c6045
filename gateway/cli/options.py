"""Options that commands share, and the configuration they stand for."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from gateway.cli.output import EXIT_USAGE, fail
from gateway.config import environment
from gateway.config import load as loading
from gateway.errors import FileError, FilesError, WeighbridgeError

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


def load(path: Path) -> loading.Loaded:
    """Read the configuration, or end the command with every fault in it."""
    try:
        return loading.load(path, environment.environ())
    except FilesError as error:
        for each in error.errors:
            click.echo(f"weighbridge: {each}", err=True)
        raise SystemExit(EXIT_USAGE) from None
    except FileError as error:
        fail(str(error))
    except WeighbridgeError as error:
        fail(str(error))


def relative(path: Path) -> str:
    """Return a path as a person would type it from here."""
    return os.path.relpath(path)
