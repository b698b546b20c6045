"""Which of several revisions is in force, and that people decide by no other one."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.store.revisions import START, StoredRevision
from gateway.store.store import Store
from gateway.types.approvals import ApprovalState
from gateway.types.outcomes import Status
from tests.helpers.cases import NOW
from tests.helpers.held import House, a_house

pytestmark = pytest.mark.postgres

OLD = StoredRevision(id="sha256:1", at=NOW, activated_by=START, texts={})
NEW = StoredRevision(
    id="sha256:2", at=NOW + timedelta(hours=1), activated_by="a file changed", texts={}
)
LATER = NOW + timedelta(hours=2)


async def in_force(store: Store) -> str:
    return (await store.revisions.latest(limit=1))[0].id


async def two(store: Store) -> None:
    for each in (OLD, NEW):
        await store.revisions.save(each)


async def a_neighbour(store: Store) -> None:
    """Have another gateway show that it lives."""
    await store.instances.save("neighbour", {})


async def test_a_gateway_that_starts_alone_puts_what_it_has_in_force(store: Store) -> None:
    await two(store)
    await store.revisions.save(replace(OLD, at=LATER))
    assert await in_force(store) == OLD.id


async def test_one_that_starts_beside_others_with_files_of_old_does_not(store: Store) -> None:
    await two(store)
    await a_neighbour(store)
    living = (await store.instances.all())[0].at
    await store.revisions.save(replace(OLD, at=living))
    assert await in_force(store) == NEW.id


async def test_one_that_starts_beside_others_with_files_that_are_new_does(store: Store) -> None:
    await two(store)
    await a_neighbour(store)
    living = (await store.instances.all())[0].at
    await store.revisions.save(replace(OLD, id="sha256:3", at=living))
    assert await in_force(store) == "sha256:3"


async def test_whoever_changes_files_back_means_it(store: Store) -> None:
    await two(store)
    await a_neighbour(store)
    await store.revisions.save(replace(OLD, at=LATER, activated_by="a file changed"))
    assert await in_force(store) == OLD.id


async def test_a_clock_that_is_behind_puts_nothing_in_force_earlier(store: Store) -> None:
    await two(store)
    behind = replace(OLD, id="sha256:3", at=NOW - timedelta(hours=5), activated_by="told to")
    await store.revisions.save(behind)
    assert await in_force(store) == "sha256:3"


async def known(store: Store, house: House) -> StoredRevision:
    """Have the store know the revision that a house goes by, as its activation does."""
    own = replace(OLD, id=house.law.revision.id)
    await store.revisions.save(own)
    return own


async def test_nobody_is_asked_by_a_policy_that_has_been_replaced(store: Store) -> None:
    house = a_house(store)
    await known(store, house)
    await store.revisions.save(NEW)
    told = await house.call()
    assert told.status is Status.UNAVAILABLE
    assert "an older policy than the one in force" in str(told.result)
    assert await store.approvals.counts() == {}
    assert house.server.count == 0


async def test_what_was_approved_is_not_sent_by_a_gateway_with_an_older_policy(
    store: Store,
) -> None:
    """A replica that has not got the stricter rules yet uses up nothing, and loses nothing."""
    house = a_house(store)
    own = await known(store, house)
    pending = await house.call()
    await house.decide(pending)
    await store.revisions.save(NEW)
    assert (await house.call()).status is Status.UNAVAILABLE
    assert (await house.approval(pending)).state is ApprovalState.APPROVED
    assert house.server.count == 0
    await store.revisions.save(replace(own, activated_by="told to", at=LATER))
    assert (await house.call()).status is Status.OK
    assert house.server.count == 1


async def test_a_call_that_nobody_decides_about_goes_on(store: Store) -> None:
    house = a_house(store, policy="rules:\n  - {id: all, decision: allow, match: {tools: ['*']}}\n")
    await known(store, house)
    await store.revisions.save(NEW)
    assert (await house.call()).status is Status.OK
