"""Ears: a caller hears and answers what policy lets its server say and ask."""

import contextlib
from dataclasses import replace

import anyio
import pytest

from gateway.errors import AskFailed, AskRefused, AskUnanswered
from gateway.relay.ears import CallerEar
from gateway.relay.questions import QuestionDenied, Questions
from gateway.types.calls import Era, Method
from gateway.types.decisions import Decision, DecisionEffect, OutputPolicy
from gateway.types.json import JsonObject
from gateway.types.relay import AskOutcome, Outbound
from gateway.types.values import replaced
from tests.helpers.cases import a_call, a_case
from tests.helpers.relays import EVERYTHING, some_questions
from tests.relay.callers import ALL, Asked, Turns


def an_ear(
    caller: Asked, questions: Questions | None = None, turns: Turns | None = None
) -> CallerEar:
    questions = questions or some_questions()
    case = a_case(call=replace(a_call(), caller=caller))
    outbound = Outbound(
        method=Method.CALL_TOOL,
        params={},
        deadline_s=1,
        is_read=True,
        capabilities=questions.shared(case),
    )
    return CallerEar(
        case=case,
        outbound=outbound,
        questions=questions,
        turns=turns or Turns(),
        ask_s=1,
        ask_bytes=100,
    )


async def test_a_question_reaches_the_caller_and_its_answer_the_server() -> None:
    caller = Asked(answer={"action": "accept", "content": {"n": 10**30}})
    asked: JsonObject = {"message": "sure?", "unknown": [1.0]}
    turns = Turns()
    assert await an_ear(caller, turns=turns).ask("elicitation/create", asked) == caller.answer
    shown = {
        "message": "crm asks: sure?",
        "unknown": [1.0],
        "_meta": {"weighbridge/server": "crm"},
    }
    assert caller.heard == [("elicitation/create", shown)]
    assert turns.outcomes == ["asked", "accept"]
    assert {inquiry.method for inquiry in turns.inquiries} == {Method.ELICIT}
    assert {inquiry.params is asked for inquiry in turns.inquiries} == {True}
    assert turns.inquiries[1].result == caller.answer


async def test_a_question_that_is_too_large_goes_nowhere() -> None:
    caller, turns = Asked(), Turns()
    with pytest.raises(AskRefused, match="more than 100 bytes"):
        await an_ear(caller, turns=turns).ask("elicitation/create", {"message": "x" * 100})
    assert not caller.heard
    assert turns.outcomes == ["unsent"]


async def test_a_question_that_can_not_be_recorded_is_not_asked() -> None:
    caller = Asked()
    with pytest.raises(AskRefused, match="could not be recorded"):
        await an_ear(caller, turns=Turns(is_full=True)).ask("elicitation/create", {})
    assert not caller.heard


@pytest.mark.parametrize(
    ("answer", "outcome", "code"),
    [
        (AskUnanswered(-32001, "no answer in time"), "timeout", None),
        (AskFailed(-7, "words of a person"), "error", -7),
        (AskRefused(-32601, "not offered"), "unsent", None),
        ({"action": "decline"}, "decline", None),
        ({"action": "cancel"}, "cancel", None),
        ({"action": "maybe"}, "answered", None),
        ({"roots": []}, "answered", None),
    ],
)
async def test_how_a_question_ended_is_kept(
    answer: JsonObject | AskRefused, outcome: str, code: int | None
) -> None:
    turns = Turns()
    with contextlib.suppress(AskRefused):
        await an_ear(Asked(answer=answer), turns=turns).ask("elicitation/create", {})
    assert turns.outcomes == ["asked", outcome]
    assert turns.inquiries[1].error_code == code


async def test_a_question_that_is_given_up_is_kept_as_withdrawn() -> None:
    turns, asked = Turns(), anyio.Event()

    class Silent(Asked):
        async def ask(self, method: str, params: JsonObject, *, within_s: float) -> JsonObject:
            asked.set()
            await anyio.sleep_forever()
            raise AssertionError

    async with anyio.create_task_group() as tasks:
        nothing: JsonObject = {}
        tasks.start_soon(an_ear(Silent(), turns=turns).ask, "sampling/createMessage", nothing)
        await asked.wait()
        tasks.cancel_scope.cancel()
    assert turns.outcomes == ["asked", "withdrawn"]
    assert turns.kept == [({}, None, "the question was given up")]


