"""A look at the servers without serving anybody: starts them, lists their tools, ends them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio

from gateway.app.entries import entries, misconfigured
from gateway.clock import SystemClock
from gateway.config.load import Loaded
from gateway.config.settings import ExposeSettings
from gateway.events.redact import Redactor
from gateway.relay.questions import CAPABILITY_OF, capabilities_for
from gateway.servers.fleet import Servers
from gateway.servers.names import Naming
from gateway.servers.opening import Surroundings
from gateway.servers.state import ServerState
from gateway.types.tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What the servers publish right now, and how each of them fares."""

    tools: tuple[Tool, ...]
    states: tuple[ServerState, ...]
    misconfigured: Mapping[str, str]  # server → what is missing


async def inspect(
    loaded: Loaded, folder: Path, environ: Mapping[str, str], *, within_s: float = 30.0
) -> Inspection:
    """Start every server, wait for its first list or failure, and stop it again."""
    redactor = Redactor(lambda tenant: tenant.encode(), loaded.secrets)
    servers = Servers(
        entries(loaded.settings, environ),
        Surroundings(
            environment=environ,
            folder=folder,
            clock=SystemClock(),
            mask=redactor.text,
            asks=lambda _: capabilities_for(CAPABILITY_OF),  # all that a server could show
        ),
        naming(loaded.settings.expose),
    )
    found = Inspection(tools=(), states=(), misconfigured={})
    async with anyio.create_task_group() as tasks:
        await tasks.start(servers.run)
        await servers.first_lists(within_s)
        found = Inspection(
            tools=servers.catalog.tools(),
            states=servers.states(),
            misconfigured=misconfigured(loaded.settings),
        )
        tasks.cancel_scope.cancel()
    return found


def naming(expose: ExposeSettings) -> Naming:
    """Return how tools are named towards agents."""
    return Naming(transparent=expose.transparent, longest=expose.max_name)
