"""URIs that name a server beside its resource: `weighbridge://<server>/<percent-escaped URI>`.

The tail is the server's own URI, escaped so that nothing in it means anything on the outside. A
tail that holds a colon was never escaped: every URI has one, and escaping takes it away. That
form is for templates, whose expansion has to give the server's own URI as it stands.
"""

from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

_START = "weighbridge://"


@dataclass(frozen=True, slots=True)
class Place:
    """One resource of one server, by the server's own URI."""

    server: str
    uri: str


def is_qualified(uri: str) -> bool:
    """Whether a URI claims to name a server; a server's own URI of that form has to be escaped."""
    return uri[: len(_START)].lower() == _START


def qualified(server: str, uri: str) -> str:
    """Return the URI that names this server's resource whatever other servers list."""
    # "surrogatepass": a lone surrogate in a server's list must come back as it was
    return f"{_START}{server}/{quote(uri.encode('utf-8', 'surrogatepass'), safe='')}"


def qualified_template(server: str, template: str) -> str:
    """Return the template whose expansions name this server's resources."""
    return f"{_START}{server}/{template}" if ":" in template else qualified(server, template)


def parse(uri: str) -> Place | None:
    """Return what a qualified URI names, or None for any other."""
    if not is_qualified(uri):
        return None
    server, slash, tail = uri[len(_START) :].partition("/")
    if not server or not slash or not tail:
        return None
    if ":" in tail:
        return Place(server, tail)
    try:
        return Place(server, unquote_to_bytes(tail).decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        return None
