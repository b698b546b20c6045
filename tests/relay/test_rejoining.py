"""What is told to who comes back for a call that is not to be had."""

import pytest

from gateway.relay import rejoining
from gateway.relay.states import Awaited
from gateway.types.operations import Execution
from gateway.types.outcomes import Status


def test_nothing_is_said_of_why_a_state_is_not_valid() -> None:
    refused = rejoining.no_such_state()
    assert refused.error is not None
    assert refused.error.code == -32602
    assert refused.executed is Execution.NO


@pytest.mark.parametrize(
    ("is_read", "status", "executed"),
    [
        (True, Status.UNAVAILABLE, Execution.NO),
        (False, Status.INDETERMINATE, Execution.UNKNOWN),
    ],
)
def test_a_write_that_is_no_longer_parked_may_have_been_made(
    is_read: bool, status: Status, executed: Execution
) -> None:
    refused = rejoining.no_longer_parked(Awaited(id="parked_1", is_read=is_read))
    assert (refused.status, refused.executed) == (status, executed)
