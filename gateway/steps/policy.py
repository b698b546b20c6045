"""Step 7: allow, deny or require approval, by the rules in force."""

from dataclasses import replace

from gateway.case import Case
from gateway.policy.request import PolicyRequest
from gateway.steps import phase
from gateway.types.calls import Method
from gateway.types.causes import Cause
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.json import JsonObject
from gateway.types.outcomes import Refusal, Status
from gateway.types.values import maker, replaced

_request = maker(PolicyRequest)


def decide(case: Case) -> Case | Refusal:
    """Write the policy's word into the case; a denial is turned into a refusal by `judge`.

    A phase that had room for the class of the call is asked again when rules have raised it.
    """
    decision = asking(case, case.revision.policy.decide(request(case)))
    raised = decision.risk
    if raised is None or raised.rank <= case.risk.rank:
        return replaced(case, decision=decision)
    judged = replaced(case, decision=decision, risk=raised)
    return judged if decision.effect is DecisionEffect.DENY else phase.check(judged)


def asking(case: Case, decision: Decision) -> Decision:
    """Leave to people what policy allows, and another check has a doubt about."""
    if not case.held or decision.effect is not DecisionEffect.ALLOW:
        return decision
    return replace(
        decision,
        effect=DecisionEffect.REQUIRE_APPROVAL,
        code="provenance_unproven",
        reason=case.held,
    )


def may_list(case: Case) -> Case | Refusal:
    """Keep a tool, resource or prompt in its list when some rule could let this caller use it."""
    # One list is for all runs of its caller, so what rules say of runs may hold.
    any_run = bool(case.revision.templates) or case.run is not None
    if case.revision.policy.may(replaced(request(case), any_run=any_run)):
        return replaced(case, decision=replaced(case.decision, effect=DecisionEffect.ALLOW))
    return Refusal(
        status=Status.DENIED,
        code="not_listed",
        reason=f"no rule could allow this {case.tool.kind}",
    )


def asks(case: Case) -> frozenset[Method]:
    """Return what some rule could let this server ask of this caller during this call."""
    rules = case.revision.policy
    return rules.asks(request(case)) if rules.askable else rules.askable


def decide_ask(case: Case, method: Method, params: JsonObject) -> Decision:
    """Decide a question that a server asks during a judged call; only `allow` lets it through."""
    return case.revision.policy.decide(replace(request_for(case, method), arguments=params))


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
    return request_for(case, case.call.method)


def request_for(case: Case, method: Method) -> PolicyRequest:
    """The same for a question of that method, which a server asks during the call."""
    return _request(
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
        method=method,
        kind=case.tool.kind,
        cause=Cause(case.call.cause) if case.call.cause else Cause.CALLER,
        run=case.run,
        is_tainted=case.is_tainted,
    )
