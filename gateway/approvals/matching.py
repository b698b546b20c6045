"""Whether votes satisfy a clause: a maximum matching of people to places, anew at every look.

A place is one of the `count` of a factor. Nobody is given a place for good when he votes: the first
of two groups would take the person that only the second can't do without.
"""

from collections.abc import Iterable, Sequence

from gateway.types.actors import person
from gateway.types.approvals import ApprovalClause, Approver, Choice, Factor, Vote


def satisfied(
    clause: ApprovalClause, votes: Iterable[Vote], *, escalated: int, requester: str
) -> bool:
    """Whether enough people said yes; `escalated` steps of the clause have been taken."""
    return not missing(clause, votes, escalated=escalated, requester=requester)


def missing(
    clause: ApprovalClause, votes: Iterable[Vote], *, escalated: int, requester: str
) -> tuple[tuple[Factor, int], ...]:
    """Return the factors that are still open, and how many people each of them lacks.

    The numbers add up to the fewest people that can complete it, if each fits where one lacks.
    """
    yes = [each for each in votes if _counts(clause, each, requester)]
    taken = _seats(clause.factors, _people(clause, yes, escalated))
    return tuple(
        (factor, factor.count - len(seats))
        for factor, seats in zip(clause.factors, taken, strict=True)
        if len(seats) < factor.count
    )


def may_decide(clause: ApprovalClause, user: str, roles: frozenset[str], *, escalated: int) -> bool:
    """Whether somebody is an approver of a clause at all, be it by name, role or escalation."""
    return bool(_places(clause, user, roles, escalated))


def same_person(one: str, other: str) -> bool:
    """Whether two names are of one person; providers don't agree on their spelling."""
    return person(one) == person(other)


def same_account(one: Approver, other: Approver) -> bool:
    """Whether two may be one account of this machine: who comes from an unknown one may be any.

    Whoever an identity provider vouches for is none of them.
    """
    if one.account is None or other.account is None:
        return False
    return not one.account or not other.account or one.account == other.account


def from_one_account(one: Approver, other: Approver) -> bool:
    """Whether two are known to come from one account of this machine, be it by links made there."""
    return bool(one.account) and one.account == other.account


def _counts(clause: ApprovalClause, vote: Vote, requester: str) -> bool:
    return (
        vote.choice is Choice.APPROVE
        and vote.assurance.rank >= clause.min_assurance.rank
        and (clause.requester_may_approve or not same_person(vote.user, requester))
    )


def _people(clause: ApprovalClause, votes: Iterable[Vote], escalated: int) -> list[tuple[int, ...]]:
    """Return for each person, in the order of the votes, the factors that he fits."""
    people: dict[str, set[int]] = {}
    for each in votes:
        fits = people.setdefault(person(each.user), set())
        fits.update(_places(clause, each.user, each.roles, escalated))
    return [tuple(sorted(fits)) for fits in people.values()]


def _places(
    clause: ApprovalClause, user: str, roles: frozenset[str], escalated: int
) -> tuple[int, ...]:
    """Return the factors that somebody fits; whoever an escalation names fits all of them."""
    steps = clause.escalation[:escalated]
    if any(user in step.users or not roles.isdisjoint(step.roles) for step in steps):
        return tuple(range(len(clause.factors)))
    return tuple(
        at
        for at, factor in enumerate(clause.factors)
        if user in factor.users or not roles.isdisjoint(factor.roles)
    )


def _seats(factors: Sequence[Factor], people: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return who has a place of each factor in a maximum matching, found by augmenting paths."""
    seats: list[list[int]] = [[] for _ in factors]

    def seat(person: int, tried: set[int]) -> bool:
        for factor in people[person]:
            if factor in tried:
                continue
            tried.add(factor)
            taken = seats[factor]
            if len(taken) < factors[factor].count:
                taken.append(person)
                return True
            for at, other in enumerate(taken):
                if seat(other, tried):  # he has found a place elsewhere
                    taken[at] = person
                    return True
        return False

    for each in range(len(people)):
        seat(each, set())
    return seats
