"""Where runs are changed by whoever may: agents by tools, hosts over `/v1`, people by hand.

Each change is judged by the run as it is, and committed against that version with its event; when
another one came first, it is judged anew.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol, TypeAlias

from gateway import ids, jsontext
from gateway.clock import Clock
from gateway.crossing.run_wishes import By, Kind, NewRun, RunRefused, Sees
from gateway.events import runs as events
from gateway.events.redact import Redactor
from gateway.runs import moves
from gateway.runs.moves import Blocked
from gateway.runs.templates import Guard, Template
from gateway.store.run_attempts import KeyUsed
from gateway.store.run_changes import MOST_KEPT
from gateway.store.run_rows import MOST_AROUND
from gateway.store.runs import RunFilter, Started, Told, TooManyRuns
from gateway.store.times import microseconds
from gateway.types.events import Event
from gateway.types.json import Json
from gateway.types.runs import Attempt, Collected, Evidence, Mode, Mover, Phase, Place, Run, Trust
from gateway.types.values import replaced

_TRIES: Final = 8  # times that somebody else may come first
_SECOND: Final = 1_000_000
MOST_FIELDS: Final = 100
MOST_BYTES: Final = 8 << 10  # of one field: every call of a run reads all of them
FOREIGN: Final = frozenset({"host", "user"})  # sources that are somebody's word, and no result


class Rows(Protocol):
    """The tables of runs, as far as they are changed here; all raise StoreUnavailable."""

    async def get(self, run_id: str) -> Run | None:
        """Return one run, with its counts."""
        ...

    async def find(self, wanted: RunFilter) -> list[Run]:
        """Return runs that match, newest first, without their counts."""
        ...

    async def start(
        self,
        run: Run,
        places: Sequence[Place],
        told: Started,
        *,
        joins: bool = False,
        beside: Sequence[Place] = (),
        attempt: Attempt | None = None,
    ) -> Run:
        """Keep a new run and have values lead to it, or find the one that they lead to by now."""
        ...

    async def move(self, before: Run, after: Run, told: Told) -> Run | None:
        """Change a run as it was read, counts included; None where it is another one by now."""
        ...

    async def told_of(
        self,
        run: Run,
        told: Told,
        *,
        items: Sequence[Evidence] = (),
        tokens: int = 0,
        attempt: Attempt | None = None,
    ) -> Run:
        """Add references and tokens, with an event and no new version."""
        ...

    def touched(self, run_id: str, at: datetime, *, calls: int = 1, tokens: int = 0) -> None:
        """Note what was used for a run."""
        ...


Step: TypeAlias = Callable[[Run, Template | None, int], Run | Blocked]
"""A change: from a run, its template and the time (microseconds) to the run after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """Every verb on runs; all raise RunRefused, and StoreUnavailable."""

    runs: Rows
    templates: Callable[[], Mapping[str, Template]]
    """The templates in force."""
    is_on: Callable[[], bool]
    """Whether calls look for their runs."""
    idle_s: float
    """After so long without a call a run is stopped, where its template says nothing; 0: never."""
    redactor: Redactor
    clock: Clock

    async def start(
        self,
        new: NewRun,
        by: By,
        places: Sequence[Place] = (),
        *,
        attempt: Attempt | None = None,
    ) -> Run:
        """Make a run, and have the first of some places lead to it from now on.

        Refuses where they lead to one that is not completed: giving up is no way out of a pause,
        of guards or of limits. Out of what was given up only a person or host leads. The run of an
        `attempt` that was made before is returned as it stands by now.
        """
        if not self.is_on():
            raise RunRefused(
                kind=Kind.BLOCKED,
                reason="calls belong to no runs here",
                next="set `runs.enabled: true`, or put templates into `policies/runs`",
            )
        run = self._new(new)
        for name, each in new.fields.items():
            run = _or_refuse(_with(run, name, self._collected(each, new.source, by), self._of(run)))
        if new.parent:
            run = replaced(run, scopes=await self._scopes_within(new))
        try:
            begun = await self.runs.start(
                run,
                places[:1],
                lambda made: [self._event(None, made, by)],
                joins=True,
                beside=places[1:],
                attempt=attempt,
            )
        except KeyUsed as error:
            raise RunRefused(kind=Kind.KEY_USED, reason=str(error)) from None
        except TooManyRuns as error:
            then = "finish one of them first, or have it paused"
            raise RunRefused(kind=Kind.TOO_MANY, reason=str(error), next=then) from None
        if begun.run_id != run.run_id:
            if attempt is not None:
                return await self.get(begun.run_id, Sees(tenant=new.tenant))
            raise _taken(begun)
        return begun

    async def get(self, run_id: str, sees: Sees) -> Run:
        """Return one run with its counts; somebody else's is not there."""
        run = await self.runs.get(run_id)
        if run is None or not sees.lets(run):
            raise RunRefused(kind=Kind.NOT_FOUND, reason=f"there is no run `{run_id[:64]}`")
        return run

    async def change(
        self, run_id: str, sees: Sees, by: By, step: Step, *, version: int | None = None
    ) -> Run:
        """Take a step with a run, of the version that is meant or of any."""
        for _ in range(_TRIES):
            before = await self.get(run_id, sees)
            if version is not None and before.version != version:
                raise _changed(before)
            now = microseconds(self.clock.now())
            after = _or_refuse(step(before, self._of(before), now))
            done = await self.runs.move(before, after, self._told(by))
            if done is not None:
                return done
        raise RunRefused(
            kind=Kind.CHANGED, reason="the run keeps changing", next="try it again in a moment"
        )

    async def set_fields(
        self,
        run_id: str,
        sees: Sees,
        by: By,
        fields: Mapping[str, Collected | None],
        *,
        version: int | None = None,
    ) -> Run:
        """Set fields, or take those away that are None."""

        def step(run: Run, template: Template | None, now: int) -> Run | Blocked:
            del now
            for name, each in fields.items():
                kept = run.fields.get(name)
                if by.mover is Mover.AGENT and kept is not None and kept.trust is Trust.HOST:
                    return Blocked(
                        reason=f"`{name}` was set by the host, or by the user",
                        next="go by that value",
                    )
                after = _without(run, name) if each is None else _with(run, name, each, template)
                if isinstance(after, Blocked):
                    return after
                run = after
            if len(run.fields) > MOST_FIELDS:
                return Blocked(reason=f"a run has at most {MOST_FIELDS} fields")
            return run

        return await self.change(run_id, sees, by, step, version=version)

    async def add_evidence(self, run_id: str, sees: Sees, by: By, items: Sequence[Evidence]) -> Run:
        """Collect references to what was read; refuses when a run has no room for any more."""
        run = await self.open(run_id, sees)
        if run.evidence >= MOST_KEPT:
            raise RunRefused(
                kind=Kind.BLOCKED,
                reason=f"the run has {MOST_KEPT} references, and no more are kept",
            )
        return await self.runs.told_of(run, self._told(by), items=items)

    async def spend(self, run_id: str, sees: Sees, by: By, tokens: int) -> Run:
        """Add tokens to what was spent on a run."""
        run = await self.open(run_id, sees)
        return await self.runs.told_of(run, self._told(by), tokens=tokens)

    def noted(self, run: Run) -> None:
        """Note that something was asked of a run: it is at work."""
        self.runs.touched(run.run_id, self.clock.now(), calls=0)

    def collected(self, value: Json, source: str, trust: Trust, by: By) -> Collected:
        """Return a value as it is kept."""
        now = microseconds(self.clock.now())
        return Collected(value=value, trust=trust, source=source, at=now, call_id=by.call)

    def template(self, run: Run) -> Template | None:
        """Return the template of a run, as it is in force; None without one."""
        return self._of(run)

    def _collected(self, value: Json, source: str, by: By) -> Collected:
        trust = Trust.HOST if source in FOREIGN else Trust.MODEL
        return self.collected(value, source, trust, by)

    def _of(self, run: Run) -> Template | None:
        """Return a run's template; in place of one that is gone, one whose guards never hold."""
        return (self.templates().get(run.template) or _gone(run.template)) if run.template else None

    def _new(self, new: NewRun) -> Run:
        template = self._named(new.template)
        now = microseconds(self.clock.now())
        wall_s = template.wall_s if template is not None else 0.0
        idle_s = template.idle_s if template is not None else 0.0
        mode = new.mode or (template.mode if template is not None else Mode.AUTO)
        return Run(
            run_id=ids.new("run"),
            tenant=new.tenant,
            owner=new.owner,
            user=new.user,
            is_of_user=new.is_of_user,
            roles=new.roles,
            scopes=new.scopes,
            client=new.client,
            task_id=new.task_id,
            objective=new.objective or (template.objective if template is not None else ""),
            template=new.template,
            mode=mode,
            parent=new.parent,
            created_at=now,
            active_at=now,
            ends_at=now + round(wall_s * _SECOND) if wall_s else 0,
            idle_s=idle_s or self.idle_s,
        )

    def _named(self, name: str) -> Template | None:
        if not name:
            return None
        known = self.templates()
        if name not in known:
            said = ", ".join(f"`{each}`" for each in sorted(known)) or "none"
            raise RunRefused(
                kind=Kind.INVALID,
                reason=f"there is no template `{name[:64] if name.isprintable() else '…'}`",
                next=f"there are: {said}",
            )
        return known[name]

    async def _scopes_within(self, new: NewRun) -> frozenset[str]:
        """Return what a run inside of another one may do at most: what is named, and never more.

        Refuses one inside of a run that is not there, or that is over.
        """
        parent = await self.runs.get(new.parent)
        if parent is None or parent.tenant != new.tenant or parent.user != new.user:
            raise RunRefused(kind=Kind.INVALID, reason=f"there is no run `{new.parent[:64]}`")
        if parent.phase.is_final:
            raise RunRefused(
                kind=Kind.BLOCKED,
                reason=f"the run `{parent.run_id}` is over: it is `{parent.phase}`",
            )
        await self._within_depth(parent)
        return new.scopes & parent.scopes if parent.parent else new.scopes

    async def _within_depth(self, parent: Run) -> None:
        """Refuse what would be deeper inside of other runs than calls look."""
        above: Run | None = parent
        for _ in range(MOST_AROUND):
            if above is None or not above.parent:
                return
            above = await self.runs.get(above.parent)
        raise RunRefused(
            kind=Kind.INVALID, reason=f"at most {MOST_AROUND} runs are around one another"
        )

    async def open(self, run_id: str, sees: Sees) -> Run:
        """Return a run that goes on; refuses one that is over."""
        run = await self.get(run_id, sees)
        return _or_refuse(moves.over(run) if run.phase.is_final else run)

    def _told(self, by: By) -> Told:
        return lambda before, after: [self._event(before, after, by)]

    def _event(self, before: Run | None, after: Run, by: By) -> Event:
        return events.event(
            before,
            after,
            by=by.mover,
            id=ids.ulid(),
            at=self.clock.now(),
            redactor=self.redactor,
            actor=by.actor,
            call=by.call,
        )


