"""The envelope."""

from dataclasses import replace

import pytest

from gateway.results import envelope
from gateway.types.calls import Era, Method
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Execution
from gateway.types.outcomes import TABLE, Answer, ApprovalTold, Refusal, Status, WireError

SUBJECT = envelope.Subject(call_id="call_1", tool="crm__wipe")


def outcome(result: JsonObject) -> JsonObject:
    meta = result["_meta"]
    assert isinstance(meta, dict)
    said = meta[envelope.OUTCOME]
    assert isinstance(said, dict)
    return said


def test_a_refusal_tells_program_and_model_the_same() -> None:
    """case: OUT-04"""
    refusal = Refusal(
        status=Status.LIMIT_EXCEEDED, reason="the limit is used up", rule="r", retry_after_s=3
    )
    finished = envelope.refuse(refusal, SUBJECT)
    said = outcome(finished.result)
    assert finished.result["isError"] is True
    assert finished.result["structuredContent"] == said
    assert said["status"] == "limit_exceeded"
    assert said["error_class"] == "permission"
    assert said["retry_after_s"] == 3
    assert said["next"] == TABLE[Status.LIMIT_EXCEEDED].next
    assert "the limit is used up" in str(finished.result["content"])


def test_a_tool_with_an_output_schema_gets_no_other_structure() -> None:
    subject = envelope.Subject(call_id="call_1", has_output_schema=True)
    finished = envelope.refuse(Refusal(status=Status.DENIED, reason="no"), subject)
    assert "structuredContent" not in finished.result
    assert outcome(finished.result)["status"] == "denied"


def test_an_outcome_names_its_operation_and_until_when_its_answer_is_told_again() -> None:
    until = "2026-11-30T09:00:00.000000Z"
    subject = replace(SUBJECT, op_id="op_1", replay_until=until)
    for finished in (
        envelope.answer(Answer(result={"content": []}), subject),
        envelope.refuse(Refusal(status=Status.POSTCONDITION_FAILED, reason="no"), subject),
    ):
        said = outcome(finished.result)
        assert (said["op_id"], said["replay_until"]) == ("op_1", until)
    never = outcome(envelope.answer(Answer(result={}), replace(SUBJECT, op_id="op_1")).result)
    assert "replay_until" not in never


def test_a_hidden_tool_is_answered_like_a_name_that_does_not_exist() -> None:
    """case: AUT-01"""
    hidden = Refusal(
        status=Status.DENIED, reason="only admins", rule="admins", code="role", hidden=True
    )
    unknown = Refusal(status=Status.UNKNOWN_TOOL, reason="x", code="unknown_tool", hidden=True)
    assert envelope.refuse(hidden, SUBJECT) == envelope.refuse(unknown, SUBJECT)
    assert "admins" not in str(envelope.refuse(hidden, SUBJECT))


def test_a_refusal_that_replaces_a_result_says_it_was_executed() -> None:
    original: JsonObject = {"content": [{"type": "text", "text": "done"}]}
    refusal = Refusal(
        status=Status.RESULT_INVALID, reason="r", executed=Execution.YES, original=original
    )
    finished = envelope.refuse(refusal, SUBJECT)
    assert outcome(finished.result)["executed"] == "yes"
    assert {"type": "text", "text": "done"} in finished.result["content"]  # type: ignore[operator] - a list


def test_an_answer_keeps_its_own_meta() -> None:
    result: JsonObject = {"content": [], "_meta": {"own": 1}}
    finished = envelope.answer(Answer(result=result, redactions=2), SUBJECT)
    assert finished.result["_meta"] == {
        "own": 1,
        envelope.OUTCOME: {
            "call_id": "call_1",
            "status": "ok",
            "verification": "not_declared",
            "redactions": 2,
        },
    }


@pytest.mark.parametrize(
    ("method", "era", "code"),
    [
        (Method.READ_RESOURCE, Era.LEGACY, -32002),
        (Method.SUBSCRIBE, Era.LEGACY, -32002),
        (Method.READ_RESOURCE, Era.MODERN, -32602),
        (Method.GET_PROMPT, Era.LEGACY, -32602),
        (Method.COMPLETE, Era.LEGACY, -32602),
        (Method.GET_TASK, Era.MODERN, -32602),
    ],
)
def test_a_name_that_nothing_has_is_the_error_that_the_method_knows(
    method: Method, era: Era, code: int
) -> None:
    subject = envelope.Subject(call_id="call_1", tool="x:y", method=method, era=era)
    finished = envelope.refuse(envelope.missing("x:y", method), subject)
    assert finished.result == {}
    assert finished.error is not None
    assert finished.error.code == code
    assert finished.error.message.startswith("[unknown_tool] there is no ")
    assert "Executed: no. Next: use " in finished.error.message


