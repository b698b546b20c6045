"""Places of calls that are held: so many of a request, a principal and all together."""

import asyncio

import pytest

from gateway.store.store import Store
from gateway.types.approvals import (
    Choice,
)
from gateway.types.calls import Era
from gateway.types.outcomes import Status
from gateway.types.own import Own
from tests.helpers.approvals import an_approver
from tests.helpers.cases import a_principal
from tests.helpers.held import a_house
from tests.relay.waiting import SELF, Asked, accepted, binding, until, until_asked

pytestmark = pytest.mark.postgres


async def test_of_one_request_four_calls_are_held_and_one_more_is_told_at_once(
    store: Store,
) -> None:
    house, seen = a_house(store, hold_s=30), list[str]()
    house.people.holding.held = lambda call_id, held: seen.append(held.approval_id)
    held = [asyncio.ensure_future(house.call()) for _ in range(4)]
    await until(lambda: len(seen) == 4)
    async with asyncio.timeout(10):
        told = await house.call()
    assert told.status is Status.APPROVAL_PENDING
    held[0].cancel()  # and gives its place back
    await asyncio.wait({held[0]})
    fifth = asyncio.ensure_future(house.call())
    await until(lambda: len(seen) == 6)
    [approval] = await until_asked(store)
    await house.people.deciding.decide(
        an_approver(), approval, Choice.APPROVE, await binding(store, approval)
    )
    assert [(await each).status for each in (*held[1:], fifth)] == [Status.OK] * 4
    assert house.server.count == 1


async def test_one_principal_takes_up_a_quarter_of_the_places_also_by_waiting_for_requests(
    store: Store,
) -> None:
    settings = {"hold": {"default": "30s", "most": 4}}
    house, seen = a_house(store, settings=settings, own_tools=True), list[str]()
    house.people.holding.held = lambda call_id, held: seen.append(held.approval_id)
    held = asyncio.ensure_future(house.call({"v": 1}))
    await until(lambda: seen)
    async with asyncio.timeout(10):
        assert (await house.call({"v": 2})).status is Status.APPROVAL_PENDING
        waited = await house.writes.call({"approval_id": seen[0]}, Own.WAIT)
    assert waited.result["structuredContent"]["status"] == "pending"  # pyright: ignore[reportArgumentType, reportCallIssue, reportIndexIssue, reportOptionalSubscript] - JSON
    other = asyncio.ensure_future(house.call({"v": 3}, principal=a_principal(user="kim")))
    await until(lambda: len(seen) == 3)
    assert not other.done()
    held.cancel()
    other.cancel()
    await asyncio.wait({held, other})


async def test_a_client_that_comes_back_by_itself_does_not_where_no_place_is_free(
    store: Store,
) -> None:
    settings = {"hold": {"default": "30s", "rounds": ["driver-*"], "most": 1}}
    house, seen = a_house(store, settings=settings), list[str]()
    house.people.holding.held = lambda call_id, held: seen.append(held.approval_id)
    held = asyncio.ensure_future(house.call())
    await until(lambda: seen)
    caller = Asked(era=Era.MODERN, form={"url": {}})
    async with asyncio.timeout(10):
        told = await house.call(caller=caller, client_name="driver-1")
    assert told.status is Status.APPROVAL_PENDING
    held.cancel()
    await asyncio.wait({held})


async def test_a_client_is_not_asked_live_where_no_place_is_free(store: Store) -> None:
    settings = {"hold": {"default": "30s", "most": 1}}
    house, seen = a_house(store, policy=SELF, settings=settings), list[str]()
    house.people.holding.held = lambda call_id, held: seen.append(held.approval_id)
    held = asyncio.ensure_future(house.call(caller=Asked(form={"url": {}})))
    await until(lambda: seen)
    caller = Asked(answers=[accepted(decision="approve")])
    async with asyncio.timeout(10):
        assert (await house.call(caller=caller)).status is Status.APPROVAL_PENDING
    assert caller.asked == []
    held.cancel()
    await asyncio.wait({held})
