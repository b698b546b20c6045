from gateway.case import Case
from gateway.crossing import endings
from gateway.types.events import EventKind, Stage
from gateway.types.json import JsonObject
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.records import CallRecord
from gateway.types.tools import Effect
from tests.helpers.cases import NOW, a_case
from tests.helpers.ledgers import Books, Clock, MemoryLog

BOOKS = Books(MemoryLog(), Clock())
RESULT: JsonObject = {"content": []}


def told(
    outcome: Answer | Refusal, case: Case | None
) -> list[tuple[EventKind, Stage, object, object]]:
    record = CallRecord(
        call=a_case().call,
        parent=None,
        trace_id="",
        server_span="",
        authorize_span="",
        client_span="",
        status=outcome.status,
    )
    found = endings.events(record, case, outcome, NOW, BOOKS)
    assert len({event.id for event in found}) == len(found)
    return [
        (event.kind, event.stage, event.body.get("reason"), event.body.get("next"))
        for event in found
    ]


def test_a_read_that_was_answered_has_an_end_and_what_it_retrieved() -> None:
    assert told(Answer(result=RESULT), a_case(effect=Effect.READ)) == [
        (EventKind.TOOL_CALL, Stage.FINISHED, None, None),
        (EventKind.RETRIEVAL, Stage.RECORDED, None, None),
    ]


def test_whatever_else_becomes_of_a_call_it_has_one_end() -> None:
    finished = (EventKind.TOOL_CALL, Stage.FINISHED, None, None)
    assert told(Answer(result=RESULT), a_case(effect=Effect.WRITE)) == [finished]
    assert told(Answer(result=RESULT), None) == [finished]
    refusal = Refusal(status=Status.DENIED, reason="no", next="ask")
    assert told(refusal, a_case(effect=Effect.READ)) == [
        (EventKind.TOOL_CALL, Stage.FAILED, "no", "ask")
    ]


def test_advice_that_may_name_arguments_is_left_out() -> None:
    refusal = Refusal(
        status=Status.INVALID_ARGUMENTS, reason="no", next="ask", details=({"pointer": "/a"},)
    )
    assert told(refusal, None) == [(EventKind.TOOL_CALL, Stage.FAILED, "no", None)]
