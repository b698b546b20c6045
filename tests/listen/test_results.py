"""Results in the form of each era."""

from gateway.listen.gate import ServerInfo
from gateway.listen.results import ModernResults, legacy_listed, legacy_result
from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.tools import Listed
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
    listed = legacy_listed(Listed.TOOLS, Page(items=[closed, opened]))
    assert listed == {"tools": [closed, {"name": "b"}]}


def test_a_result_type_that_is_there_stays() -> None:
    task: JsonObject = {"resultType": "task", "taskId": "t", "vendor": 1}
    assert RESULTS.stamp(task)["resultType"] == "task"
    assert RESULTS.stamp(task)["vendor"] == 1
    assert RESULTS.stamp({})["resultType"] == "complete"


def test_nothing_of_a_server_may_be_kept_by_anybody_else() -> None:
    shared: JsonObject = {"contents": [], "ttlMs": 60000, "cacheScope": "public"}
    never = {"ttlMs": 0, "cacheScope": "private"}
    for method in (Method.READ_RESOURCE, Method.CALL_TOOL):
        assert RESULTS.stamp(shared, method).items() >= never.items()
    assert RESULTS.stamp({"contents": []}, Method.READ_RESOURCE).items() >= never.items()
    assert RESULTS.stamp({"content": []}).keys() == {"content", "_meta", "resultType"}


def test_a_question_can_not_be_kept_at_all() -> None:
    asked: JsonObject = {"resultType": "input_required", "ttlMs": 9, "cacheScope": "public"}
    assert RESULTS.stamp(asked, Method.READ_RESOURCE).keys() == {"resultType", "_meta"}


def test_members_of_the_stateless_era_go_only_when_a_server_of_that_era_wrote_them() -> None:
    own: JsonObject = {"contents": [], "ttlMs": "my own", "vendor": 1}
    stateless: JsonObject = {**own, "resultType": "complete", "cacheScope": "public"}
    assert legacy_result(own) == own
    assert legacy_result(stateless) == {"contents": [], "vendor": 1}


def test_what_a_stateless_server_says_of_itself_is_none_of_a_handshake_callers_business() -> None:
    info: JsonObject = {"io.modelcontextprotocol/serverInfo": {"name": "downstream"}}
    stateless: JsonObject = {"content": [], "resultType": "complete"}
    assert legacy_result({**stateless, "_meta": {**info, "own": 1}}) == {
        "content": [],
        "_meta": {"own": 1},
    }
    assert legacy_result({**stateless, "_meta": info}) == {"content": []}
    assert legacy_result({"content": [], "_meta": info})["_meta"] == info  # its own addition
