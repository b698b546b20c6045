"""Which run a call belongs to: found, begun or refused, before the call is judged.

What finds a run is told in `gateway.runs.binding`; here it is looked up, for the principal of the
call and for nobody else. A run that is named has to be there. One that a conversation, a session or
the caller led to is over once it is completed: then the call is without a run, or begins another.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol

from gateway import ids
from gateway.case import Case
from gateway.clock import Clock
from gateway.errors import StoreUnavailable
from gateway.events import runs as events
from gateway.events.redact import Redactor
from gateway.revision import Revision
from gateway.runs import binding, moves
from gateway.runs.binding import BadRun, Chain, Conflict
from gateway.runs.moves import Blocked
from gateway.store.runs import Started, Told, TooManyRuns
from gateway.store.times import microseconds
from gateway.types.actors import Actor
from gateway.types.calls import Principal, ProposedCall, actor_of
from gateway.types.events import Event
from gateway.types.outcomes import Refusal, Status
from gateway.types.runs import Bound, Mover, Phase, Place, Run
from gateway.types.tools import Contract, Effect
from gateway.types.values import replaced

MOVES: Final = "run:phase"  # the scope of hosts that move runs
_MOST_TRIES: Final = 4
_LATER_S: Final = 60.0  # runs that nobody uses are stopped by then, or later


class Runs(Protocol):
    """The tables of runs, as far as calls need them; all that wait raise StoreUnavailable."""

    async def bound(
        self, principal: Principal, places: Sequence[Place], *, with_counts: bool = False
    ) -> Sequence[Bound]:
        """Return the runs of a principal that places lead to."""
        ...

    async def get(self, run_id: str) -> Run | None:
        """Return one run, with its counts."""
        ...

    async def start(
        self, run: Run, places: Sequence[Place], told: Started, *, joins: bool = False
    ) -> Run:
        """Keep a new run, or with `joins` find the one that places lead to by now."""
        ...

    async def change(self, before: Run, after: Run, told: Told) -> Run | None:
        """Move a run from the version it was read in; None when it is another one by now."""
        ...

    async def move(self, before: Run, after: Run, told: Told) -> Run | None:
        """The same, by the counts that it was read with."""
        ...

    def owner(self, principal: Principal) -> str:
        """Return the digest that stands for a whole principal."""
        ...

    def touched(self, run_id: str, at: datetime, *, calls: int = 1, tokens: int = 0) -> None:
        """Note that a call was made in a run."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """A case was judged by a run that is another one by now: it has to be judged anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Belonging:
    """Finds the run of a call, and moves it where a read asks for that."""

    runs: Runs
    revision: Callable[[], Revision]
    clock: Clock
    redactor: Redactor
    chain: Chain
    is_enabled: bool | None = None  # None: where there are templates
    begins: bool = False  # a run for whatever leads to none
    idle_s: float = 0.0  # of runs that begin by themselves
    reads_while_paused: bool = True

    @property
    def is_on(self) -> bool:
        """Whether calls are looked up at all."""
        enabled = self.is_enabled
        return bool(self.revision().templates) if enabled is None else enabled

    def places(self, case: Case) -> bool:
        """Whether the run of a call has to be looked up."""
        if case.call.run is not None:
            return True
        enabled = self.is_enabled
        return bool(case.revision.templates) if enabled is None else enabled

    async def placed(self, case: Case) -> Case | Refusal:
        """Return a call's case in its run, as it was without one, or why the run can't be had."""
        if not self.places(case):
            return case
        places: tuple[Place, ...] = ()
        try:
            if case.call.run is None:
                places = binding.places(case.call, self.chain)
            bound = await self._bound(case.call, places, with_counts=_may_write(case.contract))
        except Conflict as error:
            return Refusal(status=Status.RUN_CONFLICT, code="run_conflict", reason=str(error))
        except BadRun as error:
            return _no_run(str(error))
        except StoreUnavailable as error:
            return _unavailable(error)
        if isinstance(bound, Refusal):
            return bound
        # What the gateway calls by itself has its key, or needs none.
        within = binding.within(places) if places else case.within
        if bound is None:
            return replaced(case, within=within)
        run, actor = bound.run, case.actor
        return replaced(
            case,
            within=within,
            run=run,
            run_id=run.run_id,
            bound_by=bound.kind,
            phase=run.phase,
            # What works for another run may do less than who it works for.
            actor=replace(actor, scopes=actor.scopes & run.scopes) if run.parent else actor,
            reads_while_paused=self.reads_while_paused,
        )

    async def _bound(
        self, call: ProposedCall, places: tuple[Place, ...], *, with_counts: bool
    ) -> Bound | Refusal | None:
        """Return the run of a call, None for one without, or why it can't be had.

        Raises StoreUnavailable, and BadRun for a phase that there is not.
        """
        if call.run is not None:  # the gateway's own call, in the run of its operation
            run = await self.runs.get(call.run.value)
            return Bound(run=run, kind=call.run.kind) if run is not None else None
        phase = binding.asked_phase(call.meta)
        found = await self.runs.bound(call.principal, places, with_counts=with_counts)
        bound = found[0] if found else None
        if places[0].kind.is_explicit:
            if bound is None:
                return _no_run(f"there is no run `{places[0].value}` of yours")
            return bound if phase is None else await self._as_wanted(call, bound, phase)
        if bound is not None and bound.run.phase is not Phase.COMPLETED:
            return bound
        return await self._begun(call, places[0]) if self.begins else None

    def noted(self, run_id: str, at: datetime) -> None:
        """Note that a call was made in a run."""
        if run_id:
            self.runs.touched(run_id, at)

    async def entered(self, case: Case) -> Case | Refusal | Stale:
        """Move the run of a call that no operation is taken for, if it asks for that."""
        passage = case.passage
        if passage is None or passage.move_to is None:
            return case
        now = microseconds(self.clock.now())
        after = replaced(passage.run, phase=passage.move_to, active_at=now)
        told = self._told(Mover.CALL, case.actor, case.call.call_id)
        try:
            run = await self.runs.move(passage.run, after, told)
        except StoreUnavailable as error:
            return _unavailable(error)
        if run is None:
            return Stale()
        return replaced(case, run=run, passage=replaced(passage, run=run, move_to=None))

    async def _as_wanted(self, call: ProposedCall, bound: Bound, phase: Phase) -> Bound | Refusal:
        """Move a run into the phase that its host names with the call."""
        if MOVES not in call.principal.scopes:
            return Refusal(
                status=Status.FORBIDDEN,
                code="run_phase",
                reason=f"a phase is named by hosts with the scope `{MOVES}`",
                scopes=(MOVES,),
            )
        run: Run | None = bound.run
        for _ in range(_MOST_TRIES):
            if run is None or run.phase is phase:
                break
            template = self.revision().templates.get(run.template)
            now = microseconds(self.clock.now())
            after = moves.moved(run, phase, Mover.HOST, template, now=now)
            if isinstance(after, Blocked):
                return moves.refusal(after)
            told = self._told(Mover.HOST, actor_of(call.principal), call.call_id)
            run = await self.runs.change(run, after, told) or await self.runs.get(run.run_id)
        return Bound(run=run, kind=bound.kind) if run is not None else _no_run("the run is gone")

    async def _begun(self, call: ProposedCall, place: Place) -> Bound | Refusal:
        """Begin a run for what leads to none; calls that do so at once get the same one.

        A call that can't have a run of its own is not made without one: limits and rules count on
        it.
        """
        principal, now = call.principal, microseconds(self.clock.now())
        run = Run(
            run_id=ids.new("run"),
            tenant=principal.tenant,
            owner=self.runs.owner(principal),
            user=principal.user,
            roles=principal.roles,
            scopes=principal.scopes,
            client=principal.client,
            phase=Phase.RETRIEVING,  # there is no template, and so nothing to plan by
            created_at=now,
            active_at=now,
            idle_s=self.idle_s,
        )
        told = self._told(Mover.CALL, actor_of(principal), call.call_id)
        try:
            begun = await self.runs.start(run, [place], lambda new: told(None, new), joins=True)
        except TooManyRuns as error:
            return Refusal(
                status=Status.LIMIT_EXCEEDED,
                code="run_too_many",
                reason=f"the call would begin a run, and {error}",
                retry_after_s=_LATER_S,
            )
        return Bound(run=begun, kind=place.kind)

    def _told(self, by: Mover, actor: Actor, call: str) -> Callable[[Run | None, Run], list[Event]]:
        def tell(before: Run | None, after: Run) -> list[Event]:
            return [
                events.event(
                    before,
                    after,
                    by=by,
                    id=ids.ulid(),
                    at=self.clock.now(),
                    redactor=self.redactor,
                    actor=actor,
                    call=call,
                )
            ]

        return tell


def _may_write(contract: Contract) -> bool:
    """Whether a call of a tool may ask its run for a phase whose guards count."""
    return contract.effect is not Effect.READ or bool(contract.raises)


def _unavailable(error: StoreUnavailable) -> Refusal:
    return Refusal(
        status=Status.AUDIT_UNAVAILABLE,
        code="run_unavailable",
        reason=f"its run could not be looked up: {error}",
    )


def _no_run(reason: str) -> Refusal:
    return Refusal(
        status=Status.INVALID_ARGUMENTS,
        code="unknown_run",
        reason=reason,
        next="leave the run out, or name one that `run_start` or the host gave you",
    )
