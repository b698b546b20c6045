"""Tools by which agents begin their runs, say what they know, and how far they are.

They change runs of whoever calls, as the agent that he is: phases are guarded, a field is the
model's word unless a result bears it out, and what is paused stays so.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from gateway.crossing.run_wishes import By, Kind, NewRun, RunRefused, Sees
from gateway.crossing.running import Running, Step, to_phase
from gateway.errors import StoreUnavailable
from gateway.relay import run_definitions, run_words
from gateway.relay.run_words import Bringers
from gateway.relay.tools import OwnTool, invalid, told
from gateway.runs import binding
from gateway.runs.binding import BadRun, Chain, Conflict
from gateway.runs.handover import Reach, Receiver, given
from gateway.runs.moves import Blocked
from gateway.runs.origins import MODEL
from gateway.runs.templates import Template
from gateway.types.actors import Actor
from gateway.types.calls import Principal, ProposedCall, actor_of
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Execution
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.own import Own
from gateway.types.runs import SPEAKERS, Bound, Mover, Phase, Place, Run, Trust
from gateway.types.values import replaced

_STATUS: Final = {
    Kind.NOT_FOUND: Status.INVALID_ARGUMENTS,
    Kind.INVALID: Status.INVALID_ARGUMENTS,
    Kind.BLOCKED: Status.PHASE_BLOCKED,
    Kind.OPEN: Status.PHASE_BLOCKED,
    Kind.TOO_MANY: Status.LIMIT_EXCEEDED,
    Kind.CHANGED: Status.BUSY,
    Kind.KEY_USED: Status.IDEMPOTENCY_CONFLICT,
}
_AFTER_S: Final = {Kind.CHANGED: 1.0, Kind.TOO_MANY: 60.0}
_START: Final = "begin one with `run_start`, or name one with `run_id`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighted:
    """The type that a value was returned as in a run; empty for none that was asked for."""

    type: str = ""
    trust: Trust = Trust.MODEL  # HINT: others can write what was returned


_NAMED: Final = "work in that run; `run_status` says how far it is"
_OTHER: Final = "leave the run out, or name one that `run_start` or the host gave you"

Seen: TypeAlias = Callable[[Actor, str, Json, Sequence[str]], Awaitable[Sighted]]
"""How a value was returned in a run, as one of some types: the surest, then the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTools:
    """Answers calls of these tools."""

    running: Running
    bound: Callable[[Principal, Sequence[Place]], Awaitable[Sequence[Bound]]]
    """The runs of a principal that places lead to, with their counts."""
    owner: Callable[[Principal], str]
    """The digest that stands for a whole principal."""
    seen: Seen
    tainted: Callable[[Actor], Awaitable[bool]]
    """Whether somebody was given what others can write, in whatever run."""
    reach: Callable[[], Reach]
    """What values take to be seen, by the contracts in force."""
    bringers: Callable[[Actor], Bringers]
    """Which tools bring a caller what his run lacks."""
    chain: Chain = field(default_factory=Chain)

    def tools(self, where: Callable[[Own], Callable[[], bool]]) -> tuple[OwnTool, ...]:
        """Return them; `where` says of each whether it is offered."""
        answers: Mapping[Own, Callable[[ProposedCall], Awaitable[Answer | Refusal]]] = {
            Own.RUN_START: self._start,
            Own.RUN_STATUS: self._status,
            Own.RUN_SET_FIELD: self._set_field,
            Own.RUN_SET_PHASE: self._set_phase,
            Own.RUN_FINISH: self._finish,
            Own.RUN_HANDOFF: self._hand_over,
        }
        return tuple(
            OwnTool(
                definition=run_definitions.ALL[name],
                shown=self._shown_start if name is Own.RUN_START else None,
                is_offered=where(name),
                answer=self._guarded(answer),
            )
            for name, answer in answers.items()
        )

    def _guarded(
        self, answer: Callable[[ProposedCall], Awaitable[Answer | Refusal]]
    ) -> Callable[[ProposedCall], Awaitable[Answer | Refusal]]:
        async def guarded(call: ProposedCall) -> Answer | Refusal:
            try:
                return await answer(call)
            except RunRefused as refused:
                return _refusal(refused)
            except Conflict as error:
                return Refusal(status=Status.RUN_CONFLICT, code="run_conflict", reason=str(error))
            except BadRun as error:
                return invalid(str(error), code="run_id")
            except StoreUnavailable as error:
                return Refusal(
                    status=Status.AUDIT_UNAVAILABLE,
                    code="run_unavailable",
                    reason=f"nobody knows whether it was done: {error}",
                    executed=Execution.UNKNOWN,
                    next="look at the run with `run_status` before you ask for it again",
                )

        return guarded

    def _shown_start(self) -> JsonObject:
        """Return the definition by which a model learns what kinds of work there are."""
        return run_definitions.start(run_words.offered(self.running.templates()))

    async def _start(self, call: ProposedCall) -> Answer | Refusal:
        """Begin a run, and have what this call came by lead to it from now on."""
        places = binding.places(call, self.chain)
        if places[0].kind.is_explicit:
            reason = "the host has named the run of this call already"
            return invalid(reason, code="run_named", next=_NAMED)
        who, arguments = call.principal, call.arguments
        new = NewRun(
            tenant=who.tenant,
            owner=self.owner(who),
            user=who.user,
            roles=who.roles,
            scopes=who.scopes,
            client=who.client,
            objective=str(arguments["objective"]),
            template=str(arguments.get("template", "")),
        )
        run = await self.running.start(new, _by(call), places)
        text = f"The run `{run.run_id}` has begun."
        offered = "" if run.template else run_words.offered(self.running.templates())
        return self._said(
            call, run, f"{text} It has no template, of {offered}." if offered else text
        )

    async def _status(self, call: ProposedCall) -> Answer | Refusal:
        run = await self._run(call)
        wary = replaced(run, is_tainted=await self._is_tainted(call, run))
        return self._said(call, wary, f"The run `{run.run_id}` is in `{run.phase}`.{_held(run)}")

    async def _set_field(self, call: ProposedCall) -> Answer | Refusal:
        """Keep a value, with the type of the result that it was returned in where there is one."""
        run, arguments = await self._run(call), call.arguments
        name, value = str(arguments["name"]), arguments["value"]
        named = str(arguments.get("source", ""))
        template = self.running.template(run)
        if named in SPEAKERS:
            reason = "`source` names a type that results yield, and nobody's word"
            return invalid(reason, code="source", next="leave `source` out, or name such a type")
        types = (named,) if named else _types(template, name)
        sighted = await self.seen(actor_of(call.principal), run.run_id, value, types)
        source = sighted.type
        if not source and (named or (_takes_no_word(template, name) and not _stands(run, name))):
            return self._unseen(call, run, types)
        collected = self.running.collected(value, source or MODEL, sighted.trust, _by(call))
        after = await self.running.set_fields(
            run.run_id, self._sees(run), _by(call), {name: collected}
        )
        return self._said(call, after, f"`{name}` is set, from `{collected.source}`.")

    def _unseen(self, call: ProposedCall, run: Run, types: Sequence[str]) -> Refusal:
        """Refuse a value that no result of the run has brought, and name the tools that do."""
        bring = self._bring(call, run).of_types(types)
        named = " or ".join(f"`{each[:64]}`" for each in types)
        return Refusal(
            status=Status.PROVENANCE_FAILED,
            code="not_seen",
            reason=f"this value was not returned as {named} in this run",
            next=run_words.look_up(bring, "set the field"),
        )

    def _bring(self, call: ProposedCall, run: Run) -> Bringers:
        actor = actor_of(call.principal)
        within = actor.scopes & run.scopes if run.parent else actor.scopes
        return self.bringers(replace(actor, scopes=within))

    async def _set_phase(self, call: ProposedCall) -> Answer | Refusal:
        phase, note = Phase(str(call.arguments["phase"])), _text(call, "note")
        run = await self._changed(call, to_phase(phase, Mover.AGENT, note))
        return self._said(call, run, f"The run is in `{run.phase}`.")

    async def _finish(self, call: ProposedCall) -> Answer | Refusal:
        outcome = Phase(str(call.arguments["outcome"]))
        run = await self._changed(call, to_phase(outcome, Mover.AGENT, _text(call, "note")))
        return self._said(call, run, f"The run is `{run.phase}`.")

    async def _hand_over(self, call: ProposedCall) -> Answer | Refusal:
        to, reason = _text(call, "to"), _text(call, "reason")
        note = f"for {to}: {reason}" if to else reason
        await self._changed(call, to_phase(Phase.HANDOFF, Mover.AGENT, note))
        run = await self._run(call)
        return self._said(
            call, run, "The run is handed over; leave the rest to whoever has it now."
        )

    async def _changed(self, call: ProposedCall, step: Step) -> Run:
        run = await self._run(call)
        wary = self._wary(step, is_tainted=await self._is_tainted(call, run))
        return await self.running.change(run.run_id, self._sees(run), _by(call), wary)

    async def _is_tainted(self, call: ProposedCall, run: Run) -> bool:
        """Whether guards have to beware, as those of calls do: of what was read elsewhere too."""
        template = self.running.template(run)
        if run.is_tainted or template is None or not template.reads_taint:
            return run.is_tainted
        return await self.tainted(actor_of(call.principal))

    @staticmethod
    def _wary(step: Step, *, is_tainted: bool) -> Step:
        """Have a step judged with what its model has read, which is no part of the run itself."""

        def wary(run: Run, template: Template | None, now: int) -> Run | Blocked:
            after = step(replaced(run, is_tainted=run.is_tainted or is_tainted), template, now)
            return replaced(after, is_tainted=run.is_tainted) if isinstance(after, Run) else after

        return wary

    async def _run(self, call: ProposedCall) -> Run:
        """Return the run that a call names, or is in; raises RunRefused, BadRun and Conflict."""
        named = _text(call, "run_id")
        places = binding.places(call, self.chain, of_tool=named)
        found = await self.bound(call.principal, places)
        if found:
            self.running.noted(found[0].run)
            return found[0].run
        if places[0].kind.is_explicit:
            reason = f"there is no run `{places[0].value}` of yours"
            raise RunRefused(kind=Kind.NOT_FOUND, reason=reason, next=_OTHER)
        raise RunRefused(kind=Kind.NOT_FOUND, reason="this call belongs to no run", next=_START)

    def _sees(self, run: Run) -> Sees:
        """Return the sight of whoever was led to a run: of this very one."""
        return Sees(tenant=run.tenant, user=run.user, owners=frozenset({run.owner}))

    def _said(self, call: ProposedCall, run: Run, text: str) -> Answer:
        template = self.running.template(run)
        missing = run_words.missing(run, template)
        how = run_words.ways(run, missing, template, self._bring(call, run))
        scopes = call.principal.scopes
        receiver = Receiver(scopes=scopes & run.scopes if run.parent else scopes)
        fields = given(run, receiver, self.reach())
        said: JsonObject = {
            "run_id": run.run_id,
            "phase": run.phase.value,
            "objective": run.objective,
            "template": run.template,
            "paused": run.is_paused,
            **_holder(run),
            "fields": {each.name: each.value for each in fields if not each.is_withheld},
            "withheld": [each.name for each in fields if each.is_withheld],
            "evidence": run.evidence,
            "open_operations": run.open_ops,
            "pending_approvals": run.pending_approvals,
            "missing": {phase: list[Json](texts) for phase, texts in missing.items()},
            "how": {**how},
        }
        if run.stop_reason is not None:
            said["stop_reason"] = run.stop_reason.value
        if run.note:
            said["note"] = run.note
        return told(f"{text} {run_words.stands(run, fields, missing, how)}".rstrip(), said)