@pytest.mark.parametrize("method", ["tools/call", "no/such", "notifications/message", "ping"])
async def test_what_is_no_question_is_not_offered(method: str) -> None:
    """case: RPC-05"""
    caller = Asked()
    with pytest.raises(AskRefused) as refused:
        await an_ear(caller).ask(method, {})
    assert refused.value.code == -32601
    assert caller.heard == []


async def test_a_caller_is_never_asked_what_it_did_not_declare() -> None:
    caller = Asked(capabilities={"elicitation": {}})
    with pytest.raises(AskRefused):
        await an_ear(caller).ask("sampling/createMessage", {})
    assert caller.heard == []


async def test_policy_may_forbid_a_kind_for_a_server() -> None:
    questions = some_questions(EVERYTHING - {Method.SAMPLE})
    caller = Asked()
    ear = an_ear(caller, questions)
    assert "sampling" not in ear.outbound.capabilities
    assert ear.outbound.capabilities["x"] == ALL["x"]
    with pytest.raises(QuestionDenied):
        await ear.ask("sampling/createMessage", {})
    assert caller.heard == []


async def test_policy_may_forbid_one_question_and_its_rule_is_kept() -> None:
    questions = some_questions(decide=lambda method, params: "password" not in str(params))
    caller, turns = Asked(), Turns()
    ear = an_ear(caller, questions, turns)
    with pytest.raises(AskRefused, match="policy"):
        await ear.ask("elicitation/create", {"message": "your password?"})
    assert caller.heard == []
    (forbidden,) = turns.inquiries
    assert forbidden.outcome is AskOutcome.FORBIDDEN
    assert forbidden.decision is not None
    assert forbidden.decision.effect is DecisionEffect.DENY


async def test_a_turn_of_the_callers_model_is_kept_with_its_end() -> None:
    turns = Turns()
    said: JsonObject = {"role": "assistant", "model": "m", "content": {}}
    await an_ear(Asked(answer=said), turns=turns).ask("sampling/createMessage", {"maxTokens": 1})
    await an_ear(Asked(), turns=turns).ask("elicitation/create", {})
    refusing = Asked(answer=AskFailed(-1, "words of a person"))
    with pytest.raises(AskRefused):
        await an_ear(refusing, turns=turns).ask("sampling/createMessage", {})
    assert turns.kept == [
        ({"maxTokens": 1}, said, ""),
        ({}, None, "the client answered with error -1"),
    ]


async def test_log_messages_pass_as_far_as_policy_lets_them() -> None:
    caller = Asked()
    ear = an_ear(caller, some_questions(decide=lambda _, params: params.get("level") == "error"))
    await ear.log({"level": "error", "data": {"a": 1}})
    await ear.log({"level": "debug", "data": "x"})
    assert caller.heard == [("log", {"level": "error", "data": {"a": 1}})]


@pytest.mark.parametrize("is_filtered", [True, False])
async def test_beside_a_result_that_is_filtered_only_numbers_are_heard(is_filtered: bool) -> None:
    caller = Asked()
    ear = an_ear(caller)
    output = OutputPolicy(keep=("/id",) if is_filtered else ())
    decision = Decision(effect=DecisionEffect.ALLOW, output=output)
    ear = replace(ear, case=replaced(ear.case, decision=decision))
    await ear.progress(1.0, 2.0, "row c-2")
    await ear.log({"level": "error", "data": "row c-2"})
    assert ("progress", 1.0) in caller.heard
    assert caller.said == ["" if is_filtered else "row c-2"]
    assert (len(caller.heard) == 1) is is_filtered


async def test_the_end_of_an_elicitation_names_its_server_and_nothing_else() -> None:
    caller = Asked()
    await an_ear(caller).completed("e-1")
    told = {"elicitationId": "e-1", "_meta": {"weighbridge/server": "crm"}}
    assert caller.heard == [("completed", told)]


async def test_a_stateless_caller_is_told_of_no_end_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caller = Asked(era=Era.MODERN)
    with caplog.at_level("INFO", "gateway.relay"):
        await an_ear(caller).completed("e-1")
    assert caller.heard == []
    assert caplog.messages == ["server crm: told a stateless caller's elicitation done; dropped"]


@pytest.mark.parametrize("can", [{}, {"sampling": {}}])
async def test_who_can_not_be_sent_to_a_url_hears_of_none(can: JsonObject) -> None:
    caller = Asked(capabilities=can)
    await an_ear(caller).completed("e-1")
    assert caller.heard == []
