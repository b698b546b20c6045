"""What `policy explain` is asked about: any name that people use, as policies write it."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.cli import output
from gateway.servers import uris
from gateway.servers.names import SEPARATOR, Naming, by_exposed_name, expose
from gateway.types.tools import Contract, Kind
from gateway.yamltext.models import suggest


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known without asking a server."""

    servers: Sequence[str]
    is_configured: bool  # a configuration names the servers, so that there are no others
    naming: Naming
    contracts: Mapping[str, Contract]

    @property
    def only(self) -> str:
        """The one server that there is, or nothing."""
        return self.servers[0] if self.is_configured and len(self.servers) == 1 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """One tool, resource or prompt, as rules know it."""

    kind: Kind
    key: str  # `server.name`, or the server's own URI
    server: str  # empty for a resource of who knows whom
    note: str = ""  # how the name was taken, where a person should know


def of_tool(name: str, known: Known) -> Named:
    """Find a tool under contract by its own name or by the one that agents see."""
    exposed = by_exposed_name(known.contracts, known.naming)
    key = name if name in known.contracts else exposed.get(name, "")
    if not key:
        near = difflib.get_close_matches(name, [*known.contracts, *exposed], n=1)
        mend = (
            f"did you mean `{exposed.get(near[0], near[0])}`?"
            if near
            else "draft one with `weighbridge tools pin`"
        )
        output.fail(f"there is no contract for `{name}`; {mend}")
    note = "" if key == name else f"`{name}` is `{key}` in contracts and policies"
    return Named(kind=Kind.TOOL, key=key, server=key.partition(".")[0], note=note)


def of_resource(uri: str, server: str, known: Known) -> Named:
    """Take a URI as its server writes it, or as agents see it when several servers have it."""
    notes: list[str] = []
    place = uris.parse(uri)
    if place is not None:
        if server and server != place.server:
            output.fail(f"`{uri}` is of server `{place.server}`, and `--server` says `{server}`")
        notes.append(f"`{uri}` is `{place.uri}` of server `{place.server}` in policies")
        uri, server = place.uri, place.server
    elif uris.is_qualified(uri):
        output.fail(f"`{uri}` is no URI of a resource; write `weighbridge://server/URI`, escaped")
    if server:
        notes.append(_doubt(server, known))
    elif known.only:
        server = known.only
        notes.append(f"taken as one of `{server}`, the only server")
    else:
        notes.append(f"no `--server` is given, so no rule with `servers` matches{_names(known)}")
    note = "; ".join(each for each in notes if each)
    return Named(kind=Kind.RESOURCE, key=uri, server=server, note=note)


def of_prompt(name: str, server: str, known: Known) -> Named:
    """Take a prompt as `server.prompt`, by its exposed name, or by its own with its server."""
    if not server:
        server = _server_in(name, known)
    doubt = _doubt(server, known)
    own = name.removeprefix(f"{server}.")
    if own == name and _exposed(server, name.removeprefix(_prefix(server)), known) == name:
        own = name.removeprefix(_prefix(server))
    key = f"{server}.{own}"
    taken = "" if key == name else f"`{name}` is `{key}` in policies"
    note = "; ".join(each for each in (taken, doubt) if each)
    return Named(kind=Kind.PROMPT, key=key, server=server, note=note)


def _server_in(name: str, known: Known) -> str:
    """Say which server a prompt's name speaks of, or end the command with what to write."""
    dotted, dot, _ = name.partition(".")
    prefixed, separator, own = name.partition(SEPARATOR)
    if dot and SEPARATOR not in dotted and (dotted in known.servers or not known.only):
        return dotted
    # No server's name holds the separator, so the first one ends it.
    if separator and prefixed and _exposed(prefixed, own, known) == name:
        return prefixed
    if known.only:
        return known.only
    if separator and prefixed in known.servers:
        output.fail(
            f"`{name}` is not how `{prefixed}` calls it: agents see an altered name; "
            "`weighbridge prompts list` has both"
        )
    output.fail(
        f"`{name}` names no server; write `--prompt server.{name}`, or add `--server`"
        f"{_names(known)}"
    )


def _prefix(server: str) -> str:
    return f"{server}{SEPARATOR}"


def _exposed(server: str, own: str, known: Known) -> str:
    return expose({(server, own)}, known.naming)[server, own]


def _doubt(server: str, known: Known) -> str:
    """Refuse a server that can't be, and say so of one that may."""
    if server in known.servers:
        return ""
    nearest = suggest(server, known.servers)
    if known.is_configured:
        output.fail(f"no server `{server}` is configured{nearest or _names(known)}")
    return f"no contract and no rule names a server `{server}`{nearest}"


def _names(known: Known) -> str:
    if not known.servers:
        return ""
    return f"; there are {', '.join(f'`{each}`' for each in known.servers)}"
