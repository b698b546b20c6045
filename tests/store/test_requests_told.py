"""What the log and approvers are told when a call ends a request that nobody needs any more."""

from typing import Any

import pytest

from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.types.approvals import ApprovalState, NoticeStage
from gateway.types.events import EventKind
from gateway.types.outcomes import Status
from tests.helpers.held import ASK, a_house

pytestmark = pytest.mark.postgres

HOOKS = {"webhooks": [{"name": "chat", "url": "http://127.0.0.1:9/", "format": "slack"}]}
STRICTER = ASK.replace("roles: [lead]}", "roles: [chief]}")


async def stages(store: Store) -> list[tuple[str, dict[str, Any]]]:
    """Return the stages of approval events with their bodies, in the order of the log."""
    await store.events.kept()
    found = await store.events.query(EventFilter(kind=EventKind.APPROVAL.value))
    told: list[tuple[str, dict[str, Any]]] = []
    for each in found:
        event: Any = each.json()
        told.append((event["stage"], event["body"]))
    return told


async def test_a_request_that_a_rule_of_now_makes_needless_is_told_as_voided(store: Store) -> None:
    """Policy changes between request and use, to a weaker rule."""
    house = a_house(store, settings=HOOKS)
    pending = await house.call()
    house.rule("rules:\n  - {id: all, decision: allow, match: {tools: ['*']}}\n")
    assert (await house.call()).status is Status.OK
    asked, voided = await stages(store)
    assert asked[0] == "requested"
    approval = await house.approval(pending)
    assert (voided[0], voided[1]["approval"]) == ("voided", approval.approval_id)
    assert voided[1]["status"] == ApprovalState.SUPERSEDED.value
    assert voided[1]["why"] == "nobody has to approve this any more"
    told = {each.stage for each in await store.approvals.due_notices()}
    assert told == {NoticeStage.REQUESTED, NoticeStage.CANCELLED}


async def test_a_request_that_a_stricter_rule_replaces_is_told_as_voided_too(store: Store) -> None:
    house = a_house(store)
    await house.decide(await house.call())
    house.rule(STRICTER)
    assert (await house.call()).status is Status.APPROVAL_PENDING
    found = [stage for stage, _ in await stages(store)]
    assert found == ["requested", "decided", "voided", "requested"]
