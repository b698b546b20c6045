"""Step 5: effect and class of this call; conditions and annotations only ever raise them."""

from gateway.case import Case
from gateway.policy import cel
from gateway.types.calls import Method
from gateway.types.guarantees import CompensationClass
from gateway.types.json import Json
from gateway.types.outcomes import Refusal
from gateway.types.tools import Effect, Risk, RiskRaise
from gateway.types.values import replaced


def classify_tool(case: Case) -> Case | Refusal:
    """Class of the tool as such, for listing: no arguments are looked at."""
    effect, risk, reason = _of_tool(case)
    return _classified(case, effect, risk, reason)


def classify(case: Case) -> Case | Refusal:
    """Class of this call: the tool's, raised by the contract's conditions on the arguments."""
    effect, risk, reason = _of_tool(case)
    for rule in case.contract.raises:
        if not _applies(rule, case):
            continue
        if rule.effect is not None and rule.effect.rank > effect.rank:
            effect, reason = rule.effect, rule.reason
        if rule.risk is not None and rule.risk.rank > risk.rank:
            risk, reason = rule.risk, rule.reason
    return _classified(case, effect, risk, reason)


def of_task(case: Case) -> Case | Refusal:
    """Asking after a task changes nothing, whatever its tool does."""
    if case.call.method is not Method.GET_TASK:
        return case
    return replaced(case, effect=Effect.READ, risk_reason="asks after a task")


def _classified(case: Case, effect: Effect, risk: Risk, reason: str) -> Case:
    """Raise the class of what can't be undone by one, whatever made it what it is."""
    back = case.contract.compensation
    is_final = back is not None and back.kind is CompensationClass.IRREVERSIBLE
    if is_final and effect is not Effect.READ and risk is not Risk.CRITICAL:
        risk, reason = _NEXT[risk], "cannot be undone"
    return replaced(case, effect=effect, risk=risk, risk_reason=reason)


_NEXT = dict(zip(Risk, [*Risk][1:], strict=False))


def _of_tool(case: Case) -> tuple[Effect, Risk, str]:
    effect, risk, reason = case.contract.effect, case.contract.risk, "contract"
    annotations = case.tool.definition.get("annotations")
    # The server's own hints can make a call more dangerous in our eyes, never less.
    hints = annotations if isinstance(annotations, dict) else {}
    if effect is Effect.WRITE and hints.get("destructiveHint") is True:
        effect, reason = Effect.DESTRUCTIVE, "the server says it is destructive"
    if effect is Effect.DESTRUCTIVE and risk.rank < Risk.HIGH.rank:
        risk = Risk.HIGH
    return effect, risk, reason


def _applies(rule: RiskRaise, case: Case) -> bool:
    args: Json = case.arguments
    try:
        return cel.compile_condition(rule.when).holds({"args": args})
    except cel.ConditionError:
        return True  # a condition that can't tell counts as met
