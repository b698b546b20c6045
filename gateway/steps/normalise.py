"""Step 13: only allowed fields leave, within the size cap, marked for what they are."""

from collections.abc import Callable
from dataclasses import dataclass

from gateway import jsontext
from gateway.case import Case
from gateway.results import cap, envelope, marks, minimise
from gateway.steps.verify import Verified
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Execution
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.tools import Effect, Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalise:
    """Shapes the result that leaves."""

    max_result_bytes: int
    digest: Callable[[str, Json], str]  # tenant, value → keyed digest

    def __call__(self, case: Case, verified: Verified) -> Answer | Refusal:
        """Return the answer, or a refusal when what is left can't be cut to size."""
        delivered = verified.delivered
        secret = tuple(
            path
            for path, sensitivity in case.contract.sensitive_results.items()
            if sensitivity is Sensitivity.SECRET
        )
        output = minimise.with_secrets(case.decision.output, secret)
        tenant = case.actor.tenant
        minimised = minimise.apply(
            delivered.result, output, lambda value: self.digest(tenant, value)
        )
        result = _with_text(minimised.result)
        size = delivered.size if not minimised.count else len(jsontext.dump(result))
        maximum = case.contract.max_result_bytes or self.max_result_bytes
        capped = cap.apply(result, size, maximum)
        if capped.result is None:
            return _too_large(case, size, maximum)
        result = capped.result if case.contract.trusted_text else _marked(case, capped.result)
        notes = (*verified.notes, *case.notes)
        return Answer(
            result=result,
            status=Status.TOOL_FAILED if result.get("isError") is True else Status.OK,
            verification=verified.verification,
            redactions=minimised.count,
            notes=(*notes, f"cut from {size} bytes") if capped.cut else notes,
        )


def _with_text(result: JsonObject) -> JsonObject:
    """Add the serialised structure for clients that only read text (MCP, server/tools)."""
    if "structuredContent" not in result or result.get("content"):
        return result
    text = jsontext.dump(result["structuredContent"]).decode()
    return {**result, "content": [{"type": "text", "text": text}]}


def _marked(case: Case, result: JsonObject) -> JsonObject:
    """Say that the text comes from a server, and whether it hides characters from people."""
    found = 0
    content = result.get("content")
    if isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and isinstance(block.get("text"), str):
                found += marks.hidden(str(block["text"]))
    mark: JsonObject = {"server": case.tool.server}
    if found:
        mark["hidden_characters"] = found
    meta = result.get("_meta")
    base = meta if isinstance(meta, dict) else {}
    return {**result, "_meta": {**base, envelope.UNTRUSTED: mark}}


def _too_large(case: Case, size: int, maximum: int) -> Refusal:
    executed = Execution.NO if case.effect is Effect.READ else Execution.YES
    return Refusal(
        status=Status.RESULT_TOO_LARGE,
        code="result_too_large",
        reason=f"the result has {size} bytes and at most {maximum} may pass; "
        "structured data is never cut",
        executed=executed,
    )
