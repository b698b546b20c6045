"""What a way back is made of."""

from dataclasses import replace
from typing import Any

import pytest

from gateway import jsontext
from gateway.operations import undo
from gateway.types.guarantees import CallTemplate, Readback
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Operation, OpState, VerificationState
from tests.helpers.operations import wanted
from tests.helpers.undoings import BACK, a_write

RESULT: JsonObject = {
    "content": [],
    "structuredContent": {"refund_id": "r1", "old": {"status": "paid"}, "lines": [{"n": 1}]},
}


def captured(**changes: Any) -> JsonObject:
    return undo.captured(a_write("refund", compensation=replace(BACK, **changes)), RESULT)


def test_what_templates_refer_to_is_captured_without_being_named() -> None:
    assert captured() == {"/refund_id": "r1"}
    check = Readback(
        call=CallTemplate(tool="desk.get", args={"n": "$result.lines[0].n"}), expect=""
    )
    assert captured(call=None, verify=check) == {"/lines/0/n": 1}


def test_named_places_are_captured_where_there_is_something() -> None:
    assert captured(call=None, capture=("/old/status", "/lines/*/n", "/none")) == {
        "/old/status": "paid",
        "/lines/0/n": 1,
    }


def test_a_write_without_a_way_back_captures_nothing() -> None:
    assert undo.captured(a_write("refund"), RESULT) == {}


@pytest.mark.parametrize(
    ("data", "values", "whole"),
    [
        ({"a": 1}, {"/b": 2}, {"a": 1, "b": 2}),
        (None, {"/a/b": 1}, {"a": {"b": 1}}),
        ({"a": "[masked]"}, {"/a": 7}, {"a": 7}),
        ({"l": [{"n": 0}]}, {"/l/0/n": 1}, {"l": [{"n": 1}]}),
        ({"l": []}, {"/l/0/n": 1}, {"l": []}),
        ({"a": "[masked]"}, {"/a/b": 1}, {"a": "[masked]"}),
        ({"a": 1}, {"": {"b": 2}}, {"b": 2}),
    ],
)
def test_captured_values_go_back_to_their_places(
    data: Json, values: JsonObject, whole: Json
) -> None:
    assert undo.restored(data, values) == whole


def test_what_is_captured_and_put_back_is_what_was_there() -> None:
    values = captured(capture=("/old/status", "/lines/*/n"))
    data = undo.restored({"lines": [{}]}, values)
    assert data == RESULT["structuredContent"]


OP = wanted(op_id="op_1", state=OpState.SUCCEEDED)


def key(*earlier: Operation, is_idempotent: bool = False) -> str:
    back = replace(BACK, is_idempotent=is_idempotent)
    return undo.key_of(OP, back, {"a": 1}, earlier, jsontext.digest).key


def attempt(state: OpState, **changes: Any) -> Operation:
    return wanted(state=state, compensates=OP.op_id, **changes)


@pytest.mark.parametrize(
    "state", [OpState.READY, OpState.DISPATCHING, OpState.SUCCEEDED, OpState.INDETERMINATE]
)
def test_who_asks_twice_meets_the_same_key(state: OpState) -> None:
    assert key() == key(attempt(state))


@pytest.mark.parametrize("state", [OpState.FAILED_RETRYABLE, OpState.ABANDONED, OpState.DENIED])
def test_an_attempt_that_undid_nothing_makes_room_for_one_more(state: OpState) -> None:
    assert len({key(), key(attempt(state)), key(attempt(state), attempt(state))}) == 3


def test_only_a_repeatable_way_back_is_gone_again_in_doubt() -> None:
    unknown = attempt(OpState.INDETERMINATE)
    refuted = attempt(OpState.SUCCEEDED, verification=VerificationState.FAILED)
    failed = attempt(OpState.FAILED_FINAL)
    ran = attempt(OpState.FAILED_RETRYABLE, evidence="its answer is an error")
    for doubtful in (unknown, refuted, failed, ran):
        assert key(doubtful) == key()
        assert key(doubtful, is_idempotent=True) != key()


def test_other_operations_have_other_keys() -> None:
    others = [replace(OP, op_id="op_2"), replace(OP, tenant="globex")]
    keys = {undo.key_of(op, BACK, {}, (), jsontext.digest).key for op in (OP, *others)}
    assert len(keys) == 3
