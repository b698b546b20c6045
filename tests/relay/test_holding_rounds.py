"""Clients that come back by themselves: so often, and each with a state of its own."""

from typing import Any

import pytest

from gateway.store.approvals import ApprovalFilter
from gateway.store.store import Store
from gateway.types.approvals import (
    Choice,
)
from gateway.types.calls import Era
from gateway.types.json import JsonObject
from gateway.types.outcomes import Status
from tests.helpers.approvals import an_approver
from tests.helpers.cases import a_principal
from tests.helpers.held import House, a_house
from tests.helpers.writes import outcome_of
from tests.relay.waiting import Asked, binding, until_asked

pytestmark = pytest.mark.postgres


_OPEN = ApprovalFilter(is_open=True)


ROUNDS = {"hold": {"default": "0s", "rounds": ["driver-*"]}}


async def _rounds(house: House, caller: Asked, name: str = "driver-1", **changes: Any) -> Any:
    """Come back with each bare state, as drivers do; return all results."""
    results = [await house.call(caller=caller, client_name=name)]
    while results[-1].status is Status.INPUT_REQUIRED:
        assert "inputRequests" not in results[-1].result
        params = {"requestState": results[-1].result["requestState"]}
        again = await house.call(caller=caller, client_name=name, params=params, **changes)
        results.append(again)
    return results


async def test_a_client_that_comes_back_by_itself_does_so_eight_times_and_is_then_told(
    store: Store,
) -> None:
    house, caller = a_house(store, settings=ROUNDS), Asked(era=Era.MODERN, form={"url": {}})
    *rounds, last = await _rounds(house, caller)
    assert len(rounds) == 8
    assert last.status is Status.APPROVAL_PENDING
    assert len(await store.approvals.find(_OPEN)) == 1


@pytest.mark.parametrize(
    ("name", "era"), [("driver-1", Era.LEGACY), ("other", Era.MODERN), ("", Era.MODERN)]
)
async def test_other_clients_are_told_at_once(store: Store, name: str, era: Era) -> None:
    house, caller = a_house(store, settings=ROUNDS), Asked(era=era, form={"url": {}})
    [told] = await _rounds(house, caller, name)
    assert told.status is Status.APPROVAL_PENDING


async def test_a_round_after_the_decision_sends_the_call_and_one_more_gets_the_same_answer(
    store: Store,
) -> None:
    house, caller = a_house(store, settings=ROUNDS), Asked(era=Era.MODERN, form={"url": {}})
    asked = await house.call(caller=caller, client_name="driver-1")
    back: JsonObject = {"requestState": asked.result["requestState"]}
    [approval] = await until_asked(store)
    await house.people.deciding.decide(
        an_approver(), approval, Choice.APPROVE, await binding(store, approval)
    )
    done = await house.call(caller=caller, client_name="driver-1", params=back)
    again = await house.call(caller=caller, client_name="driver-1", params=back)
    assert (done.status, again.status) == (Status.OK, Status.OK)
    assert outcome_of(again)["replayed"] is True
    assert house.server.count == 1


async def test_the_state_of_another_principal_is_refused_and_tells_nothing(store: Store) -> None:
    """case: APR-03"""
    house, caller = a_house(store, settings=ROUNDS), Asked(era=Era.MODERN, form={"url": {}})
    asked = await house.call(caller=caller, client_name="driver-1")
    [approval] = await until_asked(store)
    await house.people.deciding.decide(
        an_approver(), approval, Choice.APPROVE, await binding(store, approval)
    )
    stolen = await house.call(
        caller=caller,
        client_name="driver-1",
        principal=a_principal(user="eve"),
        params={"requestState": asked.result["requestState"]},
    )
    assert stolen.error is not None
    assert stolen.error.code == -32602
    assert approval not in str(stolen)
    assert house.server.count == 0
