"""Held calls as tasks of the gateway's own."""

from dataclasses import dataclass
from typing import Any

import pytest

from gateway.app.approving import Approved
from gateway.clock import SystemClock
from gateway.store.approvals import ApprovalFilter
from gateway.store.store import Store
from gateway.types.approvals import ApprovalState, Choice
from gateway.types.calls import Method, ProposedCall
from gateway.types.extensions import TASKS
from gateway.types.json import JsonObject
from gateway.types.operations import Operation
from gateway.types.outcomes import Finished, Status
from tests.helpers.approvals import an_approver
from tests.helpers.cases import AbsentCaller, a_principal
from tests.helpers.fake_server import until_async
from tests.helpers.held import House, a_house
from tests.helpers.pipelines import Aside

pytestmark = pytest.mark.postgres

_ALL, _LEAD = ApprovalFilter(), an_approver()


@dataclass
class Knowing(AbsentCaller):
    """A client that declares tasks."""

    @property
    def capabilities(self) -> JsonObject:
        return {"extensions": {TASKS: {}}}


async def begun(house: House) -> str:
    result = (await house.call(caller=Knowing())).result
    assert (result["resultType"], result["status"]) == ("task", "working")
    assert str(result["statusMessage"]).startswith("waiting for approval by lead")
    return str(result["taskId"])


async def about(
    house: House, task: str, method: Method = Method.GET_TASK, **changes: Any
) -> Finished:
    call = house.writes.proposed(
        {}, task, method=method, params={"taskId": task}, caller=Knowing(), **changes
    )
    return await house.writes.pipeline.handle(call)


async def decided(house: House, choice: Choice) -> None:
    [approval] = await house.writes.store.approvals.find(_ALL)
    await house.people.deciding.decide(_LEAD, approval.approval_id, choice, approval.binding)


def sending(house: House) -> Approved:
    def call(operation: Operation) -> ProposedCall:
        return house.writes.proposed({"v": 1}, operation=operation)

    store = house.writes.store
    return Approved(
        due=store.approvals.to_send,
        operation=store.operations.get,
        call=call,
        handle=house.writes.pipeline.handle,
        today=lambda one: one,
        call_off=house.people.deciding.call_off,
        starter=Aside(),
        clock=SystemClock(),
    )


async def test_a_task_is_sent_once_it_is_approved_though_its_caller_never_comes_back(
    store: Store,
) -> None:
    house = a_house(store)
    task = await begun(house)
    assert (await about(house, task)).result["status"] == "working"
    await decided(house, Choice.APPROVE)
    await sending(house).run()
    await until_async(lambda: house.server.count == 1)

    async def told() -> JsonObject:
        return (await about(house, task)).result

    answer = await told()
    while answer["status"] == "working":
        answer = await told()
    assert answer["status"] == "completed"
    result = answer["result"]
    assert isinstance(result, dict)
    assert result["content"] == [{"type": "text", "text": "done 1"}]
    assert "isError" not in result


async def test_a_denied_task_is_completed_with_the_no(store: Store) -> None:
    house = a_house(store)
    task = await begun(house)
    await decided(house, Choice.DENY)
    answer = (await about(house, task)).result
    assert answer["status"] == "completed"
    result = answer["result"]
    assert isinstance(result, dict)
    assert result["isError"] is True
    assert house.server.count == 0


async def test_a_cancelled_task_is_not_sent_whatever_is_decided_later(store: Store) -> None:
    house = a_house(store)
    task = await begun(house)
    assert (await about(house, task, Method.CANCEL_TASK)).result["resultType"] == "complete"
    await decided(house, Choice.APPROVE)
    await sending(house).run()
    assert (await about(house, task)).result["status"] == "cancelled"
    [approval] = await store.approvals.find(_ALL)
    assert approval.state is ApprovalState.CANCELLED
    assert house.server.count == 0


async def test_nobody_else_learns_of_a_task(store: Store) -> None:
    house = a_house(store)
    task = await begun(house)
    other = a_principal(subject="other")
    for method in (Method.GET_TASK, Method.CANCEL_TASK, Method.UPDATE_TASK):
        assert (await about(house, task, method, principal=other)).status is Status.UNKNOWN_TOOL
    assert (await about(house, task)).result["status"] == "working"


async def test_a_client_that_declares_no_tasks_gets_none(store: Store) -> None:
    house = a_house(store)
    assert (await house.call()).status is Status.APPROVAL_PENDING


async def test_a_request_that_its_caller_has_to_come_back_for_becomes_no_task(
    store: Store,
) -> None:
    house = a_house(store)
    await house.call()
    assert (await house.call(caller=Knowing())).status is Status.APPROVAL_PENDING
