"""Which server a URI belongs to: by list, by template, or because only one could have it."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from gateway import jsontext
from gateway.servers import templates, uris
from gateway.servers.listing import Offer
from gateway.types.tools import Ambiguous, Kind, Tool

Offers: TypeAlias = Mapping[str, Sequence[Offer]]  # by server alias, sorted by URI
Holds: TypeAlias = Mapping[str, bool | None]  # whether a server has resources; None: not known
_NONE: Mapping[str, Offer] = {}
_Search: TypeAlias = Callable[[str, str], Offer | None]  # in one server, for one URI


class Resources:
    """The resources of all servers at one moment. Made anew with every change."""

    def __init__(
        self, listed: Offers, templates: Offers, holds: Holds, *, transparent: bool
    ) -> None:
        self._listed = _by_name(listed)
        self._templates = _by_name(templates)
        self._holds = holds
        self._transparent = transparent
        self._servers = tuple(sorted(holds))
        self.resources = self._exposed(self._listed, uris.qualified)
        self.templates = self._exposed(self._templates, uris.qualified_template)

    def find(self, uri: str) -> Tool | Ambiguous | None:
        """Return what a URI names; one of several servers is never guessed."""
        return self._find(uri, (self._by_list, self._by_template), uris.qualified)

    def template(self, uri_template: str) -> Tool | Ambiguous | None:
        """Return what a template names, or a plain URI in its place."""
        searches = (self._by_own_template, self._by_list)
        return self._find(uri_template, searches, uris.qualified_template)

    def _find(
        self, uri: str, searches: Sequence[_Search], qualify: Callable[[str, str], str]
    ) -> Tool | Ambiguous | None:
        if not self._transparent and uris.is_qualified(uri):
            place = uris.parse(uri)
            if place is None or place.server not in self._servers:
                return None
            return self._of_server(place, uri, searches)
        for search in searches:
            found = [(alias, offer) for alias in self._servers if (offer := search(alias, uri))]
            if len(found) == 1:
                return _tool(found[0][0], uri, uri, found[0][1])
            if found:
                tools = (_tool(alias, uri, qualify(alias, uri), offer) for alias, offer in found)
                return Ambiguous(uri=uri, candidates=tuple(tools))
        return self._of_only_server(uri)

    def _of_server(self, place: uris.Place, asked: str, searches: Sequence[_Search]) -> Tool | None:
        for search in searches:
            offer = search(place.server, place.uri)
            if offer is not None:
                return _tool(place.server, place.uri, asked, offer)
        return _undescribed(place, asked) if self._holds[place.server] else None

    def _of_only_server(self, uri: str) -> Tool | None:
        """A server that was never reached could have it as well, and then nobody has it."""
        possible = [alias for alias in self._servers if self._holds[alias] is not False]
        if len(possible) != 1 or not self._holds[possible[0]]:
            return None
        return _undescribed(uris.Place(possible[0], uri), uri)

    def _by_list(self, alias: str, uri: str) -> Offer | None:
        return self._listed.get(alias, _NONE).get(uri)

    def _by_own_template(self, alias: str, template: str) -> Offer | None:
        return self._templates.get(alias, _NONE).get(template)

    def _by_template(self, alias: str, uri: str) -> Offer | None:
        for template, offer in self._templates.get(alias, _NONE).items():
            if templates.fits(template, uri):
                return offer
        return None

    def _exposed(
        self, by_server: Mapping[str, Mapping[str, Offer]], qualify: Callable[[str, str], str]
    ) -> tuple[Tool, ...]:
        """Return what is listed: under the server's own URI where that can't be mistaken."""
        owners: dict[str, int] = {}
        for offers in by_server.values():
            for uri in offers:
                owners[uri] = owners.get(uri, 0) + 1
        tools = [
            _tool(alias, uri, uri if self._is_clear(uri, owners) else qualify(alias, uri), offer)
            for alias, offers in by_server.items()
            for uri, offer in offers.items()
        ]
        return tuple(sorted(tools, key=lambda tool: tool.exposed_name))

    def _is_clear(self, uri: str, owners: Mapping[str, int]) -> bool:
        return self._transparent or (owners[uri] == 1 and not uris.is_qualified(uri))


def _by_name(offers: Offers) -> dict[str, dict[str, Offer]]:
    return {alias: {offer.name: offer for offer in found} for alias, found in offers.items()}


def _tool(alias: str, uri: str, exposed: str, offer: Offer) -> Tool:
    return Tool(
        server=alias,
        name=uri,
        exposed_name=exposed,
        definition=offer.definition,
        pin=offer.pin,
        quarantine=offer.quarantine,
        kind=Kind.RESOURCE,
    )


def _undescribed(place: uris.Place, asked: str) -> Tool:
    """Return a resource that its server never listed: all that is known is its URI."""
    definition = {"uri": place.uri}
    return Tool(
        server=place.server,
        name=place.uri,
        exposed_name=asked,
        definition={**definition},
        pin=jsontext.digest({**definition}),
        kind=Kind.RESOURCE,
    )
