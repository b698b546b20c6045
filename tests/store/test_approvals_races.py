"""All decide at once, at three gateways: what the log tells is one order that the rules allow.

The rules themselves are shown in tests/approvals; here each round is judged anew from its log.
"""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, cast

from gateway.approvals.ballot import judge, judge_cancellation, judge_withdrawal, vote_of
from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.types.approvals import (
    Approval,
    ApprovalState,
    Approver,
    Cast,
    Choice,
    Ruling,
    Vote,
)
from gateway.types.operations import OpState
from gateway.types.values import replaced
from tests.helpers.approvals import (
    BINDING,
    LEADS,
    OTHER_BINDING,
    an_approver,
    asked,
    nobody,
    state_of,
    told_of,
    vote,
)
from tests.helpers.databases import OpenStore

ROUNDS = 200
TWO = replace(LEADS, factors=(replace(LEADS.factors[0], count=2),))
LEA, MAX, DAN, KIM = (an_approver(name) for name in ("lea", "max", "dan", "kim"))
ANA, VERA = an_approver("Ana"), an_approver("vera", ("viewer",))
FOREIGN = an_approver("lea", tenant="globex")
YES, NO = Choice.APPROVE, Choice.DENY
ENDS = {
    ApprovalState.PENDING: OpState.AWAITING_APPROVAL,
    ApprovalState.APPROVED: OpState.AWAITING_APPROVAL,
    ApprovalState.DENIED: OpState.DENIED,
}


@dataclass(frozen=True)
class Try:
    """One attempt, as it is told apart in the log."""

    number: int
    approver: Approver
    choice: Choice | None  # None: take the vote back; or, of who asked, the request
    binding: str = BINDING


def attempts(random: Random) -> list[Try]:
    """Return who tries what in one round, in the order in which they begin."""
    words: list[tuple[Approver, Choice | None, str]] = [
        (LEA, YES, BINDING),
        (LEA, YES, BINDING),
        (MAX, YES, BINDING),
        (DAN, NO, BINDING),
        (ANA, YES, BINDING),
        (ANA, NO, BINDING),
        (VERA, YES, BINDING),
        (KIM, YES, OTHER_BINDING),
        (KIM, NO, OTHER_BINDING),
        (FOREIGN, YES, BINDING),
        (FOREIGN, NO, BINDING),
    ]
    if random.random() < 0.3:
        words.append((LEA, None, ""))
    if random.random() < 0.3:
        words.append((ANA, None, ""))
    random.shuffle(words)
    return [Try(number, *each) for number, each in enumerate(words)]


def tried(store: Store, approval: Approval, each: Try) -> Coroutine[Any, Any, Ruling]:
    """Begin an attempt at one of the gateways."""

    def told(ruling: Ruling) -> list[Any]:
        assert ruling.approval is not None
        return [told_of(ruling.approval, f"{each.number} {ruling.cast}")]

    if each.choice is not None:
        return vote(store, approval, each.approver, each.choice, each.binding, told=told)
    name, approvals = approval.approval_id, store.approvals
    if each.approver is ANA:
        return approvals.cancel_by(ANA, name, "", told=told, notices=nobody)
    return approvals.withdraw_vote(each.approver, name, told=told, notices=nobody)


@dataclass
class Judge:
    """Knows one request by the rules alone, and takes the attempts in the order of the log."""

    approval: Approval
    votes: list[Vote] = field(default_factory=list[Vote])

    def take(self, each: Try) -> Cast:
        """Return what becomes of an attempt now, and note it."""
        approver, now = each.approver, 1
        if each.choice is not None:
            found = judge(self.approval, self.votes, approver, each.choice, each.binding, now=now)
        elif approver is ANA:
            found = judge_cancellation(self.approval, approver, now=now)
        else:
            found = judge_withdrawal(self.approval, self.votes, approver, now=now)
        if found.is_accepted:
            self._note(each, found)
        return found

    def _note(self, each: Try, found: Cast) -> None:
        self.votes = [vote for vote in self.votes if vote.user != each.approver.user]
        if each.choice is not None:
            self.votes.append(vote_of(self.approval, each.approver, each.choice, "", now=1))
        after = {
            Cast.APPROVED: ApprovalState.APPROVED,
            Cast.DENIED: ApprovalState.DENIED,
            Cast.REVOKED: ApprovalState.CANCELLED,
            Cast.CANCELLED: ApprovalState.CANCELLED,
        }
        state = after.get(found, self.approval.state)
        self.approval = replaced(self.approval, state=state, use_by=10)


async def told_in_order(store: Store, approval: Approval) -> list[tuple[int, str]]:
    events = await store.events.query(EventFilter(call=approval.approval_id))
    told = [cast("dict[str, str]", each.json()["body"])["status"] for each in events]
    return [(int(each.split()[0]), each.split()[1]) for each in told]


async def one_round(stores: Sequence[Store], random: Random) -> ApprovalState:
    approval = await asked(stores[0], clause=TWO)
    order = attempts(random)
    rulings = await asyncio.gather(
        *(tried(random.choice(stores), approval, each) for each in order)
    )
    log = await told_in_order(stores[0], approval)
    judged = Judge(approval)
    assert [(number, str(judged.take(order[number]))) for number, _ in log] == log
    unseen = [
        ruling.cast for each, ruling in zip(order, rulings, strict=True) if each.approver is FOREIGN
    ]
    assert unseen == [Cast.NOT_FOUND] * 2
    assert Counter(str(each.cast) for each in rulings if each.approval) == Counter(
        cast for _, cast in log
    )
    state, operation = await state_of(stores[0], approval)
    assert state is judged.approval.state
    votes = await stores[0].approvals.votes(approval.approval_id)
    assert {(each.user, each.choice) for each in votes} == {
        (each.user, each.choice) for each in judged.votes
    }
    assert {each.user for each in votes} <= {"lea", "max", "dan"}
    is_revoked = "revoked" in [cast for _, cast in log]
    gone = OpState.DENIED if is_revoked else OpState.ABANDONED
    assert operation is ENDS.get(state, gone)
    return state


async def test_all_decide_at_once_and_nothing_forbidden_is_done(open_store: OpenStore) -> None:
    """case: APR-01, APR-03, APR-06, APR-10"""
    stores = [open_store(), open_store(), open_store()]
    random = Random(7)
    ends = Counter([await one_round(stores, random) for _ in range(ROUNDS)])
    assert ends[ApprovalState.DENIED] > ROUNDS // 10
    assert ends[ApprovalState.CANCELLED] > ROUNDS // 10  # most of them approved, then revoked


async def test_of_many_sweepers_and_approvers_one_ends_a_request(open_store: OpenStore) -> None:
    """case: APR-07"""
    stores = [open_store(), open_store(), open_store()]
    for number in range(ROUNDS // 4):
        approval = await asked(stores[0], decide_by=1 + number)
        results = await asyncio.gather(
            *(
                each.approvals.expire(
                    approval, told=lambda after: [told_of(after, "0 expired")], notices=nobody
                )
                for each in stores
            ),
            *(vote(each, approval, LEA) for each in stores),
        )
        ended = [each for each in results if isinstance(each, Approval)]
        assert [each.state for each in ended] == [ApprovalState.EXPIRED]
        assert {each.cast for each in results if isinstance(each, Ruling)} == {Cast.TOO_LATE}
        assert await state_of(stores[0], approval) == (ApprovalState.EXPIRED, OpState.ABANDONED)
