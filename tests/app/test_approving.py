"""Approvals as the gateway wires them."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from gateway.app.approving import Approved, Pages
from gateway.clock import SystemClock
from gateway.store.store import Store
from gateway.types.approvals import ApprovalNotes, ApprovalState, Choice, Execute
from gateway.types.calls import Principal, ProposedCall
from gateway.types.operations import Operation, OpState
from gateway.types.outcomes import Finished, Status
from tests.helpers.approvals import an_approval
from tests.helpers.fake_server import until_async
from tests.helpers.held import House, a_house
from tests.helpers.pipelines import Aside
from tests.helpers.writes import outcome_of

pytestmark = pytest.mark.postgres


def test_a_page_has_an_address_once_there_is_a_listener() -> None:
    pages = Pages()
    approval = an_approval(approval_id="apr_1")
    assert pages.of(approval) == ""
    pages.base = "https://gw.example"
    assert pages.of(approval) == "https://gw.example/approvals/apr_1"


async def test_what_approvers_saw_is_kept_and_a_broken_seal_shows_nothing(store: Store) -> None:
    house = a_house(store)
    approval = await house.approval(await house.call({"v": 7}))
    assert house.people.documents.of(approval)["arguments"] == {"v": 7}
    assert house.people.documents.of(replace(approval, approval_id="apr_other")) == {}


def _sending(
    house: House, today: Callable[[Principal], Principal | None] = lambda one: one
) -> Approved:
    def call(operation: Operation) -> ProposedCall:
        return house.writes.proposed({"v": 1}, operation=operation)

    store = house.writes.store
    return Approved(
        due=store.approvals.to_send,
        operation=store.operations.get,
        call=call,
        handle=house.writes.pipeline.handle,
        today=today,
        call_off=house.people.deciding.call_off,
        starter=Aside(),
        clock=SystemClock(),
    )


async def test_what_its_contract_wants_sent_on_approval_is_sent_without_its_caller(
    store: Store,
) -> None:
    house = a_house(store, approval=ApprovalNotes(execute=Execute.ON_APPROVAL))
    pending = await house.call({"v": 1})
    sending = _sending(house)
    await sending.run()
    assert house.server.count == 0
    await house.decide(pending)
    await asyncio.gather(*(sending.run() for _ in range(5)))
    await until_async(lambda: house.server.count == 1)
    answer = await house.call({"v": 1})
    assert (answer.status, outcome_of(answer)["replayed"]) == (Status.OK, True)


async def test_all_other_calls_wait_for_their_caller(store: Store) -> None:
    house = a_house(store)
    pending = await house.call({"v": 1})
    await house.decide(pending)
    await _sending(house).run()
    assert house.server.count == 0
    approval = await house.approval(pending)
    assert approval.state is ApprovalState.APPROVED


async def test_what_was_denied_is_not_sent(store: Store) -> None:
    house = a_house(store, approval=ApprovalNotes(execute=Execute.ON_APPROVAL))
    pending = await house.call({"v": 1})
    await house.decide(pending, Choice.DENY)
    await _sending(house).run()
    operation = await store.operations.get(outcome_of(pending)["op_id"])
    assert operation is not None
    assert operation.state is OpState.DENIED
    assert house.server.count == 0


async def test_a_call_whose_credential_is_no_longer_good_is_called_off(store: Store) -> None:
    house = a_house(store, approval=ApprovalNotes(execute=Execute.ON_APPROVAL))
    pending = await house.call({"v": 1})
    await house.decide(pending)
    await _sending(house, today=lambda one: None).run()
    assert (await house.approval(pending)).state is ApprovalState.CANCELLED
    assert house.server.count == 0


async def test_what_is_refused_is_tried_more_and_more_rarely(store: Store) -> None:
    house = a_house(store, approval=ApprovalNotes(execute=Execute.ON_APPROVAL))
    pending = await house.call({"v": 1})
    await house.decide(pending)
    house.rule("rules:\n  - {id: no, decision: deny, match: {tools: ['*']}}\n")
    began: list[str] = []

    async def refused(call: ProposedCall) -> Finished:
        began.append(call.call_id)
        return await house.writes.pipeline.handle(call)

    sending = replace(_sending(house), handle=refused)
    for _ in range(20):
        await sending.run()
    await until_async(lambda: began != [])
    assert len(began) == 1
    assert house.server.count == 0
