"""Step 13: only allowed fields leave, within the size cap, marked for what they are."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gateway import jsontext
from gateway.case import Case
from gateway.crossing import conditions
from gateway.results import cap, envelope, marks, minimise, rows, shape
from gateway.steps.verify import Verified
from gateway.types.calls import Method
from gateway.types.decisions import NO_ROWS, RowCount
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Execution
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.relay import URL_REQUIRED
from gateway.types.runs import Run
from gateway.types.tools import Contract, Effect, Kind, Sensitivity
from gateway.types.values import maker

_answer = maker(Answer)
_FIELD: Final = re.compile(r"\brun\.fields\.([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalise:
    """Shapes the result that leaves."""

    max_result_bytes: int
    digest: Callable[[str, Json], str]  # tenant, value → keyed digest

    def __call__(self, case: Case, verified: Verified) -> Answer | Refusal:
        """Return the answer, or a refusal when what is left can't be cut to size."""
        return self._left(case, verified, is_checked=True)

    def whole(self, case: Case, delivered: Delivered) -> Answer:
        """Return the answer as it came, under the names that callers have for what it names."""
        result = _as_asked(case, delivered.result)
        status = _status(result, is_tools=_is_tools(case, result))
        return Answer(result=result, status=status, redactions=delivered.redactions)

    def _left(
        self, case: Case, verified: Verified, *, is_checked: bool = False
    ) -> Answer | Refusal:
        delivered, contract = verified.delivered, case.contract
        result, kept_back, counted = delivered.result, 0, NO_ROWS
        if contract.sensitive_results or case.decision.output.holds_back:  # else it leaves whole
            schema = _schema(case, result) if is_checked else None
            minimised = self._minimised(case, result, _secret(contract), schema=schema)
            result, kept_back, counted = minimised.result, minimised.count, minimised.rows
        if "structuredContent" in result and not result.get("content"):
            result = _with_text(result)
        if case.tool.kind is Kind.RESOURCE:
            result = _as_asked(case, result)
        is_tools = _is_tools(case, result)
        redactions = delivered.redactions + kept_back
        size = delivered.size if not redactions else len(jsontext.dump(result))
        maximum = contract.max_result_bytes or self.max_result_bytes
        notes = (*verified.notes, *case.notes)
        if counted.removed:
            notes = (*notes, *_told(case, counted))
        if size > maximum:
            capped = cap.apply(result, size, maximum, is_cuttable=is_tools)
            if capped.result is None:
                return _too_large(case, size, maximum)
            result = capped.result
            notes = (*notes, f"cut from {size} bytes")
        if not contract.trusted_text:
            result = _marked(case, result)
        if counted.failed and is_tools:
            result = _with_words(result, _told(case, counted))
        return _answer(
            result=result,
            status=_status(result, is_tools=is_tools),
            verification=verified.verification,
            redactions=redactions,
            rows=counted,
            notes=notes,
        )

    def refused(self, case: Case, refusal: Refusal) -> Refusal:
        """Return a refusal that takes along of its server's words and result what may leave."""
        refusal = _worded(case, refusal)
        original = refusal.original
        if original is None:
            return refusal
        delivered = Delivered(result=original, size=len(jsontext.dump(original)))
        verified = Verified(delivered=delivered, verification=conditions.NOT_DECLARED)
        left = self._left(case, verified)
        if isinstance(left, Refusal):
            return replace(refusal, original=None)
        kept = {name: each for name, each in left.result.items() if name in (*original, "_meta")}
        return replace(refusal, original=kept)

    def again(self, case: Case, outcome: Answer | Refusal) -> Answer | Refusal:
        """Return an outcome that was kept with only what may leave by the rules of today."""
        if isinstance(outcome, Refusal):
            return self.refused(case, outcome)
        delivered = Delivered(
            result=outcome.result,
            size=len(jsontext.dump(outcome.result)),
            redactions=outcome.redactions,
        )
        verified = Verified(delivered=delivered, verification=outcome.verification)
        left = self._left(case, verified)
        if isinstance(left, Refusal):
            return left
        return replace(outcome, result=left.result, redactions=left.redactions)

    def around(self, case: Case, task: JsonObject) -> minimise.Minimised:
        """Return what may leave of a finished task beside its result."""
        return self._minimised(case, task)

    def _minimised(
        self,
        case: Case,
        result: JsonObject,
        secret: tuple[str, ...] = (),
        *,
        schema: Json = None,
    ) -> minimise.Minimised:
        output, tenant = minimise.with_secrets(case.decision.output, secret), case.actor.tenant
        counted, contract = NO_ROWS, case.contract
        if output.rows and case.call.method is Method.READ_RESOURCE:
            filters = [each for each in output.rows if not each.path]
            result, counted = rows.contents(result, case.tool.definition, filters)
            output = replace(output, rows=tuple(each for each in output.rows if each.path))
        minimised = minimise.apply(
            result,
            output,
            lambda value: self.digest(tenant, value),
            case.call.method,
            documents=contract.retrieval.documents if contract.retrieval is not None else None,
            schema=schema,
        )
        if counted is NO_ROWS:
            return minimised
        return replace(
            minimised,
            rows=minimised.rows.plus(counted),
            count=minimised.count + (1 if counted.removed else 0),
        )


