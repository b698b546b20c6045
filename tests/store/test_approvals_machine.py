"""Any order of votes, wishes and times: what must hold of requests for approval all the same."""

import asyncio
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from gateway.approvals.machine import TERMINAL
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.types.approvals import (
    Approval,
    ApprovalClause,
    ApprovalState,
    Approver,
    Assurance,
    Cast,
    Channel,
    Choice,
    Escalation,
    Factor,
    Ruling,
)
from gateway.types.operations import OpState
from tests.approvals.test_matching import brute_force
from tests.helpers.approvals import (
    BINDING,
    OTHER_BINDING,
    an_approver,
    asked,
    nobody,
    tales_of,
    told,
    told_of,
    vote,
)
from tests.helpers.databases import ORIGIN
from tests.helpers.issuer import HandClock

T = TypeVar("T")
S = ApprovalState
_SECOND = 1_000_000
EXPIRES_S, USE_S, THINK_S, ESCALATE_S = 100, 50, 10, 30
ROLES = {
    "ana": ("lead", "finance"),  # who asks
    "lea": ("lead",),
    "fin": ("finance",),
    "kim": ("lead", "finance"),
    "carla": ("cfo",),
    "vera": ("viewer",),
}
ASSURANCES = {
    Channel.ELICITATION: Assurance.CLIENT_ASSERTED,
    Channel.TERMINAL: Assurance.LOCAL,
    Channel.PAGE: Assurance.AUTHENTICATED,
}
CLAUSES = st.builds(
    ApprovalClause,
    factors=st.sampled_from(
        [
            (Factor(name="any", roles=("lead", "finance")),),
            (Factor(name="leads", roles=("lead",), count=2),),
            (Factor(name="leads", roles=("lead",)), Factor(name="finance", roles=("finance",))),
        ]
    ),
    denials=st.sampled_from([1, 1, 2]),
    requester_may_approve=st.sampled_from([False, False, True]),
    self_confirm=st.booleans(),
    min_assurance=st.sampled_from([Assurance.LOCAL, Assurance.LOCAL, *Assurance]),
    not_before_s=st.sampled_from([0.0, float(THINK_S)]),
    expires_s=st.just(float(EXPIRES_S)),
    use_within_s=st.just(float(USE_S)),
    escalation=st.sampled_from([(), (Escalation(after_s=ESCALATE_S, roles=("cfo",)),)]),
)
rarely = st.sampled_from([False] * 9 + [True])


def somebody(user: str, channel: Channel, tenant: str) -> Approver:
    return an_approver(
        user, ROLES[user], channel=channel, assurance=ASSURANCES[channel], tenant=tenant
    )


PEOPLE = st.builds(
    somebody,
    st.sampled_from(["lea", "fin", "kim"] * 3 + sorted(ROLES)),
    st.sampled_from([Channel.PAGE] * 4 + [Channel.TERMINAL, Channel.ELICITATION]),
    st.sampled_from(["acme"] * 9 + ["globex"]),
)


@dataclass
class World:
    """One store for all examples."""

    store: Store
    clock: HandClock
    loop: asyncio.Runner = field(default_factory=asyncio.Runner)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run(work)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    clock = HandClock()
    store = Store.open(f"sqlite:///{tmp_path}/store.db", origin=ORIGIN, clock=clock)
    found = World(store=store, clock=clock)
    yield found
    found.loop.close()
    store.close(timeout_s=1)


