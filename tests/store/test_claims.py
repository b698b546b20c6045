import asyncio

import pytest

from gateway.errors import StoreUnavailable
from gateway.store.store import Store
from gateway.types.decisions import Limit
from gateway.types.operations import (
    Met,
    OpState,
)
from tests.helpers.databases import Outage, recovered
from tests.helpers.operations import LATER, claim, events_of, settle, wanted


async def test_a_claim_is_kept_with_its_events_or_not_at_all(store: Store) -> None:
    first, second = wanted(), wanted()
    taken = await claim(store, first)
    assert (taken.met, taken.operation.state, taken.operation.epoch) == (
        Met.TAKEN,
        OpState.DISPATCHING,
        1,
    )
    assert await events_of(store, first.call_id) == 1
    joined = await claim(store, second)
    assert (joined.met, joined.operation.op_id) == (Met.JOINED, first.op_id)
    assert await events_of(store, second.call_id) == 0


async def test_of_many_claims_at_once_one_is_taken(store: Store) -> None:
    met = [one.met for one in await asyncio.gather(*(claim(store, wanted()) for _ in range(50)))]
    assert met.count(Met.TAKEN) == 1
    assert met.count(Met.JOINED) == 49


async def test_a_settled_operation_answers_until_its_time_is_over(store: Store) -> None:
    taken = (await claim(store, wanted())).operation
    assert await settle(store, taken, OpState.SUCCEEDED, outcome="sealed", replay_until=LATER)
    again = await claim(store, wanted())
    assert (again.met, again.operation.outcome) == (Met.SETTLED, "sealed")
    assert not await settle(store, taken, OpState.FAILED_FINAL)
    other = (await claim(store, wanted(key="k2"))).operation
    assert await settle(store, other, OpState.SUCCEEDED, replay_until=1)
    anew = await claim(store, wanted(key="k2"))
    assert (anew.met, anew.operation.generation) == (Met.TAKEN, 1)


async def test_a_lease_that_ran_out_never_makes_a_call_sendable(store: Store) -> None:
    taken = (await claim(store, wanted(), lease_s=-1)).operation
    assert [one.op_id for one in await store.operations.lost()] == [taken.op_id]
    met = await claim(store, wanted())
    assert (met.met, met.operation) == (Met.LOST, taken)
    assert await store.operations.lose(met.operation, "lease_expired", [])
    again = await claim(store, wanted())
    assert (again.met, again.operation.state) == (Met.UNKNOWN, OpState.INDETERMINATE)
    assert await store.operations.lost() == []
    assert not await settle(store, taken, OpState.SUCCEEDED)
    lost = OpState.INDETERMINATE
    assert await settle(store, taken, OpState.SUCCEEDED, before=lost, evidence="late_answer")
    found = await store.operations.get(taken.op_id)
    assert found is not None
    assert (found.state, found.evidence) == (OpState.SUCCEEDED, "late_answer")


async def test_what_was_not_sent_can_be_sent_again_and_gives_its_limits_back(store: Store) -> None:
    limit = Limit(id="l", key="acme", maximum=1, window_s=3600, amount=1, rule="r")
    first = wanted()
    taken = await claim(store, first, limits=[limit])
    assert taken.met is Met.TAKEN
    over = await claim(store, wanted(key="k2"), limits=[limit])
    assert (over.met, over.limit) == (Met.OVER_LIMIT, "l")
    assert over.retry_after_s > 0
    store.operations.unsend(first)
    again = await claim(store, wanted(), limits=[limit])
    assert (again.met, again.operation.op_id, again.operation.epoch) == (Met.TAKEN, first.op_id, 2)
    assert await store.operations.of_call(again.operation.call_id) == again.operation


async def test_another_attempt_is_taken_back_by_the_call_that_made_it(store: Store) -> None:
    first, second = wanted(), wanted()
    taken = (await claim(store, first)).operation
    assert await settle(store, taken, OpState.FAILED_RETRYABLE)
    assert (await claim(store, second)).operation.op_id == first.op_id
    store.operations.unsend(first)  # too late: the operation is another call's by now
    store.operations.unsend(second)
    await store.events.kept()
    found = await store.operations.get(first.op_id)
    assert found is not None
    assert (found.state, found.evidence, found.call_id, found.epoch) == (
        OpState.FAILED_RETRYABLE,
        "not_sent",
        second.call_id,
        2,
    )


async def test_a_call_over_a_limit_leaves_no_operation(store: Store) -> None:
    limit = Limit(id="l", key="acme", maximum=0, window_s=60, amount=1, rule="r")
    over = wanted()
    assert (await claim(store, over, limits=[limit])).met is Met.OVER_LIMIT
    assert await store.operations.get(over.op_id) is None
    assert await events_of(store, over.call_id) == 0


async def test_a_key_of_one_tenant_or_scope_meets_no_other(store: Store) -> None:
    """case: IDM-05"""
    for changes in ({}, {"tenant": "globex"}, {"scope": "s2"}):
        assert (await claim(store, wanted(**changes))).met is Met.TAKEN


async def test_the_same_key_for_something_else_is_a_conflict(store: Store) -> None:
    """case: IDM-04"""
    await claim(store, wanted())
    assert (await claim(store, wanted(intent="i2"))).met is Met.CONFLICT
    assert (await claim(store, wanted(tool="desk.close"))).met is Met.CONFLICT
    assert (await claim(store, wanted(arguments_digest="a2"))).met is Met.VARIANT


async def test_a_claim_in_an_outage_is_refused_and_never_made_later(
    store: Store, outage: Outage
) -> None:
    await claim(store, wanted(key="k0"))
    store.events._wait_s = 0.3  # pyright: ignore[reportPrivateUsage] - or it takes 5 s
    outage.begin()
    late = wanted()
    with pytest.raises(StoreUnavailable):
        await claim(store, late)
    outage.end()
    store.events._wait_s = 15  # pyright: ignore[reportPrivateUsage] - as above
    await recovered(store.events)
    assert (await claim(store, wanted(key="k9"))).met is Met.TAKEN  # all before it is written
    assert await store.operations.get(late.op_id) is None
    assert await events_of(store, late.call_id) == 0
