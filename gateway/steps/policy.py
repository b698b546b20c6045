"""Step 7: allow, deny or require approval, by the rules in force."""

from dataclasses import replace

from gateway.case import Case
from gateway.policy.request import PolicyRequest
from gateway.types.decisions import DecisionEffect
from gateway.types.outcomes import Refusal, Status


def decide(case: Case) -> Case | Refusal:
    """Write the policy's word into the case; a denial is turned into a refusal by `judge`."""
    decision = case.revision.policy.decide(request(case))
    if case.held and decision.effect is DecisionEffect.ALLOW:
        decision = replace(
            decision,
            effect=DecisionEffect.REQUIRE_APPROVAL,
            code="provenance_unproven",
            reason=case.held,
        )
    raised = decision.risk
    risk = raised if raised is not None and raised.rank > case.risk.rank else case.risk
    return replace(case, decision=decision, risk=risk)


def may_list(case: Case) -> Case | Refusal:
    """Keep a tool in the list when some rule could let this caller use it."""
    if case.revision.policy.may(request(case)):
        return replace(case, decision=replace(case.decision, effect=DecisionEffect.ALLOW))
    return Refusal(status=Status.DENIED, code="not_listed", reason="no rule could allow this tool")


def refusal(case: Case) -> Refusal:
    """Say no in the words of the deciding rule."""
    decision = case.decision
    return Refusal(
        status=Status.DENIED,
        code=decision.code,
        rule=decision.rule,
        reason=decision.reason or "the policy does not allow this call",
    )


def request(case: Case) -> PolicyRequest:
    """Everything that rules may look at."""
    return PolicyRequest(
        tool=case.tool.key,
        server=case.tool.server,
        effect=case.effect,
        risk=case.risk,
        pin=case.tool.pin,
        pinned=case.contract.pin,
        actor=case.actor,
        phase=case.phase,
        arguments=case.arguments if case.arguments is not None else {},
        now=case.facts.now,
        run_id=case.run_id,
    )
