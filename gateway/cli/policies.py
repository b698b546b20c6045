"""The policy folder that a command is about: the configuration's, or one that no file names."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import click

from gateway.actions import revisions
from gateway.cli.options import load
from gateway.clock import SystemClock
from gateway.config.settings import Settings
from gateway.config.terms import terms
from gateway.errors import FileError
from gateway.revision import Unreviewed

Command = TypeVar("Command", bound=Callable[..., None])


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """A folder as it was built, and the configuration that names it, if one does."""

    built: revisions.Built
    settings: Settings | None


def folder_option(option: Command) -> Command:
    """Add `--policies`, for a folder that no configuration names."""
    return click.option(
        "--policies",
        "folder",
        type=click.Path(path_type=Path, file_okay=False),
        help="The policy folder; default: the one that the configuration names.",
    )(option)


def policies(path: Path, folder: Path | None) -> Policies:
    """Build a folder, or the one that the configuration names; faults are part of what is built."""
    settings = load(path).settings if folder is None else None
    return Policies(built=_built(folder, settings), settings=settings)


def _built(folder: Path | None, settings: Settings | None) -> revisions.Built:
    unreviewed, servers = Unreviewed.REFUSE, frozenset[str]()
    if settings is not None:
        unreviewed = Unreviewed(settings.contracts.unreviewed)
        folder, servers = settings.policies, frozenset(settings.servers)
    assert folder is not None  # noqa: S101 - one of the two is always given
    try:
        texts = revisions.read(folder)
    except FileError as error:
        return revisions.Built(revision=None, errors=revisions.each(error))
    return revisions.build(
        texts,
        unreviewed=unreviewed,
        at=SystemClock().now(),
        prefix=f"{folder}/",
        servers=servers,
        terms=terms(settings) if settings is not None else None,
    )
