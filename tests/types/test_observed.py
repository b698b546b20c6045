"""What a call would have got in place of being sent, in one word."""

import pytest

from gateway.types.observed import Would, instead
from gateway.types.outcomes import Answer, Refusal, Status


@pytest.mark.parametrize(
    ("outcome", "would"),
    [
        (Answer(result={}, replayed=True), Would.REPEAT),
        (Refusal(status=Status.TOOL_FAILED, reason="secret words", replayed=True), Would.REPEAT),
        (Refusal(status=Status.IN_PROGRESS, reason="under way"), Would.REPEAT),
        (Refusal(status=Status.APPROVAL_PENDING, reason="a person"), Would.HOLD),
        (Refusal(status=Status.APPROVAL_DENIED, reason="nobody"), Would.DENY),
        (Refusal(status=Status.DENIED, reason="a rule", rule="r", code="c"), Would.DENY),
    ],
)
def test_what_stands_in_place_of_a_call_is_one_word(
    outcome: Answer | Refusal, would: Would
) -> None:
    found = instead(outcome)
    assert found.would is would
    assert found.status == outcome.status.value
    # What a server said once is told by its operation, not here.
    assert (found.reason == "") == (would is Would.REPEAT)
