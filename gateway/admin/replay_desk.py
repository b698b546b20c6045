"""The pages of replay: what to judge the past by, the report, and one call under both policies.

Only auditors get here, and only to calls of tenants that they see. A replay runs in a process of
its own; its page says how far it is, and its address makes the same report again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gateway.admin import replay_call_showing, replay_work
from gateway.admin.errands import Errand, State
from gateway.admin.replay_form import FOLDER, MOST_SCHEMAS, Form, Wish
from gateway.admin.replay_showing import Links, showing
from gateway.admin.replays import GONE, REPORT, Begun, Replays, asker, reads_as
from gateway.admin.room import Page
from gateway.admin.sessions import Current
from gateway.admin.shelves import compiled, short
from gateway.admin.showing import moment_of
from gateway.errors import FileError
from gateway.replay import history
from gateway.replay.replaying import Replay
from gateway.replay.types import Compared, Counters, Recorded
from gateway.revision import Revision
from gateway.store.revisions import StoredRevision
from gateway.store.times import microseconds
from gateway.types.json import JsonObject

HOME: Final = "/replay"
_LISTED: Final = 20
_NOT_YOURS: Final = (
    "past calls under other policies are for auditors; ask for an entry in `admin.auditors`"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayDesk:
    """Where people judge past calls by other policies."""

    replays: Replays

    def routes(self) -> Sequence[Route]:
        """Return the pages with their paths."""
        page = self.for_auditors
        return (
            Route(HOME, page(self.begin), methods=["POST"]),
            Route(HOME, page(self.form)),
            Route(REPORT, page(self.report)),
            Route(f"{REPORT}/cancel", page(self.cancel), methods=["POST"]),
            Route(f"{HOME}/calls/{{call_id}}", page(self.call)),
        )

    def for_auditors(self, page: Page) -> Callable[[Request], Awaitable[Response]]:
        """Return a page as one that only auditors see."""
        room, auditors = self.replays.room, self.replays.auditors

        async def guarded(request: Request, current: Current) -> Response:
            if not auditors.is_one(current.person):
                return room.refuse(current, _NOT_YOURS, status=403)
            return await page(request, current)

        return room.for_people(guarded)

    async def form(self, request: Request, current: Current) -> Response:
        """Ask what to replay, and list what was replayed lately."""
        form = self.replays.form(dict(request.query_params), current)
        return await self._form_page(current, Begun(form=replace(form, faults={}), status=200))

    async def begin(self, request: Request, current: Current) -> Response:
        """Begin a replay, and lead to its page."""
        fields = await self.replays.room.form(request, current)
        if isinstance(fields, Response):
            return fields
        begun = await self.replays.begin(current, self.replays.form(fields, current))
        if begun.wish is None:
            return await self._form_page(current, begun)
        return RedirectResponse(f"{REPORT}?{begun.wish.query}", status_code=303)

    async def report(self, request: Request, current: Current) -> Response:
        """Show a report, or how far it is, or how to have it made again."""
        wish = self.replays.wished(dict(request.query_params), current)
        if wish is None:
            form = self.replays.form(dict(request.query_params), current)
            return await self._form_page(current, Begun(form=form, status=400))
        found = await self.replays.report(current, wish)
        errand = self.replays.find(wish)
        if found is None or errand is None:
            return self._progress(current, wish, errand)
        left = await self.replays.left(wish)
        return await anyio.to_thread.run_sync(
            lambda: self.replays.room.pages.render(
                "replay_report",
                current=current,
                tab="replay",
                report=found,
                showing=showing(found),
                links=Links(revision=wish.revision, own=current.person.tenant),
                left=left,
                sight=self.replays.sight(current),
                query=wish.query,
                at=moment_of(errand.at, self._now),
                by=errand.by.user,
            ),
            limiter=self.replays.beside,
        )

    async def cancel(self, request: Request, current: Current) -> Response:
        """End a replay that is under way."""
        fields = await self.replays.room.form(request, current)
        if isinstance(fields, Response):
            return fields
        errand = self.replays.errands.find(fields.get("key", ""))
        if errand is None or not self.replays.sight(current).sees(errand.tenant):
            raise HTTPException(404)
        await anyio.to_thread.run_sync(self.replays.errands.cancel, errand.key)
        return RedirectResponse(HOME, status_code=303)

    async def call(self, request: Request, current: Current) -> Response:
        """Show one call as it was judged, and as it would be."""
        wanted = request.query_params.get("revision", FOLDER)
        call = str(request.path_params["call_id"])
        store, room = self.replays.store, self.replays.room
        recorded = await history.call(store.events, call)
        if recorded is None or not self.replays.sight(current).sees(recorded.tenant):
            raise HTTPException(404)
        try:
            candidate = await self.replays.named(wanted)
            if candidate is None:
                return room.refuse(current, f"this policy {GONE}", status=404, back=HOME)
            opening = replay_work.unsealing(store, self.replays.shelf.settings)
            judged = await history.call(store.events, call, opening) or recorded
            found = await self._compared(judged, candidate)
        except FileError as error:
            return room.refuse(current, str(error).partition("\n")[0], status=409, back=HOME)
        asked: JsonObject = {"call": recorded.call, "revision": candidate["id"]}
        how, tenant = "page /replay/calls/…", recorded.tenant
        await self.replays.disclosed(current, how, asked, tenant)
        await replay_work.noted(store, opening, how, reads_as(current, tenant), tenant)
        return room.pages.render(
            "replay_call",
            current=current,
            tab="replay",
            sheet=replay_call_showing.sheet(found, recorded.arguments),
            then=short(recorded.revision),
            now=short(str(candidate["id"])),
            is_own=recorded.tenant == current.person.tenant,
        )

    async def _compared(self, call: Recorded, candidate: JsonObject) -> Compared:
        store = self.replays.store
        definitions = await store.definitions.all()
        own = await replay_work.past(store, self.replays.shelf.otherwise)(call.revision)

        async def past(id: str) -> Revision | None:
            return own if id == call.revision else None

        def judged() -> Compared:
            replay = Replay(
                candidate=compiled(candidate),
                past=past,
                definitions=definitions,
                counters=Counters.RECORDED,
            )
            return asyncio.run(replay.compared(call))

        return await anyio.to_thread.run_sync(judged, limiter=self.replays.beside)

    def _progress(self, current: Current, wish: Wish, errand: Errand | None) -> Response:
        state = errand.state if errand is not None else None
        return self.replays.room.pages.render(
            "replay_progress",
            current=current,
            status=404 if errand is None else 200,
            tab="replay",
            errand=errand,
            is_running=state is State.RUNNING,
            is_failed=state is State.FAILED,
            is_free=self.replays.errands.is_free(asker(current)),
            wish=wish,
            to=f"{REPORT}?{wish.query}",
            begun=moment_of(errand.at, self._now) if errand is not None else None,
            given=dict(_fields(wish)),
            token=current.token(HOME),
            cancel_token=current.token(f"{REPORT}/cancel"),
        )

    async def _form_page(self, current: Current, begun: Begun) -> Response:
        sight, store = self.replays.sight(current), self.replays.store
        kept = await store.revisions.latest(_LISTED)
        every = await anyio.to_thread.run_sync(self.replays.errands.all)
        seen = [each for each in every if sight.sees(each.tenant)]
        form: Form = begun.form
        return self.replays.room.pages.render(
            "replay",
            current=current,
            status=begun.status,
            tab="replay",
            form=form,
            sight=sight,
            problem=begun.problem,
            left=await self.replays.left(form.wish),
            most=MOST_SCHEMAS,
            counters=[each.value for each in Counters],
            revisions=[option(each, self._now) for each in kept],
            errands=[(each, moment_of(each.at, self._now)) for each in seen],
            is_busy=not self.replays.errands.is_free(asker(current)),
            folder=str(self.replays.shelf.settings.policies),
            token=current.token(HOME),
            cancel_token=current.token(f"{REPORT}/cancel"),
        )

    @property
    def _now(self) -> int:
        return microseconds(self.replays.room.clock.now())


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A policy to choose."""

    id: str
    words: str


def option(kept: StoredRevision, now: int) -> Option:
    """Return a kept policy as one to choose."""
    when = moment_of(microseconds(kept.at), now)
    id = kept.id.removeprefix("sha256:")
    return Option(id=id, words=f"{short(id)}, {kept.at:%Y-%m-%d %H:%M} ({when.relative})")


def _fields(wish: Wish) -> Sequence[tuple[str, str]]:
    """Return a wish as the fields of a form."""
    since = wish.since.strftime("%Y-%m-%dT%H:%M:%S") if wish.since is not None else ""
    return (
        ("revision", wish.revision.removeprefix("sha256:")),
        ("since", since),
        ("until", wish.until.strftime("%Y-%m-%dT%H:%M:%S")),
        ("tenant", wish.tenant),
        ("run", wish.run),
        ("counters", wish.counters.value),
        ("definitions", wish.definitions),
    )
