"""What calls are told that are not sent because of an operation that is there already."""

from typing import Final

from gateway.types.operations import Execution, Operation
from gateway.types.outcomes import Refusal, Status
from gateway.types.repeats import KEY

_SOON_S: Final = 5.0
FIRST_IS_OPEN: Final = (
    "nothing was sent; what became of the first call is not known yet: find out with a read, or "
    "repeat it unchanged later"
)


def unknown(operation: Operation) -> Refusal:
    """Say that nobody knows what became of the same call."""
    return Refusal(
        status=Status.INDETERMINATE,
        code="outcome_unknown",
        reason="the same was sent before, and nobody knows yet whether it took effect; it is not "
        f"sent again (operation `{operation.op_id}`)",
        executed=Execution.UNKNOWN,
        next="do not repeat this call; find out with a read whether it took effect, or have an "
        f"administrator settle it (`weighbridge ops resolve {operation.op_id}`)",
    )


def in_progress(operation: Operation) -> Refusal:
    """Say that the same call is under way."""
    return Refusal(
        status=Status.IN_PROGRESS,
        code="in_progress",
        reason=f"the same call is under way (operation `{operation.op_id}`)",
        executed=Execution.UNKNOWN,
        retry_after_s=_SOON_S,
    )


def outcome_lost() -> Refusal:
    """Say that the answer of the same call can't be given again."""
    return Refusal(
        status=Status.RESULT_INVALID,  # it is known what took effect, and only its result is none
        code="outcome_lost",
        reason="the same call has been carried out, and its answer is no longer kept",
        executed=Execution.YES,
        next="do not repeat this call; read what it made, where you need it",
    )


def unrecorded(why: str) -> Refusal:
    """Say that nothing was sent because its intent could not be kept."""
    return Refusal(
        status=Status.AUDIT_UNAVAILABLE,
        code="not_recorded",
        reason=f"the call could not be recorded before sending it: {why}",
    )


def outdated() -> Refusal:
    """Say that nobody may decide by the policy of this gateway: a newer one is in force."""
    return Refusal(
        status=Status.UNAVAILABLE,
        code="policy_outdated",
        reason="a person has to decide about this call, and this gateway goes by an older policy "
        "than the one in force",
        retry_after_s=_SOON_S,
    )


def unresolved(operation: Operation, why: str) -> Refusal:
    """Say that nothing was sent because what became of the same call could not be kept."""
    return Refusal(
        status=Status.AUDIT_UNAVAILABLE,
        code="not_resolved",
        reason="the same was sent before, and what became of it could not be recorded: "
        f"{why} (operation `{operation.op_id}`)",
        executed=Execution.UNKNOWN,
        next="nothing was sent now; send it again later, unchanged",
    )


def repeat_denied(tool: str) -> Refusal:
    """Say that a contract lets nobody repeat a call on purpose."""
    return Refusal(
        status=Status.DENIED,
        code="repeat_denied",
        reason=f"the contract of `{tool}` lets no call be repeated on purpose "
        "(`idempotency.repeat`)",
        next="the same was asked for before; send it without saying that it is repeated to get "
        "the answer of then",
    )


def misnamed() -> Refusal:
    """Say that the operation to be repeated is none of this call, whether or not there is one."""
    return Refusal(
        status=Status.INVALID_ARGUMENTS,
        code="repeat",
        reason=f"`{KEY}` names no operation that this call could repeat",
    )


def waits_for_people() -> Refusal:
    """Say that people decide about other calls of the run first."""
    return Refusal(
        status=Status.PHASE_BLOCKED,
        code="phase_blocked",
        reason="the run waits for people to decide; until then only what they approve is sent",
        next="wait until they have decided, or go on with reads",
    )


def no_retry() -> Refusal:
    """Say that a failed run begins nothing new."""
    return Refusal(
        status=Status.PHASE_BLOCKED,
        code="phase_blocked",
        reason="the run has failed: only what was not carried out can be sent once more",
        next="retry what was not carried out, or hand the run over",
    )


def run_changing() -> Refusal:
    """Say that a run has changed each time that a call was judged by it."""
    return Refusal(
        status=Status.IN_PROGRESS,
        code="run_changing",
        reason="other calls keep changing the run of this one, and it was not sent",
        retry_after_s=1.0,
        next="send it again later, unchanged",
    )