def test_a_refusal_without_a_result_is_an_error_of_ours_with_the_same_outcome() -> None:
    refusal = Refusal(status=Status.DENIED, reason="only for finance", rule="r")
    of_tool = envelope.refuse(refusal, SUBJECT)
    subject = replace(SUBJECT, method=Method.READ_RESOURCE)
    error = envelope.refuse(refusal, subject).error
    assert error is not None
    assert error.code == envelope.REFUSED
    assert not -32768 <= envelope.REFUSED <= -32000
    assert error.data == {envelope.OUTCOME: outcome(of_tool.result)}
    assert error.message in str(of_tool.result["content"])


def test_a_hidden_resource_is_answered_like_one_that_does_not_exist() -> None:
    """case: AUT-01"""
    subject = replace(SUBJECT, tool="crm://notes/1", method=Method.READ_RESOURCE)
    hidden = Refusal(status=Status.DENIED, reason="only admins", rule="admins", hidden=True)
    missing = replace(envelope.missing("crm://notes/1", subject.method), hidden=True)
    assert envelope.refuse(hidden, subject) == envelope.refuse(missing, subject)


def test_a_servers_own_error_passes_as_it_came() -> None:
    own = WireError(code=-32603, message="disk", data={"k": 1})
    subject = replace(SUBJECT, method=Method.GET_PROMPT)
    refusal = Refusal(status=Status.TOOL_FAILED, reason="r", error=own)
    error = envelope.refuse(refusal, subject).error
    assert error is not None
    assert (error.code, error.message) == (-32603, "disk")


@pytest.mark.parametrize("data", ["text", 7, [1], True])
def test_who_can_not_know_is_told_so_whatever_data_the_servers_error_has(data: Json) -> None:
    own = WireError(code=-32603, message="disk", data=data)
    subject = replace(SUBJECT, op_id="op_1")
    unknown = Refusal(status=Status.INDETERMINATE, reason="r", error=own)
    error = envelope.refuse(unknown, subject).error
    assert error is not None
    assert isinstance(error.data, dict)
    assert error.data[envelope.DATA] == data
    outcome = error.data[envelope.OUTCOME]
    assert isinstance(outcome, dict)
    assert (outcome["status"], outcome["op_id"]) == ("indeterminate", "op_1")
    known = replace(unknown, status=Status.TOOL_FAILED)
    assert envelope.refuse(known, subject).error == own


def test_arguments_that_a_prompt_can_not_take_are_invalid_params() -> None:
    subject = replace(SUBJECT, method=Method.GET_PROMPT)
    error = envelope.refuse(Refusal(status=Status.INVALID_ARGUMENTS, reason="r"), subject).error
    assert error is not None
    assert error.code == -32602


def test_what_goes_along_with_a_refusal_is_marked_as_a_servers() -> None:
    mark: JsonObject = {"server": "crm"}
    original: JsonObject = {
        "content": [{"type": "text", "text": "done"}],
        "_meta": {envelope.UNTRUSTED: mark, "own": 1},
    }
    refusal = Refusal(status=Status.POSTCONDITION_FAILED, reason="r", original=original)
    meta = envelope.refuse(refusal, SUBJECT).result["_meta"]
    assert isinstance(meta, dict)
    assert meta[envelope.UNTRUSTED] == mark
    assert "own" not in meta


def test_what_an_approver_would_rather_have_stands_in_a_text_that_models_see() -> None:
    refusal = Refusal(
        status=Status.APPROVAL_DENIED,
        reason="a person said no",
        approval=ApprovalTold(approval_id="apr_1", suggested={"v": 250}),
    )
    subject = envelope.Subject(call_id="call_1", has_output_schema=True)
    content = envelope.refuse(refusal, subject).result["content"]
    assert isinstance(content, list)
    assert content[1] == {"type": "text", "text": 'suggested_arguments: {"v":250}'}
