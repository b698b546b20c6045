from typing import Any

from gateway.replay.fitting import Fitting
from gateway.replay.redefined import redefined
from gateway.replay.tool_reports import ToolReport
from gateway.replay.types import Compared, Ended, Grade, Recorded
from gateway.types.json import JsonObject
from gateway.types.operations import Execution
from gateway.types.outcomes import Status
from gateway.types.values import replaced
from tests.helpers.replays import (
    TOOL,
    a_known_case,
    a_law,
    a_secret_note,
    policy,
    recorded,
    rule,
    then_of,
)

LAW = a_law(policy(rule()), a_secret_note())
PROPERTIES: dict[str, Any] = {
    "note": {"type": "string", "maxLength": 20},
    "amount": {"type": "number"},
    "id": {"type": "string"},
}


def a_definition(**changes: Any) -> JsonObject:
    inputs: JsonObject = {"type": "object", "properties": {**PROPERTIES, **changes}}
    return {**TOOL.definition, "inputSchema": inputs}


def fitted(definition: JsonObject, *calls: Recorded) -> ToolReport:
    other = redefined(LAW, {TOOL.server: {TOOL.name: definition}})
    fitting = Fitting(tools=other.tools)
    for call in calls:
        compared = Compared(recorded=call, grade=Grade.SAME, before=call.judged)
        fitting(compared, then_of(call, LAW))
    (report,) = fitting.report()
    return report


def a_call(arguments: JsonObject) -> Recorded:
    return recorded(a_known_case(LAW, arguments))


def test_each_place_that_does_not_fit_is_told_once_with_its_first_call() -> None:
    calls = [a_call({"amount": amount, "id": "x"}) for amount in (1, 200, 300)]
    told = fitted(a_definition(amount={"type": "number", "maximum": 100}), *calls)
    assert (told.fate, told.calls, told.blocked) == ("changed", 3, 3)
    assert (told.fits, told.fits_no_more, told.fits_now, told.misfits) == (1, 2, 0, 0)
    (fault,) = told.faults
    assert (fault.pointer, fault.calls) == ("/amount", 2)


def test_what_did_not_fit_and_does_now_is_counted_apart() -> None:
    calls = [a_call({"amount": "one"}), a_call({"amount": []})]
    told = fitted(a_definition(amount={"type": ["number", "string"]}), *calls)
    assert (told.fits, told.fits_now, told.fits_no_more, told.misfits) == (0, 1, 0, 1)


def test_a_value_that_is_gone_counts_only_where_its_own_schema_is_another_one() -> None:
    call = a_call({"note": "short", "amount": 1})
    same = fitted(a_definition(amount={"type": "number", "maximum": 9}), call)
    assert (same.fits, same.unknown) == (1, 0)
    other = fitted(a_definition(note={"type": "string", "maxLength": 3}), call)
    assert (other.fits, other.unknown) == (0, 1)
    assert other.missing == (("/arguments/note", "redacted"),)
    without = fitted(a_definition(note={"type": "string", "maxLength": 3}), a_call({"amount": 1}))
    assert (without.fits, without.unknown) == (1, 0)


def test_results_are_held_against_the_new_schema_as_far_as_they_are_kept() -> None:
    output: JsonObject = {"type": "object", "properties": {"id": {"type": "integer"}}}
    definition: JsonObject = {**a_definition(), "outputSchema": output}

    def ended(result: JsonObject | None, executed: Execution = Execution.YES) -> Recorded:
        end = Ended(status=Status.OK, code="", executed=executed, seq=2, result=result)
        return replaced(a_call({"amount": 1}), ended=end)

    calls = [
        ended(None),
        ended({"structuredContent": {"id": 1}}),
        ended({"structuredContent": {"id": "x"}}),
        ended({"content": []}),
        ended(None, Execution.NO),
    ]
    told = fitted(definition, *calls)
    assert told.results == {"unknown": 2, "fits": 1, "misfits": 1}
    assert [each.pointer for each in told.wrong_results] == ["/id"]
    assert fitted(a_definition(), *calls).results == {}
