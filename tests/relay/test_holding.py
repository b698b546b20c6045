"""Calls that wait for a decision: held, asked, told to come back."""

import asyncio

import pytest

from gateway.store.approvals import ApprovalFilter
from gateway.store.store import Store
from gateway.types.approvals import (
    Approval,
    ApprovalNotes,
    ApprovalState,
    Cast,
    Choice,
)
from gateway.types.outcomes import Status
from tests.helpers.approvals import an_approver
from tests.helpers.held import a_house
from tests.helpers.writes import outcome_of, text_of
from tests.relay.waiting import Asked, binding, until, until_asked

pytestmark = pytest.mark.postgres


_OPEN = ApprovalFilter(is_open=True)


async def test_a_call_that_is_held_goes_on_by_itself_once_it_is_approved(store: Store) -> None:
    house = a_house(store, hold_s=30)
    async with asyncio.TaskGroup() as tasks:
        held = tasks.create_task(house.call())
        [approval] = await until_asked(store)
        await house.people.deciding.decide(
            an_approver(), approval, Choice.APPROVE, (await binding(store, approval))
        )
        done = await held
    assert done.status is Status.OK
    assert house.server.count == 1


async def test_who_leaves_while_nobody_has_decided_finds_the_request_again(store: Store) -> None:
    """case: APR-04"""
    house = a_house(store, hold_s=30)
    held = asyncio.ensure_future(house.call())
    [approval] = await until_asked(store)
    held.cancel()
    await asyncio.wait({held})
    found = await store.approvals.get(approval)
    assert found is not None
    assert found.state is ApprovalState.PENDING
    await house.people.deciding.decide(an_approver(), approval, Choice.APPROVE, found.binding)
    assert (await house.call()).status is Status.OK
    assert house.server.count == 1


async def test_who_waits_at_one_gateway_gets_the_answer_of_what_another_has_sent(
    store: Store,
) -> None:
    """case: APR-08"""
    here, there, used = a_house(store, hold_s=30), a_house(store), asyncio.Event()

    async def look_late(approval_id: str) -> Approval | None:
        await used.wait()
        return await store.approvals.get(approval_id)

    here.people.holding.find = look_late
    async with asyncio.TaskGroup() as tasks:
        held = tasks.create_task(here.call())
        [approval] = await until_asked(store)
        await there.people.deciding.decide(
            an_approver(), approval, Choice.APPROVE, await binding(store, approval)
        )
        sent = await there.call()
        used.set()
        told = await held
    assert (sent.status, text_of(sent)) == (Status.OK, "done 1")
    assert (told.status, text_of(told)) == (Status.OK, "done 1")
    assert outcome_of(told)["replayed"] is True
    assert (here.server.count, there.server.count) == (0, 1)


async def test_a_held_call_tells_what_it_waits_for(store: Store) -> None:
    house, caller = a_house(store, hold_s=0.3), Asked()
    await house.call(caller=caller)
    [told] = caller.told
    assert told.startswith("waiting for approval by lead (apr_")


async def test_a_request_that_is_taken_back_ends_the_wait_and_asks_nobody_anew(
    store: Store,
) -> None:
    house = a_house(store, hold_s=30)
    async with asyncio.TaskGroup() as tasks:
        held = tasks.create_task(house.call())
        [approval] = await until_asked(store)
        found = await store.approvals.get(approval)
        assert found is not None
        await house.people.deciding.call_off(found, "no longer needed")
        told = await held
    assert (told.status, outcome_of(told)["code"]) == (
        Status.APPROVAL_DENIED,
        "approval_cancelled",
    )
    assert await store.approvals.find(_OPEN) == []


async def test_who_leaves_ends_the_request_where_the_contract_wants_that(store: Store) -> None:
    """case: APR-04"""
    house = a_house(store, hold_s=30, approval=ApprovalNotes(cancel_on_disconnect=True))
    held = asyncio.ensure_future(house.call())
    [approval] = await until_asked(store)
    held.cancel()
    await asyncio.wait({held})
    found = await store.approvals.get(approval)
    assert found is not None
    assert (found.state, found.closed_reason) == (
        ApprovalState.CANCELLED,
        "its caller went away while it was held",
    )
    late = await house.people.deciding.decide(
        an_approver(), approval, Choice.APPROVE, found.binding
    )
    assert late.cast is Cast.ALREADY_DECIDED
    assert house.server.count == 0


async def test_a_request_for_which_another_caller_still_waits_stays(store: Store) -> None:
    house = a_house(store, hold_s=30, approval=ApprovalNotes(cancel_on_disconnect=True))
    first = asyncio.ensure_future(house.call())
    [approval] = await until_asked(store)
    seen: list[str] = []
    house.people.holding.held = lambda call_id, held: seen.append(held.approval_id)
    second = asyncio.ensure_future(house.call())
    await until(lambda: seen)
    first.cancel()
    await asyncio.wait({first})
    await house.people.deciding.decide(
        an_approver(), approval, Choice.APPROVE, await binding(store, approval)
    )
    assert (await second).status is Status.OK
    assert house.server.count == 1


@pytest.mark.parametrize("leaves", [True, False])
async def test_a_gateway_that_stops_lets_its_callers_go_and_ends_no_request(
    store: Store, leaves: bool
) -> None:
    """case: APR-07"""
    house = a_house(store, hold_s=30, approval=ApprovalNotes(cancel_on_disconnect=True))
    held = asyncio.ensure_future(house.call())
    [approval] = await until_asked(store)
    house.people.holding.close()
    if leaves:
        held.cancel()
        await asyncio.wait({held})
    else:
        told = outcome_of(await held)
        assert (told["status"], told["approval_id"]) == ("approval_pending", approval)
    found = await store.approvals.get(approval)
    assert found is not None
    assert found.state is ApprovalState.PENDING
