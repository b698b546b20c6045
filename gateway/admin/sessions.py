"""The login behind a request: its cookie, and who it stands for."""

from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from gateway.admin import csrf
from gateway.admin.people import People
from gateway.config.admin import SessionSettings
from gateway.store.logins import Logins
from gateway.types.approvals import Approver

_NAME: Final = "weighbridge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Current:
    """Who sent a request, and the secret of his login."""

    person: Approver
    secret: str

    def token(self, path: str) -> str:
        """Return the token for a form that goes to a path."""
        return csrf.token(self.secret, path)


class Sessions:
    """Begins, finds and ends logins of browsers.

    The cookie is HttpOnly and SameSite=Strict: no other site's page sends it along, and no script
    reads it. Where people come by TLS it is bound to the host as well (`__Host-`).
    """

    def __init__(
        self, logins: Logins, people: People, lasting: SessionSettings, *, is_https: bool
    ) -> None:
        self._logins = logins
        self._people = people
        self._lasting = lasting
        self._cookie = f"__Host-{_NAME}" if is_https else _NAME
        self._attributes = f"Path=/; HttpOnly; SameSite=Strict{'; Secure' if is_https else ''}"

    async def current(self, request: Request) -> Current | None:
        """Return who sent a request, None for nobody who is logged in; raises StoreUnavailable."""
        secret = request.cookies.get(self._cookie, "")
        if not secret:
            return None
        found = await self._logins.find(secret, idle_s=self._lasting.idle)
        person = self._people.of_today(found.person) if found is not None else None
        return Current(person=person, secret=secret) if person is not None else None

    async def begin(self, person: Approver, request: Request, response: Response) -> None:
        """Log somebody in: under a new secret, whatever the browser came with."""
        await self.end(request, response)
        secret = await self._logins.begin(person, lasts_s=self._lasting.lifetime)
        self._set(response, secret, int(self._lasting.lifetime))

    async def end(self, request: Request, response: Response) -> None:
        """Log out whoever the browser stands for."""
        secret = request.cookies.get(self._cookie, "")
        if secret:
            await self._logins.end(secret)
        self._set(response, "", 0)

    def might_be_hidden(self, request: Request) -> bool:
        """Whether a browser came from another site's link, and so may have kept back its cookie."""
        return (
            self._cookie not in request.cookies
            and request.headers.get("sec-fetch-site") == "cross-site"
            and request.headers.get("sec-fetch-mode") == "navigate"
        )

    def _set(self, response: Response, value: str, lasts_s: int) -> None:
        cookie = f"{self._cookie}={value}; Max-Age={lasts_s}; {self._attributes}"
        kept = [
            each
            for each in response.raw_headers
            if not (each[0] == b"set-cookie" and each[1].startswith(f"{self._cookie}=".encode()))
        ]
        response.raw_headers = [*kept, (b"set-cookie", cookie.encode())]
