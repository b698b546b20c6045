"""What servers offer right now, and who would find it in a list."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

import anyio
import click

from gateway.actions import trial
from gateway.app.inspect import Inspection, inspect
from gateway.cli import logs, output
from gateway.cli.policies import policies
from gateway.cli.progress import busy
from gateway.clock import SystemClock
from gateway.config import environment
from gateway.config.load import Loaded
from gateway.types.actors import Actor
from gateway.types.json import JsonObject
from gateway.types.tools import Tool

Command = TypeVar("Command", bound=Callable[..., None])
IsListed: TypeAlias = Callable[[Tool], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """The caller that a list is about; everything empty when it is about nobody."""

    user: str
    tenant: str
    roles: tuple[str, ...]
    scopes: tuple[str, ...]


def asker_options(command: Command) -> Command:
    """Add `--user`, `--tenant`, `--role` and `--scope`, for whom a list is looked at."""
    for name, kind, about in (
        ("--scope", "scopes", "A scope of that caller; may be repeated."),
        ("--role", "roles", "A role of that caller; may be repeated."),
    ):
        command = click.option(name, kind, multiple=True, help=about)(command)
    command = click.option("--tenant", default="", help="The tenant of that caller.")(command)
    return click.option("--user", default="", help="Say what this caller would find in its list.")(
        command
    )


def inspected(loaded: Loaded, path: Path) -> Inspection:
    """Look at every server, and tell of those that could not be read."""
    asking = f"asking {len(loaded.settings.servers)} servers what they offer"
    with logs.heard(loaded) as heard, busy(asking):
        found = anyio.run(inspect, loaded, path.parent, environment.environ())
    for state in found.states:
        if state.status != "ready":
            _warn(f"server `{state.name}`: {state.reason or 'it has not answered yet'}")
    for name, reason in found.misconfigured.items():
        _warn(f"server `{name}`: {reason}")
    told = {f"server {state.name}: {state.reason}" for state in found.states}
    for message in heard:
        if message not in told:  # such as of a list with entries that can't be used
            _warn(message)
    return found


def _warn(text: str) -> None:
    click.echo(f"weighbridge: {output.on_one_line(text)}", err=True)


def listed_for(asker: Asker, loaded: Loaded, path: Path) -> IsListed | None:
    """Return what tells whether the caller would find something; None when none is named."""
    if asker == Asker(user="", tenant="", roles=(), scopes=()):
        return None
    built = policies(path, None).built
    revision = built.revision
    if revision is None:
        output.fail(built.problem, output.EXIT_DOES_NOT_COMPILE)
    actor = Actor(
        user=asker.user or "somebody",
        tenant=asker.tenant or "default",
        roles=frozenset(asker.roles),
        scopes=frozenset(asker.scopes),
        client="list",
        method="list",
        issuer="list",
    )
    phase, now = loaded.settings.runs.default_phase, SystemClock().now()
    return lambda tool: trial.is_listed(tool, actor, phase, revision, now)


def column(is_listed: IsListed | None, tool: Tool) -> tuple[str, ...]:
    """Return the last cell of a row, if a caller was named."""
    return () if is_listed is None else ("yes" if is_listed(tool) else "no",)


def header(is_listed: IsListed | None) -> tuple[str, ...]:
    """Return what stands above that cell."""
    return () if is_listed is None else ("listed",)


def member(is_listed: IsListed | None, tool: Tool) -> JsonObject:
    """Return the same for programs."""
    return {} if is_listed is None else {"listed": is_listed(tool)}


def reason(tool: Tool) -> str:
    """Say why something is kept back though its server is fine, or nothing."""
    return tool.quarantine.reason if tool.quarantine is not None else ""


def said(tool: Tool, member_of_definition: str) -> str:
    """Return a text of the server's own definition, or nothing."""
    value = tool.definition.get(member_of_definition)
    return value if isinstance(value, str) else ""
