"""The envelope."""

from gateway.results import envelope
from gateway.types.json import JsonObject
from gateway.types.operations import Execution
from gateway.types.outcomes import TABLE, Answer, Refusal, Status

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
