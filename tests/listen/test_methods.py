"""Every request that is no tool call, in the stateless era over HTTP."""

import base64

import pytest

from gateway.listen.methods import KNOWN, target
from gateway.listen.rpc import RpcError
from gateway.types.calls import Method
from gateway.types.json import Json, JsonObject
from tests.listen.house import META, Place, call_body
from tests.listen.legacy_raw import Session, begin
from tests.listen.library import EXACT, LISTS, OFFERS, TASKS
from tests.listen.raw import Reply, changed, child, post, standard

WITH_TASKS: JsonObject = {"extensions": {TASKS: {}}}
OF_TASKS = ("tasks/get", "tasks/update", "tasks/cancel")
NEVER_KEPT = {"ttlMs": 0, "cacheScope": "private"}


def _request(method: str, /, **params: Json) -> JsonObject:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}


async def _send(place: Place, message: JsonObject, name: str | None = None) -> Reply:
    headers = standard(place, message)
    return await post(place, message, changed(headers, Mcp_Name=name) if name else headers)


async def test_every_list_is_paged_private_and_whole(place: Place) -> None:
    for method, kind in (
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ):
        result = (await post(place, _request(method))).result
        assert result.items() >= NEVER_KEPT.items()
        assert result["resultType"] == "complete"
        listed = next(LISTS[key] for key in LISTS if key == kind)
        assert result[kind] == listed[:3]
        assert ("nextCursor" in result) == (len(listed) > 3)
        wrong = await post(place, _request(method, cursor="made-up"))
        assert (wrong.status, wrong.error["code"]) == (400, -32602)


async def test_a_resource_is_read_whole_and_kept_by_nobody(place: Place) -> None:
    reply = await _send(place, _request("resources/read", uri="note://one"), "note://one")
    assert reply.status == 200
    assert reply.result.items() >= NEVER_KEPT.items()
    assert reply.result["contents"] == [
        {"uri": "note://one", "text": "the first", "vendor": 10**30}
    ]
    assert reply.result["exact"] == EXACT


async def test_a_question_passes_and_can_not_be_kept(place: Place) -> None:
    message = _request("resources/read", uri="note://ask", inputResponses={"q": {"n": 10**30}})
    result = (await _send(place, message, "note://ask")).result
    assert result["resultType"] == "input_required"
    assert result["requestState"] == "state"
    assert not NEVER_KEPT.keys() & result.keys()
    assert place.house.calls[0].params["inputResponses"] == {"q": {"n": 10**30}}
    assert place.house.calls[0].method is Method.READ_RESOURCE


async def test_a_prompt_and_a_completion_reach_the_gate_with_their_params(place: Place) -> None:
    prompt = _request("prompts/get", name="prompt1", arguments={"who": "ada"})
    reply = await _send(place, prompt)
    assert child(reply.result["messages"][0] if isinstance(reply.result["messages"], list) else 0)
    assert reply.result["vendor"] is True
    argument: JsonObject = {"name": "who", "value": "a"}
    for reference, name in (
        ({"type": "ref/prompt", "name": "prompt1"}, "prompt1"),
        ({"type": "ref/resource", "uri": "note://{name}"}, "note://{name}"),
    ):
        message = _request("completion/complete", ref={**reference}, argument=argument)
        values = child((await post(place, message)).result, "completion")["values"]
        assert values == [f"{name}-a", f"{name}-b"]
    assert [call.name for call in place.house.calls] == ["prompt1", "prompt1", "note://{name}"]
    assert place.house.calls[0].arguments == {"who": "ada"}
    assert place.house.calls[1].params["argument"] == argument


async def test_an_error_of_the_gate_passes_and_is_not_a_request_turned_away(place: Place) -> None:
    reply = await _send(place, _request("resources/read", uri="note://gone"), "note://gone")
    assert reply.status == 400
    assert reply.error["code"] == -32602
    assert reply.error["data"] == {"name": "note://gone"}
    session = await begin(place)
    assert (await session.error("prompts/get", {"name": "gone"}))["data"] == {"name": "gone"}
    assert place.house.turned == []


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("resources/read", {}),
        ("resources/read", {"uri": 3}),
        ("prompts/get", {"name": ""}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "a"}}),
        ("completion/complete", {"ref": "a", "argument": {"name": "a", "value": "b"}}),
        ("completion/complete", {"ref": {"type": []}, "argument": {"name": "a", "value": "b"}}),
        ("tasks/get", {}),
        ("subscriptions/listen", {"notifications": {"resourceSubscriptions": "note://one"}}),
        ("subscriptions/listen", {"notifications": {"resourceSubscriptions": [1]}}),
    ],
)
async def test_a_request_that_names_nothing_is_malformed(
    place: Place, method: str, params: JsonObject
) -> None:
    headers = changed(standard(place, _request(method)), Mcp_Name=str(params.get("uri", "")))
    reply = await post(place, _request(method, **params), headers)
    assert (reply.status, reply.error["code"]) == (400, -32602 if "uri" not in params else -32020)
    assert place.house.calls == []


def _about(method: str, task: str) -> JsonObject:
    message = _request(method, taskId=task)
    declared: JsonObject = {"io.modelcontextprotocol/clientCapabilities": WITH_TASKS}
    child(message, "params")["_meta"] = {**META, **declared}
    return message


