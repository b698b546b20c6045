"""Judging: order, worst values, and what a broken check leads to."""

from gateway import pipeline
from gateway.case import Case
from gateway.types.decisions import DecisionEffect
from gateway.types.outcomes import Refusal, Status
from tests.helpers.cases import a_case


def broken(case: Case) -> Case | Refusal:
    raise RuntimeError(case.call.name)


def silent(case: Case) -> Case | Refusal:
    return case


def test_a_check_that_breaks_refuses() -> None:
    verdict = pipeline.judge(a_case(), (broken,))
    assert verdict.refusal is not None
    assert (verdict.refusal.status, verdict.refusal.code) == (Status.DENIED, "check_failed")


def test_when_nobody_decides_the_call_is_denied() -> None:
    verdict = pipeline.judge(a_case(), (silent,))
    assert verdict.refusal is not None
    assert verdict.refusal.status is Status.DENIED


def test_the_first_refusal_ends_the_case() -> None:
    seen: list[str] = []

    def refusing(case: Case) -> Case | Refusal:
        return Refusal(status=Status.FORBIDDEN, reason=case.tool.key)

    def noting(case: Case) -> Case | Refusal:
        seen.append(case.tool.key)
        return case

    verdict = pipeline.judge(a_case(), (refusing, noting))
    assert verdict.refusal is not None
    assert verdict.refusal.status is Status.FORBIDDEN
    assert seen == []
    assert [finding.outcome for finding in verdict.findings] == ["refused"]


def test_an_allowed_read_is_a_plain_read() -> None:
    verdict = pipeline.judge(a_case())
    assert verdict.refusal is None
    assert verdict.case.decision.effect is DecisionEffect.ALLOW
    assert verdict.case.is_plain_read


def test_a_case_starts_at_its_worst() -> None:
    case = a_case()
    assert (case.effect, case.risk) == ("destructive", "critical")
    assert case.decision.effect is DecisionEffect.DENY
    assert case.arguments is None