def _gone(name: str) -> Template:
    """Return what stands for a template that was taken out of the policy: nothing goes on by it."""
    guard = Guard(text=f"the template `{name}` is not in force any more", holds=lambda run: False)
    return Template(name=name, enter_when=dict.fromkeys(Phase, (guard,)), completed_when=(guard,))


def to_phase(to: Phase, by: Mover, note: str = "") -> Step:
    """Return the step into a phase, be it the end of the run."""

    def step(run: Run, template: Template | None, now: int) -> Run | Blocked:
        if to.is_final:
            return moves.ended(run, to, by, template, now=now, note=note)
        after = moves.moved(run, to, by, template, now=now)
        return replaced(after, note=note) if isinstance(after, Run) and note else after

    return step


def to_pause(note: str) -> Step:
    """Return the step into a pause."""
    return lambda run, template, now: moves.paused(run, note=note)


def to_resume(note: str = "") -> Step:
    """Return the step out of a pause; the note says why it goes on."""

    def step(run: Run, template: Template | None, now: int) -> Run | Blocked:
        after = moves.resumed(run, template, now=now)
        return replaced(after, note=note) if isinstance(after, Run) else after

    return step


def _with(run: Run, name: str, field: Collected, template: Template | None) -> Run | Blocked:
    if len(jsontext.dump(field.value)) > MOST_BYTES:
        return Blocked(
            reason=f"`{name}` is larger than {MOST_BYTES} bytes",
            next="set a reference to it, such as an id",
        )
    return moves.collected(run, name, field, template)


def _without(run: Run, name: str) -> Run | Blocked:
    if run.phase.is_final:
        return moves.over(run)
    return replaced(run, fields={key: each for key, each in run.fields.items() if key != name})


def _or_refuse(after: Run | Blocked) -> Run:
    if isinstance(after, Run):
        return after
    raise RunRefused(kind=Kind.BLOCKED, reason=after.reason, missing=after.missing, next=after.next)


def _taken(run: Run) -> RunRefused:
    """Say which run stands in the way of a new one, and who gets it out of there."""
    why = f"the run `{run.run_id}` goes on"
    then = "work in it, and finish it before you begin another"
    if run.phase.is_final or run.is_paused:
        why = f"the run `{run.run_id}` is " + (f"`{run.phase}`" if run.phase.is_final else "paused")
        then = "a person or the host has to resume it first"
    return RunRefused(kind=Kind.OPEN, reason=why, next=then)


def _changed(run: Run) -> RunRefused:
    return RunRefused(
        kind=Kind.CHANGED,
        reason=f"the run has version {run.version} by now",
        next="look at it, and decide anew",
    )
