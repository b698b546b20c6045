"""Step 8: write what policy demands into the arguments, and validate them again.

The arguments are final then, so what a call takes of the limits of its run is known here too.
"""

from gateway.case import Case
from gateway.contracts import spelling
from gateway.operations import keys
from gateway.policy import constraints
from gateway.runs import limits
from gateway.steps import policy, provenance
from gateway.steps.contract import injected
from gateway.types.causes import Cause
from gateway.types.decisions import DecisionEffect
from gateway.types.outcomes import Refusal, Status
from gateway.types.tools import Effect, Kind
from gateway.types.values import replaced


def apply(case: Case) -> Case | Refusal:
    """Return the case with its final arguments; a constraint that can't be met denies."""
    final = _constrained(case)
    return _limited(final) if isinstance(final, Case) and final.run is not None else final


def _constrained(case: Case) -> Case | Refusal:
    decision = case.decision
    if decision.effect is DecisionEffect.DENY or not decision.constraints:
        return case
    if case.tool.kind is not Kind.TOOL:
        return _unsatisfiable(case, f"a {case.tool.kind} has no schema for constrained arguments")
    if case.arguments is None:
        return _unsatisfiable(case, "there are no checked arguments to constrain")
    try:
        arguments = constraints.apply(case.arguments, decision.constraints)
        judged = keys.filled(arguments, injected(case.contract))
    except (constraints.ConstraintError, keys.KeyRefused) as error:
        return _unsatisfiable(case, str(error))
    if not case.revision.schemas_for(case.contract).input.is_valid(judged):
        return _unsatisfiable(case, "the constrained arguments do not match the tool's schema")
    written = {constraints.tokens_of(each.pointer)[0] for each in decision.constraints}
    twice = spelling.like(written, arguments)
    if twice is not None:
        return _unsatisfiable(case, f"`{twice[0][:100]}` could be taken for `{twice[1]}`")
    before, final = case.arguments, replaced(case, arguments=arguments)
    judged = provenance.again(final, before, decision.constraints)
    if isinstance(judged, Refusal) or judged is final:
        return judged
    return replaced(judged, decision=policy.asking(judged, decision))


def _limited(case: Case) -> Case | Refusal:
    """Add what the call takes of the limits of its run; the gateway's own calls take nothing."""
    run, decision = case.run, case.decision
    template = case.revision.templates.get(run.template) if run is not None else None
    is_own = case.call.cause not in ("", Cause.CALLER)
    if run is None or template is None or is_own or decision.effect is DecisionEffect.DENY:
        return case
    spent = limits.spent(template, run)
    if spent:
        return limits.refusal(spent, rule=limits.rule(template))
    is_write = case.effect is not Effect.READ
    use = limits.Use(tool=case.tool.key, is_write=is_write, arguments=case.arguments or {})
    try:
        taken = limits.of_call(template, run, use)
    except limits.Unmeasured as error:
        return _unsatisfiable(case, str(error))
    if not taken:
        return case
    return replaced(case, decision=replaced(decision, limits=(*decision.limits, *taken)))


def _unsatisfiable(case: Case, reason: str) -> Refusal:
    return Refusal(
        status=Status.DENIED,
        code="constraint_unsatisfiable",
        rule=case.decision.rule,
        reason=reason,
    )
