from collections.abc import Callable
from datetime import timedelta

from gateway.store.events import EventFilter
from gateway.store.proposals import Ruled
from gateway.store.store import Store
from gateway.types.json import Json
from gateway.types.proposals import ProposalState
from tests.helpers.cases import NOW
from tests.helpers.proposals import REVISION, a_proposal, a_say, somebody

OpenStore = Callable[..., Store]
OTHER = "sha256:" + "cd" * 32


async def actions(store: Store) -> list[Json]:
    await store.events.kept()
    found = await store.events.query(EventFilter(kind="admin"))
    bodies = [each.json()["body"] for each in found]
    return [body["action"] for body in bodies if isinstance(body, dict)]


async def agree(store: Store, id: str, user: str) -> Ruled:
    return await store.proposals.agree(id, somebody(user), say=a_say())


async def test_the_last_person_that_it_takes_puts_it_in_force(open_store: OpenStore) -> None:
    store, made = open_store(), a_proposal(change={"wider": 1}, warnings=2, tests=7)
    assert await store.proposals.propose(made)
    assert await store.proposals.open() == [made]
    assert await store.proposals.agreed() is None
    assert (await agree(store, made.id, "ann")).lacks == 1
    ruled = await agree(store, made.id, "bo")
    assert ruled.proposal is not None
    assert (ruled.lacks, ruled.proposal.state) == (0, ProposalState.AGREED)
    agreed = await store.proposals.agreed()
    assert agreed is not None
    assert (agreed.id, agreed.texts, agreed.change) == (made.id, made.texts, {"wider": 1})
    assert [each.person.user for each in await store.proposals.backings(made.id)] == ["ann", "bo"]
    assert await actions(store) == ["policy_proposed", "policy_approved", "policy_approved"]


async def test_one_revision_is_proposed_once_at_a_time(open_store: OpenStore) -> None:
    store, first = open_store(), a_proposal()
    assert await store.proposals.propose(first)
    assert not await store.proposals.propose(a_proposal())
    assert await store.proposals.propose(a_proposal(revision=OTHER))
    assert [each.revision for each in await store.proposals.open()] == [REVISION, OTHER]
    assert await actions(store) == ["policy_proposed", "policy_proposed"]


async def test_what_can_not_count_changes_nothing_and_leaves_no_event(
    open_store: OpenStore,
) -> None:
    store, made = open_store(), a_proposal()
    await store.proposals.propose(made, somebody("ann"))
    ruled = await agree(store, made.id, "ann")
    assert (ruled.obstacle, ruled.lacks) == ("ann proposed it; somebody else has to agree", 1)
    nobody = await agree(store, "prop_none", "bo")
    assert nobody.proposal is None
    assert await actions(store) == ["policy_proposed"]


async def test_another_that_was_agreed_on_ends_what_was_compared_with_the_old_one(
    open_store: OpenStore,
) -> None:
    store, one, other = open_store(), a_proposal(), a_proposal(revision=OTHER)
    await store.proposals.propose(one)
    await store.proposals.propose(other, somebody("ann"))
    await agree(store, other.id, "bo")
    assert await store.proposals.open() == []
    (ended,) = await store.proposals.beginning(REVISION)
    assert ended.state is ProposalState.SUPERSEDED
    late = await agree(store, one.id, "ann")
    assert late.obstacle == "it is superseded already"


async def test_a_revision_that_was_replaced_can_be_agreed_on_again(open_store: OpenStore) -> None:
    store = open_store()
    for revision in (REVISION, OTHER, REVISION):
        made = a_proposal(revision=revision)
        assert await store.proposals.propose(made, somebody("ann"))
        await agree(store, made.id, "bo")
        agreed = await store.proposals.agreed()
        assert agreed is not None
        assert agreed.id == made.id
    assert [each.revision for each in await store.proposals.latest(2)] != []


async def test_what_was_turned_down_is_over(open_store: OpenStore) -> None:
    store, made = open_store(), a_proposal()
    await store.proposals.propose(made, somebody("ann"))
    strange = await store.proposals.reject(
        made.id, somebody("bo", roles=frozenset()), say=a_say("lead"), reason="no"
    )
    assert "no role" in strange.obstacle
    ruled = await store.proposals.reject(made.id, somebody("ann"), say=a_say("lead"), reason="no")
    assert ruled.proposal is not None
    assert (ruled.obstacle, ruled.proposal.state) == ("", ProposalState.REJECTED)
    again = await store.proposals.reject(made.id, somebody("bo"), say=a_say(), reason="no")
    assert again.obstacle == "it is rejected already"
    assert (await agree(store, made.id, "bo")).obstacle == "it is rejected already"
    missing = await store.proposals.reject("prop_none", somebody("bo"), say=a_say(), reason="no")
    assert missing.proposal is None
    assert await actions(store) == ["policy_proposed", "policy_rejected"]


async def test_what_was_in_force_before_is_adopted_once(open_store: OpenStore) -> None:
    store = open_store()
    await store.proposals.adopt(a_proposal(people=0))
    await store.proposals.adopt(a_proposal(people=0, revision=OTHER, at=NOW + timedelta(1)))
    agreed = await store.proposals.agreed()
    assert agreed is not None
    assert agreed.revision == REVISION
    assert await actions(store) == []


async def test_only_digests_are_looked_for(open_store: OpenStore) -> None:
    store = open_store()
    await store.proposals.propose(a_proposal())
    assert await store.proposals.beginning("%") == []
    assert len(await store.proposals.beginning("sha256:abab")) == 1


async def test_who_may_not_agree_any_more_is_not_one_of_those_it_takes(
    open_store: OpenStore,
) -> None:
    store, made = open_store(), a_proposal()
    await store.proposals.propose(made, somebody("ann"))
    gone = a_say(accounts={("acme", user): frozenset[str]() for user in ("bo", "cy")})
    ruled = await store.proposals.agree(made.id, somebody("bo"), say=gone)
    assert ruled.proposal is not None
    assert (ruled.obstacle, ruled.lacks, ruled.proposal.state) == ("", 1, ProposalState.OPEN)
    ruled = await store.proposals.agree(made.id, somebody("cy"), say=gone)
    assert ruled.proposal is not None
    assert ruled.proposal.state is ProposalState.AGREED


async def test_a_word_that_counted_no_more_gives_way_to_a_new_one(open_store: OpenStore) -> None:
    store, made = open_store(), a_proposal(people=3)
    await store.proposals.propose(made, somebody("ann", issuer="https://old.example.com"))
    ruled = await agree(store, made.id, "ann")
    assert (ruled.obstacle, ruled.lacks) == ("", 2)
    (only,) = await store.proposals.backings(made.id)
    assert (only.person.issuer, only.is_proposer) == ("os:ann", False)
    assert (await agree(store, made.id, "bo")).lacks == 1


async def test_one_account_of_the_machine_counts_once_by_whatever_way(
    open_store: OpenStore,
) -> None:
    store, made = open_store(), a_proposal()
    await store.proposals.propose(made, somebody("ann", account="root"))
    ruled = await store.proposals.agree(made.id, somebody("bo", issuer="os:root"), say=a_say())
    assert "from the same account of this machine, `root`" in ruled.obstacle
    assert ruled.lacks == 1
