"""Ears: a caller hears and answers what policy lets its server say and ask."""

from dataclasses import replace

import pytest

from gateway.errors import AskRefused
from gateway.relay.ears import CallerEar
from gateway.relay.questions import Questions
from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.relay import Outbound
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
    assert await an_ear(caller).ask("elicitation/create", asked) == caller.answer
    assert caller.heard == [("elicitation/create", asked)]


async def test_a_question_that_is_too_large_goes_nowhere() -> None:
    caller = Asked()
    with pytest.raises(AskRefused, match="more than 100 bytes"):
        await an_ear(caller).ask("elicitation/create", {"message": "x" * 100})
    assert not caller.heard


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
    with pytest.raises(AskRefused):
        await ear.ask("sampling/createMessage", {})
    assert caller.heard == []


async def test_policy_may_forbid_one_question() -> None:
    questions = some_questions(decide=lambda method, params: "password" not in str(params))
    caller = Asked()
    ear = an_ear(caller, questions)
    with pytest.raises(AskRefused, match="policy"):
        await ear.ask("elicitation/create", {"message": "your password?"})
    assert caller.heard == []


async def test_a_turn_of_the_callers_model_is_kept_with_its_end() -> None:
    turns = Turns()
    said: JsonObject = {"role": "assistant", "model": "m", "content": {}}
    await an_ear(Asked(answer=said), turns=turns).ask("sampling/createMessage", {"maxTokens": 1})
    await an_ear(Asked(), turns=turns).ask("elicitation/create", {})
    refusing = Asked(answer=AskRefused(-1, "user said no"))
    with pytest.raises(AskRefused):
        await an_ear(refusing, turns=turns).ask("sampling/createMessage", {})
    assert turns.kept == [({"maxTokens": 1}, said, ""), ({}, None, "user said no")]


async def test_log_messages_pass_as_far_as_policy_lets_them() -> None:
    caller = Asked()
    ear = an_ear(caller, some_questions(decide=lambda _, params: params.get("level") == "error"))
    await ear.log({"level": "error", "data": {"a": 1}})
    await ear.log({"level": "debug", "data": "x"})
    assert caller.heard == [("log", {"level": "error", "data": {"a": 1}})]
