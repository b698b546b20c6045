from typing import Any

from gateway.app.playback import PLAYED, Playback
from gateway.app.programme import programme
from gateway.clock import SystemClock
from gateway.errors import BadCursor
from gateway.replay.takes import Take
from gateway.replay.tape import Tape
from gateway.servers.names import Naming
from gateway.types.calls import Method, ProposedCall
from gateway.types.outcomes import TABLE, Answer, Finished, Refusal, Status, WireError
from gateway.types.refused import TurnedAway, TurnedAwayFor
from gateway.types.runs import Phase
from gateway.types.tools import Listed
from tests.helpers.cases import (
    AbsentCaller,
    a_call,
    a_contract,
    a_principal,
    a_revision,
    a_tool,
)
from tests.helpers.tapes import a_take, a_take_of, digest_of

RUN = "run_1"
CALLER = AbsentCaller()


def playing(*takes: Take, is_open: bool = False, policy: str = "") -> Playback:
    tool = a_contract(a_tool())
    found = takes or (a_take(),)
    shown = programme(
        found,
        a_revision([tool], policy) if policy else a_revision([tool]),
        {},
        naming=Naming(),
        phase=Phase.ACTING,
        servers={"crm"},
    )
    assert shown is not None
    return Playback(
        tape=Tape(RUN, found),
        programme=shown,
        clock=SystemClock(),
        digest=lambda call: digest_of(call.asked),
        spelled=lambda call: call.name,
        is_open=is_open,
    )


def asked(**changes: Any) -> ProposedCall:
    fields: dict[str, Any] = {"arguments": {"id": "i-1"}, "call_id": "call_now"} | changes
    return a_call(**fields)


def said(finished: Finished) -> Any:
    return finished.result["_meta"]


async def test_a_recorded_answer_is_given_as_it_was_and_marked_as_played() -> None:
    finished = await playing().handle(asked())
    assert finished.result["content"] == [{"type": "text", "text": "call_1"}]
    assert said(finished)[PLAYED] == {"run": RUN, "call": "call_1", "at": "2026-11-30T09:00:00Z"}
    assert said(finished)["weighbridge/outcome"]["call_id"] == "call_1"
    assert said(finished)["weighbridge/outcome"]["run_id"] == RUN


async def test_a_recorded_refusal_is_given_again() -> None:
    refusal = Refusal(status=Status.DENIED, reason="nothing is wiped", code="no_wiping")
    finished = await playing(a_take(outcome=refusal)).handle(asked())
    assert finished.status is Status.DENIED
    assert finished.result["isError"] is True
    assert said(finished)["weighbridge/outcome"]["code"] == "no_wiping"


async def test_a_tool_that_was_hidden_stays_so() -> None:
    nobody = "rules:\n  - {id: no, decision: allow, match: {tools: [crm.other]}}\n"
    take = a_take(outcome=Refusal(status=Status.DENIED, reason="a secret of the rule"))
    finished = await playing(take, policy=nobody).handle(asked())
    assert "a secret of the rule" not in str(finished.result)
    assert said(finished)["weighbridge/outcome"]["status"] == "unknown_tool"


async def test_a_miss_says_that_nothing_was_carried_out_and_what_is_near() -> None:
    finished = await playing().handle(asked(arguments={"id": "i-2"}))
    outcome = said(finished)["weighbridge/outcome"]
    assert (outcome["status"], outcome["code"], outcome["rule"], outcome["executed"]) == (
        "not_recorded",
        "not_recorded",
        "gateway.playback",
        "no",
    )
    assert outcome["next"] == TABLE[Status.NOT_RECORDED].next
    assert "[not_recorded] " in str(finished.result["content"])
    assert outcome["details"] == [{"call": "call_1", "name": "crm__find", "differs": ["/id"]}]
    assert said(finished)[PLAYED] == {"run": RUN, "missed": True}


