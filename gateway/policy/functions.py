"""Our own CEL functions, so that nobody writes a regular expression for a security decision.

Each raises `ValueError` on an input that two readers could read in two ways; the engine turns
that into an evaluation error, and an evaluation error denies.
"""

import ipaddress
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import urlsplit

from gateway.policy.sql import sql_reads_only

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_LOCAL_PART = re.compile(r"[^\s@<>(),;:\\\"\[\]\x00-\x1f\x7f]{1,64}")
_AMBIGUOUS_IN_URL = re.compile(r"[\s\\\x00-\x1f\x7f]")


def email_domain(address: str) -> str:
    """Return the lower-case domain of a bare address such as `a@example.org`."""
    local, at, domain = address.partition("@")
    domain = domain.lower()
    if not at or not _LOCAL_PART.fullmatch(local) or not _DOMAIN.fullmatch(domain):
        raise ValueError("not one plain e-mail address")
    return domain


def url_host(url: str) -> str:
    """Return the lower-case host of an absolute URL, without port, credentials or final dot."""
    if _AMBIGUOUS_IN_URL.search(url):
        raise ValueError("a URL with white space, backslashes or control characters")
    parts = urlsplit(url)
    host = (parts.hostname or "").removesuffix(".")
    if not parts.scheme or not host:
        raise ValueError("not an absolute URL with a host")
    if ":" in host:
        return str(ipaddress.ip_address(host))
    if not _DOMAIN.fullmatch(host):
        raise ValueError("a host that is not a plain name")
    return host


def path_under(path: str, root: str) -> bool:
    """Say whether a POSIX path stays at or below `root` once `.`, `..` and `//` are resolved.

    Symbolic links are the downstream's: nothing is looked up on a disk.
    """
    if re.search(r"[\x00\\]|%2e|%2f|%5c|%00", path, re.IGNORECASE):
        raise ValueError("a path with a backslash, a NUL or an encoded separator")
    if path.startswith("~") or posixpath.isabs(path) != posixpath.isabs(root):
        return False
    inside, below = _normal(path), _normal(root)
    if inside == ".." or inside.startswith("../"):
        return False
    if below in ("/", "."):
        return True
    return inside == below or inside.startswith(below + "/")


def ip_in(address: str, network: str) -> bool:
    """Say whether an address lies in a network such as `10.0.0.0/8`; mapped IPv4 counts as IPv4."""
    parsed = ipaddress.ip_address(address)
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return (mapped or parsed) in ipaddress.ip_network(network, strict=False)


def ip_in_any(address: str, networks: Iterable[str]) -> bool:
    """Say whether an address lies in one of the networks; one bad network fails the whole list."""
    return any([ip_in(address, network) for network in networks])  # noqa: C419 - all are parsed


def _normal(path: str) -> str:
    # normpath keeps exactly two leading slashes apart, as POSIX allows; no tool means that.
    return re.sub(r"^//+", "/", posixpath.normpath(path))


BY_NAME: Mapping[str, Callable[..., str | bool]] = {
    "email_domain": email_domain,
    "url_host": url_host,
    "path_under": path_under,
    "ip_in": ip_in,
    "sql_reads_only": sql_reads_only,
}
