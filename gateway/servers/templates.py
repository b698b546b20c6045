"""Which URIs a server's template could give: the inverse of RFC 6570, as far as there is one."""

from functools import lru_cache
from typing import TYPE_CHECKING

from gateway.protocol import sdk

if TYPE_CHECKING:
    from mcp.shared.uri_template import UriTemplate

_MOST_COMPILED = 4_096


def fits(template: str, uri: str) -> bool:
    """Whether a template (RFC 6570) could have been expanded to a URI."""
    compiled = _compiled(template)
    return compiled is not None and compiled.match(uri) is not None


def prepare(template: str) -> None:
    """Do what `fits` has to do once for a template; whoever lists them has a thread for it."""
    _compiled(template)


@lru_cache(maxsize=_MOST_COMPILED)
def _compiled(template: str) -> "UriTemplate | None":
    # All of the SDK comes with it, which takes long, and most servers have no templates.
    sdk.load("mcp.shared.uri_template")
    from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate  # noqa: PLC0415

    try:
        return UriTemplate.parse(template)
    except InvalidUriTemplate:  # it stays listed; nothing is found by it
        return None
