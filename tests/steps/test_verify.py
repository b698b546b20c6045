"""Step 12: verify."""

from typing import Any

import pytest

from gateway.steps import verify
from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered, Execution, Verification, VerificationState
from gateway.types.outcomes import Refusal, Status
from gateway.types.tools import Effect, Ensure
from tests.helpers.cases import a_call, a_case, a_contract, a_definition, a_resource, a_tool

TOTAL = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
TOOL = a_tool(a_definition("pay", outputSchema=TOTAL))


def verified(
    result: JsonObject, effect: Effect = Effect.READ, **fields: Any
) -> verify.Verified | Refusal:
    contract = a_contract(TOOL, effect=effect, **fields)
    case = a_case(tool=TOOL, contract=contract, effect=effect, arguments={"amount": 3})
    return verify.check(case, Delivered(result=result, size=1))


def test_a_result_that_fits_its_schema_passes() -> None:
    answer = verified({"content": [], "structuredContent": {"id": "7"}})
    assert isinstance(answer, verify.Verified)
    assert answer.verification.state is VerificationState.NOT_DECLARED


def test_a_write_without_its_structured_result_is_told_as_executed() -> None:
    """case: OUT-03"""
    answer = verified({"content": [{"type": "text", "text": "done"}]}, Effect.WRITE)
    assert isinstance(answer, Refusal)
    assert (answer.status, answer.executed) == (Status.RESULT_INVALID, Execution.YES)
    assert "probably took place" in answer.reason
    assert answer.original is not None


def test_a_wrong_structured_result_names_the_field_and_not_the_value() -> None:
    """case: OUT-03"""
    answer = verified({"content": [], "structuredContent": {"id": 7474747}})
    assert isinstance(answer, Refusal)
    assert "/id" in answer.reason
    assert "7474747" not in answer.reason


def test_a_read_may_pass_leniently_with_a_note() -> None:
    """case: OUT-03"""
    answer = verified({"content": []}, lenient_output=True)
    assert isinstance(answer, verify.Verified)
    assert answer.notes


def test_leniency_is_not_for_writes() -> None:
    assert isinstance(verified({"content": []}, Effect.WRITE, lenient_output=True), Refusal)


def test_a_tools_own_error_text_is_never_hidden_by_its_schema() -> None:
    result: JsonObject = {"content": [{"type": "text", "text": "no such id"}], "isError": True}
    answer = verified(result)
    assert isinstance(answer, verify.Verified)
    assert answer.delivered.result is result


def test_a_postcondition_is_checked_against_arguments_and_result() -> None:
    ensure = Ensure(when="result.id == string(args.amount)", message="the id is the amount")
    good = verified({"content": [], "structuredContent": {"id": "3"}}, ensure=(ensure,))
    bad = verified({"content": [], "structuredContent": {"id": "4"}}, ensure=(ensure,))
    assert isinstance(good, verify.Verified)
    assert good.verification.state is VerificationState.VERIFIED
    assert isinstance(bad, Refusal)
    assert (bad.status, bad.executed) == (Status.POSTCONDITION_FAILED, Execution.YES)


def test_a_postcondition_that_can_not_be_evaluated_proves_nothing() -> None:
    ensure = Ensure(when="result.nothing > 1", message="there is more")
    answer = verified({"content": [], "structuredContent": {"id": "3"}}, ensure=(ensure,))
    assert isinstance(answer, verify.Verified)
    assert answer.verification.state is VerificationState.INCONCLUSIVE
    assert answer.notes == ("not verified: can't tell whether there is more: `nothing` is missing",)


def test_one_postcondition_that_fails_is_enough() -> None:
    unsure = Ensure(when="result.nothing > 1", message="there is more")
    wrong = Ensure(when="result.id == '4'", message="the id is 4")
    answer = verified({"content": [], "structuredContent": {"id": "3"}}, ensure=(unsure, wrong))
    assert isinstance(answer, Refusal)
    assert answer.reason == "the outcome is not as declared: the id is 4"


