"""What calls are told that repeat one which took effect, and whose own answer was lost."""

from gateway.types.operations import Execution
from gateway.types.outcomes import Answer, Refusal, Status


def told_again(*, has_output_schema: bool, found_by: str) -> Answer | Refusal:
    """Return the end of such a call.

    A result without the data that its schema promises makes clients raise, so a tool with an
    output schema says it by a refusal, which is exempt (MCP 2026-07-28, server/tools). Its status
    is not `indeterminate`: what took effect is known, and only its result is none.
    """
    text = f"this took effect; the answer of its server was lost, and {found_by} found out"
    if not has_output_schema:
        return Answer(result={"content": [{"type": "text", "text": text}]})
    return Refusal(
        status=Status.RESULT_INVALID,
        code="answer_lost",
        reason=text,
        executed=Execution.YES,
        next="do not repeat this call; read what it made, where you need it",
    )
