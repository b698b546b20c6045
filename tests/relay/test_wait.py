"""Waiting for a decision, with a tool of the gateway's own."""

import asyncio
from typing import Any

import jsonschema
import pytest

from gateway.relay.wait import Wait
from gateway.store.approvals import ApprovalFilter
from gateway.store.store import Store
from gateway.types.approvals import Choice
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Finished, Status
from gateway.types.own import Own
from tests.helpers.approvals import an_approver
from tests.helpers.cases import a_principal
from tests.helpers.held import House, a_house
from tests.helpers.people import a_holding
from tests.helpers.relays import some_states
from tests.helpers.writes import outcome_of

pytestmark = pytest.mark.postgres


async def wait(house: House, arguments: JsonObject, **changes: Any) -> Finished:
    return await house.writes.call(arguments, Own.WAIT, **changes)


def said(finished: Finished) -> dict[str, Json]:
    structured = finished.result["structuredContent"]
    assert isinstance(structured, dict)
    return structured


def test_its_definition_is_short_and_says_that_it_carries_nothing_out() -> None:
    holding = a_holding(some_states())
    tool = Wait(find=holding.find, wait=holding.wait).tool(lambda: True)
    definition = tool.definition
    schema = definition["inputSchema"]
    assert isinstance(schema, dict)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert definition["name"] == Own.WAIT
    assert "carries nothing out" in str(definition["description"])


async def test_it_waits_for_the_decision_and_tells_what_to_do_then(store: Store) -> None:
    house = a_house(store, hold_s=30, own_tools=True)
    held = asyncio.ensure_future(house.call())
    approvals = await _until_asked(house)
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(wait(house, {"approval_id": approvals[0].approval_id}))
        await asyncio.sleep(0)
        await house.people.deciding.decide(
            _lead(), approvals[0].approval_id, Choice.APPROVE, approvals[0].binding
        )
        told = said(await waiting)
    assert told["status"] in ("approved", "consumed")  # the held call goes on at the same time
    assert (await held).status is Status.OK


async def test_it_waits_no_longer_than_it_is_told(store: Store) -> None:
    house = a_house(store, own_tools=True)
    pending = await house.call()
    name = outcome_of(pending)["approval_id"]
    told = said(await wait(house, {"approval_id": name, "max_seconds": 0}))
    assert (told["status"], told["approval_id"]) == ("pending", name)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"approval_id": 1}, {"approval_id": "apr_none"}, {"approval_id": "x", "max_seconds": "1"}],
)
async def test_what_names_no_request_is_refused(store: Store, arguments: JsonObject) -> None:
    house = a_house(store, own_tools=True)
    assert (await wait(house, arguments)).status is Status.INVALID_ARGUMENTS


async def test_the_request_of_somebody_else_is_none(store: Store) -> None:
    """case: APR-06"""
    house = a_house(store, own_tools=True)
    name = outcome_of(await house.call())["approval_id"]
    other = a_principal(user="eve", subject="eve")
    refused = await wait(house, {"approval_id": name}, principal=other)
    assert refused.status is Status.INVALID_ARGUMENTS


async def test_where_it_is_not_shown_it_is_not_there(store: Store) -> None:
    house = a_house(store)
    name = outcome_of(await house.call())["approval_id"]
    assert (await wait(house, {"approval_id": name})).status is Status.UNKNOWN_TOOL


def _lead() -> Any:
    return an_approver()


async def _until_asked(house: House) -> Any:
    async with asyncio.timeout(15):
        while not (found := await house.writes.store.approvals.find(ApprovalFilter(is_open=True))):
            await asyncio.sleep(0.01)
    return found