def test_a_postcondition_compares_with_what_there_was_before() -> None:
    ensure = Ensure(when="result.id != old.id", message="the id is another one")
    contract = a_contract(TOOL, ensure=(ensure,))
    case = a_case(tool=TOOL, contract=contract, effect=Effect.READ, arguments={})
    delivered = Delivered(result={"content": [], "structuredContent": {"id": "3"}}, size=1)
    answers = [verify.check(case, delivered, {"id": old}) for old in ("2", "3")]
    assert isinstance(answers[0], verify.Verified)
    assert isinstance(answers[1], Refusal)


DELIVERED = Delivered(result={"content": []}, size=1)
DOUBT = Verification(state=VerificationState.INCONCLUSIVE, detail="`amount` is missing")
SOON = Verification(state=VerificationState.PENDING, detail="`crm.get`: not visible")
SURE = Verification(state=VerificationState.VERIFIED)


def test_what_a_later_check_finds_wrong_is_told_as_executed() -> None:
    before = verify.Verified(delivered=DELIVERED, verification=SURE)
    wrong = Verification(state=VerificationState.FAILED, detail="`crm.get` shows another amount")
    answer = verify.conclude(before, wrong)
    assert isinstance(answer, Refusal)
    assert (answer.status, answer.executed) == (Status.POSTCONDITION_FAILED, Execution.YES)
    assert answer.reason.endswith("`crm.get` shows another amount")
    assert answer.original == {"content": []}


@pytest.mark.parametrize(
    ("first", "then", "notes"),
    [
        (SURE, SURE, ()),
        (SURE, SOON, ("not verified yet: `crm.get`: not visible",)),
        (DOUBT, DOUBT, ("not verified: `amount` is missing",)),
        (SOON, SURE, ()),
    ],
)
def test_an_answer_tells_its_last_doubt_once(
    first: Verification, then: Verification, notes: tuple[str, ...]
) -> None:
    unchecked = verify.Verified(delivered=DELIVERED, verification=first, notes=("other",))
    before = verify.conclude(unchecked, first)
    assert isinstance(before, verify.Verified)
    answer = verify.conclude(before, then)
    assert isinstance(answer, verify.Verified)
    assert (answer.verification, answer.notes) == (then, ("other", *notes))


def test_a_tool_without_an_output_schema_is_held_to_its_postconditions() -> None:
    tool = a_tool(a_definition("pay"))
    ensure = Ensure(when="result.id == '3'", message="the id is 3")
    case = a_case(tool=tool, contract=a_contract(tool, ensure=(ensure,)), arguments={})
    text: JsonObject = {"content": [{"type": "text", "text": '{"id": "3"}'}]}
    answer = verify.check(case, Delivered(result=text, size=1))
    assert isinstance(answer, verify.Verified)
    assert answer.verification == SURE


def test_an_answer_that_is_no_result_is_not_shown_as_success() -> None:
    """case: OUT-08"""
    assert isinstance(verified({"success": True}), Refusal)


@pytest.mark.parametrize(
    ("method", "good"),
    [
        (Method.READ_RESOURCE, {"contents": [{"uri": "crm://notes/1", "text": "x"}]}),
        (Method.GET_PROMPT, {"messages": []}),
        (Method.COMPLETE, {"completion": {"values": []}}),
    ],
)
def test_a_result_has_the_form_of_its_method(method: Method, good: JsonObject) -> None:
    resource = a_resource()
    call = a_call("crm://notes/1", method=method)
    case = a_case(tool=resource, call=call, contract=a_contract(resource), effect=Effect.READ)
    assert isinstance(verify.check(case, Delivered(result=good, size=1)), verify.Verified)
    bad = verify.check(case, Delivered(result={"content": []}, size=1))
    assert isinstance(bad, Refusal)
    assert bad.status is Status.RESULT_INVALID


@pytest.mark.parametrize("kind", ["input_required", "task", "vendor/later"])
def test_a_result_that_ends_nothing_passes_untouched(kind: str) -> None:
    result: JsonObject = {"resultType": kind}
    answer = verified(result, Effect.WRITE)
    assert isinstance(answer, verify.Verified)
    assert answer.delivered.result is result
