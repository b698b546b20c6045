"""What all pages share: who is here, how a page is made, and what is written down."""

import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from gateway import ids
from gateway.admin import csrf, forms
from gateway.admin.guard import peer_of
from gateway.admin.people import People
from gateway.admin.rendering import Pages
from gateway.admin.sessions import Current, Sessions
from gateway.clock import Clock
from gateway.events import logins as events
from gateway.types.approvals import Approver
from gateway.types.events import Event
from gateway.types.refused import TurnedAway, TurnedAwayFor

_log = logging.getLogger("weighbridge")

Page: TypeAlias = Callable[[Request, Current], Awaitable[Response]]
_QUERY: Final = re.compile(r"[A-Za-z0-9_.~%&=:+*-]{1,1500}", re.ASCII)
_FOREIGN: Final = "this form was not sent from this page; open the page anew and try again"


def address(request: Request) -> str:
    """Return where somebody wanted to: the path, and a query of the kind that our pages have."""
    query = request.url.query
    path = request.url.path
    return f"{path}?{query}" if _QUERY.fullmatch(query) else path


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The surroundings of every page."""

    pages: Pages
    sessions: Sessions
    people: People
    clock: Clock
    base_url: str
    say: Callable[[Event], None]
    note_turned_away: Callable[[TurnedAway], None]

    def for_people(self, page: Page) -> Callable[[Request], Awaitable[Response]]:
        """Return a page as one that only somebody who is logged in gets to see.

        Anybody else is asked to log in, at the same address.
        """

        async def guarded(request: Request) -> Response:
            current = await self.sessions.current(request)
            if current is not None:
                return await page(request, current)
            if request.method == "GET" and self.sessions.might_be_hidden(request):
                return self.pages.render("onward", to=address(request))
            return self.ask_to_log_in(request)

        return guarded

    def ask_to_log_in(self, request: Request) -> Response:
        """Return the page that says how to log in, and leads back to where somebody wanted to."""
        to = address(request) if request.method in ("GET", "HEAD") else "/approvals"
        return self.login_page(to, status=401)

    def login_page(self, to: str, *, status: int = 200) -> Response:
        """Return the page that says how to log in."""
        return self.pages.render(
            "login",
            status=status,
            to=to,
            issuer=self.people.issuer,
            has_accounts=bool(self.people.accounts),
        )

    async def form(self, request: Request, current: Current) -> dict[str, str] | Response:
        """Return the fields of a form of ours, or the answer to one that isn't."""
        if not csrf.is_from_here(request.headers, self.base_url):
            return self.refuse(current, _FOREIGN, status=403)
        try:
            fields = await forms.read(request)
        except forms.FormRefused as refused:
            return self.refuse(current, str(refused), status=400)
        if not csrf.holds(current.secret, request.url.path, fields.get("token", "")):
            return self.refuse(current, _FOREIGN, status=403)
        return fields

    def refuse(
        self, current: Current, text: str, *, status: int, back: str = "/approvals"
    ) -> Response:
        """Return a page that says why something was not done."""
        return self.pages.message("Not done", text, status=status, current=current, back=back)

    def came_in(self, request: Request, person: Approver) -> None:
        """Write down a login."""
        self.say(
            events.logged_in(
                id=ids.ulid(), at=self.clock.now(), person=person, peer=peer_of(request.scope)
            )
        )
        _log.info("%s of %s logged in", person.user, person.tenant)

    def kept_out(self, request: Request, why: str) -> None:
        """Write down an attempt to log in that led nowhere."""
        self.note_turned_away(
            TurnedAway(
                reason=TurnedAwayFor.INVALID_CREDENTIAL,
                transport="admin",
                peer=peer_of(request.scope),
                detail=why,
            )
        )
