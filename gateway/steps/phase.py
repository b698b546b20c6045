"""Step 6: does the phase of the run allow a call of this effect and class?"""

from gateway.case import Case
from gateway.runs import machine
from gateway.types.outcomes import Refusal, Status


def check(case: Case) -> Case | Refusal:
    """Refuse what the phase has no room for."""
    if machine.allows(case.phase, case.effect, case.risk):
        return case
    return Refusal(
        status=Status.PHASE_BLOCKED,
        code="phase_blocked",
        reason=f"the phase `{case.phase}` allows no {case.effect} of class {case.risk}",
    )
