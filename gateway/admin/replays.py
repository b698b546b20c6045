"""Replays that pages have made: begun in a process of their own, found again by what was wished."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import anyio.to_thread
from anyio import CapacityLimiter

from gateway.actions import departures
from gateway.actions.departures import Departed
from gateway.actions.disclosure import Reader, disclosed
from gateway.admin import replay_form, replay_work
from gateway.admin.auditors import Auditors, Sight
from gateway.admin.errands import Asker, Errand, Errands, State
from gateway.admin.replay_form import FOLDER, Form, Wish
from gateway.admin.room import Room
from gateway.admin.sessions import Current
from gateway.admin.shelves import Shelf, compiled, short
from gateway.errors import FileError
from gateway.replay.report import Report
from gateway.store.store import Store
from gateway.types.json import JsonObject

REPORT: Final = "/replay/report"
GONE: Final = "is not kept, and the files of `policies` are others by now"
BUSY: Final = (
    "no more can be worked out just now: a person has one thing under way, a tenant two, and all "
    "have three; wait for one to end, or cancel yours, and ask again within a minute"
)
_AT_ONCE: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What came of a form: the wish that is being made, or why it is not, and with which status."""

    form: Form
    wish: Wish | None = None
    status: int = 303
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replays:
    """Where replays are begun and their reports are read; who sees what, `auditors` says."""

    room: Room
    store: Store
    shelf: Shelf
    auditors: Auditors
    errands: Errands
    beside: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(_AT_ONCE))

    def sight(self, current: Current) -> Sight:
        """Return what somebody sees."""
        return self.auditors.sight(current.person)

    def form(self, fields: Mapping[str, str], current: Current) -> Form:
        """Read a form, or the query of a permanent address."""
        return replay_form.read(fields, self.sight(current), self.room.clock.now())

    def wished(self, fields: Mapping[str, str], current: Current) -> Wish | None:
        """Return the wish that an address says, if it is one of a policy that has an id."""
        wish = self.form(fields, current).wish
        if wish is None or wish.revision == FOLDER:
            return None
        return replace(wish, revision=f"sha256:{wish.revision.removeprefix('sha256:')}")

    async def begin(self, current: Current, form: Form) -> Begun:
        """Begin what a form wishes, if it isn't there already; that it is read is kept first."""
        if form.wish is None:
            return Begun(form=form, status=400)
        try:
            candidate = await self.named(form.wish.revision)
            if candidate is None:
                return Begun(form=replace(form, faults={"revision": GONE}), status=409)
            await anyio.to_thread.run_sync(compiled, candidate, limiter=self.beside)
        except FileError as error:
            return Begun(form=replace(form, faults={"revision": _first(error)}), status=409)
        wish = replace(form.wish, revision=str(candidate["id"]))
        found = self.find(wish)
        if found is not None and found.state in (State.RUNNING, State.DONE):
            return Begun(form=form, wish=wish)
        if wish.definitions and not form.schemas:
            faults = {"schemas": "are not kept; paste them again"}
            return Begun(form=replace(form, faults=faults), status=409)
        try:
            await anyio.to_thread.run_sync(
                self._tried, form.schemas, candidate, limiter=self.beside
            )
        except FileError as error:
            return Begun(form=replace(form, faults={"schemas": error.message}), status=400)
        if await self._begun(current, wish, candidate, form.schemas) is None:
            return Begun(form=form, status=409, problem=BUSY)
        return Begun(form=form, wish=wish)

    def _tried(self, schemas: str, candidate: JsonObject) -> None:
        """Read definitions as the process will, which compiles them too; raises FileError."""
        if schemas:
            servers = [*self.shelf.settings.servers]
            replay_work.placed(schemas, compiled(candidate), servers)

    def find(self, wish: Wish) -> Errand | None:
        """Return what is being made of a wish, or was."""
        return self.errands.find(_key(wish))

    async def report(self, current: Current, wish: Wish) -> Report | None:
        """Return a report that is there; that somebody reads it is kept first.

        None where it isn't, or where other code has written it. Raises StoreUnavailable.
        """
        errand = self.find(wish)
        if errand is None or errand.state is not State.DONE:
            return None
        found = await anyio.to_thread.run_sync(replay_work.read, errand.result())
        if found is None:
            self.errands.drop(errand.key)
            return None
        if (reader := asker(current)) not in errand.readers:
            await self.disclosed(current, f"page {REPORT}", _asked(wish), wish.tenant)
            errand.readers.add(reader)
        return found

    async def left(self, wish: Wish | None) -> Departed | None:
        """Return what of the time of a wish left the log, if any did; raises StoreUnavailable."""
        found = await departures.left(self.store)
        is_about = found is not None and (wish is None or found.is_about(wish.since))
        return found if is_about else None

    async def named(self, said: str) -> JsonObject | None:
        """Return the policy of an id, or the files as they are now; raises FileError."""
        if said != FOLDER:
            kept = await self.shelf.kept(said)
            if kept is not None:
                return self.shelf.of(kept)
        folder = await anyio.to_thread.run_sync(self.shelf.folder, limiter=self.beside)
        id = str(folder["id"]).removeprefix("sha256:")
        return folder if said in (FOLDER, id, f"sha256:{id}") else None

    async def disclosed(self, current: Current, how: str, asked: JsonObject, tenant: str) -> None:
        """Have the log say who read it; raises StoreUnavailable."""
        reader = Reader(by=reads_as(current, tenant))
        await disclosed(
            self.store.events, self.room.clock, reader, how=how, asked=asked, tenant=tenant
        )

    async def _begun(
        self, current: Current, wish: Wish, candidate: JsonObject, schemas: str
    ) -> Errand | None:
        order = replay_work.order(
            candidate,
            wish.span,
            wish.counters,
            settings=self.shelf.settings,
            otherwise=self.shelf.otherwise,
            by=reads_as(current, wish.tenant),
            schemas=schemas,
        )
        by = asker(current)
        if not self.errands.has_turn(by):
            return None
        await self.disclosed(current, "page /replay", _asked(wish), wish.tenant)
        over = " over other definitions" if wish.definitions else ""

        def begin() -> Errand | None:
            return self.errands.begin(
                _key(wish),
                order,
                title=f"Replay under {short(wish.revision)}{over}",
                to=f"{REPORT}?{wish.query}",
                tenant=wish.tenant,
                by=by,
            )

        return await anyio.to_thread.run_sync(begin, limiter=self.beside)


def reads_as(current: Current, tenant: str) -> str:
    """Say who reads, for the events of a tenant."""
    person = current.person
    return person.user if person.tenant == tenant else f"{person.user} of {person.tenant}"


def asker(current: Current) -> Asker:
    """Return who asks for work."""
    return Asker(current.person.tenant, current.person.user)


def _first(error: FileError) -> str:
    return str(error).partition("\n")[0]


def _asked(wish: Wish) -> JsonObject:
    """Return what the log says that somebody asked for."""
    asked: JsonObject = {
        "revision": wish.revision,
        "since": wish.since.isoformat() if wish.since is not None else "",
        "until": wish.until.isoformat(),
        "counters": wish.counters.value,
    }
    few = {"run": wish.run, "definitions": wish.definitions}
    return asked | {name: value for name, value in few.items() if value}


def _key(wish: Wish) -> str:
    return hashlib.sha256(wish.query.encode()).hexdigest()
