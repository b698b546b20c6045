"""The pages of the event log: what happened, one event whole, and a search as a file.

Whoever is logged in sees the events of his tenant; who sees more, `auditors` says. Each search is
an event itself, as is each look at a whole one; going on to a search's next page is not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from gateway.actions import departures, questions
from gateway.actions.disclosure import Reader, disclosed
from gateway.actions.questions import Page
from gateway.admin import csrf, events_download, events_search, events_showing, log_reader
from gateway.admin.auditors import Auditors, Sight
from gateway.admin.events_search import Search
from gateway.admin.log_state import state
from gateway.admin.room import Room
from gateway.admin.sessions import Current
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.types.decisions import DecisionEffect
from gateway.types.events import EventKind
from gateway.types.json import JsonObject

_HOME: Final = "/events"
_LISTED: Final = 50
_READS: Final = 40  # of 20,000 events each; then somebody has to say that he wants to go on
_AT_ONCE: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsDesk:
    """Where people ask what happened."""

    room: Room
    store: Store
    auditors: Auditors
    beside: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(_AT_ONCE))

    def routes(self) -> Sequence[Route]:
        """Return the pages with their paths."""
        page = self.room.for_people
        return (
            Route(_HOME, page(self.listed)),
            Route(f"{_HOME}/download", page(self.download)),
            Route(f"{_HOME}/{{event_id}}", page(self.show)),
        )

    async def listed(self, request: Request, current: Current) -> Response:
        """List events, the newest first, page by page."""
        sight = self.auditors.sight(current.person)
        search = events_search.read(request.query_params, self.room.clock.now())
        cursor = events_search.cursor(request.query_params)
        page = await self._page(search, sight, cursor.at)
        is_next = csrf.holds(current.secret, _place(search, cursor.at), cursor.mark)
        if not search.faults and not is_next:
            await self._searched(current, "page /events", search, len(page.events))
        standing = await state(self.store, self._now)
        mark = current.token(_place(search, page.cursor))
        left = await departures.left(self.store) if page.cursor is None else None
        return await anyio.to_thread.run_sync(
            lambda: self.room.pages.render(
                "events",
                current=current,
                status=400 if search.faults else 200,
                tab="events",
                search=search,
                sight=sight,
                state=standing,
                kinds=[each.value for each in EventKind],
                decisions=[each.value for each in DecisionEffect],
                days=events_showing.days(page.events),
                is_short=len(page.events) < _LISTED,
                is_older=cursor.at is not None,
                cursor=page.cursor,
                left=left if left is not None and left.is_about(search.wanted.since) else None,
                next=f"{page.cursor}.{mark}" if page.cursor is not None else "",
            ),
            limiter=self.beside,
        )

    async def show(self, request: Request, current: Current) -> Response:
        """Show one event whole, and whether it is what the last checkpoint says."""
        sight = self.auditors.sight(current.person)
        event = await log_reader.event(self.store, str(request.path_params["event_id"]))
        tenant = str(event.json().get("tenant") or "") if event is not None else ""
        if event is None or not sight.sees(tenant):
            raise HTTPException(404)
        inclusion = await log_reader.inclusion(self.store, event)
        asked: JsonObject = {"event": event.json().get("id")}
        await self._disclosed(current, "page /events/…", asked, tenant=tenant, events=1)
        return await anyio.to_thread.run_sync(
            lambda: self.room.pages.render(
                "event",
                current=current,
                tab="events",
                sheet=events_showing.sheet(event, sight, inclusion, self._now),
            ),
            limiter=self.beside,
        )

    async def download(self, request: Request, current: Current) -> Response:
        """Send the events of a search as a file."""
        sight = self.auditors.sight(current.person)
        search = events_search.read(request.query_params, self.room.clock.now())
        form = request.query_params.get("format", "json")
        if search.faults or form not in ("csv", "json"):
            return self.room.refuse(
                current, "this search has a fault; mend it first", status=400, back=_HOME
            )
        await self._searched(current, f"page /events, as {form}", search, None)
        tenants = sight.looks_at(search.given["tenant"])
        pieces = events_download.pieces(
            self.store.checkpoints,
            replace(search.wanted, tenants=tenants or ()),
            form,
            most=0 if tenants is None else events_download.MOST,
        )
        name = f"events.{'csv' if form == 'csv' else 'jsonl'}"
        return StreamingResponse(
            pieces,
            media_type=events_download.TYPES[form],
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )

    async def _page(self, search: Search, sight: Sight, cursor: int | None) -> Page:
        """Return a page; a tenant that somebody can't see is as one that isn't there."""
        tenants = sight.looks_at(search.given["tenant"])
        if search.faults or tenants is None:
            return Page(events=(), cursor=None)
        return await questions.page(
            self.store.checkpoints,
            replace(search.wanted, tenants=tenants),
            limit=_LISTED,
            newest_first=True,
            cursor=cursor,
            reads=_READS,
        )

    async def _searched(
        self, current: Current, how: str, search: Search, events: int | None
    ) -> None:
        """Have the log say who searched it, among the events of the one tenant it was about."""
        sight = self.auditors.sight(current.person)
        tenants = sight.looks_at(search.given["tenant"])
        tenant = sight.own if tenants is None else tenants[0] if len(tenants) == 1 else ""
        await self._disclosed(current, how, {**search.given}, tenant=tenant, events=events)

    async def _disclosed(
        self, current: Current, how: str, asked: JsonObject, *, tenant: str, events: int | None
    ) -> None:
        person = current.person
        by = person.user if person.tenant == tenant else f"{person.user} of {person.tenant}"
        await disclosed(
            self.store.events,
            self.room.clock,
            Reader(by=by),
            how=how,
            asked=asked,
            tenant=tenant,
            events=events,
        )

    @property
    def _now(self) -> int:
        return microseconds(self.room.clock.now())


def _place(search: Search, cursor: int | None) -> str:
    """Return what the mark of a search's next page is made for.

    It is good for that page alone, which has nothing that came after the search.
    """
    return f"{_HOME}?{search.query}#{cursor}"
