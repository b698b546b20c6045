"""Logging in by a one-time link, and logging out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gateway import ids
from gateway.admin import csrf
from gateway.admin.room import Room
from gateway.admin.sessions import Current
from gateway.events import logins as events
from gateway.store.logins import Link, Logins
from gateway.types.approvals import MACHINE
from gateway.types.values import replaced

LINK_S: Final = 600.0  # how long a one-time link can be used
_OVER: Final = (
    "this link was used already, or is more than 10 minutes old; "
    "`weighbridge admin login` prints a new one"
)
_GONE: Final = "there is no such account here any more; see `admin.accounts`"


def path_of(secret: str) -> str:
    """Return the path of a one-time link."""
    return f"/login/link/{secret}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """The pages by which people come in and leave.

    A link is looked at with GET and used with POST, so that no preview and no scanner uses it up.
    Guesses are not counted: who shares an address with somebody who guesses can still come in.
    """

    room: Room
    logins: Logins

    def routes(self) -> Sequence[Route]:
        """Return the pages with their paths."""
        return (
            Route("/login", self.show),
            Route("/login/link/{secret}", self.look, methods=["GET"]),
            Route("/login/link/{secret}", self.use, methods=["POST"]),
            Route("/logout", self.room.for_people(self.leave), methods=["POST"]),
        )

    async def show(self, request: Request) -> Response:
        """Say how to log in, or lead on who has."""
        if await self.room.sessions.current(request) is not None:
            return RedirectResponse("/approvals", status_code=303)
        return self.room.login_page("/approvals")

    async def look(self, request: Request) -> Response:
        """Show whom a link lets in, and the button that uses it."""
        link = await self.logins.look_at_link(request.path_params["secret"])
        if link is None:
            return self._refuse(request, _OVER, status=410)
        return self.room.pages.render("link", link=link, path=request.url.path)

    async def use(self, request: Request) -> Response:
        """Log in whom a link lets in."""
        if not csrf.is_from_here(request.headers, self.room.base_url):
            return self._refuse(request, "open the link itself, and use its button", status=403)
        link = await self.logins.use_link(request.path_params["secret"])
        if link is None:
            return self._refuse(request, _OVER, status=410)
        return await self._enter(request, link)

    async def leave(self, request: Request, current: Current) -> Response:
        """Log out."""
        fields = await self.room.form(request, current)
        if isinstance(fields, Response):
            return fields
        answer = RedirectResponse("/login", status_code=303)
        await self.room.sessions.end(request, answer)
        self.room.say(
            events.logged_out(id=ids.ulid(), at=self.room.clock.now(), person=current.person)
        )
        return answer

    async def _enter(self, request: Request, link: Link) -> Response:
        person = self.room.people.account(link.tenant, link.user)
        if person is None:
            return self._refuse(request, _GONE, status=403)
        person = replaced(person, issuer=f"{MACHINE}{link.account}")  # his word is also its own
        answer = RedirectResponse("/approvals", status_code=303)
        await self.room.sessions.begin(person, request, answer)
        self.room.came_in(request, person)
        return answer

    def _refuse(self, request: Request, why: str, *, status: int) -> Response:
        self.room.kept_out(request, why)
        return self.room.pages.message("Not logged in", why, status=status, back="/login")
