"""What has changed since people were asked: rules, contracts, tools and wordings."""

import pytest

from gateway.store.store import Store
from gateway.types.approvals import ApprovalNotes, ApprovalState, Choice
from gateway.types.operations import OpState
from gateway.types.outcomes import Status
from tests.helpers.approvals import an_approver
from tests.helpers.cases import ALLOW_ALL
from tests.helpers.held import ASK, a_house
from tests.helpers.writes import outcome_of, text_of

pytestmark = pytest.mark.postgres


async def test_a_stricter_rule_asks_more_people_and_a_weaker_one_takes_what_there_is(
    store: Store,
) -> None:
    house = a_house(store)
    pending = await house.call()
    await house.decide(pending)
    house.rule(ASK.replace("roles: [lead]}", "roles: [lead]}, quorum: 2"))
    asked = await house.call()
    assert asked.status is Status.APPROVAL_PENDING
    assert outcome_of(asked)["approval_id"] != outcome_of(pending)["approval_id"]
    await house.decide(asked)
    await house.decide(asked, approver=an_approver("max"))
    house.rule(ASK.replace("roles: [lead]", "roles: [lead, chief]"))
    assert (await house.call()).status is Status.OK
    assert house.server.count == 1


async def test_a_rule_that_denies_now_lets_no_old_approval_through(store: Store) -> None:
    house = a_house(store)
    pending = await house.call()
    await house.decide(pending)
    house.rule("rules:\n  - {id: no, decision: deny, match: {tools: ['*']}}\n")
    assert (await house.call()).status is Status.UNKNOWN_TOOL  # nobody may use it any more
    assert house.server.count == 0
    assert (await house.approval(pending)).state is ApprovalState.APPROVED


async def test_where_nobody_has_to_be_asked_any_more_the_request_is_dropped(store: Store) -> None:
    house = a_house(store)
    pending = await house.call()
    house.rule("rules:\n  - {id: all, decision: allow, match: {tools: ['*']}}\n")
    assert (await house.call()).status is Status.OK
    approval = await house.approval(pending)
    assert (approval.state, approval.consumed_by) == (ApprovalState.SUPERSEDED, "")
    operation = await store.operations.get(approval.op_id)
    assert operation is not None
    assert operation.state is OpState.ABANDONED


async def test_a_changed_contract_voids_what_was_approved(store: Store) -> None:
    """case: APR-05"""
    house = a_house(store)
    pending = await house.call()
    await house.decide(pending)
    house.rule(ASK, timeout_s=3.0)
    assert (await house.call()).status is Status.APPROVAL_PENDING
    assert (await house.approval(pending)).state is ApprovalState.SUPERSEDED
    assert house.server.count == 0


@pytest.mark.parametrize("asks_anew", [True, False])
async def test_a_tool_that_has_changed_is_asked_about_anew_or_denied_as_its_contract_says(
    store: Store, asks_anew: bool
) -> None:
    """case: APR-05"""
    house = a_house(store, approval=ApprovalNotes(reapprove_on_pin_change=asks_anew))
    pending = await house.call()
    await house.decide(pending)
    house.repinned("sha256:another")
    again = await house.call()
    wanted = Status.APPROVAL_PENDING if asks_anew else Status.APPROVAL_DENIED
    assert again.status is wanted
    assert (await house.approval(pending)).state is ApprovalState.SUPERSEDED
    assert (await house.call()).status is wanted
    assert house.server.count == 0


CAPPED = ASK + "    constrain: {max: {v: '50'}}\n"


async def test_what_policy_has_written_meanwhile_is_what_is_shown_and_sent(store: Store) -> None:
    """case: APR-01"""
    house = a_house(store)
    pending = await house.call({"v": 500})
    await house.decide(pending)
    house.rule(CAPPED)
    operation = await store.operations.get(outcome_of(pending)["op_id"])
    own = await house.call({"v": 500}, operation=operation)  # as the gateway sends it by itself
    assert own.status is Status.APPROVAL_PENDING
    approval = await house.approval(own)
    assert house.people.documents.of(approval)["arguments"] == {"v": 50}
    await house.decide(own)
    assert (await house.call({"v": 500}, operation=operation)).status is Status.OK
    assert [each.params["arguments"] for each in house.server.asked] == [{"v": 50}]


async def test_nothing_is_sent_that_nobody_saw(store: Store) -> None:
    """case: APR-01"""
    house = a_house(store)
    pending = await house.call({"v": 1})
    await house.decide(pending)
    done = await house.call(
        {"v": 1},
        params={"name": "put", "arguments": {"v": 1}, "run_as": "root", "inputResponses": {}},
        meta={"vendor/run_as": "root"},
    )
    assert done.status is Status.OK
    assert house.server.asked[0].params == {"name": "put", "arguments": {"v": 1}}


async def test_what_was_denied_may_be_called_once_nobody_has_to_be_asked(store: Store) -> None:
    house = a_house(store)
    await house.decide(await house.call(), Choice.DENY)
    house.rule(ALLOW_ALL)
    done = await house.call()
    assert (done.status, text_of(done)) == (Status.OK, "done 1")


async def test_time_that_a_rule_of_now_wants_to_pass_passes(store: Store) -> None:
    house = a_house(store)
    pending = await house.call()
    await house.decide(pending)
    house.rule(ASK.replace("expires: 1h", "expires: 1h, not_before: 30m"))
    assert (await house.call()).status is Status.APPROVAL_PENDING
    assert house.server.count == 0
