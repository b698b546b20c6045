"""Which client's file `init` is about: the named one, or the one that is found, or chosen."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from gateway.actions import taking_over
from gateway.actions.taking_over import Plan
from gateway.cli import init_files, output
from gateway.cli.init_files import Original
from gateway.clients import files, finding
from gateway.clients.kinds import Client
from gateway.errors import FileError
from gateway.types.values import value


@value
class Chosen:
    """A client's file, and what would become of its servers."""

    original: Original
    plan: Plan

    @property
    def client(self) -> Client:
        """Whose file it is."""
        return self.plan.source.client


def choose(source: Path | None, environ: Mapping[str, str], *, may_ask: bool) -> Chosen:
    """Return the file to take over; raises FileError for one that can't be read."""
    home = Path(environ["HOME"]) if environ.get("HOME") else None
    if source is not None:
        return read(source, environ)
    looked = finding.places(Path.cwd(), home, sys.platform, environ)
    found: list[Chosen] = []
    faults: list[FileError] = []
    for place in looked:
        path = Path(place.path)
        if path.is_file():
            try:
                found.append(read(path, environ, place.client))
            except FileError as error:
                faults.append(error)
    useful = [each for each in found if each.plan.taken]
    if len(useful) > 1:
        return _asked(useful, home, may_ask=may_ask)
    for error in faults:
        click.echo(f"weighbridge: passed over: {error}", err=True)
    for each in (*useful, *(each for each in found if each.plan.governed), *found):
        return each
    if faults:
        raise faults[0]
    names = ", ".join(f"`{_shown(Path(each.path), home)}`" for each in looked)
    output.fail(f"no client's file was found; name one with --from (looked for {names})")


def read(path: Path, environ: Mapping[str, str], client: Client | None = None) -> Chosen:
    """Read a client's file and say what would become of it."""
    original = init_files.read(path)
    source = files.read(original.data, path, client)
    plan = taking_over.plan(source, path.absolute(), environ)
    return Chosen(original=original, plan=plan)


def _asked(useful: list[Chosen], home: Path | None, *, may_ask: bool) -> Chosen:
    lines = list(_listed(useful, home))
    if not may_ask:
        output.fail("several clients have servers; name one with --from: " + ", ".join(lines))
    for number, each in enumerate(lines, 1):
        click.echo(f"  {number}  {output.on_one_line(each)}", err=True)
    picked = click.prompt("which one?", type=click.IntRange(1, len(useful)), default=1, err=True)
    return useful[int(picked) - 1]


def _listed(useful: list[Chosen], home: Path | None) -> Iterator[str]:
    for each in useful:
        count = len(each.plan.taken)
        servers = f"{count} server{'s' if count != 1 else ''}"
        path = _shown(each.original.path, home)
        yield f"`{path}` ({each.client.title}, {servers})"


def _shown(path: Path, home: Path | None) -> str:
    """Return a path as a person would type it."""
    here = Path.cwd()
    if path.is_relative_to(here):
        return str(path.relative_to(here))
    if home is not None and path.is_relative_to(home):
        return f"~/{path.relative_to(home)}"
    return str(path)
