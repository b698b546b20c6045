"""Step 13: normalise."""

from typing import Any

from gateway.results.envelope import UNTRUSTED
from gateway.steps.normalise import Normalise
from gateway.steps.verify import Verified
from gateway.types.calls import Method
from gateway.types.decisions import Decision, DecisionEffect, OutputPolicy
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Execution, Verification, VerificationState
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.tools import Sensitivity
from tests.helpers.cases import a_call, a_case, a_contract, a_resource, a_tool


def digest(tenant: str, value: Json) -> str:
    return f"{tenant}:{value}"


def normalised(
    result: JsonObject,
    size: int = 10,
    maximum: int = 1000,
    redactions: int = 0,
    output: OutputPolicy | None = None,
    **fields: Any,
) -> Answer | Refusal:
    decision = Decision(effect=DecisionEffect.ALLOW, output=output or OutputPolicy())
    case = a_case(contract=a_contract(**fields), decision=decision)
    verified = Verified(
        delivered=Delivered(result=result, size=size, redactions=redactions),
        verification=Verification(state=VerificationState.NOT_DECLARED),
    )
    return Normalise(max_result_bytes=maximum, digest=digest)(case, verified)


def answer(result: JsonObject, **options: Any) -> Answer:
    found = normalised(result, **options)
    assert isinstance(found, Answer)
    return found


def test_content_passes_unchanged_and_is_marked_as_a_servers() -> None:
    """case: OUT-06"""
    content: list[Json] = [{"type": "hologram", "x": 1}, {"type": "text", "text": "a"}]
    result: JsonObject = {"content": content, "_meta": {"own/k": 1}, "vendor": [1]}
    found = answer(result).result
    assert found["content"] is content
    assert found["vendor"] == [1]
    assert found["_meta"] == {"own/k": 1, "weighbridge/untrusted": {"server": "crm"}}


def test_hidden_characters_are_counted_and_not_removed() -> None:
    found = answer({"content": [{"type": "text", "text": "a\u202eb"}]}).result
    assert found["content"] == [{"type": "text", "text": "a\u202eb"}]
    meta = found["_meta"]
    assert isinstance(meta, dict)
    assert meta["weighbridge/untrusted"] == {"server": "crm", "hidden_characters": 1}


def test_trusted_text_is_not_marked() -> None:
    assert "_meta" not in answer({"content": []}, trusted_text=True).result


def test_a_structure_without_text_gets_one() -> None:
    """case: OUT-02"""
    found = answer({"content": [], "structuredContent": {"total": 3}}).result
    assert found["structuredContent"] == {"total": 3}
    assert found["content"] == [{"type": "text", "text": '{"total":3}'}]
    assert "isError" not in found


def test_a_tools_own_error_is_told_as_such() -> None:
    found = answer({"content": [{"type": "text", "text": "no"}], "isError": True})
    assert found.status is Status.TOOL_FAILED


def test_text_is_cut_to_size_with_a_note() -> None:
    """case: OUT-01"""
    found = answer({"content": [{"type": "text", "text": "x" * 5000}]}, size=5050)
    assert len(str(found.result["content"])) < 1200
    assert found.notes == ("cut from 5050 bytes",)


def test_a_structure_is_never_cut() -> None:
    """case: OUT-01"""
    refusal = normalised({"content": [], "structuredContent": {"rows": []}}, size=5050)
    assert isinstance(refusal, Refusal)
    assert refusal.status is Status.RESULT_TOO_LARGE


def test_a_contract_can_allow_more() -> None:
    text: JsonObject = {"type": "text", "text": "x" * 5000}
    found = answer({"content": [text]}, size=5050, max_result_bytes=10_000)
    assert found.notes == ()


def test_secret_result_fields_never_leave() -> None:
    found = answer(
        {"content": [], "structuredContent": {"id": 1, "token": "t0psecret"}},
        sensitive_results={"/token": Sensitivity.SECRET},
    )
    assert "t0psecret" not in str(found.result)
    assert found.redactions == 1


def test_credentials_that_were_taken_out_before_count_as_well() -> None:
    found = answer(
        {"content": [], "structuredContent": {"id": "[secret]", "token": "t0psecret"}},
        redactions=2,
        sensitive_results={"/token": Sensitivity.SECRET},
    )
    assert found.redactions == 3


