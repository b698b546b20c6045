"""What a call is told that repeats a settled one: its answer, and what became known after that."""

from dataclasses import replace
from typing import Final

from gateway.types.operations import (
    Execution,
    Operation,
    OpState,
    Verification,
    VerificationState,
)
from gateway.types.outcomes import Answer, Refusal, Status

_UNDONE: Final = {
    OpState.COMPENSATED: "this took effect, and has been undone since",
    OpState.COMPENSATING: "this took effect, and is being undone",
}
_NOT_ANY_MORE: Final = (
    "do not take this call for done; only a person, or the host on purpose, has it made again"
)


def told(operation: Operation, outcome: Answer | Refusal) -> Answer | Refusal:
    """Return the outcome as it has to be told today; `outcome` is the one that was kept.

    An answer that is no longer true is told as a refusal, which models see and programs can tell.
    """
    undone = _UNDONE.get(operation.state)
    if undone is not None:
        return Refusal(
            status=Status.POSTCONDITION_FAILED,
            code="undone" if operation.state is OpState.COMPENSATED else "being_undone",
            reason=f"{undone} (operation `{operation.op_id}`)",
            executed=Execution.YES,
            next=_NOT_ANY_MORE,
        )
    if isinstance(outcome, Refusal):
        return outcome
    known = {operation.verification, outcome.verification.state}
    if len(known) == 1 or VerificationState.NOT_DECLARED in known:
        return outcome
    if operation.verification is VerificationState.FAILED:
        return Refusal(
            status=Status.POSTCONDITION_FAILED,
            code="readback",
            reason="a check after the answer found that its outcome is not as declared",
            executed=Execution.YES,
            original=outcome.result,
        )
    return replace(outcome, verification=Verification(state=operation.verification))
