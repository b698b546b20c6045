"""Repeating a call on purpose, with a tool of the gateway's own."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.crossing.remains import Remains
from gateway.relay.repeat import Again
from gateway.relay.tools import OwnTools
from gateway.store.store import Store
from gateway.types.guarantees import Idempotency, Repeat
from gateway.types.json import JsonObject
from gateway.types.operations import Operation
from gateway.types.outcomes import Status
from gateway.types.own import Own
from gateway.types.tools import Tool
from tests.helpers.cases import a_principal
from tests.helpers.people import a_holding
from tests.helpers.relays import some_states
from tests.helpers.writes import DROP, PUT, Counting, Writes, outcome_of, text_of, writes

pytestmark = pytest.mark.postgres


def as_given(tool: str, arguments: JsonObject) -> JsonObject:
    del tool
    return arguments


def a_place(store: Store, repeat: Repeat = Repeat.ALLOW, **changes: Any) -> Writes:
    """Return a pipeline that offers to repeat what its contracts let be repeated."""
    made = writes(store, Counting(), idempotency=Idempotency(repeat=repeat, is_declared=True))
    pipeline = made.pipeline
    tools = {tool.key: tool for tool in (PUT, DROP)}
    parts: dict[str, Any] = {
        "operation": store.operations.get,
        "remains": Remains(vault=pipeline.claim.vault),
        "tool_of": tools.get,
        "own": as_given,
    }
    again = Again(**{**parts, **changes})
    own = OwnTools(tools=(again.tool(lambda: True),), errands=a_holding(some_states()).errands)
    return replace(made, pipeline=replace(pipeline, own_tools=own))


async def repeated(place: Writes, op_id: object, reason: str = "he wants two", **more: Any) -> Any:
    arguments: JsonObject = {"op_id": str(op_id), "reason": reason}
    return await place.call(arguments, Own.REPEAT, **more)


async def test_what_a_contract_lets_be_repeated_is_carried_out_once_more(store: Store) -> None:
    place = a_place(store)
    first = await place.call({"v": 7})
    again = await repeated(place, outcome_of(first)["op_id"])
    assert (again.status, text_of(again)) == (Status.OK, "done 2")
    assert outcome_of(again)["op_id"] != outcome_of(first)["op_id"]
    assert [each.params["arguments"] for each in place.server.asked] == [{"v": 7}] * 2


async def test_a_call_that_is_merely_made_again_is_not(store: Store) -> None:
    place = a_place(store)
    await place.call({"v": 7})
    assert text_of(await place.call({"v": 7})) == "done 1"
    assert place.server.count == 1


async def test_a_contract_that_lets_nobody_repeat_refuses_it(store: Store) -> None:
    place = a_place(store, Repeat.DENY)
    first = await place.call({"v": 7})
    refused = await repeated(place, outcome_of(first)["op_id"])
    assert (refused.status, outcome_of(refused)["code"]) == (Status.DENIED, "repeat_denied")
    assert place.server.count == 1


async def test_the_operation_of_somebody_else_is_none(store: Store) -> None:
    place = a_place(store)
    op_id = outcome_of(await place.call({"v": 7}))["op_id"]
    told = set[str]()
    for other in (
        a_principal(user="eve", subject="eve"),
        a_principal(client="other"),
        a_principal(tenant="globex"),
    ):
        refused = await repeated(place, op_id, principal=other)
        assert refused.status is Status.INVALID_ARGUMENTS
        told.add(text_of(refused).replace(str(op_id), "OP"))
    unknown = await repeated(place, "op_01KB2Y8H6Z3M4N5P6Q7R8S9T0V")
    told.add(text_of(unknown).replace("op_01KB2Y8H6Z3M4N5P6Q7R8S9T0V", "OP"))
    assert len(told) == 1  # nobody learns which ids there are
    assert place.server.count == 1


@pytest.mark.parametrize("op_id", ["", "call_1", "op_1"])
async def test_what_is_no_id_of_an_operation_is_refused(store: Store, op_id: str) -> None:
    assert (await repeated(a_place(store), op_id)).status is Status.INVALID_ARGUMENTS


async def test_there_has_to_be_a_reason(store: Store) -> None:
    place = a_place(store)
    op_id = outcome_of(await place.call({"v": 7}))["op_id"]
    assert (await repeated(place, op_id, " ")).status is Status.INVALID_ARGUMENTS


async def test_a_tool_that_is_gone_can_not_be_repeated(store: Store) -> None:
    def no_tool(key: str) -> Tool | None:
        del key

    place = a_place(store, tool_of=no_tool)
    op_id = outcome_of(await place.call({"v": 7}))["op_id"]
    assert "not there any more" in text_of(await repeated(place, op_id))


async def test_an_operation_whose_arguments_are_gone_can_not_be_repeated(store: Store) -> None:
    async def emptied(op_id: str) -> Operation | None:
        found = await store.operations.get(op_id)
        return replace(found, arguments="") if found is not None else None

    place = a_place(store, operation=emptied)
    op_id = outcome_of(await place.call({"v": 7}))["op_id"]
    assert "no longer kept" in text_of(await repeated(place, op_id))
    assert place.server.count == 1
