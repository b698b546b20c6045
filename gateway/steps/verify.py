"""Step 12: is the outcome what the contract says it is?"""

from collections.abc import Mapping

from gateway.case import Case
from gateway.crossing import conditions
from gateway.crossing.reads import Old
from gateway.results import shape
from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered, Execution, Verification, VerificationState
from gateway.types.outcomes import Refusal, Status
from gateway.types.tools import Effect
from gateway.types.values import maker, value


@value
class Verified:
    """A delivery that holds what the contract promises, or says where it doesn't."""

    delivered: Delivered
    verification: Verification
    notes: tuple[str, ...] = ()


_verified = maker(Verified)


def check(case: Case, delivered: Delivered, old: Old = None) -> Verified | Refusal:
    """Check form, output schema and postconditions; an `isError` result keeps its own text.

    A result that doesn't end its request has nothing yet that could be checked. A postcondition
    that can't be evaluated proves nothing: the answer passes, and is not verified.
    """
    result, method = delivered.result, case.call.method
    if not shape.is_complete(result):
        return Verified(delivered=delivered, verification=conditions.NOT_DECLARED)
    fault = shape.fault(result, method)
    if fault is not None:
        place = f" at `{fault.pointer}`" if fault.pointer else ""
        return _invalid(case, f"`{case.tool.server}` answered with {fault.problem}{place}")
    if method is not Method.CALL_TOOL or result.get("isError") is True:
        return Verified(delivered=delivered, verification=conditions.NOT_DECLARED)
    schema = case.revision.schemas_for(case.contract).output
    notes: tuple[str, ...] = ()
    if schema is not None:
        problem = _schema_problem(case, result)
        if problem and not (case.contract.lenient_output and case.effect is Effect.READ):
            return _invalid(case, problem, result)
        notes = (problem,) if problem else ()
    unchecked = _verified(delivered=delivered, verification=conditions.NOT_DECLARED, notes=notes)
    if not case.contract.ensure:
        return unchecked
    seen = conditions.Seen.of(case, result, old)
    return conclude(unchecked, conditions.together(conditions.ensured(case.contract.ensure, seen)))


def conclude(verified: Verified, verification: Verification) -> Verified | Refusal:
    """Take over what checks came to: a failure refuses the answer, a doubt is noted in it."""
    if verification.state is VerificationState.FAILED:
        return Refusal(
            status=Status.POSTCONDITION_FAILED,
            code="ensure",
            reason=f"the outcome is not as declared: {verification.detail}",
            executed=Execution.YES,
            original=verified.delivered.result,
        )
    said = _note(verified.verification)
    notes = (*(note for note in verified.notes if note not in said), *_note(verification))
    return Verified(delivered=verified.delivered, verification=verification, notes=notes)


_NOTES: Mapping[VerificationState, str] = {
    VerificationState.INCONCLUSIVE: "not verified",
    VerificationState.PENDING: "not verified yet",
}


def _note(verification: Verification) -> tuple[str, ...]:
    said = _NOTES.get(verification.state)
    return () if said is None else (f"{said}: {verification.detail}",)


def _schema_problem(case: Case, result: JsonObject) -> str:
    schema = case.revision.schemas_for(case.contract).output
    if schema is None:
        return ""
    if "structuredContent" not in result:
        return "the tool declares an output schema and answered without structured data"
    structured = result["structuredContent"]
    if schema.is_valid(structured):
        return ""
    said = "; ".join(
        f"`{violation.pointer or '/'}`: expected {violation.expected}, got {violation.received}"
        for violation in schema.violations(structured)
    )
    return f"the structured data does not match the tool's output schema: {said}"


def _invalid(case: Case, problem: str, original: JsonObject | None = None) -> Refusal:
    if case.effect is Effect.READ:
        return Refusal(status=Status.RESULT_INVALID, code="result", reason=problem)
    return Refusal(
        status=Status.RESULT_INVALID,
        code="result",
        reason=f"{problem}; the tool did answer, so the change probably took place",
        executed=Execution.YES,
        next="do not repeat this call; find out with a read whether it took effect",
        original=original,
    )
