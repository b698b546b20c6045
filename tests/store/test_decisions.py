"""A decision whose commit got no answer is made once more, and finds what it did."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from gateway.clock import SystemClock
from gateway.store.approvals import Approvals
from gateway.store.changes import Change, Made
from gateway.store.engine import Transaction
from gateway.store.store import Store
from gateway.types.approvals import Approval, ApprovalState, Cast, Choice, Escalation, Ruling
from gateway.types.events import Event
from gateway.types.operations import OpState
from tests.helpers.approvals import (
    BINDING,
    LEADS,
    a_notice,
    an_approver,
    asked,
    nobody,
    state_of,
    tales_of,
    told,
    told_of,
    vote,
)

T = TypeVar("T")
YES, NO = Choice.APPROVE, Choice.DENY
LEA = an_approver()
TWO = replace(LEADS, factors=(replace(LEADS.factors[0], count=2),))


class Unanswered:
    """A log whose commits get no answer: each change is run again, after what others did."""

    def __init__(self, store: Store, meanwhile: Callable[[], Awaitable[object]]) -> None:
        self._store = store
        self._meanwhile = meanwhile

    async def carry(
        self, change: Change[T], events: Sequence[Event] = (), *, owed: bool = False
    ) -> T:
        """Commit it, have the others do what they do, and run it again."""
        await self._store.events.carry(change, events, owed=owed)
        await self._meanwhile()
        return await self._store.events.carry(change, events, owed=owed)

    def promise(self, change: Change[Any], events: Sequence[Event] = ()) -> None:
        """Make it as the store does."""
        self._store.events.promise(change, events)


async def _nothing() -> None:
    return


def unanswered(store: Store, meanwhile: Callable[[], Awaitable[object]] = _nothing) -> Approvals:
    worker = store._worker  # pyright: ignore[reportPrivateUsage] - the same one
    return Approvals(Unanswered(store, meanwhile), worker, SystemClock())


async def test_a_vote_that_is_repeated_is_one_vote(store: Store) -> None:
    approval = await asked(store, clause=TWO)
    notice = a_notice(approval)
    first = await unanswered(store).cast(
        LEA, approval.approval_id, YES, BINDING, told=told, notices=lambda _: [notice]
    )
    assert first.cast is Cast.COUNTED
    assert first.approval == await store.approvals.get(approval.approval_id)
    assert await tales_of(store, approval) == ["counted"]
    assert await store.approvals.due_notices() == [notice]


@pytest.mark.parametrize(
    ("choice", "cast", "state"),
    [
        (YES, Cast.APPROVED, (ApprovalState.APPROVED, OpState.AWAITING_APPROVAL)),
        (NO, Cast.DENIED, (ApprovalState.DENIED, OpState.DENIED)),
    ],
)
async def test_a_decision_that_is_repeated_is_the_same_decision(
    store: Store, choice: Choice, cast: Cast, state: tuple[ApprovalState, OpState]
) -> None:
    approval = await asked(store)
    ruling = await unanswered(store).cast(
        LEA, approval.approval_id, choice, BINDING, told=told, notices=nobody
    )
    assert ruling.cast is cast
    assert await state_of(store, approval) == state
    assert await tales_of(store, approval) == [str(cast)]


async def test_what_others_did_since_stays_when_a_decision_is_repeated(store: Store) -> None:
    approval = await asked(store)

    async def revoked() -> None:
        assert (await vote(store, approval, an_approver("max"), NO)).cast is Cast.REVOKED

    ruling = await unanswered(store, revoked).cast(
        LEA, approval.approval_id, YES, BINDING, told=told, notices=nobody
    )
    assert ruling.cast is Cast.APPROVED
    assert await state_of(store, approval) == (ApprovalState.CANCELLED, OpState.DENIED)
    assert await tales_of(store, approval) == ["approved", "revoked"]


async def test_a_vote_that_was_taken_back_since_is_not_given_again(store: Store) -> None:
    approval = await asked(store, clause=TWO)

    async def withdrawn() -> None:
        back = await store.approvals.withdraw_vote(
            LEA, approval.approval_id, told=told, notices=nobody
        )
        assert back.cast is Cast.WITHDRAWN

    await unanswered(store, withdrawn).cast(
        LEA, approval.approval_id, YES, BINDING, told=told, notices=nobody
    )
    assert await store.approvals.votes(approval.approval_id) == []
    assert await tales_of(store, approval) == ["counted", "withdrawn"]


async def test_a_vote_that_is_taken_back_twice_is_taken_back_once(store: Store) -> None:
    approval = await asked(store, clause=TWO)
    await vote(store, approval)

    async def again() -> None:
        assert (await vote(store, approval, choice=YES)).cast is Cast.COUNTED

    ruling = await unanswered(store, again).withdraw_vote(
        LEA, approval.approval_id, told=told, notices=nobody
    )
    assert ruling.cast is Cast.WITHDRAWN
    assert [each.user for each in await store.approvals.votes(approval.approval_id)] == ["lea"]


async def test_a_step_of_the_escalation_that_is_repeated_is_one_step(store: Store) -> None:
    steps = tuple(Escalation(after_s=0, roles=(role,)) for role in ("cfo", "ceo"))
    approval = await asked(store, clause=replace(LEADS, escalation=steps))
    after = await unanswered(store).escalate(
        approval, told=lambda after: [told_of(after)], notices=nobody
    )
    assert after is not None
    assert after.escalated == 1
    assert await store.approvals.get(approval.approval_id) == after


async def test_what_ended_a_request_has_ended_it_though_it_is_repeated(store: Store) -> None:
    first, second = await asked(store, decide_by=1), await asked(store)
    approvals = unanswered(store)
    expired = await approvals.expire(first, told=lambda it: [told_of(it)], notices=nobody)
    assert expired is not None
    assert expired.state is ApprovalState.EXPIRED
    gone = await approvals.cancel(second, "gone", told=lambda it: [told_of(it)], notices=nobody)
    assert gone is not None
    assert gone.state is ApprovalState.CANCELLED
    assert await tales_of(store, first) == await tales_of(store, second) == ["changed"]


async def test_a_denial_that_is_reopened_and_repeated_is_reopened(store: Store) -> None:
    approval = await asked(store)
    await vote(store, approval, choice=NO)
    ruling = await unanswered(store).reopen(LEA, approval.approval_id, told=told, notices=nobody)
    assert ruling.cast is Cast.REOPENED
    assert await tales_of(store, approval) == ["denied", "reopened"]


async def test_what_was_rolled_back_is_judged_anew(store: Store) -> None:
    """A group of changes in which another one fails is run again, one by one."""
    approval = await asked(store, clause=TWO)

    def fail(_: Transaction) -> Made[None]:
        raise RuntimeError

    results: Sequence[Ruling | BaseException | None] = await asyncio.gather(
        vote(store, approval),
        store.events.carry(Change(fail)),
        vote(store, approval, an_approver("max")),
        return_exceptions=True,
    )
    assert [each.cast for each in results if isinstance(each, Ruling)] == [
        Cast.COUNTED,
        Cast.APPROVED,
    ]
    assert await tales_of(store, approval) == ["counted", "approved"]
    found: Approval | None = await store.approvals.get(approval.approval_id)
    assert found is not None
    assert (found.state, found.version) == (ApprovalState.APPROVED, 2)
