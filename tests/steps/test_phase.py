"""Step 6: phase."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.case import Case
from gateway.runs.templates import Template
from gateway.steps import phase
from gateway.types.calls import Method
from gateway.types.causes import Cause
from gateway.types.outcomes import Refusal, Status
from gateway.types.runs import BindingKind, Only, Passage, Phase
from gateway.types.tools import Effect, Risk
from gateway.types.values import replaced
from tests.helpers.cases import a_call, a_case
from tests.helpers.runs import START, a_run


def a_write(**changes: Any) -> Case:
    values: dict[str, Any] = {"effect": Effect.WRITE, "risk": Risk.HIGH}
    return a_case(**(values | changes))


def in_run(case: Case, template: Template | None = None, **run: Any) -> Case:
    made = a_run(**({"template": template.name if template is not None else ""} | run))
    known = {template.name: template} if template is not None else {}
    return replaced(
        case,
        run=made,
        run_id=made.run_id,
        phase=made.phase,
        bound_by=BindingKind.META,
        revision=replace(case.revision, templates=known),
    )


def refused(case: Case) -> Refusal:
    answer = phase.check(case)
    assert isinstance(answer, Refusal)
    assert answer.status is Status.PHASE_BLOCKED
    return answer


def passed(case: Case) -> Case:
    answer = phase.check(case)
    assert isinstance(answer, Case)
    return answer


def test_a_write_waits_for_its_phase() -> None:
    assert "planning" in refused(a_write(phase=Phase.PLANNING)).reason


def test_a_read_may_go_ahead_while_planning() -> None:
    case = a_case(phase=Phase.PLANNING, effect=Effect.READ, risk=Risk.LOW)
    assert phase.check(case) is case


def test_a_call_within_a_run_goes_by_the_phase_of_that() -> None:
    case = in_run(a_write(), phase=Phase.ACTING)
    assert case.run is not None
    assert passed(case).passage == Passage(run=case.run)
    assert "completed" in refused(in_run(a_write(), phase=Phase.COMPLETED)).reason


def test_a_call_that_moves_its_run_is_judged_further_in_the_new_phase() -> None:
    after = passed(in_run(a_write(), phase=Phase.RETRIEVING))
    assert after.phase is Phase.ACTING
    assert after.passage is not None
    assert after.passage.move_to is Phase.ACTING


def test_a_write_while_people_decide_is_let_through_for_what_they_approve_only() -> None:
    after = passed(in_run(a_write(), phase=Phase.AWAITING_APPROVAL))
    assert after.passage is not None
    assert (after.phase, after.passage.only) == (Phase.AWAITING_APPROVAL, Only.APPROVED)


def test_what_a_run_lacks_is_told_one_by_one() -> None:
    case = in_run(a_write(), phase=Phase.ACTING, is_paused=True, note="Ana looks at it")
    assert refused(case).reason == "the run is paused: Ana looks at it"
    assert refused(in_run(a_write(), phase=Phase.ACTING, ends_at=START)).next


def test_how_a_call_found_its_run_counts() -> None:
    template = Template(name="refund", explicit_for=frozenset({Risk.HIGH}))
    case = in_run(a_write(), template, phase=Phase.ACTING)
    assert passed(case).phase is Phase.ACTING
    assert "has to name its run" in refused(replaced(case, bound_by=BindingKind.SESSION)).reason


def test_a_run_whose_template_is_not_in_force_lets_reads_through_and_nothing_else() -> None:
    case = in_run(a_write(), Template(name="refund"), phase=Phase.ACTING)
    case = replaced(case, revision=replace(case.revision, templates={}))
    assert refused(case).code == "unknown_template"
    assert passed(replaced(case, effect=Effect.READ)).phase is Phase.ACTING


@pytest.mark.parametrize("method", [Method.GET_TASK, Method.UPDATE_TASK, Method.CANCEL_TASK])
def test_a_task_that_was_let_through_can_be_asked_after_and_ended(method: Method) -> None:
    case = in_run(a_write(call=a_call(method=method)), phase=Phase.RETRIEVING)
    assert passed(case).phase is Phase.RETRIEVING


def test_reads_of_a_paused_run_go_by_the_configuration() -> None:
    case = in_run(a_case(effect=Effect.READ, risk=Risk.LOW), phase=Phase.ACTING, is_paused=True)
    assert passed(case).phase is Phase.ACTING
    assert "paused" in refused(replaced(case, reads_while_paused=False)).reason


def test_undoing_is_held_up_by_the_phases_without_room_for_it_only() -> None:
    undo = a_write(call=a_call(cause=Cause.COMPENSATION.value))
    assert passed(in_run(undo, phase=Phase.FAILED)).phase is Phase.FAILED
    assert "compensation" in refused(in_run(undo, phase=Phase.RETRIEVING)).reason
