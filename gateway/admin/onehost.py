"""The only host under which people log in: cookies know no ports, and this host has no others."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.admin.rendering import STYLE_PATH, Pages
from gateway.config.admin import OWN_HOST

_ANYWHERE: Final = frozenset({"/healthz", "/readyz", STYLE_PATH})  # know nobody's session


class OneHost:
    """Gives nobody a session under a name that other programs of a machine answer to as well.

    What a browser keeps for `127.0.0.1` it shows to every port there, an agent's too. So whoever
    comes by such a name is led to the host of `base_url`. Where that is one of a proxy he is only
    told, since a proxy that passes `Host` on as another one would lead him round in circles;
    `hosts` are such others.
    """

    def __init__(
        self, app: ASGIApp, pages: Pages, *, base_url: str, hosts: Iterable[str] = ()
    ) -> None:
        self._app = app
        self._pages = pages
        self._base_url = base_url
        self._hosts = {urlsplit(base_url).netloc, *hosts}
        self._is_own = urlsplit(base_url).hostname == OWN_HOST

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whose `Host` the listener has checked."""
        host = Headers(scope=scope).get("host", "").lower() if scope["type"] == "http" else ""
        if scope["type"] != "http" or scope["path"] in _ANYWHERE or self._is_home(host):
            await self._app(scope, receive, send)
        elif self._is_own and scope["method"] in ("GET", "HEAD"):
            await RedirectResponse(_there(host, scope), status_code=303)(scope, receive, send)
        else:
            text = f"these pages are at `{self._base_url}` alone; open them there"
            if not self._is_own:
                text += ", through a proxy that passes `Host` on or whose own is in `admin.hosts`"
            answer = self._pages.message("Not here", text, status=421)
            await answer(scope, receive, send)

    def _is_home(self, host: str) -> bool:
        """Whether sessions live under a name; a tunnel may bring its own port to our own host."""
        name = _without_port(host)
        return (
            host in self._hosts or f"{name}:*" in self._hosts or (self._is_own and name == OWN_HOST)
        )


def _there(host: str, scope: Scope) -> str:
    """Return where the same page is under our own host, on the port by which somebody came."""
    port = host[len(_without_port(host)) :]
    query = scope["query_string"].decode("latin-1")
    return f"http://{OWN_HOST}{port}{quote(scope['path'])}{f'?{query}' if query else ''}"


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host
