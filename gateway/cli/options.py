"""Options that commands share, and the configuration they stand for."""

import os
from pathlib import Path

import click

from gateway.cli.flags import config_option, json_option
from gateway.cli.output import EXIT_USAGE, fail
from gateway.config import environment
from gateway.config import load as loading
from gateway.errors import FileError, FilesError, WeighbridgeError

__all__ = ["config_option", "json_option", "load", "relative"]


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
