"""Rounds: results that are no end yet."""

from dataclasses import dataclass, field, replace

import pytest

from gateway.case import Case
from gateway.errors import AskFailed, AskUnanswered
from gateway.relay.ears import CallerEar
from gateway.relay.questions import Questions
from gateway.relay.states import Passed
from gateway.types.calls import Era, Method
from gateway.types.decisions import Decision, DecisionEffect, OutputPolicy
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.relay import AskOutcome, Outbound, Underway
from gateway.types.tools import Sensitivity
from tests.helpers.cases import a_call, a_case
from tests.helpers.relays import a_relay, some_questions, some_states
from tests.relay.callers import Asked, Turns

STATES = some_states()
QUESTION: JsonObject = {"method": "elicitation/create", "params": {"message": "sure?"}}
SHOWN: JsonObject = {
    "method": "elicitation/create",
    "params": {"message": "crm asks: sure?", "_meta": {"weighbridge/server": "crm"}},
}
DONE = Delivered(result={"resultType": "complete", "content": []}, size=9)


def wants(*keys: str, **more: str) -> Delivered:
    requests: JsonObject = dict.fromkeys(keys, QUESTION)
    return Delivered(
        result={"resultType": "input_required", "inputRequests": requests, **more}, size=9
    )


@dataclass
class Server:
    """Answers each further round with the next of its results."""

    results: list[Delivered | Refusal]
    sent: list[Outbound] = field(default_factory=list[Outbound])

    async def __call__(self, outbound: Outbound) -> Delivered | Refusal:
        self.sent.append(outbound)
        return self.results.pop(0)


def a_round(caller: Asked) -> Case:
    call = replace(a_call(arguments={"a": 1}), caller=caller)
    return a_case(call=call, arguments={"a": 1})


async def settle(
    case: Case,
    delivered: Delivered,
    server: Server | None = None,
    questions: Questions | None = None,
    turns: Turns | None = None,
) -> Delivered | Answer | Refusal:
    relay = a_relay(questions or some_questions(), states=STATES)
    outbound, turns = relay.outbound(case, ""), turns or Turns()
    ear = relay.ear(case, outbound, turns)
    assert isinstance(ear, CallerEar | None)
    underway = Underway(outbound=outbound, ear=ear, turns=turns)
    return await relay.settle(case, underway, delivered, server or Server([]))


async def test_a_complete_result_is_the_end() -> None:
    assert await settle(a_round(Asked()), DONE) is DONE


async def test_a_live_caller_is_asked_and_its_server_gets_the_answers() -> None:
    caller = Asked(answer={"action": "accept"})
    server = Server([wants("two", requestState="s2"), DONE])
    end = await settle(a_round(caller), wants("one", "more", requestState="s1"), server)
    assert end is DONE
    assert [each[0] for each in caller.heard] == ["elicitation/create"] * 3
    first, second = server.sent
    assert first.params["inputResponses"] == {
        "one": {"action": "accept"},
        "more": {"action": "accept"},
    }
    assert first.params["requestState"] == "s1"
    assert first.params["arguments"] == {"a": 1}
    assert second.params["requestState"] == "s2"


async def test_a_server_without_a_state_gets_none() -> None:
    server = Server([wants("q", requestState="s"), wants("q"), DONE])
    await settle(a_round(Asked()), wants("q"), server)
    assert ["requestState" in each.params for each in server.sent] == [False, True, False]


async def test_a_caller_that_refuses_ends_the_call() -> None:
    caller = Asked(answer=AskFailed(-1, "words of a person"))
    end = await settle(a_round(caller), wants("q"))
    assert isinstance(end, Refusal)
    assert "the client answered with error -1" in end.reason
    assert "words" not in end.reason
    unheard = await settle(a_round(Asked(answer=AskUnanswered(-1, "too late"))), wants("q"))
    assert isinstance(unheard, Refusal)
    assert "too late" in unheard.reason


async def test_a_server_does_not_ask_for_ever() -> None:
    end = await settle(a_round(Asked()), wants("q"), Server([wants("q")] * 20))
    assert isinstance(end, Refusal)
    assert "more than 16 times" in end.reason


async def test_a_stateless_caller_gets_the_questions_and_a_state_of_ours() -> None:
    case, turns = a_round(Asked(era=Era.MODERN)), Turns()
    end = await settle(case, wants("q", requestState="theirs", extra="kept"), turns=turns)
    assert isinstance(end, Answer)
    assert end.status is Status.INPUT_REQUIRED
    assert end.result["inputRequests"] == {"q": SHOWN}
    assert [(each.key, each.outcome) for each in turns.inquiries] == [("q", AskOutcome.ASKED)]
    assert end.result["extra"] == "kept"
    token = end.result["requestState"]
    again = STATES.open(replace(case.call, params={"requestState": token}))
    assert isinstance(again, Passed)
    assert again.call.params["requestState"] == "theirs"


