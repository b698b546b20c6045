"""The one stored map from exposed names to tools, merged from all servers."""

import logging
from collections.abc import Callable, Mapping

from gateway.servers.listing import Listed
from gateway.servers.names import Key, Naming, expose
from gateway.servers.supervisor import Server
from gateway.types.tools import Tool

_log = logging.getLogger("gateway.servers")


class Catalog:
    """What agents can name. Replaced as a whole whenever a server's list changes."""

    def __init__(self, naming: Naming, servers: Mapping[str, Server]) -> None:
        self.version = 0  # grows with every change
        self._naming = naming
        self._servers = servers
        self._lists: dict[str, tuple[Listed, ...]] = {}
        self._by_name: Mapping[str, Tool] = {}
        self._sorted: tuple[Tool, ...] = ()
        self._shared: frozenset[str] = frozenset()
        self._callbacks: list[Callable[[], None]] = []

    def find(self, exposed_name: str) -> Tool | None:
        """Return the tool that a name stands for; quarantined ones too, which say why."""
        return self._by_name.get(exposed_name)

    def tools(self) -> tuple[Tool, ...]:
        """Return all tools, sorted by exposed name."""
        return self._sorted

    def server(self, name: str) -> Server | None:
        """Return a server by its alias."""
        return self._servers.get(name)

    def on_change(self, callback: Callable[[], None]) -> None:
        """Call `callback` after every change; it must not block."""
        self._callbacks.append(callback)

    def publish(self, server: Server) -> None:
        """Take over a server's list and give its tools their names."""
        self._lists[server.name] = server.tools
        listed = {
            (alias, tool.name): tool for alias, tools in self._lists.items() for tool in tools
        }
        made: dict[str, Tool] = {}
        for key, name in sorted(expose(listed, self._naming).items()):
            made.setdefault(name, _tool(key, name, listed[key]))
        self._by_name = made
        self._sorted = tuple(made[name] for name in sorted(made))
        self._tell_shared(listed)
        self.version += 1
        for callback in self._callbacks:
            callback()

    def _tell_shared(self, listed: Mapping[Key, Listed]) -> None:
        """Tell operators once which bare names several servers use."""
        seen: set[str] = set()
        shared: set[str] = set()
        for _, name in listed:
            (shared if name in seen else seen).add(name)
        for name in sorted(shared - self._shared):
            owners = sorted(alias for alias, other in listed if other == name)
            _log.info("the tool name %s is used by several servers: %s", name, ", ".join(owners))
        self._shared = frozenset(shared)


def _tool(key: Key, exposed_name: str, listed: Listed) -> Tool:
    return Tool(
        server=key[0],
        name=key[1],
        exposed_name=exposed_name,
        definition=listed.definition,
        pin=listed.pin,
        quarantine=listed.quarantine,
    )
