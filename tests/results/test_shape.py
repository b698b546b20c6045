"""What counts as a tool result."""

import pytest

from gateway.results import shape
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
