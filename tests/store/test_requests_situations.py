"""What becomes of a held call in situations that nobody wishes for, a test for each."""

import asyncio
from dataclasses import replace
from typing import Any

import anyio
import pytest

from gateway import jsontext
from gateway.app.owner import ProcessOwner
from gateway.contracts.pins import pin
from gateway.store.store import Store
from gateway.types.approvals import ApprovalState, Cast, Choice
from gateway.types.json import JsonObject
from gateway.types.operations import Execution, Failure, OpState, Undelivered
from gateway.types.outcomes import Finished, Status
from gateway.types.runs import Phase
from gateway.types.tools import Tool
from tests.helpers.approvals import an_approver
from tests.helpers.cases import a_principal
from tests.helpers.databases import OpenStore
from tests.helpers.fake_server import until_async
from tests.helpers.held import ASK, House, a_house
from tests.helpers.writes import outcome_of, text_of

pytestmark = pytest.mark.postgres

TWO = ASK.replace("roles: [lead]}", "roles: [lead]}, quorum: 2")
ANY = ASK.replace("crm.put", "crm.*")


async def approved(house: House, arguments: JsonObject | None = None) -> Finished:
    """Ask for a call and have a lead approve it; returns what its caller was told."""
    pending = await house.call(arguments)
    assert (await house.decide(pending)).cast is Cast.APPROVED
    return pending


async def test_who_leaves_while_an_approved_call_is_sent_gets_its_answer_later(
    store: Store,
) -> None:
    """The client disconnects during execution."""
    house = a_house(store)
    await approved(house)
    house.server.go.clear()
    async with anyio.create_task_group() as process:
        pipeline = replace(house.writes.pipeline, owner=ProcessOwner(process))
        call = pipeline.handle(house.writes.proposed())
        under_way = asyncio.ensure_future(call)
        await house.server.came.wait()
        under_way.cancel()
        await asyncio.wait({under_way})
        house.server.go.set()
    told = await house.call()
    assert (told.status, text_of(told)) == (Status.OK, "done 1")
    assert outcome_of(told)["replayed"] is True
    assert house.server.count == 1


async def test_a_no_that_comes_after_the_send_changes_nothing(store: Store) -> None:
    """Two approvers race, and one of them is later than the send."""
    house = a_house(store)
    pending = await approved(house)
    assert (await house.call()).status is Status.OK
    late = await house.decide(pending, Choice.DENY, approver=an_approver("max"))
    assert late.cast is Cast.ALREADY_DECIDED
    approval = await house.approval(pending)
    assert approval.state is ApprovalState.CONSUMED
    operation = await store.operations.get(approval.op_id)
    assert operation is not None
    assert operation.state is OpState.SUCCEEDED


async def test_of_two_who_are_needed_nobody_counts_twice_and_each_may_think_again(
    store: Store,
) -> None:
    """The same approver twice."""
    house = a_house(store, policy=TWO)
    pending = await house.call()
    casts = [(await house.decide(pending)).cast for _ in range(2)]
    assert casts == [Cast.COUNTED, Cast.ALREADY_VOTED]
    assert (await house.call()).status is Status.APPROVAL_PENDING
    name = outcome_of(pending)["approval_id"]
    taken_back = await house.people.deciding.withdraw_vote(an_approver(), name)
    assert taken_back.cast is Cast.WITHDRAWN
    max_ = an_approver("max")
    assert (await house.decide(pending, approver=max_)).cast is Cast.COUNTED
    assert (await house.call()).status is Status.APPROVAL_PENDING
    assert (await house.decide(pending)).cast is Cast.APPROVED
    assert (await house.call()).status is Status.OK


async def test_what_is_approved_is_not_sent_for_who_lost_a_scope(store: Store) -> None:
    """The actor lost a scope meanwhile."""
    house = a_house(store, scopes=frozenset({"crm:read"}))
    pending = await approved(house)
    refused = await house.call(principal=a_principal(scopes=frozenset[str]()))
    assert refused.status is Status.FORBIDDEN
    assert house.server.count == 0
    assert (await house.approval(pending)).state is ApprovalState.APPROVED
    assert (await house.call()).status is Status.OK