def test_policy_keeps_the_named_fields_only() -> None:
    found = answer(
        {"content": [], "structuredContent": {"id": 1, "name": "Ann"}},
        output=OutputPolicy(keep=("/id",)),
    )
    assert found.result["structuredContent"] == {"id": 1}


def of_resource(
    result: JsonObject, asked: str = "crm://notes/1", **options: Any
) -> Answer | Refusal:
    resource = a_resource(exposed_name=asked)
    case = a_case(
        tool=resource,
        contract=a_contract(resource),
        call=a_call(asked, method=Method.READ_RESOURCE),
        decision=Decision(
            effect=DecisionEffect.ALLOW, output=options.get("output", OutputPolicy())
        ),
    )
    verified = Verified(
        delivered=Delivered(result=result, size=options.get("size", 10)),
        verification=Verification(state=VerificationState.NOT_DECLARED),
    )
    return Normalise(max_result_bytes=1000, digest=digest)(case, verified)


def test_a_document_passes_unchanged_and_is_marked_as_a_servers() -> None:
    entry: JsonObject = {"uri": "crm://notes/1", "text": "a\u202eb", "_meta": {"own": 1}}
    found = of_resource({"contents": [entry], "ttlMs": 5})
    assert isinstance(found, Answer)
    mark = {"server": "crm", "hidden_characters": 1}
    expected = {"contents": [entry], "ttlMs": 5, "_meta": {"weighbridge/untrusted": mark}}
    assert found.result == expected


def test_a_document_keeps_the_qualified_uri_that_it_was_asked_for_by() -> None:
    asked = "weighbridge://crm/crm%3A%2F%2Fnotes%2F1"
    entries: list[Json] = [
        {"uri": "crm://notes/1", "text": "a"},
        {"uri": "crm://notes/2", "text": "b"},
    ]
    found = of_resource({"contents": entries}, asked)
    assert isinstance(found, Answer)
    assert found.result["contents"] == [{"uri": asked, "text": "a"}, entries[1]]


def test_a_document_is_never_cut() -> None:
    found = of_resource({"contents": [{"uri": "crm://notes/1", "text": "x" * 2000}]}, size=2050)
    assert isinstance(found, Refusal)
    assert found.status is Status.RESULT_TOO_LARGE


def test_a_document_is_minimised_like_a_result() -> None:
    entry: JsonObject = {"uri": "crm://notes/1", "text": '{"id":1,"name":"Ann"}'}
    found = of_resource({"contents": [entry]}, output=OutputPolicy(keep=("/id",)))
    assert isinstance(found, Answer)
    assert found.result["contents"] == [{**entry, "text": '{"id":1}'}]
    assert found.redactions == 1


def test_a_question_is_no_failure_and_no_success() -> None:
    asks: JsonObject = {"resultType": "input_required", "inputRequests": {}, "isError": True}
    assert answer(asks).status is Status.INPUT_REQUIRED


def a_refusal(original: JsonObject | None) -> Refusal:
    return Refusal(
        status=Status.POSTCONDITION_FAILED,
        reason="r",
        executed=Execution.YES,
        original=original,
    )


def test_what_goes_along_with_a_refusal_is_minimised_bounded_and_marked_too() -> None:
    tool = a_tool()
    contract = a_contract(tool, sensitive_results={"/code": Sensitivity.SECRET})
    case = a_case(tool=tool, contract=contract, arguments={})
    step = Normalise(max_result_bytes=1_000, digest=digest)
    original: JsonObject = {
        "structuredContent": {"code": "blue-canary", "id": 7},
        "content": [{"type": "text", "text": "issued blue-canary"}],
    }
    told = step.refused(case, a_refusal(original))
    assert (told.status, told.executed) == (Status.POSTCONDITION_FAILED, Execution.YES)
    assert told.original is not None
    assert "blue-canary" not in str(told.original)
    assert "issued" in str(told.original)
    assert UNTRUSTED in str(told.original["_meta"])
    alone: JsonObject = {"structuredContent": {"id": 7}}
    without = step.refused(case, a_refusal(alone)).original
    assert without is not None
    assert "content" not in without
    large: JsonObject = {"structuredContent": {"id": "x" * 2_000}, "content": []}
    assert step.refused(case, a_refusal(large)).original is None
    bare = a_refusal(None)
    assert step.refused(case, bare) is bare
