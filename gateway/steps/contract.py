"""Step 2: is the call what people reviewed, and are its arguments what the schema asks for?"""

from dataclasses import replace

from gateway.case import Case
from gateway.contracts.schemas import Violation
from gateway.types.outcomes import Refusal, Status


def check_definition(case: Case) -> Case | Refusal:
    """Refuse a tool whose definition can't be enforced or isn't the reviewed one."""
    if case.tool.quarantine is not None:
        where = case.tool.quarantine.pointer
        place = f" at `{where}`" if where else ""
        return Refusal(
            status=Status.TOOL_QUARANTINED,
            code="tool_quarantined",
            reason=f"the definition of `{case.tool.exposed_name}` can't be enforced: "
            f"{case.tool.quarantine.reason}{place}",
        )
    if case.tool.pin != case.contract.pin:
        return Refusal(
            status=Status.TOOL_CHANGED,
            code="pin_mismatch",
            reason=f"the definition of `{case.tool.exposed_name}` is not the reviewed one",
        )
    return case


def check(case: Case) -> Case | Refusal:
    """Let checked arguments into the case; anything else is refused with what was expected."""
    answer = check_definition(case)
    if isinstance(answer, Refusal):
        return answer
    if case.call.input_error:
        return Refusal(
            status=Status.INVALID_ARGUMENTS, code="not_json", reason=case.call.input_error
        )
    schemas = case.revision.schemas_for(case.contract)
    if not schemas.input.is_valid(case.call.arguments):
        return invalid(schemas.input.violations(case.call.arguments))
    return replace(case, arguments=case.call.arguments)


def invalid(violations: tuple[Violation, ...]) -> Refusal:
    """Name each field, what was expected and what came; values are never repeated."""
    said = "; ".join(
        f"`{violation.pointer or '/'}`: expected {violation.expected}, got {violation.received}"
        for violation in violations
    )
    return Refusal(
        status=Status.INVALID_ARGUMENTS,
        code="schema",
        reason=f"the arguments do not match the tool's schema: {said or 'not valid'}",
        details=tuple(
            {
                "pointer": violation.pointer,
                "expected": violation.expected,
                "received": violation.received,
            }
            for violation in violations
        ),
    )
