"""Processes that die in the middle of a decision: all of it is there afterwards, or nothing."""

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final
from unittest.mock import patch

import pytest

from gateway.clock import SystemClock
from gateway.store.backlog import Entry
from gateway.store.engine import Transaction
from gateway.store.store import Store
from gateway.store.writer import Writer
from gateway.types.approvals import (
    Approval,
    ApprovalState,
    Cast,
    Choice,
    Notice,
    Ruling,
    Vote,
)
from gateway.types.event_rows import EventRow
from gateway.types.events import Event
from gateway.types.operations import OpState
from tests.helpers import forked
from tests.helpers.approvals import (
    a_notice,
    an_approver,
    asked,
    state_of,
    tales_of,
    told,
    told_of,
    vote,
)
from tests.helpers.databases import ORIGIN, OpenStore

PARENT: Final = multiprocessing.get_context("forkserver")
S, O = ApprovalState, OpState  # noqa: E741 - as in the tables


class Point(StrEnum):
    """Where in a decision a process dies, in the order in which the points are passed."""

    JUDGED = "judged"  # nothing is written
    MOVED = "moved"  # vote, request and operation are written
    OWED = "owed"  # and the notices
    TOLD = "told"  # and what has to be told is known
    COMMITTED = "committed"  # all of it, but nobody has learned of it


class What(StrEnum):
    """What is being done."""

    APPROVE = "approve"
    DENY = "deny"
    REVOKE = "revoke"
    EXPIRE = "expire"
    CANCEL = "cancel"


AFTER = {
    What.APPROVE: (S.APPROVED, O.AWAITING_APPROVAL),
    What.DENY: (S.DENIED, O.DENIED),
    What.REVOKE: (S.CANCELLED, O.DENIED),
    What.EXPIRE: (S.EXPIRED, O.ABANDONED),
    What.CANCEL: (S.CANCELLED, O.ABANDONED),
}
VOTES = (What.APPROVE, What.DENY, What.REVOKE)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def do(store: Store, approval: Approval, what: What, at: Callable[[Point], None]) -> bool:
    """Do it, passing each point; return whether anything was changed."""

    def told_ruling(ruling: Ruling) -> Sequence[Event]:
        at(Point.OWED)
        return told(ruling)

    def told_change(after: Approval) -> Sequence[Event]:
        at(Point.OWED)
        return [told_of(after)]

    def notices(_: object) -> Sequence[Notice]:
        at(Point.MOVED)
        return [a_notice(approval)]

    approvals = store.approvals
    match what:
        case What.APPROVE | What.DENY | What.REVOKE:
            choice = Choice.APPROVE if what is What.APPROVE else Choice.DENY
            ruling = await vote(store, approval, choice=choice, told=told_ruling, notices=notices)
            return ruling.cast.is_accepted
        case What.EXPIRE:
            after = await approvals.expire(approval, told=told_change, notices=notices)
        case What.CANCEL:
            after = await approvals.cancel(approval, "gone", told=told_change, notices=notices)
    return after is not None


class DyingClock(SystemClock):
    """Ends the process when the writer asks for the time: that is when it begins to judge."""

    def now(self) -> datetime:
        if threading.current_thread().name == "event-writer":
            die()
        return super().now()


def be_killed(url: str, approval: Approval, what: What, point: Point) -> None:
    """Be the process that dies."""

    def at(passed: Point) -> None:
        if passed is point:
            die()

    def made(entry: Entry, transaction: Transaction) -> tuple[EventRow, ...]:
        rows = real_made(entry, transaction)
        at(Point.TOLD)
        return rows

    def commit(writer: Writer, group: list[Entry]) -> None:
        real_commit(writer, group)
        at(Point.COMMITTED)

    real_made = Entry.made
    real_commit = Writer._commit  # pyright: ignore[reportPrivateUsage] - its end is the commit
    clock = DyingClock() if point is Point.JUDGED else SystemClock()
    store = Store.open(url, origin=ORIGIN, clock=clock)
    with patch.object(Writer, "_commit", commit), patch.object(Entry, "made", made):
        asyncio.run(do(store, approval, what, at))


async def begun(store: Store, what: What) -> Approval:
    """Keep a request to which something can be done."""
    if what is What.EXPIRE:
        return await asked(store, decide_by=1)
    approval = await asked(store)
    if what is What.REVOKE:
        assert (await vote(store, approval, an_approver("max"))).cast is Cast.APPROVED
    return approval


@pytest.mark.parametrize("what", What)
@pytest.mark.parametrize("point", Point)
async def test_a_process_that_dies_leaves_all_of_a_decision_or_nothing(
    store_url: str, open_store: OpenStore, what: What, point: Point
) -> None:
    """case: APR-07"""
    store = open_store()
    approval = await begun(store, what)
    before = await seen(store, approval)
    process = PARENT.Process(target=be_killed, args=(store_url, approval, what, point))
    process.start()
    assert await forked.Forked(process).wait() == -signal.SIGKILL
    after = await seen(store, approval)
    if point is not Point.COMMITTED:
        assert after == before
        assert await do(store, approval, what, lambda _: None)  # and nothing stands in its way
        after = await seen(store, approval)
    state, votes, tales, owed = after
    assert state == AFTER[what]
    assert (len(votes) - len(before[1])) == (what in VOTES)
    assert (len(tales) - len(before[2]), owed) == (1, 1)
    assert not await do(store, approval, what, lambda _: None)


async def seen(
    store: Store, approval: Approval
) -> tuple[tuple[ApprovalState, OpState], list[Vote], list[str], int]:
    """Return all that a decision changes."""
    return (
        await state_of(store, approval),
        await store.approvals.votes(approval.approval_id),
        await tales_of(store, approval),
        len(await store.approvals.due_notices()),
    )
