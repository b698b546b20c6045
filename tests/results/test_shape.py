"""What counts as a tool result."""

import pytest

from gateway.results import shape
from gateway.types.calls import Method
from gateway.types.json import JsonObject


@pytest.mark.parametrize(
    ("result", "pointer"),
    [
        ({"content": "hi"}, "/content"),
        ({"success": True}, ""),
        ({}, ""),
        ({"content": [{"type": "text"}]}, "/content/0"),
        ({"content": [{"text": "x"}]}, "/content/0"),
        ({"content": ["x"]}, "/content/0"),
        ({"content": [{"type": "text", "text": "x"}, {"type": "text", "text": 1}]}, "/content/1"),
        ({"content": [{"type": "text", "text": "x"}, None]}, "/content/1"),
        ({"content": [], "isError": "yes"}, "/isError"),
        ({"content": [{"type": "image", "data": "AA=="}]}, "/content/0"),
    ],
)
def test_an_answer_that_is_no_result_is_told_where(result: JsonObject, pointer: str) -> None:
    """case: OUT-08"""
    found = shape.fault(result)
    assert found is not None
    assert found.pointer == pointer


@pytest.mark.parametrize(
    "result",
    [
        {"content": []},
        {"structuredContent": None},
        {"content": [{"type": "hologram", "x": 1}]},
        {"content": [{"type": "text", "text": "x", "annotations": {"priority": 0.2}}]},
        {"content": [{"type": "resource", "resource": {"uri": "mem://f/2", "blob": "JVBERi0="}}]},
    ],
)
def test_results_with_unknown_parts_pass(result: JsonObject) -> None:
    """case: OUT-06, OUT-08"""
    assert shape.fault(result) is None


BLOCK: JsonObject = {"type": "text", "text": "x"}


@pytest.mark.parametrize(
    ("method", "result", "pointer"),
    [
        (Method.READ_RESOURCE, {}, "/contents"),
        (Method.READ_RESOURCE, {"contents": {}}, "/contents"),
        (Method.READ_RESOURCE, {"contents": ["x"]}, "/contents/0"),
        (Method.READ_RESOURCE, {"contents": [{"text": "x"}]}, "/contents/0"),
        (Method.READ_RESOURCE, {"contents": [{"uri": "a:b"}]}, "/contents/0"),
        (Method.READ_RESOURCE, {"contents": [{"uri": "a:b", "text": 1}]}, "/contents/0"),
        (Method.GET_PROMPT, {"content": []}, "/messages"),
        (Method.GET_PROMPT, {"messages": [{"content": BLOCK}]}, "/messages/0"),
        (Method.GET_PROMPT, {"messages": [{"role": "user"}]}, "/messages/0/content"),
        (Method.COMPLETE, {"values": []}, "/completion/values"),
        (Method.COMPLETE, {"completion": {"values": [1]}}, "/completion/values"),
    ],
)
def test_every_method_has_a_form_of_its_own(
    method: Method, result: JsonObject, pointer: str
) -> None:
    found = shape.fault(result, method)
    assert found is not None
    assert found.pointer == pointer


@pytest.mark.parametrize(
    ("method", "result"),
    [
        (Method.READ_RESOURCE, {"contents": [], "ttlMs": 5}),
        (Method.READ_RESOURCE, {"contents": [{"uri": "a:b", "blob": "AA==", "own": 1}]}),
        (Method.GET_PROMPT, {"messages": [{"role": "user", "content": BLOCK}]}),
        (Method.GET_PROMPT, {"messages": [{"role": "user", "content": [BLOCK, BLOCK]}]}),
        (Method.COMPLETE, {"completion": {"values": ["a"], "hasMore": True}}),
        (Method.SUBSCRIBE, {}),
        (Method.GET_TASK, {"taskId": "t", "status": "working"}),
    ],
)
def test_results_of_other_methods_pass_with_members_of_their_own(
    method: Method, result: JsonObject
) -> None:
    assert shape.fault(result, method) is None


@pytest.mark.parametrize("kind", ["input_required", "task", "vendor", None, 1])
def test_only_complete_results_are_complete(kind: str) -> None:
    assert not shape.is_complete({"resultType": kind})
    assert shape.is_complete({"resultType": "complete"})
    assert shape.is_complete({})
