"""What each phase of a run allows, as one table."""

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.types.runs import Phase
from gateway.types.tools import Effect, Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """Which calls a phase lets through, before policy has its say."""

    reads: bool
    low_writes: bool = False  # writes of class low or medium
    high_writes: bool = False  # writes of class high or critical, and everything destructive


ALLOWS: Mapping[Phase, Allowance] = {
    Phase.CREATED: Allowance(reads=True),
    Phase.PLANNING: Allowance(reads=True),
    Phase.RETRIEVING: Allowance(reads=True),
    Phase.ACTING: Allowance(reads=True, low_writes=True, high_writes=True),
    Phase.AWAITING_APPROVAL: Allowance(reads=True),
    Phase.FINALIZING: Allowance(reads=True),
    Phase.COMPLETED: Allowance(reads=False),
    Phase.HANDOFF: Allowance(reads=False),
    Phase.FAILED: Allowance(reads=True),
}


def allows(phase: Phase, effect: Effect, risk: Risk) -> bool:
    """Say whether a call of this effect and class may go ahead in this phase."""
    allowance = ALLOWS[phase]
    match effect:
        case Effect.READ:
            return allowance.reads
        case Effect.WRITE if risk.rank < Risk.HIGH.rank:
            return allowance.low_writes
        case _:
            return allowance.high_writes
