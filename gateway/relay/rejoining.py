"""What is told to who comes back for a call that is not to be had."""

from gateway.relay.states import Awaited
from gateway.types.operations import Execution
from gateway.types.outcomes import Refusal, Status, WireError


def no_such_state() -> Refusal:
    """Refuse a state without a word on why: it may be somebody's who tries."""
    reason = "`requestState` is not valid for this request, or too old"
    return Refusal(
        status=Status.INVALID_ARGUMENTS,
        code="request_state",
        reason=reason,
        error=WireError(code=-32602, message=reason),
    )


def no_longer_parked(state: Awaited) -> Refusal:
    """Refuse a call whose question has been answered too late, or at another gateway."""
    return Refusal(
        status=Status.UNAVAILABLE if state.is_read else Status.INDETERMINATE,
        code="not_parked",
        reason="the call that asked is no longer open: it ended, or its gateway was restarted",
        executed=Execution.NO if state.is_read else Execution.UNKNOWN,
    )
