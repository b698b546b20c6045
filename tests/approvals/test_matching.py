from collections.abc import Sequence
from itertools import product
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from gateway.approvals.matching import may_decide, missing, same_person, satisfied
from gateway.types.approvals import (
    ApprovalClause,
    Assurance,
    Choice,
    Escalation,
    Factor,
    Vote,
)
from tests.helpers.approvals import a_vote

ROLES = ("lead", "finance", "security", "cfo")
USERS = ("ana", "Ana", "lea", "max", "zoe", "tom", "kim")
MANY = st.lists(st.sampled_from(ROLES), max_size=2).map(tuple)
NAMES = st.lists(st.sampled_from(USERS), max_size=2).map(tuple)
FACTORS = st.lists(
    st.builds(Factor, name=st.just("f"), roles=MANY, users=NAMES, count=st.integers(1, 2)),
    min_size=1,
    max_size=3,
).map(tuple)
CLAUSES = st.builds(
    ApprovalClause,
    factors=FACTORS,
    requester_may_approve=st.booleans(),
    min_assurance=st.sampled_from(Assurance),
    escalation=st.lists(
        st.builds(Escalation, after_s=st.just(60.0), roles=MANY, users=NAMES), max_size=2
    ).map(tuple),
)
VOTES = st.lists(
    st.builds(
        a_vote,
        user=st.sampled_from(USERS),
        roles=MANY,
        choice=st.sampled_from([Choice.APPROVE, Choice.APPROVE, Choice.APPROVE, Choice.DENY]),
        assurance=st.sampled_from(Assurance),
    ),
    max_size=5,
    unique_by=lambda vote: vote.user,
)


def brute_force(clause: ApprovalClause, votes: Sequence[Vote], escalated: int) -> int:
    """Return the most places that can be filled, by trying every way to send people to factors."""
    people: dict[str, list[Vote]] = {}
    for vote in votes:
        is_own = vote.user.lower() == "ana" and not clause.requester_may_approve
        is_weak = vote.assurance.rank < clause.min_assurance.rank
        if vote.choice is Choice.APPROVE and not is_own and not is_weak:
            people.setdefault(vote.user.lower(), []).append(vote)

    def fits(vote: Vote, factor: Factor) -> bool:
        named = [factor, *clause.escalation[:escalated]]
        return any(vote.user in each.users or vote.roles & {*each.roles} for each in named)

    best = 0
    for ways in product(range(-1, len(clause.factors)), repeat=len(people)):
        filled = [0] * len(clause.factors)
        for votes_of_one, way in zip(people.values(), ways, strict=True):
            if way >= 0 and any(fits(each, clause.factors[way]) for each in votes_of_one):
                filled[way] += 1
        counts = [factor.count for factor in clause.factors]
        best = max(best, sum(map(min, filled, counts)))
    return best


@given(CLAUSES, VOTES, st.integers(0, 2))
def test_no_way_to_place_people_fills_more(
    clause: ApprovalClause, votes: list[Vote], escalated: int
) -> None:
    lacking = missing(clause, votes, escalated=escalated, requester="ana")
    assert sum(count for _, count in lacking) == clause.quorum - brute_force(
        clause, votes, escalated
    )
    assert all(0 < count <= factor.count for factor, count in lacking)


@given(CLAUSES, VOTES, st.integers(0, 2), st.randoms())
def test_the_order_of_votes_decides_nothing(
    clause: ApprovalClause, votes: list[Vote], escalated: int, random: Random
) -> None:
    before = satisfied(clause, votes, escalated=escalated, requester="ana")
    shuffled = random.sample(votes, len(votes))
    assert satisfied(clause, shuffled, escalated=escalated, requester="ana") == before


TWO = ApprovalClause(
    factors=(Factor(name="leads", roles=("lead",)), Factor(name="finance", roles=("finance",)))
)


def test_who_fits_two_groups_never_takes_the_place_that_another_needs() -> None:
    both = a_vote("kim", ("lead", "finance"))
    lead = a_vote("lea", ("lead",))
    assert satisfied(TWO, [both, lead], escalated=0, requester="ana")
    assert satisfied(TWO, [lead, both], escalated=0, requester="ana")


def test_who_fits_two_groups_is_still_one_person() -> None:
    both = a_vote("kim", ("lead", "finance"))
    assert missing(TWO, [both], escalated=0, requester="ana") == ((TWO.factors[1], 1),)
    again = a_vote("KIM", ("lead", "finance"))
    assert not satisfied(TWO, [both, again], escalated=0, requester="ana")


def test_a_step_of_the_escalation_counts_once_it_was_taken() -> None:
    clause = ApprovalClause(
        factors=TWO.factors, escalation=(Escalation(after_s=60, roles=("cfo",)),)
    )
    votes = [a_vote("lea", ("lead",)), a_vote("max", ("cfo",))]
    assert not satisfied(clause, votes, escalated=0, requester="ana")
    assert satisfied(clause, votes, escalated=1, requester="ana")
    assert not may_decide(clause, "max", frozenset({"cfo"}), escalated=0)
    assert may_decide(clause, "max", frozenset({"cfo"}), escalated=1)


def test_a_name_counts_as_written_and_bars_however_written() -> None:
    clause = ApprovalClause(factors=(Factor(name="named", users=("lea",)),))
    assert may_decide(clause, "lea", frozenset(), escalated=0)
    assert not may_decide(clause, "Lea", frozenset(), escalated=0)
    assert same_person("Lea", "lea")
    assert same_person("jos\u00e9", "jose\u0301")
    assert same_person("\uff4cea", "lea")


def test_one_person_in_two_spellings_counts_once_and_not_for_his_own_request() -> None:
    clause = ApprovalClause(factors=(Factor(name="leads", roles=("lead",), count=2),))
    composed, apart = a_vote("jos\u00e9", ("lead",)), a_vote("jose\u0301", ("lead",))
    assert not satisfied(clause, [composed, apart], escalated=0, requester="ana")
    assert not satisfied(
        clause, [apart, a_vote("max", ("lead",))], escalated=0, requester="jos\u00e9"
    )
    assert satisfied(clause, [apart, a_vote("max", ("lead",))], escalated=0, requester="ana")
