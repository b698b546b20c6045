"""Step 13: normalise."""

from typing import Any
from unittest.mock import patch

import pytest

from gateway.results.envelope import UNTRUSTED
from gateway.steps.normalise import Normalise
from gateway.steps.verify import Verified
from gateway.types.calls import Method
from gateway.types.decisions import Decision, DecisionEffect, OutputPolicy, RowCount, RowFilter
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Execution, Verification, VerificationState
from gateway.types.outcomes import Answer, Refusal, Status, WireError
from gateway.types.relay import URL_REQUIRED
from gateway.types.runs import Run, Trust
from gateway.types.tools import Sensitivity
from tests.helpers.cases import a_call, a_case, a_contract, a_definition, a_resource, a_tool
from tests.helpers.runs import a_field, a_run


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


def test_where_nothing_is_kept_back_nothing_is_looked_for() -> None:
    with patch("gateway.results.minimise.apply", None):
        assert answer({"content": [{"type": "text", "text": "a"}]}).redactions == 0
        with pytest.raises(TypeError):
            answer({"content": []}, output=OutputPolicy(keep=("/a",)))
        with pytest.raises(TypeError):
            answer({"content": []}, sensitive_results={"/a": Sensitivity.SECRET})


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


def ours(row: Json) -> bool | None:
    return row.get("tenant") == "acme" if isinstance(row, dict) and "tenant" in row else None


ROWS = OutputPolicy(rows=(RowFilter(path="/rows", where="w", rule="r", holds=ours),))
BOTH: JsonObject = {"rows": [{"id": 1, "tenant": "acme"}, {"id": 2, "tenant": "x"}, {"id": 3}]}


def test_rows_that_were_left_out_are_counted_and_their_number_is_not_told() -> None:
    found = answer({"content": [], "structuredContent": BOTH}, output=ROWS)
    assert found.rows == RowCount(kept=1, removed=2, failed=1)
    (note,) = found.notes
    assert note == (
        "rows that policy does not let through were left out, 1 of them because they can't be "
        "judged"
    )
    whole: JsonObject = {"rows": [{"tenant": "acme"}]}
    assert answer({"content": [], "structuredContent": whole}, output=ROWS).notes == ()


def told(where: str, run: Run | None, row: JsonObject) -> list[str]:
    rows = OutputPolicy(rows=(RowFilter(path="/rows", where=where, rule="r", holds=ours),))
    decision = Decision(effect=DecisionEffect.ALLOW, output=rows)
    case = a_case(contract=a_contract(), decision=decision, run=run)
    result: JsonObject = {"content": [], "structuredContent": {"rows": [row]}}
    verified = Verified(
        delivered=Delivered(result=result, size=10),
        verification=Verification(state=VerificationState.NOT_DECLARED),
    )
    found = Normalise(max_result_bytes=1000, digest=digest)(case, verified)
    assert isinstance(found, Answer)
    content = found.result["content"]
    assert isinstance(content, list)
    return [str(each["text"]) for each in content[1:] if isinstance(each, dict)]


def test_a_model_is_told_of_rows_that_nobody_could_judge_and_what_its_run_lacks() -> None:
    where = "row.id == run.fields.customer_id && row.tenant == run.fields.tenant"
    run = a_run(fields={"tenant": a_field("acme", trust=Trust.HOST, source="host")})
    [words] = told(where, run, {"id": 1})
    assert words.endswith("can't be judged: the run has no `customer_id` yet")
    [alone] = told(where, None, {"id": 1})
    assert alone.endswith("can't be judged: this call is in no run")
    [other] = told("row.tenant == identity.tenant", run, {"id": 1})
    assert other.endswith("can't be judged")


def test_a_model_is_not_told_of_rows_that_are_not_for_its_eyes() -> None:
    assert told("w", None, {"id": 1, "tenant": "x"}) == []


@pytest.mark.parametrize(("lenient", "left"), [(False, {"n": 1}), (True, {})])
def test_a_form_without_rows_leaves_only_when_a_schema_vouches_for_it(
    lenient: bool, left: JsonObject
) -> None:
    tool = a_tool(a_definition(outputSchema={"type": "object", "properties": {"n": {}}}))
    case = a_case(
        tool=tool,
        contract=a_contract(tool, lenient_output=lenient),
        decision=Decision(effect=DecisionEffect.ALLOW, output=ROWS),
    )
    shaping = Normalise(max_result_bytes=1000, digest=digest)
    delivered = Delivered(result={"content": [], "structuredContent": {"n": 1, "m": 2}}, size=1)
    verified = Verified(
        delivered=delivered, verification=Verification(state=VerificationState.NOT_DECLARED)
    )
    found = shaping(case, verified)
    assert isinstance(found, Answer)
    assert found.result["structuredContent"] == left


def test_what_a_refusal_carries_is_never_taken_for_checked() -> None:
    """A result that broke its schema may have its rows under another name."""
    tool = a_tool(a_definition(outputSchema={"type": "object"}))
    case = a_case(tool=tool, decision=Decision(effect=DecisionEffect.ALLOW, output=ROWS))
    original: JsonObject = {"content": [], "structuredContent": {"people": [{"id": 2}]}}
    refusal = Refusal(status=Status.RESULT_INVALID, reason="x", original=original)
    left = Normalise(max_result_bytes=1000, digest=digest).refused(case, refusal)
    assert left.original is not None
    assert left.original["structuredContent"] == {}
    told = Answer(result=original)
    again = Normalise(max_result_bytes=1000, digest=digest).again(case, told)
    assert isinstance(again, Answer)
    assert again.result["structuredContent"] == {}


@pytest.mark.parametrize("code", [-5, URL_REQUIRED])
@pytest.mark.parametrize("output", [ROWS, OutputPolicy(keep=("/id",)), OutputPolicy()])
def test_an_error_of_a_server_is_told_in_our_words_where_anything_is_filtered(
    output: OutputPolicy, code: int
) -> None:
    case = a_case(decision=Decision(effect=DecisionEffect.ALLOW, output=output))
    error = WireError(code=code, message="row c-2", data={"elicitations": []})
    refusal = Refusal(status=Status.TOOL_FAILED, code=str(code), reason="row c-2", error=error)
    left = Normalise(max_result_bytes=1000, digest=digest).refused(case, refusal)
    if not output.holds_back:
        assert left is refusal
        return
    assert "c-2" not in str(left)
    assert left.error is not None
    assert left.error.code == code
    # Policy has decided about the URLs by themselves.
    assert left.error.data == (error.data if code == URL_REQUIRED else None)


def test_documents_of_a_resource_leave_by_their_version() -> None:
    def second(row: Json) -> bool:
        return isinstance(row, dict) and row["version"] == "2"

    output = OutputPolicy(rows=(RowFilter(path="", where="w", rule="r", holds=second),))
    case = a_case(
        tool=a_resource(),
        contract=a_contract(),
        call=a_call(method=Method.READ_RESOURCE),
        decision=Decision(effect=DecisionEffect.ALLOW, output=output),
    )
    entries: list[Json] = [
        {"uri": "a://1", "text": "new", "_meta": {"version": "2"}},
        {"uri": "a://2", "text": "old", "_meta": {"version": "1"}},
    ]
    verified = Verified(
        delivered=Delivered(result={"contents": entries}, size=1),
        verification=Verification(state=VerificationState.NOT_DECLARED),
    )
    found = Normalise(max_result_bytes=1000, digest=digest)(case, verified)
    assert isinstance(found, Answer)
    assert found.result["contents"] == entries[:1]
    assert (found.rows, found.redactions) == (RowCount(kept=1, removed=1), 1)
