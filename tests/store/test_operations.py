import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gateway import ids
from gateway.errors import StoreUnavailable
from gateway.store.changes import Change, Made
from gateway.store.engine import Transaction
from gateway.store.operations import OperationFilter, Undoes
from gateway.store.store import Store
from gateway.types.operations import (
    OpState,
    RetryClass,
    VerificationState,
)
from tests.helpers.events import an_event
from tests.helpers.operations import LATER, claim, events_of, settle, wanted


async def test_an_answer_of_an_older_attempt_settles_nothing(store: Store) -> None:
    natural = {"retry": RetryClass.NATURAL}
    old = (await claim(store, wanted(**natural), lease_s=-1)).operation
    assert await store.operations.lose(old, "lease_expired", [])
    new = (await claim(store, wanted(**natural))).operation
    assert (new.op_id, new.epoch) == (old.op_id, 2)
    assert not await settle(store, old, OpState.FAILED_FINAL)
    assert await events_of(store, "settled") == 0
    assert await settle(store, new, OpState.SUCCEEDED)
    assert await events_of(store, "settled") == 1


async def test_a_renewed_lease_holds(store: Store) -> None:
    taken = (await claim(store, wanted(), lease_s=-1)).operation
    living = [(taken.op_id, taken.epoch), ("op_none", 1)]
    assert await store.operations.renew(living, 60) == {taken.op_id}
    assert await store.operations.lost() == []
    assert await store.operations.renew([(taken.op_id, taken.epoch + 1)], -60) == frozenset()
    assert await store.operations.lost() == []


async def test_who_renews_after_it_was_found_to_be_lost_keeps_it(store: Store) -> None:
    taken = (await claim(store, wanted(), lease_s=-1)).operation
    [found] = await store.operations.lost()
    await store.operations.renew([(taken.op_id, taken.epoch)], 60)
    assert not await store.operations.lose(found, "lease_expired", [])
    assert await settle(store, taken, OpState.SUCCEEDED)


async def test_what_was_given_up_is_not_renewed(store: Store) -> None:
    taken = (await claim(store, wanted(), lease_s=-1)).operation
    await store.operations.lose(taken, "lease_expired", [])
    assert await store.operations.renew([(taken.op_id, taken.epoch)], 60) == frozenset()


async def test_a_lost_operation_is_told_of_once(store: Store) -> None:
    taken = (await claim(store, wanted(), lease_s=-1)).operation
    for _ in range(2):
        await store.operations.lose(
            taken, "lease_expired", [an_event(id=ids.ulid(), call="lost")], check_at=5
        )
    assert await events_of(store, "lost") == 1
    [due] = await store.operations.due()
    assert await store.operations.take_check(due, later=LATER)
    assert not await store.operations.take_check(due, later=LATER)
    assert await store.operations.due() == []


async def test_a_check_that_ends_later_is_noted(store: Store) -> None:
    taken = (await claim(store, wanted())).operation
    await settle(store, taken, OpState.SUCCEEDED, verification=VerificationState.PENDING)
    assert await store.operations.verified(taken, VerificationState.VERIFIED, [])
    found = await store.operations.get(taken.op_id)
    assert found is not None
    assert found.verification is VerificationState.VERIFIED
    assert not await store.operations.verified(
        replace(taken, epoch=9), VerificationState.FAILED, []
    )


async def test_a_compensation_is_kept_once_and_waits_to_be_sent(store: Store) -> None:
    taken = (await claim(store, wanted())).operation
    await settle(store, taken, OpState.SUCCEEDED)
    undo = wanted(key="undo", compensates=taken.op_id)
    assert await store.operations.add(undo, [])
    assert not await store.operations.add(wanted(key="undo", compensates=taken.op_id), [])
    assert [one.op_id for one in await store.operations.ready()] == [undo.op_id]
    assert [one.op_id for one in await store.operations.undoing(taken.op_id)] == [undo.op_id]
    found = await store.operations.get(taken.op_id)
    assert found is not None
    assert await store.operations.mark(found, OpState.COMPENSATING, "asked by ana", [])
    assert not await store.operations.mark(found, OpState.COMPENSATING, "asked by ana", [])
    marked = await store.operations.get(taken.op_id)
    assert marked is not None
    assert marked.settled_at == found.settled_at > 0  # deadlines count from then


async def test_what_is_to_be_undone_is_on_its_way_back_with_whatever_undoes_it(
    store: Store,
) -> None:
    taken = (await claim(store, wanted())).operation
    await settle(store, taken, OpState.SUCCEEDED)
    found = await store.operations.get(taken.op_id)
    assert found is not None
    undoes = Undoes(operation=found, state=OpState.COMPENSATING, evidence="ana wants it undone")
    undo = wanted(key="undo", compensates=taken.op_id)
    assert await store.operations.add(undo, [], undoes=undoes)
    moved = await store.operations.get(taken.op_id)
    assert moved is not None
    assert (moved.state, moved.evidence) == (OpState.COMPENSATING, "ana wants it undone")
    assert moved.settled_at == found.settled_at > 0

    # Whoever read it before finds another state, and moves nothing.
    await store.operations.mark(moved, OpState.COMPENSATED, "undone", [])
    assert await store.operations.add(wanted(key="again"), [], undoes=undoes)
    assert not await store.operations.add(wanted(key="again"), [], undoes=undoes)
    over = await store.operations.get(taken.op_id)
    assert over is not None
    assert (over.state, over.evidence) == (OpState.COMPENSATED, "undone")


