"""Step 8: write what policy demands into the arguments, and validate them again."""

from dataclasses import replace

from gateway.case import Case
from gateway.operations import keys
from gateway.policy import constraints
from gateway.steps.contract import injected
from gateway.types.decisions import DecisionEffect
from gateway.types.outcomes import Refusal, Status
from gateway.types.tools import Kind


def apply(case: Case) -> Case | Refusal:
    """Return the case with its final arguments; a constraint that can't be met denies."""
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
    return replace(case, arguments=arguments)


def _unsatisfiable(case: Case, reason: str) -> Refusal:
    return Refusal(
        status=Status.DENIED,
        code="constraint_unsatisfiable",
        rule=case.decision.rule,
        reason=reason,
    )
