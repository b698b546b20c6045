"""All that a decision may depend on, and what judging it says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias

from gateway.revision import Revision
from gateway.types.actors import Actor
from gateway.types.calls import Method, ProposedCall
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.operations import Operation
from gateway.types.outcomes import Refusal
from gateway.types.runs import BindingKind, Passage, Phase, Run
from gateway.types.tools import Contract, Effect, Kind, Risk, SourceTrust, Tool
from gateway.types.values import value


@value
class Origin:
    """Where the store has seen one argument's value before: a type, and the record it was in."""

    type: str
    record: str
    tool: str
    trust: SourceTrust = SourceTrust.TENANT
    is_exact: bool = True  # else a larger number was seen there


@value
class Traced:
    """What the store knows of the arguments of one call."""

    origins: Mapping[JsonPointer, tuple[Origin, ...]]
    near: Mapping[JsonPointer, Json]
    """Of arguments without an origin: a value of an accepted type that is one slip away."""


@value
class Facts:
    """What was looked up for this call, once, before judging."""

    now: datetime  # UTC
    origins: Mapping[JsonPointer, tuple[Origin, ...]] = field(
        default_factory=dict[JsonPointer, tuple[Origin, ...]]
    )
    near: Mapping[JsonPointer, Json] = field(default_factory=dict[JsonPointer, Json])
    is_tainted: bool = False  # the actor was given results that others can write, in any run


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """What a contract has sent along beside the arguments: the server's idempotency key."""

    meta: JsonObject
    headers: Mapping[str, str]


_UNCLASSIFIED: Final = "unclassified"
# Names of the module for what every call asks: to find a member takes longer than to compare it.
_READ: Final = Effect.READ
_ALLOW: Final = DecisionEffect.ALLOW
_HELD: Final = DecisionEffect.REQUIRE_APPROVAL
_CALL_TOOL: Final = Method.CALL_TOOL
_EXTERNAL: Final = SourceTrust.EXTERNAL
_RESOURCE: Final = Kind.RESOURCE
_UNDECIDED: Final = Decision()
# A model is shown nothing of these: words that a person may choose from, and news of a change.
_FOR_PEOPLE: Final = frozenset({Method.COMPLETE, Method.SUBSCRIBE})


@value
class Case:
    """A call with everything a decision may depend on; what is learned starts at its worst."""

    call: ProposedCall
    tool: Tool
    contract: Contract
    actor: Actor
    phase: Phase
    facts: Facts
    revision: Revision
    run_id: str = ""
    run: Run | None = None  # as it was read for this very call
    bound_by: BindingKind | None = None  # how the call has found it
    within: tuple[str, ...] = ()  # the run or conversation that equal calls have in common
    reads_while_paused: bool = True  # whether a paused run lets reads through
    # Learned by the checks:
    arguments: JsonObject | None = None  # None: unchecked, and never sent
    effect: Effect = Effect.DESTRUCTIVE
    risk: Risk = Risk.CRITICAL
    risk_reason: str = _UNCLASSIFIED
    held: str = ""  # why a person has to decide, when a check other than policy says so
    notes: tuple[str, ...] = ()
    decision: Decision = _UNDECIDED
    passage: Passage | None = None  # how it passes its run, for whoever sends it
    # Learned by the claim of a call that may change something:
    operation: Operation | None = None
    injected: Injected | None = None

    @property
    def is_classified(self) -> bool:
        """Whether a check has said what the call does; until then the worst is assumed."""
        return self.risk_reason != _UNCLASSIFIED

    @property
    def is_plain_read(self) -> bool:
        """Whether none of the durable steps apply: a read that is allowed and not limited."""
        if self.effect is not _READ:
            return False
        decision = self.decision
        return decision.effect is _ALLOW and not decision.limits

    @property
    def is_claimed(self) -> bool:
        """Whether an operation is taken for it: anything but a read that is allowed."""
        if self.effect is not _READ and self.call.method is _CALL_TOOL:
            return True
        return self.decision.effect is _HELD

    @property
    def is_tainted(self) -> bool:
        """Whether others could write into what its run was shown, or its actor anywhere.

        What an actor has read stays with whoever reads for it: another run is no clean start.
        """
        return self.facts.is_tainted or (self.run is not None and self.run.is_tainted)

    @property
    def taints(self) -> bool:
        """Whether its result makes calls after it doubtful; each such result counts anew."""
        if self.contract.result_trust is not _EXTERNAL:
            return False
        if self.call.method in _FOR_PEOPLE:
            return False
        return self.run is not None or self.revision.minds_taint

    @property
    def leaves_traces(self) -> bool:
        """Whether something of its result is kept, for calls after it to be judged by."""
        contract = self.contract
        if not (contract.yields or self.run_id or contract.result_trust is _EXTERNAL):
            return False  # like most reads
        if self.call.cause:
            return False  # nobody but the gateway gets to see it
        return bool(
            contract.yields
            or self.taints
            or (self.run_id and (contract.retrieval or self.tool.kind is _RESOURCE))
        )


Check: TypeAlias = Callable[[Case], Case | Refusal]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the reasoning."""

    step: str
    outcome: str  # passed | changed | refused
    reason: str = ""


@value
class Verdict:
    """The outcome of judging: the case as it ended, and the refusal if there is one."""

    case: Case
    refusal: Refusal | None
    findings: tuple[Finding, ...]  # empty unless it is to be explained
