"""Step 10: gate."""

from gateway.case import Case
from gateway.steps import gate
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.outcomes import Refusal, Status
from tests.helpers.cases import a_case


def test_a_call_held_for_approval_is_refused_while_nobody_can_approve() -> None:
    decision = Decision(effect=DecisionEffect.REQUIRE_APPROVAL, rule="r", reason="needs finance")
    answer = gate.check(a_case(decision=decision))
    assert isinstance(answer, Refusal)
    assert answer.status is Status.APPROVAL_DENIED
    assert "no approver surface" in answer.reason
    assert "needs finance" in answer.reason


def test_an_allowed_call_passes() -> None:
    decision = Decision(effect=DecisionEffect.ALLOW)
    assert isinstance(gate.check(a_case(decision=decision)), Case)
