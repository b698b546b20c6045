"""Work that goes on as a task: between a stateless caller and a stateless server."""

import pytest

from tests.matrix.additions import differences, plain, questions
from tests.matrix.fixtures import ANSWERS, CAPABILITIES, HUGE, TASKS, Json
from tests.matrix.houses import House
from tests.matrix.wires import Wire, over_http

MODERN = ["modern-http", "modern-stdio"]
NEWS = "notifications/tasks"
WITH_TASKS: Json = {**CAPABILITIES, "extensions": {TASKS: {}}}


async def lived(wire: Wire, prefix: str) -> tuple[str, list[Json]]:
    """Begin a task, answer its question and see it through; returns its id and what was told."""
    wire.capabilities = WITH_TASKS
    call: Json = {"name": f"{prefix}begin_task", "arguments": {"n": HUGE, "real": 1.0}}
    begun = (await wire.request("tools/call", call)).result
    number = begun["taskId"]
    told = [begun, (await wire.request("tasks/get", {"taskId": number})).result]
    answers = {"inputResponses": {"one": ANSWERS["ask_form"]}}
    told.append((await wire.request("tasks/update", {"taskId": number, **answers})).result)
    told.append((await wire.request("tasks/get", {"taskId": number})).result)
    wire.capabilities = {}
    return number, told


def without_id(told: Json) -> Json:
    return {key: each for key, each in plain(told).items() if key != "taskId"}


@pytest.mark.parametrize("server", MODERN)
@pytest.mark.parametrize("caller", MODERN)
async def test_a_task_is_the_servers_own_under_a_sealed_id(
    house: House, caller: str, server: str
) -> None:
    own, wanted = await lived(await house.direct(server), "")
    number, got = await lived(await house.caller(caller), f"{server}__")
    assert number != own
    assert own not in number
    assert [told["taskId"] for told in got if "taskId" in told] == [number] * 3
    for mine, other in zip(wanted, got, strict=True):
        left, right = without_id(mine), without_id(other)
        if "result" in right:
            right["result"] = plain(right["result"])
        asked = left.get("inputRequests", {})
        for key, question in asked.items():
            (asked[key],) = questions([question], server)
        assert differences(left, right) == []


async def followed(wire: Wire, prefix: str) -> tuple[str, list[Json]]:
    """Begin a task and follow it to its end; returns its id and what was told."""
    wire.capabilities = WITH_TASKS
    call: Json = {"name": f"{prefix}begin_task", "arguments": {"n": HUGE, "real": 1.0}}
    number = (await wire.request("tools/call", call)).result["taskId"]
    told: list[Json] = []
    async with wire.listening(tasks=[number]):
        answers = {"inputResponses": {"one": ANSWERS["ask_form"]}}
        await wire.request("tasks/update", {"taskId": number, **answers})
        told.append((await wire.told(NEWS))["params"])
        await wire.request("tasks/cancel", {"taskId": number})
        told.append((await wire.told(NEWS))["params"])
    wire.capabilities = {}
    return number, told


@pytest.mark.parametrize("server", MODERN)
@pytest.mark.parametrize("caller", MODERN)
async def test_what_a_server_tells_of_a_task_arrives_whole_under_the_sealed_id(
    house: House, caller: str, server: str
) -> None:
    own, wanted = await followed(await house.direct(server), "")
    number, got = await followed(await house.caller(caller), f"{server}__")
    assert own not in number
    assert [told["taskId"] for told in got] == [number] * 2
    assert [told["status"] for told in got] == ["completed", "cancelled"]
    for mine, other in zip(wanted, got, strict=True):
        left, right = without_id(mine), without_id(other)
        if "result" in right:
            right["result"] = plain(right["result"])
        assert differences(left, right) == []


@pytest.mark.parametrize("server", MODERN)
async def test_only_who_follows_a_task_of_its_own_is_told(house: House, server: str) -> None:
    url = house.gateway.url
    ada = await house.caller("modern-http")
    call: Json = {"name": f"{server}__begin_task", "arguments": {}}
    async with over_http(url, modern=True, capabilities=WITH_TASKS) as bob:
        ada.capabilities = WITH_TASKS
        mine, others = [
            (await each.request("tools/call", call)).result["taskId"] for each in (ada, bob)
        ]
        async with ada.listening(tasks=[mine]), bob.listening(tasks=[others]):
            for wire, number in ((ada, mine), (bob, others)) * 2:
                await wire.request("tasks/cancel", {"taskId": number})
                assert (await wire.told(NEWS))["params"]["taskId"] == number
        ada.capabilities = {}


async def test_who_has_not_declared_tasks_can_follow_none(house: House) -> None:
    wire = await house.caller("modern-http")
    wanted: Json = {"notifications": {"taskIds": ["x"]}}
    heard = await wire.request("subscriptions/listen", wanted)
    assert heard.error["code"] == -32021
    assert heard.error["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}


@pytest.mark.parametrize("server", MODERN)
async def test_a_task_can_be_cancelled(house: House, server: str) -> None:
    wire = await house.caller("modern-http")
    wire.capabilities = WITH_TASKS
    call: Json = {"name": f"{server}__begin_task", "arguments": {}}
    number = (await wire.request("tools/call", call)).result["taskId"]
    (await wire.request("tasks/cancel", {"taskId": number})).result  # noqa: B018 - no error
    told = (await wire.request("tasks/get", {"taskId": number})).result
    wire.capabilities = {}
    assert (told["taskId"], told["status"]) == (number, "cancelled")


@pytest.mark.parametrize("number", ["task/0", "wb1.AAAA", ""])
async def test_an_id_that_the_gateway_has_not_given_is_nobodys(house: House, number: str) -> None:
    wire = await house.caller("modern-http")
    wire.capabilities = WITH_TASKS
    heard = await wire.request("tasks/get", {"taskId": number})
    wire.capabilities = {}
    assert heard.error["code"] == -32602


@pytest.mark.parametrize("server", MODERN)
async def test_a_handshake_caller_is_never_given_a_task(house: House, server: str) -> None:
    wire = await house.caller("legacy-http")
    call: Json = {"name": f"{server}__begin_task", "arguments": {}}
    heard = await wire.request("tools/call", call)
    assert heard.result["structuredContent"]["status"] == "indeterminate"  # it broke a rule
    assert "taskId" not in str(heard.result)
    assert (await wire.request("tasks/get", {"taskId": "x"})).error["code"] == -32601
