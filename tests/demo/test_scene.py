"""What the script is made of."""

import pytest

from gateway.demo.scene import Command
from gateway.types.approvals import ApprovalState, Cast
from gateway.types.operations import OpState


@pytest.mark.parametrize(
    ("status", "is_refused"),
    [
        (Cast.APPROVED, False),
        (Cast.COUNTED, False),
        (Cast.TOO_LATE, True),
        (Cast.SELF_APPROVAL, True),
        (ApprovalState.DENIED, False),
        (OpState.FAILED_FINAL, False),
    ],
)
def test_only_a_vote_that_does_not_count_is_refused(
    status: Cast | ApprovalState | OpState, is_refused: bool
) -> None:
    assert Command(shows="", words=(), status=status).is_refused is is_refused
