"""One attempt to get a usable connection to a server."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import aiohttp
from anyio.abc import TaskGroup

from gateway.clock import Clock
from gateway.servers import environment, handshake
from gateway.servers.connection import (
    NOBODY,
    ConnectFault,
    Connection,
    Declared,
    Mask,
    OnNote,
    Spoken,
)
from gateway.servers.entry import Entry, Protocol
from gateway.servers.http import HttpConnection
from gateway.servers.stdio import StdioConnection
from gateway.types.json import JsonObject
from gateway.types.operations import Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What servers are given from outside; nothing else of the process reaches a child."""

    environment: Mapping[str, str]  # only its safe names are passed on
    folder: Path  # where the config file lies
    clock: Clock
    mask: Mask  # takes secrets out of a text
    asks: Callable[[str], JsonObject] = lambda _server: {}
    """Capabilities of the callers that a server may make use of, whoever they are."""


class Opener:
    """Makes connections for one entry, and remembers what the last attempt taught."""

    def __init__(self, entry: Entry, around: Surroundings, mask: Mask) -> None:
        self._entry = entry
        self._around = around
        self._mask = mask
        self._legacy_first = False

    def make(
        self,
        pool: aiohttp.ClientSession | None,
        tasks: TaskGroup,
        *,
        on_lost: Callable[[], None],
        on_note: OnNote,
        on_renewed: Callable[[], None],
        declared: Declared = NOBODY,
    ) -> Connection:
        """Return a connection that isn't started yet, and must be closed in any case."""
        if pool is not None:
            return HttpConnection(
                self._entry,
                pool,
                tasks,
                on_lost=on_lost,
                on_note=on_note,
                on_renewed=on_renewed,
                declared=declared,
            )
        return StdioConnection(
            self._entry,
            tasks,
            on_lost=on_lost,
            on_note=on_note,
            mask=self._mask,
            declared=declared,
        )

    async def start(self, connection: Connection) -> Spoken:
        """Start the process if there is one, and do the handshake; raises ConnectFault.

        Only a server of the handshake era is told anything of its client when it is started.
        """
        deadline = asyncio.get_running_loop().time() + self._entry.timeouts.start_s
        entry = self._entry
        if self._legacy_first or connection.declared is not NOBODY:
            entry = replace(entry, protocol=Protocol.LEGACY)
        if isinstance(connection, StdioConnection):
            around = self._around
            await connection.start(
                environment.launch(entry, base=around.environment, folder=around.folder)
            )
        try:
            return await handshake.negotiate(connection, entry, deadline=deadline)
        except ConnectFault as fault:
            auto = self._entry.protocol is Protocol.AUTO and connection.declared is NOBODY
            if auto and fault.failure is Failure.CLOSED:
                # Some old servers end when the first message isn't `initialize`.
                self._legacy_first = not self._legacy_first
            raise
