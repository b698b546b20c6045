from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.approvals.ballot import proposer
from gateway.store.approvals import ApprovalFilter
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.types.approvals import (
    ApprovalState,
    Cast,
    Channel,
    Choice,
    Escalation,
    Factor,
)
from gateway.types.operations import OpState
from tests.helpers.approvals import (
    LATER,
    LEADS,
    OTHER_BINDING,
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
from tests.helpers.databases import OpenStore
from tests.helpers.issuer import HandClock

S, O = ApprovalState, OpState  # noqa: E741 - as in the tables
TWO = replace(LEADS, factors=(Factor(name="leads", roles=("lead",), count=2),))
WAITS = (S.PENDING, O.AWAITING_APPROVAL)


async def test_enough_votes_approve_and_leave_the_operation_to_whoever_sends(store: Store) -> None:
    approval = await asked(store, clause=TWO)
    first = await vote(store, approval, reason="checked")
    assert (first.cast, await state_of(store, approval)) == (Cast.COUNTED, WAITS)
    second = await vote(store, approval, an_approver("max"))
    assert second.cast is Cast.APPROVED
    assert second.approval == await store.approvals.get(approval.approval_id)
    assert second.approval is not None
    assert second.approval.use_by - second.approval.decided_at == 900 * 1_000_000
    assert await state_of(store, approval) == (S.APPROVED, O.AWAITING_APPROVAL)
    votes = await store.approvals.votes(approval.approval_id)
    assert [(each.user, each.reason) for each in votes] == [("lea", "checked"), ("max", "")]
    assert await tales_of(store, approval) == ["counted", "approved"]


async def test_a_denial_ends_the_operation_and_is_told_until_its_time_is_over(
    store: Store,
) -> None:
    approval = await asked(store, answer_until=77)
    denied = await vote(
        store,
        approval,
        choice=Choice.DENY,
        reason="too much",
        proposal="sealed",
        proposal_hash="sha256:2",
    )
    assert denied.cast is Cast.DENIED
    found = await store.approvals.get(approval.approval_id)
    assert found is not None
    assert (found.closed_reason, found.proposal, found.proposal_hash) == (
        "too much",
        "sealed",
        "sha256:2",
    )
    operation = await store.operations.get(approval.op_id)
    assert operation is not None
    assert (operation.state, operation.replay_until) == (O.DENIED, 77)


async def test_a_no_after_the_decision_takes_it_back(store: Store) -> None:
    approval = await asked(store)
    await vote(store, approval)
    revoked = await vote(store, approval, choice=Choice.DENY, reason="wait")
    assert revoked.cast is Cast.REVOKED
    assert await state_of(store, approval) == (S.CANCELLED, O.DENIED)
    (only,) = await store.approvals.votes(approval.approval_id)
    assert (only.choice, only.reason) == (Choice.DENY, "wait")


async def test_a_no_under_a_name_in_other_letters_leaves_the_yes_on_record(store: Store) -> None:
    approval = await asked(store)
    await vote(store, approval)
    assert (await vote(store, approval, an_approver("LEA"), Choice.DENY)).cast is Cast.REVOKED
    votes = await store.approvals.votes(approval.approval_id)
    assert {(each.user, each.choice) for each in votes} == {
        ("lea", Choice.APPROVE),
        ("LEA", Choice.DENY),
    }


async def test_of_two_who_deny_the_last_proposal_stands(store: Store) -> None:
    approval = await asked(store, clause=replace(TWO, denials=2))
    rather: dict[str, Any] = {"proposal": "sealed", "proposal_hash": "sha256:2"}
    first = await vote(store, approval, choice=Choice.DENY, **rather)
    assert first.cast is Cast.COUNTED
    assert first.approval is not None
    assert (first.approval.proposal, first.approval.proposed_by) == ("sealed", "lea")
    last = await vote(store, approval, an_approver("max"), Choice.DENY, **rather)
    assert last.approval is not None
    by = proposer(last.approval, await store.approvals.votes(approval.approval_id))
    assert by is not None
    assert by.user == "max"


async def test_what_is_refused_changes_nothing_and_is_told(store: Store) -> None:
    """case: APR-01, APR-03, APR-10"""
    approval = await asked(store)
    refused = [
        await vote(store, approval, an_approver("ana")),
        await vote(store, approval, an_approver("vera", ("viewer",)), Choice.DENY),
        await vote(store, approval, binding=OTHER_BINDING),
    ]
    told_casts = [Cast.SELF_APPROVAL, Cast.NOT_ENTITLED, Cast.WRONG_BINDING]
    assert [each.cast for each in refused] == told_casts
    assert await store.approvals.get(approval.approval_id) == approval
    assert await store.approvals.votes(approval.approval_id) == []
    assert await tales_of(store, approval) == [str(each) for each in told_casts]


async def test_another_tenants_request_is_as_one_that_is_not_there(store: Store) -> None:
    """case: APR-06"""
    approval = await asked(store)
    foreign = an_approver(tenant="globex")
    nothing = replace(approval, approval_id="apr_nothing")
    for there in (approval, nothing):
        for choice in Choice:
            assert (await vote(store, there, foreign, choice)).cast is Cast.NOT_FOUND
        for wish in (store.approvals.withdraw_vote, store.approvals.reopen):
            ruling = await wish(foreign, there.approval_id, told=told, notices=nobody)
            assert (ruling.cast, ruling.approval) == (Cast.NOT_FOUND, None)
        ruling = await store.approvals.cancel_by(
            foreign, there.approval_id, "", told=told, notices=nobody
        )
        assert (ruling.cast, ruling.approval) == (Cast.NOT_FOUND, None)
    assert await store.approvals.get(approval.approval_id) == approval
    assert await tales_of(store, approval) == []


async def test_a_vote_that_was_taken_back_can_be_given_anew(store: Store) -> None:
    approval = await asked(store, clause=TWO)
    await vote(store, approval)
    assert (await vote(store, approval)).cast is Cast.ALREADY_VOTED
    lea = an_approver()
    back = await store.approvals.withdraw_vote(lea, approval.approval_id, told=told, notices=nobody)
    assert back.cast is Cast.WITHDRAWN
    assert await store.approvals.votes(approval.approval_id) == []
    assert (await vote(store, approval, choice=Choice.DENY)).cast is Cast.DENIED


async def test_a_request_that_is_taken_back_abandons_its_operation(store: Store) -> None:
    approval, other = await asked(store), await asked(store)
    by_ana = await store.approvals.cancel_by(
        an_approver("ana", ()), approval.approval_id, "never mind", told=told, notices=nobody
    )
    assert by_ana.cast is Cast.CANCELLED
    assert await state_of(store, approval) == (S.CANCELLED, O.ABANDONED)
    for is_first in (True, False):
        ended = await store.approvals.cancel(
            other,
            "its caller is gone",
            told=lambda after: [told_of(after)],
            notices=lambda after: [a_notice(after)],
        )
        assert (ended is not None) is is_first
    assert await tales_of(store, other) == ["changed"]
    (notice,) = await store.approvals.due_notices()
    assert notice.approval_id == other.approval_id


async def test_a_denied_call_can_be_asked_about_again_once_somebody_says_so(store: Store) -> None:
    approval = await asked(store)
    await vote(store, approval, choice=Choice.DENY)
    for cast in (Cast.REOPENED, Cast.ALREADY_DECIDED):
        ruling = await store.approvals.reopen(
            an_approver("max"), approval.approval_id, told=told, notices=nobody
        )
        assert ruling.cast is cast
    operation = await store.operations.get(approval.op_id)
    assert operation is not None
    assert (operation.state, operation.replay_until) == (O.DENIED, 0)


async def test_what_nobody_decides_or_uses_in_time_expires_once(open_store: OpenStore) -> None:
    """case: APR-07"""
    clock = HandClock()
    store = open_store(clock=clock)
    now = clock.time_ns() // 1000
    undecided = await asked(store, decide_by=now + 1_000_000)
    unused = await asked(store, decide_by=now + 1_000_000)
    kept = await asked(store, decide_by=LATER)
    await vote(store, unused)
    assert await store.approvals.expired() == []
    clock.move(1)
    assert await store.approvals.expired() == []
    clock.move(0.000_001)
    assert await store.approvals.expired() == [undecided]
    assert (await vote(store, undecided)).cast is Cast.TOO_LATE
    clock.move(900)
    late = await store.approvals.expired()
    assert {each.approval_id for each in late} == {undecided.approval_id, unused.approval_id}
    for approval in [*late, *late, kept]:
        await store.approvals.expire(approval, told=lambda after: [told_of(after)], notices=nobody)
    assert await state_of(store, undecided) == (S.EXPIRED, O.ABANDONED)
    assert await state_of(store, unused) == (S.EXPIRED, O.ABANDONED)
    assert await state_of(store, kept) == WAITS
    assert await tales_of(store, undecided) == ["too_late", "changed"]
    assert await tales_of(store, unused) == ["approved", "changed"]


async def test_more_people_may_decide_once_a_step_was_taken(open_store: OpenStore) -> None:
    clock = HandClock()
    store = open_store(clock=clock)
    clause = replace(LEADS, escalation=(Escalation(after_s=60, roles=("cfo",)),))
    approval = await asked(store, clause=clause, created_at=clock.time_ns() // 1000)
    await asked(store, created_at=0)  # it has no steps
    chief = an_approver("carla", ("cfo",))
    assert await store.approvals.escalating() == []
    clock.move(60)
    assert (await vote(store, approval, chief)).cast is Cast.NOT_ENTITLED
    assert await store.approvals.escalating() == [approval]
    for is_first in (True, False):
        after = await store.approvals.escalate(
            approval, told=lambda after: [told_of(after)], notices=nobody
        )
        assert (after is not None) is is_first
    assert await store.approvals.escalating() == []
    assert (await vote(store, approval, chief)).cast is Cast.APPROVED


async def test_requests_are_found_by_what_is_known_of_them(store: Store) -> None:
    first = await asked(store, created_at=1)
    second = await asked(store, created_at=2, user="max", tool="desk.close")
    other = await asked(store, created_at=3, tenant="globex")
    await vote(store, second, choice=Choice.DENY)

    async def found(**wanted: object) -> list[str]:
        matches = await store.approvals.find(ApprovalFilter(**wanted))  # pyright: ignore[reportArgumentType] - by name
        return [each.approval_id for each in matches]

    assert await found() == [other.approval_id, second.approval_id, first.approval_id]
    assert await found(tenant="acme", is_open=True) == [first.approval_id]
    assert await found(state="denied") == [second.approval_id]
    assert await found(user="max", tool="desk.close") == [second.approval_id]
    assert await found(op_id=first.op_id) == [first.approval_id]
    assert await found(since=datetime(1970, 1, 1, microsecond=2, tzinfo=UTC), limit=1) == [
        other.approval_id
    ]
    assert await store.approvals.counts() == {S.PENDING: 2, S.DENIED: 1}
    assert await store.approvals.counts("globex") == {S.PENDING: 1}
    assert await store.approvals.newest_of(first.op_id) == first
    assert await store.approvals.newest_of("op_nothing") is None
    assert await store.approvals.get("apr_nothing") is None


async def test_one_of_several_tells_a_notice_and_who_fails_leaves_it_for_later(
    store: Store,
) -> None:
    approval = await asked(store)
    notice = a_notice(approval, next_at=5)
    await vote(store, approval, owed=[notice])
    assert await store.approvals.due_notices(4) == []
    assert await store.approvals.due_notices(5) == [notice]
    taken = await store.approvals.take_notice(notice, 50)
    assert taken is not None
    assert await store.approvals.take_notice(notice, 50) is None
    assert await store.approvals.due_notices(49) == []
    await store.approvals.failed_notice(taken, "HTTP 500", next_at=60)
    (again,) = await store.approvals.due_notices(60)
    assert (again.attempts, again.problem) == (1, "HTTP 500")
    await store.approvals.told_notice(again)
    assert await store.approvals.due_notices() == []
    assert await store.approvals.take_notice(again, 70) is None


async def test_a_notice_that_is_given_up_is_not_told_again(store: Store) -> None:
    approval = await asked(store)
    notice = a_notice(approval)
    await vote(store, approval, owed=[notice])
    await store.approvals.failed_notice(notice, "HTTP 410")
    assert await store.approvals.due_notices() == []


async def test_refused_votes_owe_no_notice(store: Store) -> None:
    approval = await asked(store)
    await vote(store, approval, an_approver("ana"), owed=[a_notice(approval)])
    assert await store.approvals.due_notices() == []


@pytest.mark.parametrize("name", ["ä\0", "\ud800"])
async def test_who_asked_is_known_again_by_whatever_name(store: Store, name: str) -> None:
    approval = await asked(store, user=name)
    assert (await vote(store, approval, an_approver(name))).cast is Cast.SELF_APPROVAL
    operator = an_approver("root", (), channel=Channel.TERMINAL)
    assert (await vote(store, approval, operator)).cast is Cast.NOT_ENTITLED


async def test_requests_go_with_their_operations_and_with_them_votes_and_notices(
    open_store: OpenStore,
) -> None:
    clock = HandClock()
    store = open_store(clock=clock)
    gone, kept, waiting = [await asked(store, answer_until=1) for _ in range(3)]
    await vote(store, gone, choice=Choice.DENY, owed=[a_notice(gone)])
    clock.move(100)
    await vote(store, kept, choice=Choice.DENY, owed=[a_notice(kept)])
    before = microseconds(clock.now()) - 50_000_000
    await store.operations.forget(outcomes_before=0, operations_before=before)
    await store.approvals.forget()
    found = await store.approvals.find(ApprovalFilter())
    assert {each.approval_id for each in found} == {kept.approval_id, waiting.approval_id}
    assert await store.approvals.votes(gone.approval_id) == []
    assert len(await store.approvals.votes(kept.approval_id)) == 1
    assert [each.approval_id for each in await store.approvals.due_notices()] == [kept.approval_id]