async def test_more_state_than_can_be_brought_back_ends_the_call() -> None:
    """A caller would come back with a token that nobody opens."""
    case = a_round(Asked(era=Era.MODERN))
    assert isinstance(await settle(case, wants("q", requestState="s" * 40_000)), Answer)
    assert isinstance(await settle(case, wants("q", requestState="s" * 60_000)), Refusal)


async def test_a_stateless_server_without_a_state_gets_no_state_of_ours() -> None:
    asked = wants("q")
    end = await settle(a_round(Asked(era=Era.MODERN)), asked)
    assert isinstance(end, Answer)
    assert end.result == {**asked.result, "inputRequests": {"q": SHOWN}}


async def test_what_can_not_be_recorded_is_not_asked() -> None:
    full = Turns(is_full=True)
    end = await settle(a_round(Asked(era=Era.MODERN)), wants("q"), turns=full)
    assert isinstance(end, Refusal)
    assert "could not be recorded" in end.reason


async def test_a_task_asks_under_the_name_of_its_server() -> None:
    case, turns = a_round(Asked(era=Era.MODERN)), Turns()
    call = replace(case.call, method=Method.GET_TASK, name="sealed")
    needs = Delivered(result={"taskId": "own", "inputRequests": {"q": QUESTION}}, size=9)
    end = await settle(replace(case, call=call), needs, turns=turns)
    assert isinstance(end, Delivered)
    assert end.result == {"taskId": "sealed", "inputRequests": {"q": SHOWN}}
    assert turns.outcomes == ["asked"]
    full = Turns(is_full=True)
    assert isinstance(await settle(replace(case, call=call), needs, turns=full), Refusal)


@pytest.mark.parametrize(
    "asked",
    [
        {"q": {"method": "tools/call", "params": {}}},
        {"q": {"method": "elicitation/create", "params": [1]}},
        {"q": "?"},
        {},
        ["q"],
        dict.fromkeys(map(str, range(17)), QUESTION),
    ],
)
async def test_what_is_no_question_goes_nowhere(asked: object) -> None:
    result = {"resultType": "input_required", "inputRequests": asked}
    end = await settle(
        a_round(Asked(era=Era.MODERN)),
        Delivered(result=result, size=9),  # type: ignore[arg-type] - what a server might send
    )
    assert isinstance(end, Refusal)
    assert end.status is Status.RESULT_INVALID


async def test_a_kind_that_the_caller_lacks_is_not_passed_on() -> None:
    end = await settle(a_round(Asked(era=Era.MODERN, capabilities={"roots": {}})), wants("q"))
    assert isinstance(end, Refusal)


async def test_policy_may_forbid_a_question_of_a_stateless_server() -> None:
    for questions in (
        some_questions(decide=lambda method, params: False),
        some_questions(frozenset()),  # it was told that nobody can be asked
    ):
        turns, case = Turns(), a_round(Asked(era=Era.MODERN))
        end = await settle(case, wants("q"), questions=questions, turns=turns)
        assert isinstance(end, Refusal)
        assert end.status is Status.DENIED
        assert "the policy does not let `crm` ask this" in end.reason
        assert turns.outcomes == ["forbidden"]


async def test_input_is_only_asked_for_where_the_protocol_has_it() -> None:
    case = a_round(Asked(era=Era.MODERN))
    call = replace(case.call, method=Method.COMPLETE, params={"ref": {}})
    end = await settle(replace(case, call=call), wants("q"))
    assert isinstance(end, Refusal)


async def test_a_task_leaves_with_an_id_that_only_its_owner_can_use() -> None:
    created = Delivered(result={"resultType": "task", "taskId": "own", "pollIntervalMs": 5}, size=9)
    end = await settle(a_round(Asked(era=Era.MODERN)), created)
    assert isinstance(end, Answer)
    assert end.result["taskId"] != "own"
    assert end.result["pollIntervalMs"] == 5


async def test_a_task_that_brings_its_result_at_once_is_refused_where_that_is_minimised() -> None:
    result: JsonObject = {"resultType": "task", "taskId": "own", "result": {"content": []}}
    case, created = a_round(Asked(era=Era.MODERN)), Delivered(result=result, size=9)
    assert isinstance(await settle(case, created), Answer)
    secret = replace(case.contract, sensitive_results={"/a": Sensitivity.SECRET})
    assert isinstance(await settle(replace(case, contract=secret), created), Refusal)


async def test_a_result_of_an_extension_passes_unless_it_would_have_to_be_minimised() -> None:
    odd = Delivered(result={"resultType": "com.example/x", "n": 10**30}, size=9)
    case = a_round(Asked(era=Era.MODERN))
    end = await settle(case, odd)
    assert isinstance(end, Answer)
    assert end.result == odd.result
    kept = Decision(effect=DecisionEffect.ALLOW, output=OutputPolicy(keep=("/a",)))
    end = await settle(replace(case, decision=kept), odd)
    assert isinstance(end, Refusal)
