"""What an approver would rather have: shown, kept, voted for, and sent when it is called."""

from typing import Any

import pytest

from gateway.store.approvals import ApprovalFilter
from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.types.approvals import Choice
from gateway.types.outcomes import Status
from tests.helpers.approvals import an_approver
from tests.helpers.held import ASK, a_house
from tests.helpers.writes import outcome_of

pytestmark = pytest.mark.postgres


async def test_what_an_approver_would_rather_have_is_sent_when_the_agent_calls_with_it(
    store: Store,
) -> None:
    house = a_house(store)
    pending = await house.call({"v": 500})
    await house.decide(pending, Choice.DENY, reason="half of it", proposal={"v": 250})
    denied = await house.call({"v": 500})
    assert outcome_of(denied)["suggested_arguments"] == {"v": 250}
    assert (await house.call({"v": 251})).status is Status.APPROVAL_PENDING
    done = await house.call({"v": 250})
    assert done.status is Status.OK
    assert house.server.asked[0].params["arguments"] == {"v": 250}
    assert house.server.count == 1


async def test_only_who_proposed_a_call_has_said_yes_to_it(store: Store) -> None:
    policy = ASK.replace("roles: [lead]}", "roles: [lead]}, quorum: 2, deny_count: 2")
    house = a_house(store, policy=policy)
    pending = await house.call({"v": 500})
    await house.decide(pending, Choice.DENY, an_approver("max"))
    await house.decide(pending, Choice.DENY, an_approver("lea"), proposal={"v": 250})
    proposed = await house.call({"v": 250})
    assert proposed.status is Status.APPROVAL_PENDING
    votes = await store.approvals.votes(outcome_of(proposed)["approval_id"])
    assert [each.user for each in votes] == ["lea"]
    await house.decide(proposed, approver=an_approver("ann"))
    assert (await house.call({"v": 250})).status is Status.OK


@pytest.mark.parametrize(
    ("quorum", "stage", "status"), [(1, "decided", "approved"), (2, "voted", "pending")]
)
async def test_a_vote_that_came_with_an_earlier_denial_is_told_with_who_gave_it(
    store: Store, quorum: int, stage: str, status: str
) -> None:
    policy = ASK.replace("roles: [lead]}", f"roles: [lead]}}, quorum: {quorum}, deny_count: 1")
    house = a_house(store, policy=policy)
    denied = await house.call({"v": 500})
    await house.decide(denied, Choice.DENY, an_approver("lea"), proposal={"v": 250})
    made = outcome_of(await house.call({"v": 250}))
    await store.events.kept()
    found = await store.events.query(EventFilter(kind="approval", stage=stage))
    told: list[dict[str, Any]] = [each.json() for each in found]
    [vote] = [each for each in told if each["body"]["op"] == made["op_id"]]
    body = vote["body"]
    assert vote["actor"]["user"] == "lea"
    assert (body["status"], body["choice"]) == (status, "approve")
    assert body["reason"] == f"proposed with the denial of `{outcome_of(denied)['approval_id']}`"
    assert [each["approver"] for each in body["votes"]] == ["lea"]


async def test_what_the_first_of_two_who_say_no_proposes_is_told_and_has_his_yes(
    store: Store,
) -> None:
    policy = ASK.replace("roles: [lead]}", "roles: [lead]}, deny_count: 2")
    house = a_house(store, policy=policy)
    pending = await house.call({"v": 500})
    await house.decide(pending, Choice.DENY, an_approver("lea"), proposal={"v": 250})
    await house.decide(pending, Choice.DENY, an_approver("max"))
    denied = await house.call({"v": 500})
    assert outcome_of(denied)["suggested_arguments"] == {"v": 250}
    assert (await house.call({"v": 250})).status is Status.OK
    made = await store.approvals.find(ApprovalFilter(state="consumed"))
    votes = await store.approvals.votes(made[0].approval_id)
    assert [each.user for each in votes] == ["lea"]


async def test_a_proposal_goes_with_the_no_that_is_taken_back(store: Store) -> None:
    policy = ASK.replace("roles: [lead]}", "roles: [lead]}, deny_count: 2")
    house, lea = a_house(store, policy=policy), an_approver("lea")
    pending = await house.call({"v": 500})
    await house.decide(pending, Choice.DENY, lea, proposal={"v": 250})
    approval = await house.approval(pending)
    assert approval.proposed_by == "lea"
    await house.people.deciding.withdraw_vote(lea, approval.approval_id)
    for name in ("max", "kim"):
        await house.decide(pending, Choice.DENY, an_approver(name))
    denied = await house.call({"v": 500})
    assert denied.status is Status.APPROVAL_DENIED
    assert "suggested_arguments" not in outcome_of(denied)
    assert (await house.call({"v": 250})).status is Status.APPROVAL_PENDING


async def test_a_proposal_counts_for_the_tool_that_its_approver_saw(store: Store) -> None:
    """case: APR-05"""
    house = a_house(store)
    pending = await house.call({"v": 500})
    await house.decide(pending, Choice.DENY, proposal={"v": 250})
    house.repinned("sha256:another")
    assert (await house.call({"v": 250})).status is Status.APPROVAL_PENDING
    assert house.server.count == 0
