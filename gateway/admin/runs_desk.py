"""The pages of runs: what is worked on, and one run with all that happened in it.

Whoever is logged in for a tenant sees its runs. Who has the role for it, where the configuration
names one, may pause a run, go on with it or take it over; none of that lets a call through that
rules or people have to allow.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gateway.actions import runs as telling
from gateway.actions import timeline
from gateway.actions.disclosure import Reader, disclosed
from gateway.actions.runs import Gathering
from gateway.admin.room import Room
from gateway.admin.runs_showing import card, sheet
from gateway.admin.sessions import Current
from gateway.crossing.run_wishes import By, Kind, RunRefused, Sees
from gateway.crossing.running import Running, Step, to_pause, to_phase, to_resume
from gateway.revision import Revision
from gateway.runs.handover import Receiver
from gateway.store.events import EventFilter, EventLog, StoredEvent
from gateway.store.runs import RunFilter, Runs
from gateway.store.times import microseconds
from gateway.types.actors import Actor
from gateway.types.runs import Mover, Phase, Run

_HOME: Final = "/runs"
_LISTED: Final = 50
_MOST: Final = 500
_LONGEST: Final = 300
_MOST_LINES: Final = 500  # of what happened, on one page
_DIGITS: Final = 18
_ACTIONS: Final = ("pause", "resume", "handoff")
_NOT_YOURS: Final = "none of your roles changes runs; ask somebody who has one"
_WHY: Final = "say why; it stands in the log, and the agent is told"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """A stretch of what happened, in the order of the log, and what lies on either side."""

    events: Sequence[StoredEvent]
    older: int  # what is older comes before this event; 0: there is nothing
    newer: int
    is_newest: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsDesk:
    """Where people look after runs."""

    room: Room
    running: Running
    gathering: Gathering
    runs: Runs
    events: EventLog
    revision: Callable[[], Revision]
    operators: frozenset[str] = frozenset()  # roles of those who may change a run; empty: all

    def routes(self) -> Sequence[Route]:
        """Return the pages with their paths."""
        page, one = self.room.for_people, f"{_HOME}/{{run_id}}"
        return (
            Route(_HOME, page(self.listed)),
            Route(one, page(self.show)),
            Route(f"{one}/pause", page(self.pause), methods=["POST"]),
            Route(f"{one}/resume", page(self.resume), methods=["POST"]),
            Route(f"{one}/handoff", page(self.hand_over), methods=["POST"]),
        )

    async def listed(self, request: Request, current: Current) -> Response:
        """List runs of the tenant, the newest first."""
        asked = request.query_params
        phase, limit = asked.get("phase", ""), _number(asked.get("limit", ""))
        wanted = RunFilter(
            tenant=current.person.tenant,
            phase=phase if phase in [*Phase] else "",
            user=asked.get("user", "").strip()[:_LONGEST],
            template=asked.get("template", "").strip()[:_LONGEST],
            limit=min(_MOST, limit) or _LISTED,
        )
        found = await self.runs.find(wanted)
        now = self._now
        return self.room.pages.render(
            "runs",
            current=current,
            tab="runs",
            cards=[card(each, now) for each in found],
            wanted=wanted,
            phases=[each.value for each in Phase],
            is_cut=len(found) == wanted.limit,
            more=min(_MOST, wanted.limit * 2) if wanted.limit < _MOST else 0,
        )

    async def show(self, request: Request, current: Current) -> Response:
        """Show one run."""
        return await self._page(request, current)

    async def pause(self, request: Request, current: Current) -> Response:
        """Let a run change nothing until it is resumed."""
        return await self._changed(request, current, to_pause, needs_reason=True)

    async def resume(self, request: Request, current: Current) -> Response:
        """Go on with a run."""
        return await self._changed(request, current, to_resume, needs_reason=False)

    async def hand_over(self, request: Request, current: Current) -> Response:
        """Take a run out of its agent's hands: for whoever does it."""

        def step(reason: str) -> Step:
            note = telling.handed(reason, current.person.user)
            return to_phase(Phase.HANDOFF, Mover.PERSON, note)

        return await self._changed(request, current, step, needs_reason=True)

    async def _changed(
        self,
        request: Request,
        current: Current,
        step: Callable[[str], Step],
        *,
        needs_reason: bool,
    ) -> Response:
        if not self._may_change(current):
            return self.room.refuse(current, _NOT_YOURS, status=403)
        fields = await self.room.form(request, current)
        if isinstance(fields, Response):
            return fields
        reason = fields.get("reason", "").strip()[:_LONGEST]
        if needs_reason and not reason:
            return await self._page(request, current, problem=_WHY, status=400)
        run_id, sees = str(request.path_params["run_id"]), _sees(current)
        try:
            await self.running.change(run_id, sees, _by(current), step(reason))
        except RunRefused as refused:
            if refused.kind is Kind.NOT_FOUND:
                raise HTTPException(404) from None
            return await self._page(request, current, problem=str(refused), status=409)
        return RedirectResponse(f"{_HOME}/{run_id}", status_code=303)

    def _may_change(self, current: Current) -> bool:
        return not self.operators or not self.operators.isdisjoint(current.person.roles)

    async def _page(
        self, request: Request, current: Current, *, problem: str = "", status: int = 200
    ) -> Response:
        run_id = str(request.path_params["run_id"])
        try:
            run = await self.running.get(run_id, _sees(current))
        except RunRefused:
            raise HTTPException(404) from None
        template = self.running.template(run)
        package = await self.gathering.package(run, template, Receiver(), self.revision().contracts)
        await disclosed(  # each page: nobody could tell a further one from a first one
            self.events,
            self.room.clock,
            Reader(by=current.person.user),
            how="page /runs/…",
            asked={"run": run.run_id},
            tenant=run.tenant,
        )
        page = await self._events(run, request)
        path = f"{_HOME}/{run.run_id}"
        return self.room.pages.render(
            "run",
            current=current,
            status=status,
            tab="runs",
            sheet=sheet(
                package,
                telling.missing(run, template),
                timeline.lines(page.events),
                self._now,
                may_change=self._may_change(current),
            ),
            page=page,
            path=path,
            tokens={each: current.token(f"{path}/{each}") for each in _ACTIONS},
            problem=problem,
        )

    async def _events(self, run: Run, request: Request) -> "_Page":
        """Return what happened: the newest, or what came before or after an event."""
        before, after = (
            _number(request.query_params.get(name, "")) for name in ("before", "after")
        )
        is_onward = bool(after) and not before
        wanted = EventFilter(
            tenant=run.tenant,
            run=run.run_id,
            before=before,
            after=after if is_onward else 0,
            limit=_MOST_LINES + 1,
            newest_first=not is_onward,
        )
        found = await self.events.query(wanted)
        has_more = len(found) > _MOST_LINES
        events = sorted(found[:_MOST_LINES], key=lambda each: each.seq)
        if not events:
            return _Page(events=(), older=0, newer=0, is_newest=not before and not after)
        has_older = is_onward or has_more
        has_newer = has_more if is_onward else bool(before)
        return _Page(
            events=events,
            older=events[0].seq if has_older else 0,
            newer=events[-1].seq if has_newer else 0,
            is_newest=not has_newer,
        )

    @property
    def _now(self) -> int:
        return microseconds(self.room.clock.now())


def _number(text: str) -> int:
    """Return a number of a query; 0 for anything that is none."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= _DIGITS
    return int(text) if is_number else 0


def _sees(current: Current) -> Sees:
    return Sees(tenant=current.person.tenant)


def _by(current: Current) -> By:
    person = current.person
    actor = Actor(
        user=person.user,
        tenant=person.tenant,
        roles=person.roles,
        scopes=frozenset(),
        client="page",
        method="oidc" if person.account is None else "link",
        issuer=person.issuer,
    )
    return By(mover=Mover.PERSON, actor=actor)
