"""What is told of the end of a held call to who asks after it as a task, by the rules of today."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from gateway.case import Case, Check
from gateway.crossing.recorded import Recorded
from gateway.errors import WeighbridgeError
from gateway.judging import judge
from gateway.operations import refusals
from gateway.operations.machine import TOOK_EFFECT
from gateway.steps import identity, policy, risk
from gateway.types.calls import ProposedCall, actor_of
from gateway.types.operations import FAILED, Execution, Operation
from gateway.types.outcomes import Answer, Refusal, Status

# Whether its caller may use the tool as he did, and what of its results may leave. How the tool and
# its server are today says nothing about an answer that is there.
CHECKS: Final[tuple[Check, ...]] = (identity.check, risk.classify, policy.decide)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAfter:
    """Tells it."""

    case: Callable[[Operation], Case]
    """The case of an operation, with the arguments as asked for; raises WeighbridgeError."""
    recorded: Recorded

    def __call__(self, call: ProposedCall, operation: Operation) -> Answer | Refusal:
        """Return the answer of an operation that has ended to the call of a `tasks/get`."""
        try:
            made = self.case(operation)
        except WeighbridgeError:
            return refusals.outcome_lost()
        case = replace(
            made,
            call=replace(made.call, principal=call.principal),
            actor=actor_of(call.principal),
            arguments=made.call.arguments,
        )
        verdict = judge(case, CHECKS)
        if verdict.refusal is not None:
            return _withheld(operation, verdict.refusal)
        return self.recorded.told(verdict.case, operation)


def _withheld(operation: Operation, refusal: Refusal) -> Refusal:
    """Say that a call has ended whose answer its caller may not see any more."""
    took_effect = operation.state in TOOK_EFFECT or operation.evidence == FAILED
    what = "was carried out" if took_effect else "was not carried out"
    return Refusal(
        status=Status.FORBIDDEN if refusal.status is Status.FORBIDDEN else Status.DENIED,
        code="answer_withheld",
        rule=refusal.rule,
        reason=f"the call {what}, and its answer may not be told any more: {refusal.reason}",
        executed=Execution.YES if took_effect else Execution.NO,
        scopes=refusal.scopes,
        next="do not repeat this call; who may still use the tool can look at what it did",
    )
