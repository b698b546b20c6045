"""Relay: how much of a caller a server is shown, and who hears what it says."""

from dataclasses import replace

import pytest

from gateway.case import Case
from gateway.relay.questions import QuestionDenied
from gateway.relay.relay import Relay
from gateway.types.calls import Era, Method
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered
from gateway.types.outcomes import Answer, Refusal
from gateway.types.relay import Ear, Outbound, Underway
from tests.helpers.cases import a_call, a_case
from tests.helpers.relays import EVERYTHING, a_relay, some_questions
from tests.relay.callers import ALL, Asked, Turns


def a_case_of(caller: Asked, method: Method = Method.CALL_TOOL, **params: object) -> Case:
    return a_case(call=replace(a_call(), caller=caller, method=method, params=params))


def heard(relay: Relay, caller: Asked) -> Ear | None:
    case = a_case_of(caller)
    return relay.ear(case, relay.outbound(case, ""), Turns())


def test_a_server_that_may_ask_gets_a_lane_of_its_caller() -> None:
    outbound = a_relay(some_questions()).outbound(a_case_of(Asked(log_level="info")), "00-aa")
    assert (outbound.capabilities, outbound.log_level) == (ALL, "info")
    assert outbound.traceparent == "00-aa"
    assert outbound.lane == '["keys", "sam-key", "test", "acme", "sam", "api_key", "s1"]'
    assert outbound.owner == '["keys", "sam-key", "test", "acme", "sam", "api_key", ""]'


def test_a_server_that_may_ask_nothing_is_shown_nothing_and_shares_its_connection() -> None:
    silent = Asked(capabilities={})
    outbound = a_relay(some_questions()).outbound(a_case_of(silent), "")
    assert (outbound.capabilities, outbound.log_level, outbound.lane) == ({}, "", "")


def test_a_subscription_names_the_lanes_of_its_caller_whatever_may_be_asked() -> None:
    case = a_case_of(Asked(capabilities={}), Method.SUBSCRIBE, uri="x://1")
    outbound = a_relay(some_questions()).outbound(case, "")
    assert (outbound.capabilities, outbound.lane[-5:], outbound.owner[-4:]) == ({}, '"s1"]', ' ""]')


@pytest.mark.parametrize(
    ("caller", "hears"),
    [
        (Asked(era=Era.MODERN, capabilities={}), False),
        (Asked(era=Era.MODERN, capabilities={}, wants_progress=True), True),
        (Asked(era=Era.MODERN, capabilities={}, log_level="info"), True),
        (Asked(era=Era.MODERN), True),
        (Asked(era=Era.LEGACY, capabilities={}), True),  # log messages, without asking for them
    ],
)
def test_a_caller_hears_a_server_when_it_wants_to(caller: Asked, hears: bool) -> None:
    assert (heard(a_relay(some_questions()), caller) is not None) is hears


async def test_a_caller_that_policy_keeps_from_all_of_it_hears_nothing() -> None:
    silent = a_relay(some_questions(frozenset()))
    for era in Era:
        assert heard(silent, Asked(era=era, log_level="info", capabilities={})) is None
        caller = Asked(era=era, log_level="info")
        ear = heard(silent, caller)
        assert ear is not None  # what its server asks all the same is refused by policy
        with pytest.raises(QuestionDenied):
            await ear.ask("roots/list", {})
        await ear.log({"level": "error", "data": 1})
        assert caller.heard == []


@pytest.mark.parametrize(
    ("caller", "method", "may"),
    [
        (Asked(era=Era.MODERN), Method.CALL_TOOL, True),
        (Asked(era=Era.MODERN), Method.COMPLETE, False),
        (Asked(era=Era.LEGACY), Method.CALL_TOOL, False),
        (Asked(era=Era.MODERN, capabilities={}), Method.CALL_TOOL, False),
    ],
)
def test_only_a_stateless_call_is_parked_for_a_question(
    caller: Asked, method: Method, may: bool
) -> None:
    assert a_relay(some_questions()).may_be_asked(a_case_of(caller, method)) is may
    forbidden = a_relay(some_questions(EVERYTHING - {*map(Method, _QUESTIONS)}))
    assert not forbidden.may_be_asked(a_case_of(caller, method))


_QUESTIONS = ("elicitation/create", "sampling/createMessage", "roots/list")


def test_the_answers_that_come_back_are_kept_and_model_turns_among_them_as_such() -> None:
    turn: JsonObject = {"role": "assistant", "model": "m-1", "content": {}}
    responses: JsonObject = {
        "a": turn,
        "b": {"action": "accept"},
        "c": 7,
        "d": {"roots": []},
        "e": {},
    }
    turns = Turns()
    a_relay().keep_answers(a_case_of(Asked(), inputResponses=responses), turns)
    assert turns.kept == [({}, turn, "")]
    assert [(each.key, each.method, each.outcome.value) for each in turns.inquiries] == [
        ("a", Method.SAMPLE, "answered"),
        ("b", Method.ELICIT, "accept"),
        ("d", Method.LIST_ROOTS, "answered"),
        ("e", None, "answered"),
    ]
    a_relay().keep_answers(a_case_of(Asked(), inputResponses=[turn]), turns)
    assert len(turns.inquiries) == 4


def test_no_more_turns_are_kept_than_a_server_may_ask_for() -> None:
    turn: JsonObject = {"role": "assistant", "model": "m-1"}
    turns, responses = Turns(), {str(number): turn for number in range(1000)}
    a_relay().keep_answers(a_case_of(Asked(), inputResponses=responses), turns)
    assert len(turns.kept) == len(turns.inquiries) == 16


async def settled(result: JsonObject) -> Delivered | Answer | Refusal:
    """Settle a result that needs no other round."""
    relay, case = a_relay(), a_case_of(Asked(era=Era.MODERN, capabilities={"x": {}}))
    outbound = relay.outbound(case, "")

    async def send(outbound: Outbound) -> Delivered | Refusal:
        raise AssertionError(outbound)

    underway = Underway(outbound=outbound, ear=None, turns=Turns())
    return await relay.settle(case, underway, Delivered(result=result, size=2), send)


@pytest.mark.parametrize("more", [{}, {"resultType": "complete"}])
async def test_a_result_that_is_one_passes_as_it_is(more: JsonObject) -> None:
    result: JsonObject = {"content": [], **more}
    delivered = await settled(result)
    assert isinstance(delivered, Delivered)
    assert delivered.result == result


async def test_a_question_that_the_caller_never_offered_to_answer_ends_the_call() -> None:
    asks: JsonObject = {"inputRequests": {"q": {"method": "roots/list"}}}
    refused = await settled({"resultType": "input_required", **asks})
    assert isinstance(refused, Refusal)
    assert "can't be asked" in refused.reason
