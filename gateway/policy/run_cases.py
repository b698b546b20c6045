"""Runs that nobody has begun: what a policy test or an explanation says of the run of its call."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Annotated, Final, TypeAlias

from pydantic import Field, StrictBool, StrictInt, model_validator

from gateway.policy.rules import AnyJson, Model, Name
from gateway.policy.run_rules import FieldName, ToolNames
from gateway.types.actors import Actor
from gateway.types.json import Json
from gateway.types.runs import BindingKind, Bound, Collected, Mode, Phase, Run, StopReason, Trust
from gateway.yamltext.models import suggest

# Templates that are known, by name, with their mode and the names of their fields.
Known: TypeAlias = Mapping[str, tuple[Mode, Collection[str]]]
Number: TypeAlias = Annotated[StrictInt, Field(ge=0)]
RUN_ID: Final = "run_test"


class RunUnderTest(Model):
    """A run as it is when the call comes; what isn't named is as in one that has just begun."""

    template: Name | None = None
    phase: Phase | None = None
    mode: Mode | None = None
    bound_by: BindingKind = BindingKind.META
    fields: dict[FieldName, AnyJson] = Field(default_factory=dict[str, Json])
    said: dict[FieldName, AnyJson] = Field(default_factory=dict[str, Json])
    objective: str = ""
    task: str = ""
    evidence: Number = 0
    calls: Number = 0
    tokens: Number = 0
    open_ops: Number = 0
    pending_approvals: Number = 0
    succeeded: ToolNames = ()
    verified: ToolNames = ()
    tainted: StrictBool = False
    paused: StrictBool = False
    stop: StopReason | None = None
    resume_phase: Phase | None = None

    @model_validator(mode="after")
    def _said_or_known(self) -> "RunUnderTest":
        both = next((name for name in self.said if name in self.fields), None)
        if both is not None:
            raise ValueError(f"has `{both}` in `fields` and in `said`; remove one of them")
        return self

    @model_validator(mode="after")
    def _comes_back_from_waiting(self) -> "RunUnderTest":
        if self.resume_phase is not None and self.phase is not Phase.AWAITING_APPROVAL:
            raise ValueError(
                "comes back to `resume_phase` from `awaiting_approval` only; set that as its "
                "`phase`"
            )
        return self

    def fault(self, known: Known) -> str:
        """Say what of the run there can't be, or return an empty text."""
        if self.template is None:
            return ""
        if self.template not in known:
            return f"no run template `{self.template}`{suggest(self.template, [*known])}"
        _, fields = known[self.template]
        named = (*self.fields, *self.said)
        strange = next((name for name in named if name not in fields), None)
        if strange is None:
            return ""
        return f"`{self.template}` has no field `{strange}`{suggest(strange, [*fields])}"

    def bound(self, actor: Actor, phase: Phase, known: Known, now: datetime) -> Bound:
        """Return the run of an actor, and how it was found; `phase` unless it says its own."""
        return Bound(run=self._run(actor, phase, known, now), kind=self.bound_by)

    def _run(self, actor: Actor, phase: Phase, known: Known, now: datetime) -> Run:
        template = self.template or ""
        mode = known[template][0] if template in known else Mode.AUTO
        at = round(now.timestamp()) * 1_000_000
        verified = tuple(dict.fromkeys(self.verified))
        return Run(
            run_id=RUN_ID,
            tenant=actor.tenant,
            owner="",
            user=actor.user,
            roles=actor.roles,
            scopes=actor.scopes,
            client=actor.client,
            task_id=self.task,
            objective=self.objective,
            template=template,
            mode=self.mode or mode,
            phase=self.phase or phase,
            resume_phase=self.resume_phase,
            is_paused=self.paused or self.stop is StopReason.BLOCKED,
            stop_reason=self.stop,
            fields={
                name: Collected(value=value, trust=Trust.HOST, source="host", at=at)
                for name, value in self.fields.items()
            }
            | {
                name: Collected(value=value, trust=Trust.MODEL, source="model", at=at)
                for name, value in self.said.items()
            },
            is_tainted=self.tainted,
            created_at=at,
            active_at=at,
            evidence=self.evidence,
            calls=self.calls,
            tokens=self.tokens,
            open_ops=self.open_ops,
            pending_approvals=self.pending_approvals,
            verified=verified,
            # What was verified has succeeded.
            succeeded=tuple(dict.fromkeys((*self.succeeded, *verified))),
        )
