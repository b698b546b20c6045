"""Tools of the gateway's own: one table, offered one by one, given only what their schemas take."""

import pytest

from gateway.errors import StoreUnavailable
from gateway.relay.tools import OwnTool, OwnTools, define, told
from gateway.types.calls import ProposedCall
from gateway.types.json import JsonObject
from gateway.types.outcomes import Answer, Refusal, Status
from tests.helpers.cases import a_call
from tests.helpers.people import a_holding
from tests.helpers.relays import some_states

SCHEMA: dict[str, JsonObject] = {"n": {"type": "integer"}}


async def answered(call: ProposedCall) -> Answer | Refusal:
    return told("done", {"n": call.arguments["n"]})


def a_tool(name: str, *, is_offered: bool = True) -> OwnTool:
    definition = define(name, "Title", "What it does.", SCHEMA, required=["n"])
    return OwnTool(definition=definition, is_offered=lambda: is_offered, answer=answered)


def tools(*held: OwnTool) -> OwnTools:
    return OwnTools(tools=held, errands=a_holding(some_states()).errands)


async def test_only_what_is_offered_is_listed_and_answered() -> None:
    own = tools(a_tool("own_a"), a_tool("own_b", is_offered=False))
    assert [each["name"] for each in own.definitions()] == ["own_a"]
    assert own.has(a_call("own_a", {"n": 1}))
    assert not own.has(a_call("own_b", {"n": 1}))
    assert not own.has(a_call("crm__put", {"n": 1}))


async def test_one_that_was_hidden_meanwhile_is_not_there() -> None:
    refusal = await tools(a_tool("own_b", is_offered=False)).handle(a_call("own_b", {"n": 1}))
    assert isinstance(refusal, Refusal)
    assert refusal.status is Status.UNKNOWN_TOOL


@pytest.mark.parametrize("arguments", [{}, {"n": "1"}, {"n": 1, "more": 2}])
async def test_what_its_schema_does_not_take_never_reaches_it(arguments: JsonObject) -> None:
    refusal = await tools(a_tool("own_a")).handle(a_call("own_a", arguments))
    assert isinstance(refusal, Refusal)
    assert (refusal.status, refusal.code) == (Status.INVALID_ARGUMENTS, "schema")


async def test_arguments_that_can_not_be_read_are_refused() -> None:
    call = a_call("own_a", {"n": 1}, input_error="not JSON")
    refusal = await tools(a_tool("own_a")).handle(call)
    assert isinstance(refusal, Refusal)
    assert refusal.code == "not_json"


async def test_a_tool_may_stand_for_another_call_and_the_others_stand_for_themselves() -> None:
    other = a_call("crm__put", {"v": 1})

    async def stands_for(call: ProposedCall) -> ProposedCall | None:
        return other if call.arguments["n"] == 1 else None

    def away(call: ProposedCall) -> ProposedCall | None:
        raise StoreUnavailable("gone")

    async def gone(call: ProposedCall) -> ProposedCall | None:
        return away(call)

    base = a_tool("own_a")
    own = tools(
        OwnTool(
            definition=base.definition,
            is_offered=base.is_offered,
            answer=answered,
            stands_for=stands_for,
        ),
        OwnTool(
            definition=a_tool("own_gone").definition,
            is_offered=base.is_offered,
            answer=answered,
            stands_for=gone,
        ),
        a_tool("own_b"),
    )
    assert await own.meant(a_call("own_a", {"n": 1})) is other
    for call in (a_call("own_a", {"n": 2}), a_call("own_a", {}), a_call("own_b", {"n": 1})):
        assert await own.meant(call) is call
    lost = a_call("own_gone", {"n": 1})
    assert await own.meant(lost) is lost  # it answers that itself
