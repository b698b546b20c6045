from gateway.operations import refusals
from gateway.types.operations import Execution
from gateway.types.outcomes import Refusal, Status
from tests.helpers.operations import wanted


def test_each_says_whether_anything_was_carried_out() -> None:
    there = wanted()
    told: list[tuple[Refusal, Status, Execution]] = [
        (refusals.unknown(there), Status.INDETERMINATE, Execution.UNKNOWN),
        (refusals.in_progress(there), Status.IN_PROGRESS, Execution.UNKNOWN),
        (refusals.outcome_lost(), Status.RESULT_INVALID, Execution.YES),
        (refusals.unrecorded("the disk is full"), Status.AUDIT_UNAVAILABLE, Execution.NO),
        (refusals.unresolved(there, "locked"), Status.AUDIT_UNAVAILABLE, Execution.UNKNOWN),
        (refusals.repeat_denied("desk__refund"), Status.DENIED, Execution.NO),
        (refusals.misnamed(), Status.INVALID_ARGUMENTS, Execution.NO),
    ]
    for refusal, status, executed in told:
        assert (refusal.status, refusal.executed) == (status, executed)


def test_who_has_to_look_for_an_operation_is_told_which() -> None:
    there = wanted()
    told = refusals.unresolved(there, "locked")
    for refusal in (refusals.unknown(there), refusals.in_progress(there), told):
        assert there.op_id in refusal.reason