async def test_arguments_that_can_not_be_read_are_none_of_the_recorded_ones() -> None:
    played = playing(a_take(arguments={}))
    finished = await played.handle(asked(arguments={}, input_error="NaN at `/x` is no number"))
    outcome = said(finished)["weighbridge/outcome"]
    assert (outcome["status"], outcome["code"]) == ("invalid_arguments", "not_json")
    assert len(played.tape.unasked) == 1


async def test_an_error_is_given_as_an_error_and_marked_in_its_data() -> None:
    refusal = Refusal(
        status=Status.TOOL_FAILED, reason="bad", error=WireError(code=-32000, message="bad")
    )
    finished = await playing(a_take(outcome=refusal)).handle(asked())
    assert finished.error is not None
    assert (finished.error.code, finished.error.message) == (-32000, "bad")
    assert isinstance(finished.error.data, dict)
    assert finished.error.data[PLAYED] == {
        "run": RUN,
        "call": "call_1",
        "at": "2026-11-30T09:00:00Z",
    }


async def test_to_another_tenant_there_is_no_such_run() -> None:
    played, stranger = playing(), a_principal(tenant="globex")
    finished = await played.handle(asked(principal=stranger))
    assert finished.status is Status.UNKNOWN_TOOL
    assert RUN not in str(finished.result)
    page = await played.list_items(Listed.TOOLS, stranger, CALLER, cursor=None)
    assert page.items == []
    assert played.tool_schema(stranger, "crm__find") is None
    assert played.tape.missed == []


async def test_over_stdio_the_host_may_be_anybody() -> None:
    finished = await playing(is_open=True).handle(asked(principal=a_principal(tenant="globex")))
    assert finished.status is Status.OK


async def test_the_list_is_that_of_the_actor_of_the_run() -> None:
    played = playing()
    page = await played.list_items(Listed.TOOLS, a_principal(user="kim"), CALLER, cursor=None)
    assert [each["name"] for each in page.items] == ["crm__find"]
    assert played.tool_schema(a_principal(), "crm__find") == a_tool().definition["inputSchema"]
    try:
        await played.list_items(Listed.TOOLS, a_principal(), CALLER, cursor="x")
    except BadCursor:
        return
    raise AssertionError("that is no cursor")


async def test_a_subscription_is_answered_as_it_was_and_told_nothing() -> None:
    uri = "mem://a"
    take = a_take_of(
        Method.SUBSCRIBE, uri, digest=digest_of({"uri": uri}), outcome=Answer(result={})
    )
    played, told = playing(take), list[int]()
    call = asked(name=uri, method=Method.SUBSCRIBE, params={"uri": uri})
    way_out = await played.watch(call, lambda: told.append(1))
    assert callable(way_out)
    way_out()
    missed = await played.watch(call, lambda: told.append(1))
    assert isinstance(missed, Finished)
    assert missed.error is not None
    assert told == []


async def test_tasks_are_not_on_tape() -> None:
    call = asked(name="task", method=Method.GET_TASK, params={"taskId": "t"})
    finished = await playing().follow(call, lambda news: None)
    assert isinstance(finished, Finished)
    assert finished.error is not None


def test_what_was_used_is_offered() -> None:
    assert playing().offers() == {"tools": {}}
    wide = playing(
        a_take(),
        a_take_of(Method.READ_RESOURCE, "mem://a"),
        a_take_of(Method.GET_PROMPT, "greet"),
        a_take_of(Method.COMPLETE, "greet"),
    )
    assert wide.offers() == {
        "tools": {},
        "resources": {"subscribe": False},
        "prompts": {},
        "completions": {},
    }


def test_nothing_changes_and_nobody_is_told() -> None:
    played = playing()
    played.on_changed(lambda kind: None)()
    played.roots_changed(a_principal(), "session")
    played.turned_away(TurnedAway(reason=TurnedAwayFor.OVERLOADED, transport="http"))
