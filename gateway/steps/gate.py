"""Step 10: a person's decision, bound to this exact call."""

from gateway.case import Case
from gateway.types.decisions import DecisionEffect
from gateway.types.outcomes import Refusal, Status


def check(case: Case) -> Case | Refusal:
    """Refuse a call that a person has to allow: there is nobody here who could be asked."""
    if case.decision.effect is not DecisionEffect.REQUIRE_APPROVAL:
        return case
    return unapproved(case.decision.reason, case.decision.rule)


def unapproved(because: str, rule: str = "") -> Refusal:
    """Refuse what a person would have to allow."""
    why = f": {because}" if because else ""
    return Refusal(
        status=Status.APPROVAL_DENIED,
        code="no_approver_surface",
        rule=rule,
        reason=f"a person has to approve this call, and no approver surface is configured{why}",
    )
