"""How the scripted agent reads and shows its calls."""

from gateway.demo.agent import Said, difference, shown_arguments
from gateway.demo.scene import ACME, Command, Step
from gateway.types.operations import OpState
from gateway.types.outcomes import Status

_STEP = Step(
    tenant=ACME, shows="", tool="t", status=Status.DENIED, rule="guard.one", code="not_so"
)  # fmt: skip


def test_a_call_that_ends_as_expected_makes_no_difference() -> None:
    said = Said(status="denied", reason="", code="not_so", rule="guard.one")
    assert difference(_STEP, said) == ""


def test_another_status_code_or_rule_is_a_difference() -> None:
    assert difference(_STEP, Said(status="ok", reason="")) == "expected denied"
    other = Said(status="denied", reason="", code="so")
    assert difference(_STEP, other) == "expected the code not_so, got so"
    other = Said(status="denied", reason="", code="not_so")
    assert difference(_STEP, other) == "expected the rule guard.one, got none"


def test_a_new_answer_in_the_place_of_an_earlier_one_is_a_difference() -> None:
    step = Step(tenant=ACME, shows="", tool="t", replayed=True)
    assert difference(step, Said(status="ok", reason="", replayed=True)) == ""
    assert "given before" in difference(step, Said(status="ok", reason=""))


def test_a_command_is_held_to_the_state_that_it_shows() -> None:
    command = Command(shows="", words=("ops", "list"), status=OpState.INDETERMINATE)
    assert difference(command, Said(status="indeterminate", reason="")) == ""
    assert difference(command, Said(status="succeeded", reason="")) == "expected indeterminate"


def test_a_surprise_in_the_result_is_a_difference_whatever_the_status() -> None:
    said = Said(status="denied", reason="", code="not_so", rule="guard.one", surprise="leaked")
    assert difference(_STEP, said) == "leaked"


def test_arguments_are_shown_as_a_program_writes_them_and_cut_to_fit() -> None:
    step = Step(tenant=ACME, shows="", tool="t", arguments={"a": "x", "n": float("nan"), "i": 5})
    assert shown_arguments(step, 80) == '(a="x", n=NaN, i=5)'
    assert shown_arguments(step, 12) == '(a="x", n..)'
