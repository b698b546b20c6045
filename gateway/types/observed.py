"""What would have become of a call that passed because decisions were only recorded."""

from enum import StrEnum
from typing import Final

from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.values import value


class Would(StrEnum):
    """What would have been done, had decisions been enforced; texts are those of events, stable."""

    PASS = "pass"  # noqa: S105 - no password
    DENY = "deny"
    HOLD = "hold"  # until people decide
    REPEAT = "repeat"  # answered with what the same call got before, and not sent again
    CHANGE = "change"  # sent with other arguments
    WITHHOLD = "withhold"  # of the answer: refused
    MASK = "mask"  # of the answer: parts would not have left


@value
class Observed:
    """The word that was only recorded; empty texts where there is none."""

    would: Would
    status: str = ""
    code: str = ""
    rule: str = ""
    reason: str = ""
    op_id: str = ""  # the earlier operation that would have answered


PASSED: Final = Observed(would=Would.PASS)


def instead(outcome: Answer | Refusal) -> Observed:
    """Say what a call would have got in place of being sent."""
    if isinstance(outcome, Answer):
        return Observed(would=Would.REPEAT, status=str(outcome.status))
    repeats = outcome.replayed or outcome.status is Status.IN_PROGRESS
    would = Would.REPEAT if repeats else Would.DENY
    if outcome.status is Status.APPROVAL_PENDING:
        would = Would.HOLD
    return Observed(
        would=would,
        status=str(outcome.status),
        code=outcome.code,
        rule=outcome.rule,
        reason="" if repeats else outcome.reason,  # the operation tells, and it may quote a server
    )
