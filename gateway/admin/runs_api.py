"""What programs can do with runs over `/v1`.

A key sees the runs of its own tenant: those of its own user, or with `run:manage` of everybody
there. Whatever it may not see is not there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from gateway import jsontext
from gateway.actions import runs as telling
from gateway.actions.runs import Gathering, Sight
from gateway.admin import bodies
from gateway.admin.rest import Asked, Handler
from gateway.client import wire
from gateway.crossing.run_wishes import By, NewRun, Sees
from gateway.crossing.running import Running, Step, to_pause, to_phase, to_resume
from gateway.crossing.turning import turned
from gateway.events.turns import Turn
from gateway.revision import Revision
from gateway.runs.handover import Receiver
from gateway.store.runs import RunFilter, Runs
from gateway.types.calls import Principal, actor_of
from gateway.types.json import Json
from gateway.types.runs import Attempt, Evidence, Mover, Phase, Run, Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsApi:
    """The handlers of all endpoints; each raises Refused, RunRefused or StoreUnavailable."""

    running: Running
    gathering: Gathering
    runs: Runs
    revision: Callable[[], Revision]
    base_url: str  # where people decide

    def handlers(self) -> Mapping[str, Handler]:
        """Return them by the ids of their endpoints."""
        return {
            "start": self.start,
            "list": self.list_runs,
            "show": self.show,
            "package": self.package,
            "phase": self.phase,
            "fields": self.fields,
            "evidence": self.evidence,
            "usage": self.usage,
            "turns": self.turns,
            "pause": self.pause,
            "resume": self.resume,
            "finish": self.finish,
            "handoff": self.handoff,
            "cancel": self.cancel,
        }

    async def start(self, asked: Asked) -> wire.RunState:
        """Start a run; all agents of its user may use it, and nobody else's."""
        wanted, who = await bodies.body(asked.request, wire.StartRun), asked.principal
        other = wanted.on_behalf_of
        user = other.user if other is not None else who.user
        new = NewRun(
            tenant=who.tenant,
            owner=self.runs.owner_of(who.tenant, user),
            user=user,
            is_of_user=True,
            roles=frozenset(other.roles) if other is not None else who.roles,
            scopes=frozenset(wanted.scopes),
            client=who.client,
            task_id=wanted.task_id,
            objective=wanted.objective,
            template=wanted.template,
            mode=wanted.mode,
            parent=wanted.parent,
            fields=_values(wanted.fields),
        )
        run = await self.running.start(new, _by(who), attempt=self._attempt(asked, wanted))
        return self._state(run, who)

    async def list_runs(self, asked: Asked) -> wire.RunPage:
        """List runs."""
        wanted, sees = bodies.query(asked.request, wire.ListRuns), _sees(asked.principal)
        if sees.user and wanted.user not in ("", sees.user):
            return wire.RunPage(runs=[], is_cut=False)
        found = await self.runs.find(
            RunFilter(
                tenant=sees.tenant,
                user=sees.user or wanted.user,
                phase=wanted.phase or "",
                stop=wanted.stop_reason or "",
                template=wanted.template,
                task_id=wanted.task_id,
                is_open=wanted.is_open,
                since=wanted.since,
                limit=wanted.limit,
            )
        )
        return wire.RunPage(
            runs=[telling.brief(each, self._sight(asked.principal)) for each in found],
            is_cut=len(found) == wanted.limit,
        )

    async def show(self, asked: Asked) -> wire.RunState:
        """Show one run."""
        return self._state(await self._run(asked), asked.principal)

    async def package(self, asked: Asked) -> wire.Package:
        """Show what somebody needs to take a run over, as far as the key's scopes go."""
        return await self._packaged(await self._run(asked), asked.principal)

    async def phase(self, asked: Asked) -> wire.RunState:
        """Move a run."""
        wanted = await bodies.body(asked.request, wire.SetPhase)
        return self._state(
            await self._stepped(asked, to_phase(wanted.phase, Mover.HOST, wanted.note)),
            asked.principal,
        )

    async def fields(self, asked: Asked) -> wire.RunState:
        """Set fields."""
        wanted, by = await bodies.body(asked.request, wire.SetFields), _by(asked.principal)
        fields = {
            name: None
            if each is None
            else self.running.collected(each, wanted.source, Trust.HOST, by)
            for name, each in _values(wanted.fields).items()
        }
        return self._state(
            await self.running.set_fields(
                _id(asked),
                _sees(asked.principal),
                by,
                fields,
                version=bodies.version(asked.request),
            ),
            asked.principal,
        )

    async def evidence(self, asked: Asked) -> wire.RunState:
        """Collect references."""
        wanted = await bodies.body(asked.request, wire.AddEvidence)
        items = [(each.source, each.version, each.chunk) for each in wanted.items]
        return self._state(
            await self.running.add_evidence(
                _id(asked),
                _sees(asked.principal),
                _by(asked.principal),
                [Evidence(source=a, version=b, chunk=c) for a, b, c in items],
            ),
            asked.principal,
        )

    async def usage(self, asked: Asked) -> wire.RunState:
        """Add tokens."""
        wanted = await bodies.body(asked.request, wire.Usage)
        who = asked.principal
        run = await self.running.spend(_id(asked), _sees(who), _by(who), wanted.tokens)
        return self._state(run, who)

    async def turns(self, asked: Asked) -> wire.RunState:
        """Keep a model's turn."""
        wanted, who = await bodies.body(asked.request, wire.ModelTurn), asked.principal
        turn, attempt = _turn(wanted), self._attempt(asked, wanted)
        run = await turned(self.running, _id(asked), _sees(who), _by(who), turn, attempt=attempt)
        return self._state(run, who)

    async def pause(self, asked: Asked) -> wire.RunState:
        """Pause a run."""
        wanted = await bodies.body(asked.request, wire.Why)
        run = await self._stepped(asked, to_pause(wanted.reason))
        return self._state(run, asked.principal)

    async def resume(self, asked: Asked) -> wire.RunState:
        """Go on with a run."""
        wanted = await bodies.body(asked.request, wire.ResumeRun)
        run = await self._stepped(asked, to_resume(wanted.reason))
        return self._state(run, asked.principal)

    async def finish(self, asked: Asked) -> wire.RunState:
        """End a run."""
        wanted = await bodies.body(asked.request, wire.FinishRun)
        step = to_phase(Phase(wanted.outcome), Mover.HOST, wanted.note)
        return self._state(await self._stepped(asked, step), asked.principal)

    async def handoff(self, asked: Asked) -> wire.Package:
        """Hand a run over."""
        wanted = await bodies.body(asked.request, wire.HandOver)
        note = telling.handed(wanted.reason, wanted.to)
        run = await self._stepped(asked, to_phase(Phase.HANDOFF, Mover.HOST, note))
        return await self._packaged(run, asked.principal)

    async def cancel(self, asked: Asked) -> wire.RunState:
        """End a run that is no longer wanted."""
        wanted = await bodies.body(asked.request, wire.Why)
        note = f"cancelled: {wanted.reason}"
        run = await self._stepped(asked, to_phase(Phase.FAILED, Mover.HOST, note))
        return self._state(run, asked.principal)

    def _attempt(self, asked: Asked, wanted: wire.Request) -> Attempt | None:
        """Return what the same request comes with when it is made once more."""
        key = bodies.key(asked.request)
        if not key:
            return None
        body: Json = wanted.model_dump(mode="json")
        owner = self.runs.owner(asked.principal)
        return Attempt(owner=owner, key=key, body=jsontext.digest(body))

    async def _run(self, asked: Asked) -> Run:
        return await self.running.get(_id(asked), _sees(asked.principal))

    async def _stepped(self, asked: Asked, step: Step) -> Run:
        return await self.running.change(
            _id(asked),
            _sees(asked.principal),
            _by(asked.principal),
            step,
            version=bodies.version(asked.request),
        )

    def _state(self, run: Run, who: Principal) -> wire.RunState:
        return telling.state(run, self.running.template(run), self._sight(who))

    def _sight(self, who: Principal) -> Sight:
        reach = telling.reach(self.revision().contracts)
        return Sight(receiver=Receiver(scopes=who.scopes), reach=reach)

    async def _packaged(self, run: Run, who: Principal) -> wire.Package:
        package = await self.gathering.package(
            run,
            self.running.template(run),
            Receiver(scopes=who.scopes),
            self.revision().contracts,
        )
        return telling.packaged(package, page=self.base_url)


def _id(asked: Asked) -> str:
    return str(asked.request.path_params["run_id"])


def _sees(who: Principal) -> Sees:
    return Sees(tenant=who.tenant, user="" if "run:manage" in who.scopes else who.user)


def _by(who: Principal) -> By:
    return By(mover=Mover.HOST, actor=actor_of(who))


def _turn(said: wire.ModelTurn) -> Turn:
    return Turn(
        provider=said.provider,
        model=said.model,
        stop_reason=said.finish_reason,
        tool_calls=tuple((each.name, each.id) for each in said.tool_calls),
        input_tokens=said.input_tokens,
        output_tokens=said.output_tokens,
        duration_ms=said.duration_ms,
        error=said.error,
        input_digest=said.input_digest or "",
        output_digest=said.output_digest or "",
        input=_whole(said, "input"),
        output=_whole(said, "output"),
    )


def _whole(said: wire.ModelTurn, name: str) -> tuple[Json, ...]:
    """Return what a digest is to be made of, where it was sent: `null` is something too."""
    return (getattr(said, name),) if name in said.model_fields_set else ()


def _values(given: Mapping[str, wire.Json]) -> dict[str, Json]:
    return {name: cast("Json", each) for name, each in given.items()}  # JSON has no more kinds
