"""The pages of replay: what to judge the past by, the report, and one call under both policies.

Only auditors get here, and only to calls of tenants that they see. A replay runs in a process of
its own; its page says how far it is, and its address makes the same report again.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gateway.actions.disclosure import Reader, disclosed
from gateway.admin import replay_call_showing, replay_form, replay_work
from gateway.admin.auditors import Auditors, Sight
from gateway.admin.errands import Asker, Errand, Errands, State
from gateway.admin.replay_form import FOLDER, Form, Wish
from gateway.admin.replay_showing import Links, showing
from gateway.admin.room import Page, Room
from gateway.admin.sessions import Current
from gateway.admin.shelves import Shelf, compiled, short
from gateway.admin.showing import moment_of
from gateway.errors import FileError
from gateway.replay import history
from gateway.replay.replaying import Replay
from gateway.replay.types import Compared, Counters, Recorded
from gateway.revision import Revision
from gateway.store.revisions import StoredRevision
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.types.json import JsonObject

HOME: Final = "/replay"
_REPORT: Final = f"{HOME}/report"
_LISTED: Final = 20
_AT_ONCE: Final = 2
_NOT_YOURS: Final = (
    "past calls under other policies are for auditors; ask for an entry in `admin.auditors`"
)
GONE: Final = "is not kept, and the files of `policies` are others by now"
BUSY: Final = (
    "no more can be worked out just now: a person has one thing under way, a tenant two, and all "
    "have three; wait for one to end, or cancel yours, and ask again within a minute"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayDesk:
    """Where people judge past calls by other policies."""

    room: Room
    store: Store
    shelf: Shelf
    auditors: Auditors
    errands: Errands
    beside: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(_AT_ONCE))

    def routes(self) -> Sequence[Route]:
        """Return the pages with their paths."""
        page = self.for_auditors
        return (
            Route(HOME, page(self.begin), methods=["POST"]),
            Route(HOME, page(self.form)),
            Route(_REPORT, page(self.report)),
            Route(f"{_REPORT}/cancel", page(self.cancel), methods=["POST"]),
            Route(f"{HOME}/calls/{{call_id}}", page(self.call)),
        )

    def for_auditors(self, page: Page) -> Callable[[Request], Awaitable[Response]]:
        """Return a page as one that only auditors see."""

        async def guarded(request: Request, current: Current) -> Response:
            if not self.auditors.is_one(current.person):
                return self.room.refuse(current, _NOT_YOURS, status=403)
            return await page(request, current)

        return self.room.for_people(guarded)

    async def form(self, request: Request, current: Current) -> Response:
        """Ask what to replay, and list what was replayed lately."""
        form = replay_form.read(dict(request.query_params), self._sight(current), self._time)
        return await self._form_page(current, replace(form, faults={}))

    async def begin(self, request: Request, current: Current) -> Response:
        """Begin a replay, and lead to its page."""
        fields = await self.room.form(request, current)
        if isinstance(fields, Response):
            return fields
        form = replay_form.read(fields, self._sight(current), self._time)
        if form.wish is None:
            return await self._form_page(current, form, status=400)
        try:
            candidate = await self._candidate(form.wish)
        except FileError as error:
            faults = {"revision": str(error).partition("\n")[0]}
            return await self._form_page(current, replace(form, faults=faults), status=409)
        if candidate is None:
            return await self._form_page(
                current, replace(form, faults={"revision": GONE}), status=409
            )
        wish = replace(form.wish, revision=str(candidate["id"]))
        if self.errands.find(_key(wish)) is None or not self._is_fine(wish):
            begun = await self._begun(current, wish, candidate)
            if begun is None:
                return await self._form_page(current, form, status=409, problem=BUSY)
        return RedirectResponse(f"{_REPORT}?{wish.query}", status_code=303)

    async def report(self, request: Request, current: Current) -> Response:
        """Show a report, or how far it is, or how to have it made again."""
        form = replay_form.read(dict(request.query_params), self._sight(current), self._time)
        if form.wish is None or form.wish.revision == FOLDER:
            return await self._form_page(current, form, status=400)
        wish = replace(form.wish, revision=f"sha256:{form.wish.revision.removeprefix('sha256:')}")
        errand = self.errands.find(_key(wish))
        if errand is None or errand.state is not State.DONE:
            return self._progress(current, wish, errand)
        found = await anyio.to_thread.run_sync(replay_work.read, errand.result())
        if found is None:
            self.errands.drop(errand.key)
            return self._progress(current, wish, None)
        if (reader := _asker(current)) not in errand.readers:
            await self._disclosed(current, "page /replay/report", _asked(wish), wish.tenant)
            errand.readers.add(reader)
        return await anyio.to_thread.run_sync(
            lambda: self.room.pages.render(
                "replay_report",
                current=current,
                tab="replay",
                report=found,
                showing=showing(found),
                links=Links(revision=wish.revision, own=current.person.tenant),
                query=wish.query,
                at=moment_of(errand.at, self._now),
                by=errand.by.user,
            ),
            limiter=self.beside,
        )

    async def cancel(self, request: Request, current: Current) -> Response:
        """End a replay that is under way."""
        fields = await self.room.form(request, current)
        if isinstance(fields, Response):
            return fields
        errand = self.errands.find(fields.get("key", ""))
        if errand is None or not self._sight(current).sees(errand.tenant):
            raise HTTPException(404)
        await anyio.to_thread.run_sync(self.errands.cancel, errand.key)
        return RedirectResponse(HOME, status_code=303)

    async def call(self, request: Request, current: Current) -> Response:
        """Show one call as it was judged, and as it would be."""
        wanted = request.query_params.get("revision", FOLDER)
        call = str(request.path_params["call_id"])
        recorded = await history.call(self.store.events, call)
        if recorded is None or not self._sight(current).sees(recorded.tenant):
            raise HTTPException(404)
        try:
            candidate = await self.named(wanted)
            if candidate is None:
                return self.room.refuse(current, f"this policy {GONE}", status=404, back=HOME)
            opening = replay_work.unsealing(self.store, self.shelf.settings)
            judged = await history.call(self.store.events, call, opening) or recorded
            found = await self._compared(judged, candidate)
        except FileError as error:
            return self.room.refuse(current, str(error).partition("\n")[0], status=409, back=HOME)
        asked: JsonObject = {"call": recorded.call, "revision": candidate["id"]}
        how, tenant = "page /replay/calls/…", recorded.tenant
        await self._disclosed(current, how, asked, tenant)
        await replay_work.noted(self.store, opening, how, _by(current, tenant), tenant)
        return self.room.pages.render(
            "replay_call",
            current=current,
            tab="replay",
            sheet=replay_call_showing.sheet(found, recorded.arguments),
            then=short(recorded.revision),
            now=short(str(candidate["id"])),
            is_own=recorded.tenant == current.person.tenant,
        )

    async def _begun(self, current: Current, wish: Wish, candidate: JsonObject) -> Errand | None:
        order = replay_work.order(
            candidate,
            wish.span,
            wish.counters,
            settings=self.shelf.settings,
            otherwise=self.shelf.otherwise,
            by=_by(current, wish.tenant),
        )
        by = _asker(current)
        if not self.errands.has_turn(by):
            return None
        await self._disclosed(current, "page /replay", _asked(wish), wish.tenant)

        def begin() -> Errand | None:
            return self.errands.begin(
                _key(wish),
                order,
                title=f"Replay under {short(wish.revision)}",
                to=f"{_REPORT}?{wish.query}",
                tenant=wish.tenant,
                by=by,
            )

        return await anyio.to_thread.run_sync(begin, limiter=self.beside)

    def _is_fine(self, wish: Wish) -> bool:
        found = self.errands.find(_key(wish))
        return found is not None and found.state in (State.RUNNING, State.DONE)

    async def _candidate(self, wish: Wish) -> JsonObject | None:
        """Return what a wish judges by, and whether it compiles; raises FileError."""
        found = await self.named(wish.revision)
        if found is not None:
            await anyio.to_thread.run_sync(compiled, found, limiter=self.beside)
        return found

    async def named(self, said: str) -> JsonObject | None:
        """Return the policy of an id, or the files as they are now; raises FileError."""
        if said != FOLDER:
            kept = await self.shelf.kept(said)
            if kept is not None:
                return self.shelf.of(kept)
        folder = await anyio.to_thread.run_sync(self.shelf.folder, limiter=self.beside)
        id = str(folder["id"]).removeprefix("sha256:")
        return folder if said in (FOLDER, id, f"sha256:{id}") else None

    async def _compared(self, call: Recorded, candidate: JsonObject) -> Compared:
        definitions = await self.store.definitions.all()
        own = await replay_work.past(self.store, self.shelf.otherwise)(call.revision)

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

        return await anyio.to_thread.run_sync(judged, limiter=self.beside)

    def _progress(self, current: Current, wish: Wish, errand: Errand | None) -> Response:
        state = errand.state if errand is not None else None
        is_free = self.errands.is_free(_asker(current))
        return self.room.pages.render(
            "replay_progress",
            current=current,
            status=200 if state is State.RUNNING else 404 if errand is None else 200,
            tab="replay",
            errand=errand,
            is_running=state is State.RUNNING,
            is_failed=state is State.FAILED,
            is_free=is_free,
            wish=wish,
            to=f"{_REPORT}?{wish.query}",
            begun=moment_of(errand.at, self._now) if errand is not None else None,
            given=dict(_fields(wish)),
            token=current.token(HOME),
            cancel_token=current.token(f"{_REPORT}/cancel"),
        )

    async def _form_page(
        self, current: Current, form: Form, *, status: int = 200, problem: str = ""
    ) -> Response:
        sight = self._sight(current)
        kept = await self.store.revisions.latest(_LISTED)
        every = await anyio.to_thread.run_sync(self.errands.all)
        seen = [each for each in every if sight.sees(each.tenant)]
        return self.room.pages.render(
            "replay",
            current=current,
            status=status,
            tab="replay",
            form=form,
            sight=sight,
            problem=problem,
            counters=[each.value for each in Counters],
            revisions=[option(each, self._now) for each in kept],
            errands=[(each, moment_of(each.at, self._now)) for each in seen],
            is_busy=not self.errands.is_free(_asker(current)),
            folder=str(self.shelf.settings.policies),
            token=current.token(HOME),
            cancel_token=current.token(f"{_REPORT}/cancel"),
        )

    async def _disclosed(self, current: Current, how: str, asked: JsonObject, tenant: str) -> None:
        reader = Reader(by=_by(current, tenant))
        await disclosed(
            self.store.events, self.room.clock, reader, how=how, asked=asked, tenant=tenant
        )

    def _sight(self, current: Current) -> Sight:
        return self.auditors.sight(current.person)

    @property
    def _time(self) -> datetime:
        return self.room.clock.now()

    @property
    def _now(self) -> int:
        return microseconds(self.room.clock.now())


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


def _by(current: Current, tenant: str) -> str:
    """Say who reads, for the events of a tenant."""
    person = current.person
    return person.user if person.tenant == tenant else f"{person.user} of {person.tenant}"


def _asker(current: Current) -> Asker:
    return Asker(current.person.tenant, current.person.user)


def _asked(wish: Wish) -> JsonObject:
    """Return what the log says that somebody asked for."""
    return {
        "revision": wish.revision,
        "since": wish.since.isoformat() if wish.since is not None else "",
        "until": wish.until.isoformat(),
        "counters": wish.counters.value,
    }


def _key(wish: Wish) -> str:
    return hashlib.sha256(wish.query.encode()).hexdigest()


def _fields(wish: Wish) -> Sequence[tuple[str, str]]:
    """Return a wish as the fields of a form."""
    since = wish.since.strftime("%Y-%m-%dT%H:%M:%S") if wish.since is not None else ""
    return (
        ("revision", wish.revision.removeprefix("sha256:")),
        ("since", since),
        ("until", wish.until.strftime("%Y-%m-%dT%H:%M:%S")),
        ("tenant", wish.tenant),
        ("counters", wish.counters.value),
    )
