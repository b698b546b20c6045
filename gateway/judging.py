"""The checks that a call has to pass, in their order; docs/explanation/way-of-a-call.md tells them.

Nothing in here reads a clock, a file or a socket: a case has all that a decision may depend on.
"""

from collections.abc import Mapping
from dataclasses import replace

from gateway.case import Case, Check, Finding, Verdict
from gateway.policy.methods import USE
from gateway.steps import constrain, contract, identity, phase, policy, provenance, risk
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.outcomes import Refusal, Status
from gateway.types.values import maker, replaced

_verdict = maker(Verdict)

CHECKS: tuple[Check, ...] = (
    contract.check,
    identity.check,
    provenance.check,
    risk.classify,
    phase.check,
    policy.decide,
    constrain.apply,
)
# What has no schema is read only: there is nothing to classify by, and nothing to write into.
READ_CHECKS: tuple[Check, ...] = (
    contract.admit,
    identity.check,
    risk.classify_tool,
    phase.check,
    policy.decide,
    constrain.apply,
)
# There are no arguments to look at yet: a condition that reads one counts as "may".
LIST_CHECKS: tuple[Check, ...] = (
    contract.check_definition,
    identity.check,
    risk.classify_tool,
    phase.check,
    policy.may_list,
)
# A task was allowed when its call was; now as then its caller has to be one who may use the tool.
TASK_CHECKS: tuple[Check, ...] = (
    contract.admit,
    identity.check,
    risk.classify_tool,
    policy.decide,
    risk.of_task,
    phase.check,
)
CHECKS_FOR: Mapping[Method, tuple[Check, ...]] = {
    Method.CALL_TOOL: CHECKS,
    Method.READ_RESOURCE: READ_CHECKS,
    Method.SUBSCRIBE: READ_CHECKS,
    Method.GET_PROMPT: READ_CHECKS,
    Method.COMPLETE: READ_CHECKS,
    Method.GET_TASK: TASK_CHECKS,
    Method.UPDATE_TASK: TASK_CHECKS,
    Method.CANCEL_TASK: TASK_CHECKS,
}


def judge(
    case: Case,
    checks: tuple[Check, ...] = CHECKS,
    *,
    explained: bool = False,
    hides: bool = True,
) -> Verdict:
    """Run the checks in order; the first refusal ends the case.

    No I/O and no clock in here: tools/list, `policy explain` and replay call the same function.
    What each check said is in the verdict only if it is to be `explained`, and whether its caller
    may know of the tool only if a refusal `hides` what he may not.
    """
    findings: list[Finding] = []
    refusal: Refusal | None = None
    for check in checks:
        try:
            answer = check(case)
        except Exception:  # a check that breaks refuses; it never lets a call through
            answer = Refusal(
                status=Status.DENIED,
                rule="gateway.check_failed",
                code="check_failed",
                reason=f"the {_step(check)} check could not decide",
            )
        if explained:
            findings.append(_finding(check, case, answer))
        if isinstance(answer, Refusal):
            refusal = _told(case, answer) if hides else answer
            break
        case = answer
    else:
        if case.decision.effect is DecisionEffect.DENY:  # also when nobody has decided
            refusal = policy.refusal(case)
            refusal = _told(case, refusal) if hides else refusal
    return _verdict(case=case, refusal=refusal, findings=tuple(findings))


def _step(check: Check) -> str:
    return check.__module__.rpartition(".")[2]


def _finding(check: Check, before: Case, answer: Case | Refusal) -> Finding:
    if isinstance(answer, Refusal):
        return Finding(step=_step(check), outcome="refused", reason=answer.reason)
    return Finding(step=_step(check), outcome="passed" if answer is before else "changed")


def sees(case: Case) -> bool:
    """Whether what the case is about would be listed for its actor."""
    return judge(case, LIST_CHECKS).refusal is None


def _told(case: Case, refusal: Refusal) -> Refusal:
    """Hide what no rule could allow this caller to use, whichever check said no first."""
    used = replaced(case, call=replaced(case.call, method=USE[case.tool.kind]))
    tool = risk.classify_tool(used)  # as the list is judged: by the tool, not by this call
    shown = isinstance(tool, Case) and isinstance(policy.may_list(tool), Case)
    return refusal if shown else replace(refusal, hidden=True)