class Ballots(RuleBasedStateMachine):
    """Approvers, the requester, strangers, a sweeper and the time, in any order."""

    world: ClassVar[World]

    def __init__(self) -> None:
        super().__init__()
        self.seen: Approval | None = None
        self.begin()

    def begin(self) -> None:
        """Forget what was seen of a request."""
        self.changes = 0
        self.refusals = 0
        self.is_denied = False
        self.votes = 0

    @property
    def now(self) -> int:
        return microseconds(self.world.clock.now())

    @property
    def approval(self) -> Approval:
        """The request as it was when all was looked at last."""
        assert self.seen is not None
        return self.seen

    @initialize(clause=CLAUSES)
    def ask(self, clause: ApprovalClause) -> None:
        """Have Ana ask."""
        think = round(clause.not_before_s) * _SECOND
        self.seen = self.world.do(
            asked(
                self.world.store,
                clause=clause,
                created_at=self.now,
                not_before=self.now + think if think else 0,
                decide_by=self.now + EXPIRES_S * _SECOND,
                answer_until=self.now + 1000 * _SECOND,
            )
        )

    @precondition(lambda self: self.seen is not None and self.seen.state in TERMINAL)
    @rule(clause=CLAUSES)
    def ask_again(self, clause: ApprovalClause) -> None:
        """Have her ask for something else, once that is over."""
        self.begin()
        self.ask(clause)

    @rule(
        approver=PEOPLE,
        choice=st.sampled_from([Choice.APPROVE] * 4 + [Choice.DENY]),
        binding=st.sampled_from([BINDING] * 6 + [OTHER_BINDING]),
    )
    def vote(self, approver: Approver, choice: Choice, binding: str) -> None:
        """Have somebody vote, who may or may not."""
        before = self.approval
        ruling = self.world.do(vote(self.world.store, before, approver, choice, binding))
        self.note(ruling, approver)
        if not ruling.cast.is_accepted:
            return
        self.may_decide(approver, before)
        assert binding == BINDING
        assert before.state.is_open
        if choice is Choice.APPROVE:
            assert ruling.cast in (Cast.COUNTED, Cast.APPROVED)
            assert before.not_before <= self.now <= before.decide_by
        else:
            ways = {S.PENDING: (Cast.COUNTED, Cast.DENIED), S.APPROVED: (Cast.REVOKED,)}
            assert ruling.cast in ways[before.state]

    def may_decide(self, approver: Approver, before: Approval) -> None:
        """Whoever changed something was allowed to, by the words of the rule."""
        clause = before.clause
        assert approver.tenant == before.tenant
        assert clause.requester_may_approve or approver.user != "ana"
        assert approver.assurance.rank >= clause.min_assurance.rank
        assert approver.channel is not Channel.ELICITATION or clause.self_confirm
        roles = {role for each in clause.factors for role in each.roles}
        roles |= {role for each in clause.escalation[: before.escalated] for role in each.roles}
        assert roles & approver.roles

    @rule(
        user=st.sampled_from(["lea", "fin", "kim"]),
        choice=st.sampled_from([Choice.APPROVE, Choice.APPROVE, Choice.APPROVE, Choice.DENY]),
    )
    def decide(self, user: str, choice: Choice) -> None:
        """Have an approver vote as he should."""
        self.vote(somebody(user, Channel.PAGE, "acme"), choice, BINDING)

    @precondition(lambda self: self.votes > 0)
    @rule(approver=PEOPLE)
    def withdraw(self, approver: Approver) -> None:
        """Have somebody take a vote back, if there is one."""
        ruling = self.world.do(
            self.world.store.approvals.withdraw_vote(
                approver, self.approval.approval_id, told=told, notices=nobody
            )
        )
        self.note(ruling, approver)
        if ruling.cast.is_accepted:
            assert self.approval.state is S.PENDING
            assert all(each.user != approver.user for each in ruling.votes)

    @rule(approver=PEOPLE, is_meant=rarely)
    def cancel(self, approver: Approver, *, is_meant: bool) -> None:
        """Have somebody end the request, but not in most examples: there is nothing after it."""
        if not is_meant:
            return
        ruling = self.world.do(
            self.world.store.approvals.cancel_by(
                approver, self.approval.approval_id, "", told=told, notices=nobody
            )
        )
        self.note(ruling, approver)
        if ruling.cast.is_accepted:
            assert approver.user == "ana" or approver.channel is Channel.TERMINAL

    def note(self, ruling: Ruling, approver: Approver) -> None:
        is_foreign = approver.tenant != "acme"
        assert (ruling.cast is Cast.NOT_FOUND) is is_foreign
        assert (ruling.approval is None) is is_foreign
        self.changes += ruling.cast.is_accepted
        self.votes = len(ruling.votes)
        self.is_denied |= ruling.cast in (Cast.DENIED, Cast.REVOKED)
        self.refusals += not ruling.cast.is_accepted and not is_foreign

    @rule()
    def sweep(self) -> None:
        """End what is late, and let more people decide; only time may be the reason."""
        approvals = self.world.store.approvals
        for late in self.world.do(approvals.expired()):
            after = self.world.do(
                approvals.expire(late, told=lambda it: [told_of(it)], notices=nobody)
            )
            assert after is not None
            self.changes += 1
        for waits in self.world.do(approvals.escalating()):
            after = self.world.do(
                approvals.escalate(waits, told=lambda it: [told_of(it)], notices=nobody)
            )
            assert after is not None
            assert after.state is S.PENDING
            self.changes += 1

    @rule(seconds=st.sampled_from([1, 1, THINK_S, THINK_S, ESCALATE_S + 1, USE_S + 1, -5]))
    def move(self, seconds: int) -> None:
        """Move the clock, and sometimes back, as when it is set."""
        self.world.clock.move(seconds)

    @invariant()
    def hold(self) -> None:
        """Votes and nothing else approve; what has ended stays; all is told; both rows agree."""
        if self.seen is None:
            return
        store, before = self.world.store, self.approval
        after = self.world.do(store.approvals.get(before.approval_id))
        assert after is not None
        if before.state in TERMINAL:
            assert after == before
        assert after.version == self.changes
        if before.state is not S.APPROVED and after.state is S.APPROVED:
            votes = self.world.do(store.approvals.votes(after.approval_id))
            assert brute_force(after.clause, votes, after.escalated) == after.clause.quorum
            assert after.use_by == self.now + USE_S * _SECOND
        self.seen = after
        operation = self.world.do(store.operations.get(after.op_id))
        assert operation is not None
        assert operation.state is self.end_of(after)
        tales = self.world.do(tales_of(store, after))
        assert len(tales) == self.changes + self.refusals

    def end_of(self, approval: Approval) -> OpState:
        if approval.state.is_open:
            return OpState.AWAITING_APPROVAL
        return OpState.DENIED if self.is_denied else OpState.ABANDONED

    def teardown(self) -> None:
        """Leave nothing for the sweeps of other examples."""
        self.world.clock.move(10_000)
        self.sweep()


def test_nothing_but_votes_that_the_rule_allows_approves(world: World) -> None:
    """case: APR-03, APR-06, APR-10"""
    Ballots.world = world
    run_state_machine_as_test(
        Ballots,
        settings=settings(
            max_examples=50,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