async def test_operations_are_found_by_what_people_ask_for(store: Store) -> None:
    await claim(store, wanted(user="ana"))
    await claim(store, wanted(key="k2", tenant="globex", tool="crm.put"))
    operations = store.operations
    assert await operations.count() == {"dispatching": 2}
    assert len(await operations.find(OperationFilter())) == 2
    for one in (
        OperationFilter(tenant="globex"),
        OperationFilter(user="ana"),
        OperationFilter(tool="crm.put"),
        OperationFilter(limit=1),
    ):
        assert len(await operations.find(one)) == 1
    now = datetime.now(UTC)
    assert await operations.find(OperationFilter(since=now + timedelta(hours=1))) == []
    assert await operations.find(OperationFilter(state="succeeded")) == []


async def test_what_ended_is_forgotten_and_what_is_unknown_stays(store: Store) -> None:
    done = (await claim(store, wanted())).operation
    await settle(store, done, OpState.SUCCEEDED, outcome="sealed", replay_until=1)
    lost = (await claim(store, wanted(key="k2"), lease_s=-1)).operation
    await store.operations.lose(lost, "lease_expired", [])
    await store.operations.forget(outcomes_before=LATER, operations_before=0)
    found = await store.operations.get(done.op_id)
    assert found is not None
    assert (found.outcome, found.state) == ("", OpState.SUCCEEDED)
    await store.operations.forget(outcomes_before=0, operations_before=LATER)
    assert await store.operations.get(done.op_id) is None
    assert await store.operations.get(lost.op_id) is not None


async def test_however_much_ended_all_of_it_is_forgotten(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.store.operations._FORGOTTEN_AT_ONCE", 2)
    for number in range(5):
        done = (await claim(store, wanted(key=f"k{number}"))).operation
        await settle(store, done, OpState.SUCCEEDED, outcome="sealed", replay_until=1)
    await store.operations.forget(outcomes_before=LATER, operations_before=0)
    assert {one.outcome for one in await store.operations.find(OperationFilter())} == {""}
    await store.operations.forget(outcomes_before=0, operations_before=LATER)
    assert await store.operations.count() == {}


async def test_usual_and_unusual_operations_are_found_and_counted_by_their_state(
    store: Store,
) -> None:
    sent = (await claim(store, wanted())).operation
    done = (await claim(store, wanted(key="k2"))).operation
    await settle(store, done, OpState.SUCCEEDED, verification=VerificationState.PENDING)
    lost = (await claim(store, wanted(key="k3"), lease_s=-1)).operation
    await store.operations.lose(lost, "lease_expired", [])
    for wanted_state, one in (("dispatching", sent), ("succeeded", done), ("indeterminate", lost)):
        found = await store.operations.find(OperationFilter(state=wanted_state))
        assert [each.op_id for each in found] == [one.op_id]
    for verification, many in (("pending", 1), ("not_declared", 2), ("failed", 0)):
        found = await store.operations.find(OperationFilter(verification=verification))
        assert len(found) == many
    counted = await store.operations.count()
    assert counted == {"dispatching": 1, "succeeded": 1, "indeterminate": 1}


async def test_what_still_answers_the_same_call_is_not_forgotten(store: Store) -> None:
    """case: IDM-06"""
    done = (await claim(store, wanted())).operation
    await settle(store, done, OpState.SUCCEEDED, outcome="sealed", replay_until=LATER)
    await store.operations.forget(outcomes_before=LATER, operations_before=LATER)
    found = await store.operations.get(done.op_id)
    assert found is not None
    assert found.outcome == "sealed"


async def test_what_the_database_refuses_holds_nothing_else_up(store: Store) -> None:
    taken = (await claim(store, wanted())).operation

    def twice(transaction: Transaction) -> Made[None]:
        transaction.execute("save_instance", {"instance": "x", "at": None, "status": ""})
        return Made(None)

    def breaks(transaction: Transaction) -> Made[None]:
        raise KeyError(transaction)

    store.events.append([an_event(id=ids.ulid(), call="before")])
    tries = [store.events.carry(Change(work)) for work in (twice, breaks)]
    refused = await asyncio.gather(*tries, return_exceptions=True)
    assert [isinstance(one, StoreUnavailable) for one in refused] == [True, True]
    assert await settle(store, taken, OpState.SUCCEEDED)
    assert await events_of(store, "before") == 1
    assert store.events.failing == ""


async def test_texts_that_an_engine_refuses_are_kept_without_what_it_refuses(store: Store) -> None:
    taken = (await claim(store, wanted(user="a\0b", shown='{"a":"\ud800"}'))).operation
    found = await store.operations.get(taken.op_id)
    assert found is not None
    assert (found.user, found.shown) == ("a\ufffdb", '{"a":"?"}')
