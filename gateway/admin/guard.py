"""What every answer of the admin listener carries, and which credential counts where."""

from collections.abc import Callable
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.admin.endpoints import ROOT
from gateway.types.refused import TurnedAway, TurnedAwayFor

# `same-origin` rather than `no-referrer`: with the latter browsers send `Origin: null` with a form,
# and the check of forms would have nothing to go by. Nothing is told to other sites either way.
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
_HSTS: Final = "max-age=31536000"


class Guard:
    """Keeps people's pages and the programs' `/v1` apart, and sets the headers that browsers go by.

    Pages refuse whoever shows a bearer token. An agent's credential is good for nothing here, so
    that its being shown is worth a note: a person's browser never sends one. `/v1` looks at nothing
    else, and never sees a session.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        api: ASGIApp,
        is_https: bool,
        note_turned_away: Callable[[TurnedAway], None],
    ) -> None:
        self._app = app
        self._api = api
        self._headers = {**HEADERS, "Strict-Transport-Security": _HSTS} if is_https else HEADERS
        self._note_turned_away = note_turned_away

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["path"] == ROOT or scope["path"].startswith(f"{ROOT}/"):
            await self._api(scope, receive, sent)
        elif any(name == b"authorization" for name, _ in scope["headers"]):
            self._note_turned_away(
                TurnedAway(
                    reason=TurnedAwayFor.INVALID_CREDENTIAL,
                    transport="admin",
                    peer=peer_of(scope),
                    detail=_NO_TOKENS,
                )
            )
            refusal = JSONResponse({"error": _NO_TOKENS}, status_code=403)
            await refusal(scope, receive, sent)
        else:
            await self._app(scope, receive, sent)


_NO_TOKENS: Final = "these pages are for people who log in; they take no `Authorization` header"


def peer_of(scope: Scope) -> str:
    """Return the address of the other end of the connection; headers say nothing about it."""
    client = scope.get("client")
    return str(client[0]) if client else ""
