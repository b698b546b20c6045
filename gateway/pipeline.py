"""The way of a call. Read this file first; docs/explanation/way-of-a-call.md has its table."""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, assert_never

from gateway.case import Case
from gateway.crossing.belonging import Belonging, Stale
from gateway.crossing.checks import Checks, NotRead, Old
from gateway.crossing.operate import Operate, Work
from gateway.crossing.owner import Owner
from gateway.crossing.ticket import Ticket
from gateway.express.express import Express
from gateway.express.ride import Ride
from gateway.judging import CHECKS_FOR, judge
from gateway.operations import refusals
from gateway.precedents import Precedents
from gateway.relay import rejoining, states
from gateway.relay.holding import Holding
from gateway.relay.parking import Parking
from gateway.relay.relay import Relay
from gateway.relay.seals import SealBroken
from gateway.relay.shaping import Shaping
from gateway.relay.tools import OwnTools
from gateway.steps import (
    claim,
    dispatch,
    normalise,
    resolve,
    verify,
)
from gateway.steps.dispatch import Downstream
from gateway.steps.record import Record
from gateway.store.requests import Held
from gateway.types.calls import ProposedCall
from gateway.types.decisions import DecisionEffect
from gateway.types.operations import Delivered, Delivery, Execution, VerificationState
from gateway.types.outcomes import Answer, Finished, Refusal, Status

_HELD: Final = DecisionEffect.REQUIRE_APPROVAL  # to find a member takes longer than to compare it

