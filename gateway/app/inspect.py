"""A look at the servers without serving anybody: starts them, lists what they offer, ends them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio

from gateway.app.entries import entries, misconfigured
from gateway.app.naming import naming
from gateway.clock import SystemClock
from gateway.config.load import Loaded
from gateway.events.redact import Redactor
from gateway.relay.questions import CAPABILITY_OF, capabilities_for
from gateway.servers.fleet import Servers
from gateway.servers.opening import Surroundings
from gateway.servers.state import ServerState
from gateway.types.calls import Method
from gateway.types.tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What the servers publish right now, and how each of them fares."""

    tools: tuple[Tool, ...]
    resources: tuple[Tool, ...]
    templates: tuple[Tool, ...]
    prompts: tuple[Tool, ...]
    states: tuple[ServerState, ...]
    misconfigured: Mapping[str, str]  # server → what is missing


Asks = Callable[[str], Iterable[Method]]


def everything(_server: str) -> Iterable[Method]:
    """Let a server ask anything: it then shows all that it could."""
    return CAPABILITY_OF


async def inspect(
    loaded: Loaded,
    folder: Path,
    environ: Mapping[str, str],
    *,
    within_s: float | None = None,
    asks: Asks = everything,
    told: Callable[[ServerState], None] | None = None,
) -> Inspection:
    """Start every server, wait for its first list or failure, and stop it again.

    That takes as long as the slowest may take by its own settings, and no longer than `within_s`.
    Some servers show a tool only to clients that can be asked; `asks` says what each may ask.
    `told` is called with each server that was listed, or has failed, as soon as that is known.
    """
    redactor = Redactor(lambda tenant: tenant.encode(), loaded.secrets)
    known = entries(loaded.settings, environ)
    longest_s = max((each.timeouts.start_s + each.timeouts.list_s for each in known), default=0.0)
    servers = Servers(
        known,
        Surroundings(
            environment=environ,
            folder=folder,
            clock=SystemClock(),
            mask=redactor.text,
            asks=lambda server: capabilities_for(asks(server)),
        ),
        naming(loaded.settings.expose),
    )
    found = _seen(servers, loaded)
    async with anyio.create_task_group() as tasks:
        await tasks.start(servers.run)
        if told is not None:
            for state in servers.states():
                tasks.start_soon(_tell, servers, state.name, told)
        await servers.first_lists(longest_s if within_s is None else within_s)
        found = _seen(servers, loaded)
        tasks.cancel_scope.cancel()
    return found


async def _tell(servers: Servers, name: str, told: Callable[[ServerState], None]) -> None:
    if (server := servers.server(name)) is not None:
        await server.first_list()
        told(server.state)


def _seen(servers: Servers, loaded: Loaded) -> Inspection:
    catalog = servers.catalog
    return Inspection(
        tools=catalog.tools(),
        resources=catalog.resources(),
        templates=catalog.templates(),
        prompts=catalog.prompts(),
        states=servers.states(),
        misconfigured=misconfigured(loaded.settings),
    )
