"""Step 6: phase."""

from gateway.case import Case
from gateway.steps import phase
from gateway.types.outcomes import Refusal, Status
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Risk
from tests.helpers.cases import a_case


def test_a_write_waits_for_its_phase() -> None:
    case = a_case(phase=Phase.PLANNING, effect=Effect.WRITE, risk=Risk.LOW)
    answer = phase.check(case)
    assert isinstance(answer, Refusal)
    assert answer.status is Status.PHASE_BLOCKED
    assert "planning" in answer.reason


def test_a_read_may_go_ahead_while_planning() -> None:
    case = a_case(phase=Phase.PLANNING, effect=Effect.READ, risk=Risk.LOW)
    assert isinstance(phase.check(case), Case)