def _secret(contract: Contract) -> tuple[str, ...]:
    return tuple(
        path
        for path, sensitivity in contract.sensitive_results.items()
        if sensitivity is Sensitivity.SECRET
    )


def _worded(case: Case, refusal: Refusal) -> Refusal:
    """Say in words of ours what a server's error says, where what it returns is filtered.

    A message can tell of any row. The URLs that a server wants visited were weighed by themselves.
    """
    error = refusal.error
    if error is None or not case.decision.output.holds_back:
        return refusal
    reason = f"`{case.tool.server}` answered with an error, whose words policy holds back"
    data = error.data if error.code == URL_REQUIRED else None
    return replace(refusal, reason=reason, error=replace(error, message=reason, data=data))


def _schema(case: Case, result: JsonObject) -> Json:
    """Return the schema that people reviewed, where the structure was held against it."""
    contract = case.contract
    if contract.lenient_output or result.get("isError") is True:
        return None
    return contract.output_schema


def _told(case: Case, counted: RowCount) -> tuple[str, ...]:
    """Say that rows are not there, and of how many nobody could tell; not how many there are."""
    if not counted.removed:
        return ()
    said = "rows that policy does not let through were left out"
    if not counted.failed:
        return (said,)
    return (f"{said}, {counted.failed} of them because they can't be judged{_blind(case)}",)


def _blind(case: Case) -> str:
    """Say which fields of the run filters go by, and it has not collected."""
    named = {name for each in case.decision.output.rows for name in _FIELD.findall(each.where)}
    run = case.run
    if run is None:
        return ": this call is in no run" if named else ""
    missing = sorted(name for name in named if not _is_known(run, name))
    return f": the run has no {', '.join(f'`{name}`' for name in missing)} yet" if missing else ""


def _is_known(run: Run, name: str) -> bool:
    field = run.fields.get(name)
    return field is not None and field.is_known


def _with_words(result: JsonObject, told: Sequence[str]) -> JsonObject:
    """Tell a model, which sees texts alone, that it does not see all there may be."""
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    words: list[Json] = [{"type": "text", "text": f"[gateway] {each}"} for each in told]
    return {**result, "content": [*blocks, *words]}


def _is_tools(case: Case, result: JsonObject) -> bool:
    return case.call.method is Method.CALL_TOOL and shape.is_complete(result)


def _status(result: JsonObject, *, is_tools: bool) -> Status:
    if is_tools:
        return Status.TOOL_FAILED if result.get("isError") is True else Status.OK
    return Status.INPUT_REQUIRED if result.get("resultType") == "input_required" else Status.OK


def _as_asked(case: Case, result: JsonObject) -> JsonObject:
    """Give a document the qualified URI it was asked for by, by which it can be asked for again."""
    tool, contents = case.tool, result.get("contents")
    if tool.kind is not Kind.RESOURCE or tool.exposed_name == tool.name:
        return result
    if not isinstance(contents, list):
        return result
    named: list[Json] = [
        {**entry, "uri": tool.exposed_name}
        if isinstance(entry, dict) and entry.get("uri") == tool.name
        else entry
        for entry in contents
    ]
    return {**result, "contents": named}


def _with_text(result: JsonObject) -> JsonObject:
    """Add the serialised structure for clients that only read text (MCP, server/tools)."""
    text = jsontext.dump(result["structuredContent"]).decode()
    return {**result, "content": [{"type": "text", "text": text}]}


def _marked(case: Case, result: JsonObject) -> JsonObject:
    """Say that the text comes from a server, and whether it hides characters from people."""
    mark: JsonObject = {"server": case.tool.server}
    found = sum(map(marks.hidden, marks.texts(result)))
    if found:
        mark["hidden_characters"] = found
    meta = result.get("_meta")
    told: JsonObject = {envelope.UNTRUSTED: mark}
    return {**result, "_meta": {**meta, **told} if isinstance(meta, dict) else told}


def _too_large(case: Case, size: int, maximum: int) -> Refusal:
    executed = Execution.NO if case.effect is Effect.READ else Execution.YES
    return Refusal(
        status=Status.RESULT_TOO_LARGE,
        code="result_too_large",
        reason=f"the result has {size} bytes and at most {maximum} may pass; "
        "only a tool's plain text is ever cut",
        executed=executed,
    )
