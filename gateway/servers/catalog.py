"""The one stored map from exposed names to what servers offer, merged from all servers."""

import logging
from collections.abc import Callable, Mapping

from gateway.servers.expected import Contracts, Expected
from gateway.servers.listing import SORTS, Offer, is_offered
from gateway.servers.names import Key, Naming, expose
from gateway.servers.resources import Resources
from gateway.servers.supervisor import Server
from gateway.types.json import JsonObject
from gateway.types.tools import Ambiguous, Contract, Kind, Listed, Tool

_log = logging.getLogger("gateway.servers")
# Extensions that need nothing of the gateway but that their methods, results and URIs pass.
_RELAYED = ("io.modelcontextprotocol/tasks", "io.modelcontextprotocol/ui")


class Catalog:
    """What agents can name. Each list is replaced as a whole whenever a server's changes."""

    def __init__(self, naming: Naming, servers: Mapping[str, Server]) -> None:
        self.version = 0  # grows with every change
        self._naming = naming
        self._servers = servers
        self._tools = _Names(Kind.TOOL)
        self._prompts = _Names(Kind.PROMPT)
        self._holds: dict[str, bool | None] = {}  # which servers have resources; None: not known
        self._resources = self._merged()
        self._shared: frozenset[str] = frozenset()
        self._callbacks: list[Callable[[Kind], None]] = []
        self._expected = Expected(naming, servers)
        self._contracts: Callable[[], Contracts] = dict[str, Contract]

    def expect(self, contracts: Callable[[], Contracts]) -> None:
        """Know of tools that are under contract before their servers publish them."""
        self._contracts = contracts

    def find(self, exposed_name: str) -> Tool | None:
        """Return the tool that a name stands for; quarantined and away ones too, which say why."""
        found = self._tools.by_name.get(exposed_name)
        return found or self._expected.find(exposed_name, self._contracts())

    def prompt(self, exposed_name: str) -> Tool | None:
        """Return the prompt that a name stands for."""
        return self._prompts.by_name.get(exposed_name)

    def resource(self, uri: str) -> Tool | Ambiguous | None:
        """Return what a URI names: listed, made from a template, or the only server's."""
        return self._resources.find(uri)

    def template(self, uri_template: str) -> Tool | Ambiguous | None:
        """Return what a template of URIs names, or a plain URI in its place."""
        return self._resources.template(uri_template)

    def tools(self) -> tuple[Tool, ...]:
        """Return all tools, sorted by exposed name."""
        return self._tools.sorted

    def by_key(self, key: str) -> Tool | None:
        """Return the tool with a key (`server.name`), when its server is there."""
        return next((tool for tool in self._tools.sorted if tool.key == key), None)

    def prompts(self) -> tuple[Tool, ...]:
        """Return all prompts, sorted by exposed name."""
        return self._prompts.sorted

    def resources(self) -> tuple[Tool, ...]:
        """Return all listed resources, sorted by exposed URI."""
        return self._resources.resources

    def templates(self) -> tuple[Tool, ...]:
        """Return all templates of resources, sorted by exposed template."""
        return self._resources.templates

    def extensions(self) -> JsonObject:
        """Return the extensions that connected servers offer and that pass through the gateway."""
        found: JsonObject = {}
        for server in self._servers.values():
            offered = server.capabilities.get("extensions") if server.connection else None
            if isinstance(offered, dict):
                found = {name: offered[name] for name in _RELAYED if name in offered} | found
        return found

    def server(self, name: str) -> Server | None:
        """Return a server by its alias."""
        return self._servers.get(name)

    def on_change(self, callback: Callable[[Kind], None]) -> None:
        """Call `callback` with what changed, after every change; it must not block."""
        self._callbacks.append(callback)

    def publish(self, server: Server, what: Listed) -> None:
        """Take over one of a server's lists, and name what is on it."""
        match what:
            case Listed.TOOLS:
                self._tools.take(server, server.offers(what), self._naming)
                self._tell_shared(self._tools.listed)
            case Listed.PROMPTS:
                self._prompts.take(server, server.offers(what), self._naming)
            case Listed.RESOURCES | Listed.TEMPLATES:
                self._resources = self._merged()
        self.version += 1
        for callback in self._callbacks:
            callback(SORTS[what].kind)

    def _merged(self) -> Resources:
        def listed(what: Listed) -> dict[str, tuple[Offer, ...]]:
            return {alias: server.offers(what) for alias, server in self._servers.items()}

        return Resources(
            listed(Listed.RESOURCES),
            listed(Listed.TEMPLATES),
            {alias: self._holds.get(alias) for alias in self._servers},
            transparent=self._naming.transparent,
        )

    def connected(self, server: Server) -> None:
        """Take note of what a server can do, as it says whenever it is reached."""
        has = is_offered(Listed.RESOURCES, server.capabilities)
        if self._holds.get(server.name) is not has:
            self._holds[server.name] = has
            self._resources = self._merged()

    def _tell_shared(self, listed: Mapping[Key, Offer]) -> None:
        """Tell operators once which bare names several servers use."""
        seen: set[str] = set()
        shared: set[str] = set()
        for _, name in listed:
            (shared if name in seen else seen).add(name)
        for name in sorted(shared - self._shared):
            owners = sorted(alias for alias, other in listed if other == name)
            _log.info("the tool name %s is used by several servers: %s", name, ", ".join(owners))
        self._shared = frozenset(shared)


class _Names:
    """The names of one kind: of tools, or of prompts."""

    def __init__(self, kind: Kind) -> None:
        self.by_name: Mapping[str, Tool] = {}
        self.sorted: tuple[Tool, ...] = ()
        self.listed: dict[Key, Offer] = {}
        self._kind = kind
        self._lists: dict[str, tuple[Offer, ...]] = {}

    def take(self, server: Server, offers: tuple[Offer, ...], naming: Naming) -> None:
        """Take over a server's list and give everything on it a name."""
        self._lists[server.name] = offers
        self.listed = {
            (alias, offer.name): offer for alias, held in self._lists.items() for offer in held
        }
        made: dict[str, Tool] = {}
        for key, name in sorted(expose(self.listed, naming).items()):
            made.setdefault(name, self._tool(key, name))
        self.by_name = made
        self.sorted = tuple(made[name] for name in sorted(made))

    def _tool(self, key: Key, exposed_name: str) -> Tool:
        offer = self.listed[key]
        return Tool(
            server=key[0],
            name=key[1],
            exposed_name=exposed_name,
            definition=offer.definition,
            pin=offer.pin,
            quarantine=offer.quarantine,
            kind=self._kind,
        )
