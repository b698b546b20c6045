"""Results in the form of each era."""

from gateway.listen.gate import ServerInfo
from gateway.listen.results import ModernResults, legacy_result, legacy_tools
from gateway.types.json import JsonObject
from tests.listen.house import Page

RESULTS = ModernResults(ServerInfo(version="9"), versions=["v"])


def test_a_downstreams_server_info_is_replaced_and_other_meta_kept() -> None:
    key = "io.modelcontextprotocol/serverInfo"
    result: JsonObject = {"content": [], "_meta": {key: {"name": "downstream"}, "own": 1}}
    stamped = RESULTS.stamp(result)
    assert stamped["_meta"] == {key: {"name": "weighbridge", "version": "9"}, "own": 1}
    assert "resultType" not in result


def test_an_object_stays_structured_for_old_clients() -> None:
    """case: OUT-05"""
    result: JsonObject = {"content": [], "structuredContent": {"a": 1}}
    assert legacy_result(result) is result


def test_a_text_block_that_says_the_same_is_not_doubled() -> None:
    """case: OUT-05"""
    block: JsonObject = {"type": "text", "text": "[1,2]"}
    result: JsonObject = {"content": [block], "structuredContent": [1, 2], "isError": False}
    assert legacy_result(result) == {"content": [block], "isError": False}


def test_only_object_output_schemas_are_listed_to_old_clients() -> None:
    closed: JsonObject = {"name": "a", "outputSchema": {"type": "object"}}
    opened: JsonObject = {"name": "b", "outputSchema": {"type": ["object", "null"]}}
    listed = legacy_tools(Page(tools=[closed, opened]))
    assert listed == {"tools": [closed, {"name": "b"}]}