_MOST_DECISIONS = 4  # of people about one call, whose rules change meanwhile
_MOST_CHANGES = 8  # of its run, of which other calls are no faster than this one


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """The acting steps, wired; `handle` is the way of a call from the first to the last of them."""

    resolve: resolve.Resolve
    claim: claim.Claim
    dispatch: dispatch.Dispatch
    normalise: normalise.Normalise
    record: Record
    owner: Owner
    operate: Operate
    checks: Checks
    relay: Relay
    states: states.States
    parking: Parking
    holding: Holding
    own_tools: OwnTools
    belonging: Belonging
    shaping: Shaping = field(init=False)
    """Lets through what may leave."""
    precedents: Precedents = field(init=False)
    express: Express = field(init=False)
    """The short way of calls that are like earlier ones."""

    def __post_init__(self) -> None:
        """Make what is the same for every call once."""
        shaping = Shaping(normalise=self.normalise, tasks=self.relay.rounds.tasks)
        object.__setattr__(self, "shaping", shaping)
        precedents = Precedents(judge=judge, checks=CHECKS_FOR)
        object.__setattr__(self, "precedents", precedents)
        express = Express(
            resolve=self.resolve,
            record=self.record,
            precedents=precedents,
            server=self.dispatch.server,
            is_own=self.own_tools.names,
            hears_logs=self.relay.questions.hears_logs,
            deadline_s=self.relay.outbounds.deadline_s,
            max_result_bytes=self.normalise.max_result_bytes,
            at_length=self._at_length,
            taken_up=self._taken_up,
        )
        object.__setattr__(self, "express", express)

    def handle(self, call: ProposedCall) -> Coroutine[Any, Any, Finished]:
        """Weigh a call, carry it out if it may be, and say how it ended.

        Raises nothing but the cancellation of its caller.
        """
        if self.own_tools.has(call):
            return self._meant(call)
        return (self._continued if states.is_continued(call) else self._weighed)(call)

    async def _meant(self, call: ProposedCall) -> Finished:
        call = await self.own_tools.meant(call)  # one of our own tools may stand for another call
        return await (self._continued if states.is_continued(call) else self._weighed)(call)

    async def _continued(self, call: ProposedCall) -> Finished:
        """Take up a request again that a server had a question about."""
        try:
            state = self.states.open(call)
        except SealBroken:
            return self.record.open(call).closed(rejoining.no_such_state())
        match state:
            case states.Passed():
                return await self._weighed(state.call)
            case states.Decided():
                return await self._weighed(await self.holding.answered(call, state))
            case states.Awaited():
                finished = await self.parking.resume(state, call)
                return finished or self.record.open(call).closed(rejoining.no_longer_parked(state))
            case _:
                assert_never(state)

    def _weighed(self, call: ProposedCall) -> Coroutine[Any, Any, Finished]:
        return self.express.taken(call) or self._at_length(call)

    def _at_length(self, call: ProposedCall, received_ns: int = 0) -> Coroutine[Any, Any, Finished]:
        return self._crossed(call, self._judged, self._finish, received_ns)

    async def _taken_up(self, ride: Ride, server: Downstream, delivery: Delivery) -> Finished:
        """Go on with a call that was taken the short way until its server had answered."""
        case, ticket = ride.case, ride.ticket
        delivered = await self.dispatch.after(case, ticket, server, ride.outbound, delivery)
        return ticket.closed(await self._left(case, ticket, delivered))

    def _is_held(self, case: Case) -> bool:
        """Whether people decide about it first."""
        return case.decision.effect is _HELD

    async def _crossed(
        self,
        call: ProposedCall,
        judged: Callable[[ProposedCall, Ticket], Awaitable[Case | Answer | Refusal]],
        finish: Callable[[Case, Ticket], Awaitable[Finished]],
        received_ns: int = 0,
    ) -> Finished:
        """Take a call from its ticket to its end: `judged` says what is sent, `finish` sends it."""
        ticket = self.record.open(call, received_ns)
        try:
            case = await judged(call, ticket)
            if ticket.record.run_id:
                self.belonging.noted(ticket.record.run_id, call.received_at)
            if isinstance(case, Case) and self._is_held(case):
                case = await self._approved(case, ticket)
        except Exception as error:  # here and in _finish, faults become refusals
            return ticket.closed(self.record.fault(call, error))
        except BaseException:  # the caller went away; the call still gets its final event
            ticket.abandoned()
            raise
        if not isinstance(case, Case):
            return ticket.closed(case)
        is_parked = self.relay.may_be_asked(case) and self.parking.has_room(call)
        if case.is_plain_read and not is_parked:
            return await finish(case, ticket)
        with self.dispatch.callers.waiting(case):
            if is_parked:
                return await self.parking.run(case, lambda at_desk: finish(at_desk, ticket))
            return await self.owner.run(lambda: finish(case, ticket))

    async def _judged(self, call: ProposedCall, ticket: Ticket) -> Case | Answer | Refusal:
        if self.own_tools.has(call):
            return await self.own_tools.handle(call)
        for _ in range(_MOST_CHANGES):
            case = await self.resolve(call)
            if isinstance(case, Refusal):
                return case
            verdict = self.precedents.judged(case)
            ticket.judged(verdict)
            judged = verdict.case
            if verdict.refusal is not None or judged.is_claimed:
                return verdict.refusal or judged
            if judged.passage is None:  # without a run there is none to move
                return judged
            entered = await self.belonging.entered(judged)
            if not isinstance(entered, Stale):
                return entered
        return refusals.run_changing()

    async def _approved(self, case: Case, ticket: Ticket) -> Case | Answer | Refusal:
        """Take a call that people decide about, once they have, or say what it gets meanwhile.

        In the task of its request: nothing is sent yet, and who waits may leave. After a decision
        everything is judged anew, since policy, scopes and the tool may have changed.
        """
        held: Held | None = None
        for _ in range(_MOST_DECISIONS):
            taken = await self.holding.asked(case, self._claimed(case, ticket))
            if not isinstance(taken, Held):
                return taken
            held = taken
            met = await self.holding(case, held)
            if met is not None:
                return met
            judged = await self._judged(case.call, ticket)
            if not isinstance(judged, Case):
                return judged
            if judged.decision.effect is not _HELD:
                return judged
            case = judged
        return self.holding.later(held) if held is not None else rejoining.no_such_state()

    async def _finish(self, case: Case, ticket: Ticket) -> Finished:
        try:
            if case.operation is None and not case.is_plain_read:
                ready = await self._taken(case, ticket)
                if not isinstance(ready, Case):
                    return ticket.closed(ready)
                case = ready
            if case.operation is not None:
                return await self.operate.carry(case, ticket, self._work(case, ticket))
            finished = ticket.closed(await self._carry_out(case, ticket))
        except Exception as error:
            return ticket.closed(self.record.fault(case.call, error))
        except BaseException:
            ticket.abandoned()
            raise
        self.express.learn(case, ticket.record)
        return finished

    async def _taken(self, case: Case, ticket: Ticket) -> Case | Answer | Refusal:
        """Take what has to be taken before a call may be sent, or say what it gets instead."""
        taken = await self._claimed(case, ticket)
        return self.holding.later(taken) if isinstance(taken, Held) else taken

    async def _claimed(self, case: Case, ticket: Ticket) -> Case | Answer | Refusal | Held:
        """Claim a call, and judge it anew whenever its run has changed since it was judged."""
        for _ in range(_MOST_CHANGES):
            taken = await self.claim(case, ticket)
            if isinstance(taken, Answer | Refusal) and case.leaves_traces:
                return await self.record.seen(case, taken)  # told once more, maybe in another run
            if not isinstance(taken, Stale):
                return taken
            judged = await self._judged(case.call, ticket)
            if not isinstance(judged, Case) or judged.is_plain_read:
                return judged
            case = judged
        return refusals.run_changing()

    def _work(self, case: Case, ticket: Ticket) -> Work:
        return Work(
            answered=lambda: self._carry_out(case, ticket),
            shaped=lambda delivery: self._late(case, ticket, delivery),
        )

    async def _late(self, case: Case, ticket: Ticket, delivery: Delivery) -> Answer | Refusal:
        """Say what is told of an answer that came after its caller had gone."""
        delivered = dispatch.classify(case, delivery)
        if isinstance(delivered, Refusal):
            return self.shaping.leaving(case, delivered)
        return self.shaping.leaving(case, await self._checked(case, ticket, delivered, ticket.old))

    async def look(self, call: ProposedCall) -> tuple[Finished, Delivery | None]:
        """Make a read of the gateway's own, and return what its server said as well.

        Like any other call of its principal; whatever turns out to be no read is not sent.
        """
        ticket = self.record.open(call)
        case = await self._judged(call, ticket)
        if isinstance(case, Case) and not case.is_plain_read:
            case = Refusal(
                status=Status.DENIED, code="not_a_read", reason="this is no read that is allowed"
            )
        if not isinstance(case, Case):
            return ticket.closed(case), None
        finished = await self._finish(case, ticket)
        return finished, ticket.delivery

    def _carry_out(self, case: Case, ticket: Ticket) -> Awaitable[Answer | Refusal]:
        """Send a call, and note what its answer means for later ones before it leaves."""
        return (self._noted if case.leaves_traces else self._sent)(case, ticket)

    async def _noted(self, case: Case, ticket: Ticket) -> Answer | Refusal:
        return await self.record.seen(case, await self._sent(case, ticket))

    async def _sent(self, case: Case, ticket: Ticket) -> Answer | Refusal:
        old: Old = None
        if case.operation is not None:
            old = await self.checks.before(case)
            ticket.old = None if isinstance(old, NotRead) else old
        return await self._left(case, ticket, await self.dispatch(case, ticket), old)

    async def _left(
        self, case: Case, ticket: Ticket, delivered: Delivered | Answer | Refusal, old: Old = None
    ) -> Answer | Refusal:
        """Return what leaves of what came back."""
        if isinstance(delivered, Delivered):
            if case.operation is None:
                answer = self.shaping.shaped(case, delivered)
            else:
                answer = await self._checked(case, ticket, delivered, old)
            return answer if isinstance(answer, Answer) else self.shaping.leaving(case, answer)
        if isinstance(delivered, Refusal):
            if delivered.executed is Execution.NO:
                await self.claim.give_back(case)
            return self.shaping.leaving(case, delivered)
        if delivered.status is Status.INPUT_REQUIRED:
            await self.claim.give_back(case)
        return self.shaping.going_on(case, delivered)

    async def _checked(
        self, case: Case, ticket: Ticket, delivered: Delivered, old: Old
    ) -> Answer | Refusal:
        """Check a write by all that its contract declares, and let through what may leave."""
        verified = verify.check(case, delivered, old)
        if isinstance(verified, Refusal):
            return verified
        left_s = self.relay.outbounds.deadline_s(case) - ticket.elapsed_s()
        said = await self.checks.after(case, delivered, old, within_s=max(0.0, left_s))
        if said.state is not VerificationState.NOT_DECLARED:
            verified = verify.conclude(verified, said)
        return verified if isinstance(verified, Refusal) else self.normalise(case, verified)
