"""The way of a tool call. Read this file first; docs/explanation/way-of-a-call.md has its table."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Protocol

from gateway.case import Case, Check, Finding, Verdict
from gateway.steps import (
    claim,
    constrain,
    contract,
    dispatch,
    gate,
    identity,
    normalise,
    phase,
    policy,
    provenance,
    resolve,
    risk,
    verify,
)
from gateway.steps.record import Record, Ticket
from gateway.types.calls import ProposedCall
from gateway.types.decisions import DecisionEffect
from gateway.types.operations import Execution
from gateway.types.outcomes import Answer, Finished, Refusal, Status

CHECKS: tuple[Check, ...] = (
    contract.check,
    identity.check,
    provenance.check,
    risk.classify,
    phase.check,
    policy.decide,
    constrain.apply,
)
# There are no arguments to look at yet: a condition that reads one counts as "may".
LIST_CHECKS: tuple[Check, ...] = (
    contract.check_definition,
    identity.check,
    risk.classify_tool,
    phase.check,
    policy.may_list,
)


def judge(case: Case, checks: tuple[Check, ...] = CHECKS) -> Verdict:
    """Run the checks in order; the first refusal ends the case.

    No I/O and no clock in here: tools/list, `policy explain` and replay call the same function.
    """
    findings: list[Finding] = []
    for check in checks:
        step = check.__module__.rpartition(".")[2]
        try:
            answer = check(case)
        except Exception:  # a check that breaks refuses; it never lets a call through
            answer = Refusal(
                status=Status.DENIED,
                rule="gateway.check_failed",
                code="check_failed",
                reason=f"the {step} check could not decide",
            )
        if isinstance(answer, Refusal):
            findings.append(Finding(step=step, outcome="refused", reason=answer.reason))
            return Verdict(case=case, refusal=_told(case, answer), findings=tuple(findings))
        findings.append(Finding(step=step, outcome="passed" if answer is case else "changed"))
        case = answer
    if case.decision.effect is DecisionEffect.DENY:  # also when nobody has decided
        refusal = _told(case, policy.refusal(case))
        return Verdict(case=case, refusal=refusal, findings=tuple(findings))
    return Verdict(case=case, refusal=None, findings=tuple(findings))


def _told(case: Case, refusal: Refusal) -> Refusal:
    """Hide a tool that no rule could allow this caller, whichever check said no first."""
    tool = risk.classify_tool(case)  # as the list is judged: by the tool, not by this call
    shown = isinstance(tool, Case) and isinstance(policy.may_list(tool), Case)
    return refusal if shown else replace(refusal, hidden=True)


class Owner(Protocol):
    """The process as the owner of work that must not end with the request that asked for it."""

    async def run(self, work: Callable[[], Awaitable[Finished]]) -> Finished:
        """Carry `work` out; when the waiter is cancelled, the work goes on."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """The acting steps, wired; `handle` is the way of a call from the first to the last of them."""

    resolve: resolve.Resolve
    claim: claim.Claim
    dispatch: dispatch.Dispatch
    normalise: normalise.Normalise
    record: Record
    owner: Owner

    async def handle(self, call: ProposedCall) -> Finished:
        """Weigh a call, carry it out if it may be, and say how it ended.

        Raises nothing but the cancellation of its caller.
        """
        ticket = self.record.open(call)
        try:
            case = await self._judged(call, ticket)
        except Exception as error:  # here and in _finish, faults become refusals
            return ticket.closed(self.record.fault(call, error))
        except BaseException:  # the caller went away; the call still gets its final event
            ticket.abandoned()
            raise
        if isinstance(case, Refusal):
            return ticket.closed(case)
        if case.is_plain_read:
            return await self._finish(case, ticket)
        return await self.owner.run(lambda: self._finish(case, ticket))

    async def _judged(self, call: ProposedCall, ticket: Ticket) -> Case | Refusal:
        case = await self.resolve(call)
        if isinstance(case, Refusal):
            return case
        verdict = judge(case)
        ticket.judged(verdict)
        return verdict.refusal or verdict.case

    async def _finish(self, case: Case, ticket: Ticket) -> Finished:
        try:
            return ticket.closed(await self._carry_out(case, ticket))
        except Exception as error:
            return ticket.closed(self.record.fault(case.call, error))
        except BaseException:
            ticket.abandoned()
            raise

    async def _carry_out(self, case: Case, ticket: Ticket) -> Answer | Refusal:
        if not case.is_plain_read:
            claimed = await self.claim(case)
            if isinstance(claimed, Refusal):
                return claimed
            held = gate.check(case)
            if isinstance(held, Refusal):
                await self.claim.give_back(case)
                return held
        delivered = await self.dispatch(case, ticket)
        if isinstance(delivered, Refusal):
            if delivered.executed is Execution.NO:
                await self.claim.give_back(case)
            return delivered
        verified = verify.check(case, delivered)
        if isinstance(verified, Refusal):
            return verified
        answer = self.normalise(case, verified)
        if isinstance(answer, Answer) and case.contract.yields:
            await self.record.seen(case, answer)  # what was filtered away was never seen
        return answer
