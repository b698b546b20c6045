"""Step 2: is the call what people reviewed, and are its arguments what the schema asks for?"""

from dataclasses import replace
from typing import Final

from gateway.case import Case
from gateway.contracts.schemas import Schema, Violation, compile_tool
from gateway.types.calls import Method
from gateway.types.outcomes import Refusal, Status

# Of every prompt (MCP, server/prompts): texts by name.
_TEXTS: Final[Schema] = compile_tool(
    {"inputSchema": {"type": "object", "additionalProperties": {"type": "string"}}}
).input


def check_definition(case: Case) -> Case | Refusal:
    """Refuse a tool whose definition can't be enforced, isn't known yet, or isn't as reviewed."""
    if case.tool.quarantine is not None:
        where = case.tool.quarantine.pointer
        place = f" at `{where}`" if where else ""
        return Refusal(
            status=Status.TOOL_QUARANTINED,
            code="tool_quarantined",
            reason=f"the definition of `{case.tool.exposed_name}` can't be enforced: "
            f"{case.tool.quarantine.reason}{place}",
        )
    away = case.tool.away
    if away is not None:  # what its server publishes has yet to be compared with the contract
        return Refusal(
            status=Status.UNAVAILABLE,
            code=away.code,
            reason=away.reason,
            retry_after_s=away.retry_after_s,
        )
    if case.tool.pin != case.contract.pin:
        return Refusal(
            status=Status.TOOL_CHANGED,
            code="pin_mismatch",
            reason=f"the definition of `{case.tool.exposed_name}` is not the reviewed one",
        )
    return case


def admit(case: Case) -> Case | Refusal:
    """Let arguments in as they are where no schema is published; a prompt's are texts."""
    unusable = _unusable(case)
    if unusable is not None:
        return unusable
    arguments = case.call.arguments
    if case.call.method is Method.GET_PROMPT and not _TEXTS.is_valid(arguments):
        return invalid(_TEXTS.violations(arguments), "what prompts take")
    return replace(case, arguments=arguments)


def _unusable(case: Case) -> Refusal | None:
    answer = check_definition(case)
    if isinstance(answer, Refusal):
        return answer
    if case.call.input_error:
        return Refusal(
            status=Status.INVALID_ARGUMENTS, code="not_json", reason=case.call.input_error
        )
    return None


def check(case: Case) -> Case | Refusal:
    """Let checked arguments into the case; anything else is refused with what was expected."""
    unusable = _unusable(case)
    if unusable is not None:
        return unusable
    schemas = case.revision.schemas_for(case.contract)
    if not schemas.input.is_valid(case.call.arguments):
        return invalid(schemas.input.violations(case.call.arguments))
    return replace(case, arguments=case.call.arguments)


def invalid(violations: tuple[Violation, ...], against: str = "the tool's schema") -> Refusal:
    """Name each field, what was expected and what came; values are never repeated."""
    said = "; ".join(
        f"`{violation.pointer or '/'}`: expected {violation.expected}, got {violation.received}"
        for violation in violations
    )
    return Refusal(
        status=Status.INVALID_ARGUMENTS,
        code="schema",
        reason=f"the arguments do not match {against}: {said or 'not valid'}",
        details=tuple(
            {
                "pointer": violation.pointer,
                "expected": violation.expected,
                "received": violation.received,
            }
            for violation in violations
        ),
    )