@pytest.mark.parametrize(
    ("arguments", "changes"),
    [
        ({"v": 1000}, {}),
        ({"v": 1, "note": ""}, {}),
        ({"v": 1}, {"name": "crm__drop"}),
        ({"v": 1}, {"principal": a_principal(subject="another-key", client="another")}),
    ],
)
async def test_another_call_uses_up_nothing_that_was_approved(
    store: Store, arguments: JsonObject, changes: dict[str, Any]
) -> None:
    """The arguments change, or the tool, or the agent.

    case: APR-01
    """
    house = a_house(store, policy=ANY)
    pending = await approved(house)
    other = await house.call(arguments, **changes)
    assert other.status is Status.APPROVAL_PENDING
    assert outcome_of(other)["approval_id"] != outcome_of(pending)["approval_id"]
    assert house.server.count == 0
    assert (await house.approval(pending)).state is ApprovalState.APPROVED


@pytest.mark.parametrize("arguments", ['{"note":"x","v":10}', '{"v":1.0e1, "note":"x"}'])
async def test_the_same_call_in_another_spelling_is_the_one_that_was_approved(
    store: Store, arguments: str
) -> None:
    """The arguments change in form only.

    case: APR-01
    """
    house = a_house(store)
    await approved(house, {"v": 10, "note": "x"})
    spelled = jsontext.parse(arguments)
    assert isinstance(spelled, dict)
    assert (await house.call(spelled)).status is Status.OK
    assert house.server.asked[0].params["arguments"] == {"v": 10, "note": "x"}


async def test_a_restart_that_lists_the_same_tools_otherwise_voids_no_approval(
    open_store: OpenStore,
) -> None:
    """The gateway and its server restart; nothing but an order has changed.

    case: APR-07, APR-09
    """
    before, after = a_house(open_store()), a_house(open_store())
    pending = await approved(before)
    shelf: Any = after.writes.pipeline.resolve.catalogue
    shelf.held = tuple(listed_otherwise(each) for each in reversed(shelf.held))
    assert (await after.call()).status is Status.OK
    assert (await after.approval(pending)).state is ApprovalState.CONSUMED
    assert (before.server.count, after.server.count) == (0, 1)


def listed_otherwise(tool: Tool) -> Tool:
    definition = dict(reversed(tool.definition.items()))
    return replace(tool, definition=definition, pin=pin(definition))


async def test_what_was_approved_and_not_used_in_time_is_told_as_expired_and_asked_anew(
    store: Store,
) -> None:
    """Approved, but nobody comes back for it."""
    house = a_house(store, policy=ASK.replace("expires: 1h", "expires: 1h, use_within: 0.2s"))
    pending = await approved(house)
    await until_async(store.approvals.expired)
    told = await house.call()
    assert told.status is Status.APPROVAL_EXPIRED
    assert "not used in time" in str(outcome_of(told)["reason"])
    assert (await house.approval(pending)).state is ApprovalState.EXPIRED
    anew = await house.call()
    assert anew.status is Status.APPROVAL_PENDING
    assert outcome_of(anew)["approval_id"] != outcome_of(pending)["approval_id"]
    assert house.server.count == 0


async def test_in_a_run_that_has_ended_nothing_that_was_approved_is_sent(store: Store) -> None:
    """The run is over meanwhile."""
    house = a_house(store)
    pending = await approved(house)
    object.__setattr__(house.writes.pipeline.resolve, "default_phase", Phase.FAILED)
    assert (await house.call()).status is Status.PHASE_BLOCKED
    assert house.server.count == 0
    assert (await house.approval(pending)).state is ApprovalState.APPROVED


async def test_what_was_used_up_for_a_send_that_failed_is_asked_about_anew(store: Store) -> None:
    """The server is away when an approved call is sent: an approval is for one attempt."""
    house = a_house(store)
    pending = await approved(house)
    away = Undelivered(failure=Failure.UNAVAILABLE, executed=Execution.NO, detail="away")
    house.server.answers.append(away)
    assert outcome_of(await house.call())["executed"] == "no"
    assert (await house.approval(pending)).state is ApprovalState.CONSUMED
    anew = await house.call()
    assert anew.status is Status.APPROVAL_PENDING
    assert outcome_of(anew)["approval_id"] != outcome_of(pending)["approval_id"]
    assert (await house.decide(anew)).cast is Cast.APPROVED
    assert (await house.call()).status is Status.OK
