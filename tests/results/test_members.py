"""The members that MCP defines for results."""

from gateway.results import members
from gateway.types.calls import Method


def test_a_result_has_the_members_of_its_method_or_of_its_type() -> None:
    assert "messages" in members.of_result({}, Method.GET_PROMPT)
    assert "messages" not in members.of_result({}, Method.CALL_TOOL)
    assert "taskId" in members.of_result({"resultType": "task"}, Method.CALL_TOOL)
    asked = members.of_result({"resultType": "input_required"}, Method.CALL_TOOL)
    assert asked == {"resultType", "inputRequests", "requestState"}
    assert members.of_result({"resultType": []}, Method.SUBSCRIBE) == {"resultType"}


def test_of_meta_only_a_related_task_is_needed() -> None:
    key = "io.modelcontextprotocol/related-task"
    assert members.needed(key, {"taskId": "t", "x": 1}) == {"taskId": "t"}
    assert members.needed(key, {"taskId": 1}) is None
    assert members.needed("vendor/x", {"taskId": "t"}) is None


def test_what_a_hop_says_for_itself_is_made_anew() -> None:
    assert members.is_remade("io.modelcontextprotocol/serverInfo")
    assert members.is_remade("weighbridge/outcome")
    assert not members.is_remade("io.modelcontextprotocol/other")
