"""How clients find out where to get a token: protected-resource metadata (RFC 9728)."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from gateway.identity.challenge import Challenge
from gateway.types.json import Json, JsonObject

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


def paths(path: str) -> tuple[str, ...]:
    """Return where the document of the resource at `path` is served: suffixed, and at the root."""
    suffixed = WELL_KNOWN + ("" if path == "/" else path)
    return tuple(dict.fromkeys((suffixed, WELL_KNOWN)))


def url(resource: str) -> str:
    """Return the URL of the document of a resource (RFC 9728, 3.1: the path goes behind it)."""
    parts = urlsplit(resource)
    suffix = "" if parts.path == "/" else parts.path
    return f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{suffix}"


def document(*, resource: str, issuers: Iterable[str], scopes: Iterable[str]) -> JsonObject:
    """Return the metadata; `scopes` are those that every call needs, never the whole catalogue."""
    metadata: JsonObject = {
        "resource": resource,
        "resource_name": "Weighbridge",
        "bearer_methods_supported": ["header"],
    }
    servers: list[Json] = [*dict.fromkeys(issuers)]
    if servers:
        metadata["authorization_servers"] = servers
    minimal: list[Json] = [*sorted(set(scopes))]
    if minimal:
        metadata["scopes_supported"] = minimal
    return metadata


def insufficient_scope(scopes: Iterable[str], *, resource: str) -> Challenge:
    """Return the 403 that names all scopes this one call needs, so that one new token will do."""
    needed = " ".join(sorted(set(scopes)))
    return Challenge(
        status=403,
        error="insufficient_scope",
        description=f"this call needs the scope {needed}",
        scope=needed,
        resource_metadata=url(resource),
    )
