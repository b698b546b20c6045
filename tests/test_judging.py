"""Judging: order, worst values, and what a broken check leads to."""

import pytest

from gateway import judging
from gateway.case import Case
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.outcomes import Refusal, Status
from tests.helpers.cases import a_call, a_case, a_contract, a_resource


def broken(case: Case) -> Case | Refusal:
    raise RuntimeError(case.call.name)


def silent(case: Case) -> Case | Refusal:
    return case


def test_a_check_that_breaks_refuses() -> None:
    verdict = judging.judge(a_case(), (broken,))
    assert verdict.refusal is not None
    assert (verdict.refusal.status, verdict.refusal.code) == (Status.DENIED, "check_failed")


def test_when_nobody_decides_the_call_is_denied() -> None:
    verdict = judging.judge(a_case(), (silent,))
    assert verdict.refusal is not None
    assert verdict.refusal.status is Status.DENIED


def test_the_first_refusal_ends_the_case() -> None:
    seen: list[str] = []

    def refusing(case: Case) -> Case | Refusal:
        return Refusal(status=Status.FORBIDDEN, reason=case.tool.key)

    def noting(case: Case) -> Case | Refusal:
        seen.append(case.tool.key)
        return case

    verdict = judging.judge(a_case(), (refusing, noting), explained=True)
    assert verdict.refusal is not None
    assert verdict.refusal.status is Status.FORBIDDEN
    assert seen == []
    assert [finding.outcome for finding in verdict.findings] == ["refused"]


def test_what_the_checks_said_is_kept_where_it_is_explained() -> None:
    verdict = judging.judge(a_case(), explained=True)
    said = {finding.step: finding.outcome for finding in verdict.findings}
    assert list(said) == [check.__module__.rpartition(".")[2] for check in judging.CHECKS]
    assert (said["contract"], said["identity"]) == ("changed", "passed")
    assert judging.judge(a_case()).findings == ()


def test_an_allowed_read_is_a_plain_read() -> None:
    verdict = judging.judge(a_case())
    assert verdict.refusal is None
    assert verdict.case.decision.effect is DecisionEffect.ALLOW
    assert verdict.case.is_plain_read


def test_a_case_starts_at_its_worst() -> None:
    case = a_case()
    assert (case.effect, case.risk) == ("destructive", "critical")
    assert case.decision.effect is DecisionEffect.DENY
    assert case.arguments is None


@pytest.mark.parametrize(
    ("demands", "passes"), [("", True), (", constrain: {set: {who: identity.user}}", False)]
)
def test_a_resource_is_judged_without_a_schema_and_never_constrained(
    demands: str, passes: bool
) -> None:
    rule = "{id: r, decision: allow, match: {resources: ['crm://*']}" + demands + "}"
    resource = a_resource()
    call = a_call(resource.exposed_name, method=Method.READ_RESOURCE)
    case = a_case(
        tool=resource, contract=a_contract(resource), call=call, policy=f"rules:\n  - {rule}\n"
    )
    refusal = judging.judge(case, judging.CHECKS_FOR[call.method]).refusal
    assert (refusal is None) == passes
    assert passes or (refusal is not None and refusal.status is Status.DENIED)


def test_a_task_is_as_open_as_its_tool() -> None:
    call = a_call(method=Method.GET_TASK)
    checks = judging.CHECKS_FOR[call.method]
    allowed = judging.judge(a_case(call=call), checks)
    assert allowed.refusal is None
    assert allowed.case.arguments == {}
    denied = judging.judge(a_case(call=call, policy="rules: []\n"), checks)
    assert denied.refusal is not None
    assert denied.refusal.hidden
    plain = judging.judge(a_case(call=call, policy="rules: []\n"), checks, hides=False)
    assert plain.refusal is not None
    assert not plain.refusal.hidden  # nobody is told of it who could be told too much


def test_what_would_not_be_listed_is_not_seen() -> None:
    assert judging.sees(a_case())
    assert not judging.sees(a_case(policy="rules: []\n"))