async def test_tasks_are_named_in_the_header_like_everything_else(place: Place) -> None:
    for method in OF_TASKS:
        good = await _send(place, _about(method, "t1"), "t1")
        assert good.result["resultType"] == "complete"
        lying = await _send(place, _about(method, "t1"), "t2")
        silent = await post(place, _about(method, "t1"))
        assert [lying.error["code"], silent.error["code"]] == [-32020, -32020]
        foreign = await _send(place, _about(method, "t2"), "t2")
        assert foreign.error["code"] == -32602
    got = await _send(place, _about("tasks/get", "t1"), "t1")
    assert (got.result["status"], got.result["vendor"]) == ("working", True)


@pytest.mark.parametrize("method", OF_TASKS)
@pytest.mark.parametrize("task", ["t1", "t2"])
async def test_who_did_not_declare_the_extension_learns_that_a_task_takes_it(
    place: Place, method: str, task: str
) -> None:
    refused = await _send(place, _request(method, taskId=task), task)
    assert (refused.status, refused.error["code"]) == (400, -32021)
    assert refused.error["data"] == {"requiredCapabilities": WITH_TASKS}
    assert place.house.calls == []


async def test_a_call_that_became_a_task_says_so(place: Place) -> None:
    result = (await post(place, call_body("task"))).result
    assert (result["resultType"], result["taskId"], result["vendor"]) == ("task", "t1", 1)


async def test_a_uri_that_a_header_can_not_hold_is_encoded(place: Place) -> None:
    uri = "note://é\r\n"
    encoded = f"=?base64?{base64.b64encode(uri.encode()).decode()}?="
    reply = await _send(place, _request("resources/read", uri=uri), encoded)
    assert reply.error["data"] == {"name": uri}


async def test_the_caller_is_what_each_request_declares(place: Place) -> None:
    own: JsonObject = {
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "own": {"n": 10**30}},
        "io.modelcontextprotocol/logLevel": "warning",
    }
    who = child((await post(place, call_body("who", meta=own))).result, "structuredContent")
    assert who["capabilities"] == own["io.modelcontextprotocol/clientCapabilities"]
    assert (who["logLevel"], who["session"], who["era"]) == ("warning", "", "modern")
    loud = call_body("who", meta={"io.modelcontextprotocol/logLevel": "loud"})
    assert (await post(place, loud)).error["code"] == -32602


async def test_nobody_is_asked_on_a_stateless_request(place: Place) -> None:
    declared: JsonObject = {"io.modelcontextprotocol/clientCapabilities": {"roots": {}}}
    reply = await post(place, call_body("ask", {"method": "roots/list"}, meta=declared))
    assert child(reply.result, "structuredContent", "refused")["code"] == -32601


async def test_log_messages_come_only_when_asked_for_and_from_their_level_on(
    place: Place,
) -> None:
    assert (await post(place, call_body("log"))).headers["content-type"] == "application/json"
    level: JsonObject = {"io.modelcontextprotocol/logLevel": "info"}
    *logs, _ = (await post(place, call_body("log", meta=level))).messages
    assert [child(log, "params")["level"] for log in logs] == ["info", "error"]
    assert child(logs[0], "params", "data")["n"] == EXACT


async def test_progress_only_rises(place: Place) -> None:
    """case: RPC-07"""
    for token in ("tok-A", 0):
        reply = await post(place, call_body("falling", meta={"progressToken": token}))
        *progress, last = reply.messages
        assert [child(m, "params")["progress"] for m in progress] == [1, 3, 4]
        assert [child(m, "params")["progressToken"] for m in progress] == [token] * 3
        assert "result" in last


async def test_retries_reach_the_gate_as_they_came(place: Place) -> None:
    message = call_body("params", {"a": 1})
    retry: JsonObject = {"inputResponses": {"q": {"action": "accept"}}, "requestState": "é" * 99}
    params = child(message, "params")
    params.update(retry)
    result = (await post(place, message)).result
    assert child(result, "structuredContent", "params").items() >= retry.items()


async def test_the_handshake_offers_the_same_but_extensions(place: Place) -> None:
    discovered = (await post(place, _request("server/discover"))).result
    assert discovered["capabilities"] == OFFERS
    assert discovered.items() >= NEVER_KEPT.items()
    session = await begin(place)
    assert await _legacy_lists(session)
    assert session.offered == {key: OFFERS[key] for key in OFFERS if key != "extensions"}
    assert TASKS not in session.offered


async def _legacy_lists(session: Session) -> bool:
    for method in ("resources/list", "resources/templates/list", "prompts/list"):
        result = await session.result(method)
        assert not NEVER_KEPT.keys() & result.keys()
        assert "resultType" not in result
    read = await session.result("resources/read", {"uri": "note://one"})
    assert read.keys() == {"contents", "exact"}
    assert read["exact"] == EXACT
    return True


@pytest.mark.parametrize(
    "method", ["tasks/get", "server/discover", "subscriptions/listen", "own/ask"]
)
async def test_methods_of_the_other_era_are_not_found(place: Place, method: str) -> None:
    session = await begin(place)
    error = await session.error(method, {"taskId": "t1", "notifications": {}})
    assert error["code"] == -32601


def test_a_target_is_named_by_the_member_of_its_method() -> None:
    assert target(Method.GET_TASK, {"taskId": "t"}) == "t"
    assert target(Method.SUBSCRIBE, {"uri": "a:b"}) == "a:b"
    assert isinstance(target(Method.COMPLETE, {"ref": {"type": "ref/prompt"}}), RpcError)


def test_known_methods_are_those_of_the_specification() -> None:
    assert {"initialize", "ping", "tasks/cancel", "resources/unsubscribe"} <= KNOWN
    assert "own/ask" not in KNOWN
