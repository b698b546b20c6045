"""What a server publishes: all pages within limits, and each entry judged by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gateway import jsontext
from gateway.contracts.pins import pin
from gateway.contracts.schemas import compile_tool
from gateway.errors import JsonError, SchemaError
from gateway.protocol import mirroring
from gateway.servers import templates
from gateway.servers.connection import METHOD_NOT_FOUND, ConnectFault
from gateway.servers.entry import Entry
from gateway.servers.handshake import fault
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Delivery, Rejected
from gateway.types.tools import Kind, Listed, Quarantine

_LONGEST_NAME = 512  # MCP asks for 128 at most; a server's own name is never altered towards it
_LONGEST_URI = 8_192


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One entry as a server published it; quarantined when it can't be enforced."""

    name: str  # of a tool or prompt, the URI of a resource, or a template of URIs
    definition: JsonObject
    pin: str
    quarantine: Quarantine | None = None
    mirrors: mirroring.HeaderMap = field(default_factory=dict[tuple[str, ...], str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A whole list; `faults` names entries that can't be named."""

    offers: tuple[Offer, ...]
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort:
    """How one of MCP's lists is asked for and read."""

    kind: Kind
    method: str
    capability: str
    key: str  # the member by which an entry is named
    plural: str  # for people
    longest: int = _LONGEST_NAME


SORTS: Mapping[Listed, Sort] = {
    Listed.TOOLS: Sort(
        kind=Kind.TOOL, method="tools/list", capability="tools", key="name", plural="tools"
    ),
    Listed.PROMPTS: Sort(
        kind=Kind.PROMPT, method="prompts/list", capability="prompts", key="name", plural="prompts"
    ),
    Listed.RESOURCES: Sort(
        kind=Kind.RESOURCE,
        method="resources/list",
        capability="resources",
        key="uri",
        plural="resources",
        longest=_LONGEST_URI,
    ),
    Listed.TEMPLATES: Sort(
        kind=Kind.RESOURCE,
        method="resources/templates/list",
        capability="resources",
        key="uriTemplate",
        plural="resource templates",
        longest=_LONGEST_URI,
    ),
}
_CAPABILITIES = frozenset(sort.capability for sort in SORTS.values())


def is_offered(what: Listed, capabilities: JsonObject) -> bool:
    """Whether a server has such a list; one that declares none at all is taken to have tools."""
    if what is Listed.TOOLS and _CAPABILITIES.isdisjoint(capabilities):
        return True
    return isinstance(capabilities.get(SORTS[what].capability), dict)


class Answering(Protocol):
    """A way to ask a server for its lists."""

    async def call(
        self, method: str, params: JsonObject, *, deadline: float, is_read: bool = False
    ) -> Delivery:
        """Send one request and return its end."""
        ...


async def fetch(
    connection: Answering, entry: Entry, what: Listed, *, deadline: float
) -> list[Json]:
    """Return the entries of all pages; raises ConnectFault when the list has no end or limit."""
    caps, sort, found, seen, size = entry.caps, SORTS[what], list[Json](), set[str](), 0
    params: JsonObject = {}
    for _ in range(caps.pages):
        reply = await connection.call(sort.method, params, deadline=deadline, is_read=True)
        if _is_left_out(what, reply):
            return found
        if not isinstance(reply, Delivered):
            raise fault(entry, sort.method, reply)
        page, cursor = reply.result.get(what.value), reply.result.get("nextCursor")
        if not isinstance(page, list):
            raise ConnectFault(
                f"`{entry.name}` answered {sort.method} without a list of {sort.plural}"
            )
        found += page
        size += reply.size
        _within(entry, sort, len(found), size)
        if not isinstance(cursor, str):
            return found
        if cursor in seen:
            raise ConnectFault(f"`{entry.name}` repeats a page of its {sort.method}", slow=True)
        seen.add(cursor)
        params = {"cursor": cursor}
    raise ConnectFault(
        f"the {sort.method} of `{entry.name}` has more than {caps.pages} pages", slow=True
    )


def _is_left_out(what: Listed, reply: object) -> bool:
    """Whether a server leaves out a list that it may leave out: resources without templates."""
    return (
        what is not Listed.TOOLS and isinstance(reply, Rejected) and reply.code == METHOD_NOT_FOUND
    )


def _within(entry: Entry, sort: Sort, count: int, size: int) -> None:
    caps = entry.caps
    if count > caps.tools:
        raise ConnectFault(
            f"`{entry.name}` publishes more than {caps.tools} {sort.plural}", slow=True
        )
    if size > caps.list_bytes:
        raise ConnectFault(
            f"the {sort.plural} of `{entry.name}` take more than {caps.list_bytes} bytes",
            slow=True,
        )


def vet(
    what: Listed, entries: Sequence[Json], known: Mapping[str, Offer], *, mirrors: bool
) -> Listing:
    """Judge each entry by itself: one bad definition takes no other along.

    `known` are earlier verdicts by pin: an unchanged tool isn't compiled again. `mirrors` says
    that arguments go into headers, so that annotations have to be right.
    """
    sort, offers, faults = SORTS[what], dict[str, Offer](), list[str]()
    for index, entry in enumerate(entries):
        half = _half(entry)
        # What can't be written is kept back in the nearest form that can be.
        definition = entry if half is None else jsontext.without_halves(entry)
        name = definition.get(sort.key) if isinstance(definition, dict) else None
        if not isinstance(definition, dict) or not isinstance(name, str) or not name:
            faults.append(f"entry {index} of {sort.method} has no `{sort.key}`")
        elif len(name) > sort.longest:
            faults.append(
                f"the `{sort.key}` of entry {index} of {sort.method} is longer than "
                f"{sort.longest} characters"
            )
        elif name in offers:
            if offers[name].definition != definition:
                offers[name] = _twice(what, offers[name])
                faults.append(f"entry {index} of {sort.method} is published twice, in two forms")
        elif half is not None:
            offers[name] = _quarantined(name, definition, half.message, half.pointer)
        elif what is Listed.TOOLS:
            offers[name] = _vetted(name, definition, known, mirrors)
        else:
            offers[name] = _plain(name, definition)
            if what is Listed.TEMPLATES:
                templates.prepare(name)
    return Listing(offers=tuple(offers[name] for name in sorted(offers)), faults=tuple(faults))


def _half(definition: Json) -> JsonError | None:
    """Return where an entry holds half of a surrogate pair, as only an escape can write it."""
    try:
        jsontext.refuse_surrogates(definition, "")
    except JsonError as error:
        return error
    return None


def _twice(what: Listed, first: Offer) -> Offer:
    """A tool with two definitions has none; of anything else the first one counts."""
    if what is not Listed.TOOLS:
        return first
    return _quarantined(first.name, first.definition, "published twice, in two forms")


def _plain(name: str, definition: JsonObject) -> Offer:
    try:
        return Offer(name=name, definition=definition, pin=jsontext.digest(definition))
    except JsonError as error:
        return _quarantined(name, definition, error.message, error.pointer)


def _vetted(name: str, definition: JsonObject, known: Mapping[str, Offer], mirrors: bool) -> Offer:
    try:
        digest = pin(definition)
    except JsonError as error:
        return _quarantined(name, definition, error.message, error.pointer)
    if digest in known and known[digest].name == name and known[digest].definition == definition:
        return known[digest]
    try:
        compile_tool(definition)
    except SchemaError as error:
        return _quarantined(name, definition, error.message, error.pointer, digest)
    except Exception:
        return _quarantined(name, definition, "the schemas can't be read", "", digest)
    schema = definition.get("inputSchema")
    wrong = mirroring.fault_of(schema) if mirrors else None
    if wrong is not None:
        return _quarantined(name, definition, wrong, "/inputSchema", digest)
    return Offer(
        name=name,
        definition=definition,
        pin=digest,
        mirrors=mirroring.map_of(schema) if mirrors else {},
    )


def _quarantined(
    name: str, definition: JsonObject, reason: str, pointer: str = "", digest: str = ""
) -> Offer:
    return Offer(
        name=name,
        definition=definition,
        pin=digest,
        quarantine=Quarantine(reason=reason[:300], pointer=pointer),
    )
