from decimal import Decimal

import pytest

from gateway import jsontext
from gateway.results import kept
from gateway.types.json import JsonObject
from gateway.types.operations import Execution, Verification, VerificationState
from gateway.types.outcomes import Answer, Refusal, Status, WireError

OUTCOMES: list[Answer | Refusal] = [
    Answer(result={"content": []}),
    Answer(
        result={
            "structuredContent": {"id": 2**70, "sum": Decimal("1.100000000000000000000000001")},
            "_meta": {"x": None},
        },
        status=Status.TOOL_FAILED,
        verification=Verification(state=VerificationState.FAILED, detail="too much"),
        redactions=2,
        notes=("behind",),
    ),
    Refusal(status=Status.POSTCONDITION_FAILED, reason="no", original={"content": []}),
    Refusal(
        status=Status.TOOL_FAILED,
        reason="said no",
        code="-32000",
        rule="r",
        executed=Execution.UNKNOWN,
        retry_after_s=1.5,
        next="wait",
        details=({"pointer": "/a"},),
        error=WireError(code=-32000, message="no", data={"a": 1}),
    ),
]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_an_outcome_comes_back_from_what_was_kept(outcome: Answer | Refusal) -> None:
    """case: IDM-01"""
    text = jsontext.dump(kept.to_json(outcome))
    found = jsontext.parse_result(text)
    assert isinstance(found, dict)
    assert kept.from_json(found) == outcome


@pytest.mark.parametrize(
    "broken",
    [{}, {"kind": "answer"}, {"kind": "refusal", "status": "x"}]
    + [{**kept.to_json(OUTCOMES[0]), name: 7j} for name in ("result", "status", "redactions")],
)
def test_what_can_not_be_read_is_said_to_be_so(broken: JsonObject) -> None:
    with pytest.raises(kept.NotKept):
        kept.from_json(broken)