def _types(template: Template | None, name: str) -> tuple[str, ...]:
    """Return the types of results that a field may come from, by its template."""
    rule = template.fields.get(name) if template is not None else None
    sources = rule.sources if rule is not None else ()
    return tuple(each for each in sources if each not in SPEAKERS)


def _takes_no_word(template: Template | None, name: str) -> bool:
    """Whether a model can set a field only to what a result has brought."""
    rule = template.fields.get(name) if template is not None else None
    return rule is not None and MODEL not in rule.sources and bool(_types(template, name))


def _stands(run: Run, name: str) -> bool:
    """Whether a field stays as it is, whatever a model brings for it."""
    kept = run.fields.get(name)
    return run.phase.is_final or (kept is not None and kept.trust is Trust.HOST)


def _by(call: ProposedCall) -> By:
    return By(mover=Mover.AGENT, actor=actor_of(call.principal), call=call.call_id)


def _text(call: ProposedCall, name: str) -> str:
    return str(call.arguments.get(name, ""))


def _refusal(refused: RunRefused) -> Refusal:
    return Refusal(
        status=_STATUS[refused.kind],
        code="run_blocked" if refused.kind is Kind.BLOCKED else f"run_{refused.kind}",
        reason=refused.reason,
        next=refused.next,
        details=tuple({"missing": text} for text in refused.missing),
        retry_after_s=_AFTER_S.get(refused.kind),
    )


def _holder(run: Run) -> JsonObject:
    """Return what holds a run that is not paused itself."""
    by = run.held_by
    return {} if by is None else {"held_by": {"run_id": by.run_id, "is": by.stands}}


def _held(run: Run) -> str:
    by = run.held_by
    said = "" if by is None else f"The run `{by.run_id}` around it is {by.stands}: nothing changes."
    return said and f" {said}"
