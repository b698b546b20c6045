"""All servers of the gateway, each in a task of its own: one never waits for another."""

from collections.abc import Sequence
from dataclasses import replace

import anyio
from anyio.abc import TaskStatus

from gateway.errors import ConfigurationError
from gateway.servers.catalog import Catalog
from gateway.servers.entry import Entry
from gateway.servers.names import Naming, check_aliases
from gateway.servers.opening import Surroundings
from gateway.servers.state import ServerState, ServerStatus
from gateway.servers.supervisor import Server
from gateway.types.json import JsonObject


class Servers:
    """Owns the servers and the catalog that they fill.

    Made inside the running event loop. Raises ConfigurationError for aliases that can't be
    prefixes, and for a transparent gateway with more than one server.
    """

    def __init__(self, entries: Sequence[Entry], around: Surroundings, naming: Naming) -> None:
        errors = check_aliases([entry.name for entry in entries])
        if errors:
            raise ConfigurationError(errors[0])
        if naming.transparent and len(entries) != 1:
            raise ConfigurationError("transparent names need exactly one server; set a prefix")
        servers: dict[str, Server] = {}
        self._servers = servers
        self.catalog = Catalog(naming, servers)
        self._asks = around.asks
        self._asked = dict[str, JsonObject]()
        for entry in entries:
            servers[entry.name] = Server(
                entry, replace(around, asks=self._listed_for), self.catalog
            )

    def server(self, name: str) -> Server | None:
        """Return a server by its alias."""
        return self._servers.get(name)

    def states(self) -> tuple[ServerState, ...]:
        """Return a snapshot of every server, in the order of the config."""
        return tuple(server.state for server in self._servers.values())

    @property
    def missing(self) -> tuple[ServerState, ...]:
        """Servers marked `required` that aren't ready: the gateway isn't either."""
        return tuple(
            state
            for state in self.states()
            if state.required and state.status is not ServerStatus.READY
        )

    def rules_changed(self) -> None:
        """List again what is shown to other clients than before, if questions may be."""
        for name, server in self._servers.items():
            if self._asks(name) != self._asked.get(name, {}):
                server.rules_changed()

    def roots_changed(self, lane: str) -> None:
        """Tell the servers that keep a caller's roots that these changed."""
        for server in self._servers.values():
            server.roots_changed(lane)

    def _listed_for(self, name: str) -> JsonObject:
        """Say as who else a server is asked for its lists, and remember it."""
        self._asked[name] = asks = self._asks(name)
        return asks

    async def first_lists(self, within_s: float) -> None:
        """Wait until every server was listed or has failed once, but no longer than given."""
        with anyio.move_on_after(within_s):
            for server in self._servers.values():
                await server.first_list()

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Run until cancelled; returns after the last child process has ended."""
        async with anyio.create_task_group() as tasks:
            for server in self._servers.values():
                tasks.start_soon(server.run, name=f"server {server.name}")
            task_status.started()
            await anyio.sleep_forever()
