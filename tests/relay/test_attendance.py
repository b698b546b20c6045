"""Whether anybody still waits for a request, as approvers see it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from gateway.errors import StoreUnavailable
from gateway.relay.attendance import Attendance
from gateway.store.approvals import ApprovalFilter
from gateway.store.store import Store
from gateway.types.approvals import Approval, ApprovalNotes, ApprovalState, Choice
from gateway.types.outcomes import Status
from tests.helpers.approvals import an_approval, an_approver
from tests.helpers.held import House, a_house

pytestmark = pytest.mark.postgres


async def seen(store: Store, holds: Callable[[Approval], bool]) -> Approval:
    """Return the one request once something holds of it."""
    async with asyncio.timeout(15):
        while True:
            for each in await store.approvals.find(ApprovalFilter(limit=1)):
                if holds(each):
                    return each
            await asyncio.sleep(0.01)


async def left(store: Store, house: House) -> Approval:
    """Have a caller go away while its call is held; return the request."""
    held = asyncio.ensure_future(house.call())
    await seen(store, lambda each: not each.left_at)
    held.cancel()
    await asyncio.wait({held})
    return await seen(store, lambda each: each.left_at > 0)


async def held_by(house: House, approval: Approval, many: int) -> None:
    """Wait until so many callers of a request are held."""
    async with asyncio.timeout(15):
        while house.people.holding.attendance.many(approval.approval_id) < many:
            await asyncio.sleep(0.01)


async def test_a_caller_that_goes_away_is_seen_to_and_one_that_comes_back_as_well(
    store: Store,
) -> None:
    """The client disconnects while it waits."""
    house = a_house(store, hold_s=30)
    away = await left(store, house)
    assert (away.state, away.version) == (ApprovalState.PENDING, 0)
    assert away.created_at <= away.left_at
    again = asyncio.ensure_future(house.call())
    back = await seen(store, lambda each: not each.left_at)
    await house.people.deciding.decide(
        an_approver(), back.approval_id, Choice.APPROVE, back.binding
    )
    assert (await again).status is Status.OK
    assert house.server.count == 1


async def test_who_is_told_to_come_back_has_not_gone_away(store: Store) -> None:
    house = a_house(store)
    await house.call()
    assert (await seen(store, lambda each: True)).left_at == 0


async def test_as_long_as_another_gateway_holds_a_caller_nobody_is_missed(store: Store) -> None:
    house = a_house(store, hold_s=30)
    stays = asyncio.ensure_future(house.call())
    asked = await seen(store, lambda each: True)
    await held_by(house, asked, 1)
    await store.approvals.attended(asked, False)  # as the gateway does that the others have left
    await seen(store, lambda each: not each.left_at)
    await house.people.deciding.decide(
        an_approver(), asked.approval_id, Choice.APPROVE, asked.binding
    )
    assert (await stays).status is Status.OK


async def test_of_two_callers_the_last_one_is_missed(store: Store) -> None:
    house = a_house(store, hold_s=30)
    first = asyncio.ensure_future(house.call())
    asked = await seen(store, lambda each: True)
    second = asyncio.ensure_future(house.call())
    await held_by(house, asked, 2)
    first.cancel()
    await asyncio.wait({first})
    assert (await seen(store, lambda each: True)).left_at == 0
    second.cancel()
    await asyncio.wait({second})
    assert (await seen(store, lambda each: True)).left_at > 0


async def test_where_the_contract_wants_it_the_request_ends_with_its_caller(store: Store) -> None:
    house = a_house(store, hold_s=30, approval=ApprovalNotes(cancel_on_disconnect=True))
    held = asyncio.ensure_future(house.call())
    await seen(store, lambda each: True)
    held.cancel()
    await asyncio.wait({held})
    ended = await seen(store, lambda each: True)
    assert (ended.state, ended.left_at) == (ApprovalState.CANCELLED, 0)


@pytest.mark.parametrize("is_called_off", [True, False])
async def test_who_leaves_while_the_request_is_made_has_left_it_too(
    store: Store, is_called_off: bool
) -> None:
    notes = ApprovalNotes(cancel_on_disconnect=is_called_off)
    house = a_house(store, hold_s=30, approval=notes)
    pipeline, is_kept, may_go_on = house.writes.pipeline, asyncio.Event(), asyncio.Event()
    claim = pipeline.claim

    async def slowly(*arguments: Any) -> Any:
        made = await claim(*arguments)
        is_kept.set()
        await may_go_on.wait()
        return made

    object.__setattr__(pipeline, "claim", slowly)
    held = asyncio.ensure_future(house.call())
    await is_kept.wait()
    held.cancel()
    await asyncio.sleep(0)
    may_go_on.set()
    await asyncio.wait({held})
    assert held.cancelled()
    ended = await seen(store, lambda each: True)
    wanted = ApprovalState.CANCELLED if is_called_off else ApprovalState.PENDING
    assert (ended.state, ended.left_at > 0) == (wanted, not is_called_off)


async def test_who_leaves_where_no_request_is_made_is_nobodys_matter(store: Store) -> None:
    house = a_house(store, hold_s=30)
    begun = asyncio.Event()

    async def fails(*arguments: Any) -> Any:
        begun.set()
        await asyncio.sleep(0.01)
        raise StoreUnavailable("down")

    object.__setattr__(house.writes.pipeline, "claim", fails)
    held = asyncio.ensure_future(house.call())
    await begun.wait()
    held.cancel()
    await asyncio.wait({held})
    assert held.cancelled()
    assert await store.approvals.find(ApprovalFilter(limit=1)) == []


async def test_a_store_that_is_away_keeps_nobody_from_leaving() -> None:
    async def away(approval: Approval, is_here: bool) -> None:
        raise StoreUnavailable("down")

    attendance = Attendance(note=away)
    approval = an_approval(left_at=5)
    async with attendance.of(approval, lambda: attendance.gone(approval)):
        assert attendance.many(approval.approval_id) == 1
    assert attendance.many(approval.approval_id) == 0
    await attendance.gone(approval)
