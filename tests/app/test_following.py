"""Following a task: what is told of it leaves as an answer to `tasks/get` would, or not at all."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.app.gateway import Gateway
from gateway.types.calls import Era, Method
from gateway.types.json import JsonObject
from gateway.types.outcomes import Finished, Status
from tests.helpers.cases import AbsentCaller, a_call, a_principal
from tests.helpers.fake_server import Script, record_of, text, tool, until_async
from tests.helpers.workspaces import a_workspace
from tests.journeys import house

FIND, TOUCH = tool("find"), tool("touch")
TASKS = "io.modelcontextprotocol/tasks"
ALLOW = (
    "rules:\n  - {id: all, decision: allow, match: {tools: ['*']}, output: {keep: [/id]}}\n"
    "  - {id: ask, decision: allow, match: {methods: [elicitation/create]}}\n"
)
DENY = "rules:\n  - {id: touch, decision: allow, match: {tools: [alpha.touch]}}\n"
RESULT: dict[str, Any] = {"structuredContent": {"id": 7, "secret": "LEAK"}, "content": []}
ENDED: dict[str, Any] = {
    "taskId": "t-1",
    "status": "completed",
    "result": RESULT,
    "_meta": {"io.modelcontextprotocol/subscriptionId": 1, "vendor/row": "LEAK"},
}
ASKING: dict[str, Any] = {
    "taskId": "t-1",
    "status": "input_required",
    "inputRequests": {"q": {"method": "elicitation/create", "params": {"message": "which?"}}},
}


class Patient(AbsentCaller):
    """A client that can come back for the result of a task, and be asked for more."""

    era = Era.MODERN

    def __init__(self, **more: Any) -> None:
        self._more = more

    @property
    def capabilities(self) -> JsonObject:
        return {"extensions": {TASKS: {}}, **self._more}


@asynccontextmanager
async def begun(folder: Path, *told: dict[str, Any]) -> AsyncGenerator[tuple[Gateway, str]]:
    """Begin a task of a server whose tool `touch` tells of it, each time the next of `told`."""
    acknowledged = {"notifications": {"taskIds": ["t-1"]}}
    notes = [{"notify": {"method": "notifications/tasks", "params": each}} for each in told]
    task = {"resultType": "task", "taskId": "t-1", "status": "working"}
    script = Script(
        tools=[FIND, TOUCH],
        capabilities={"tools": {}, "extensions": {TASKS: {}}},
        on_call={"find": [{"reply": task}], "touch": [*notes, {"reply": text("ok")}]},
        on_method={
            "subscriptions/listen": [
                {"notify": {"method": "notifications/subscriptions/acknowledged"}},
                {
                    "notify": {
                        "method": "notifications/subscriptions/acknowledged",
                        "params": acknowledged,
                    }
                },
            ],
            "tasks/get": [{"reply": {"taskId": "t-1", "status": "failed"}}],
        },
    )
    contracts = [house.contract(FIND), house.contract(TOUCH)]
    entry = house.stdio(script, folder)
    place = a_workspace(folder, {"alpha": entry}, policy=ALLOW, contracts=contracts)
    async with place.opened() as gateway:
        started = await gateway.handle(a_call("alpha__find", caller=Patient()))
        yield gateway, str(started.result["taskId"])


def about(token: str, **more: Any) -> Any:
    fields: dict[str, Any] = {"caller": Patient(), "params": {"taskId": token}, **more}
    return a_call(token, method=Method.GET_TASK, **fields)


async def touch(gateway: Gateway) -> None:
    assert (await gateway.handle(a_call("alpha__touch"))).status is Status.OK


async def test_what_is_told_is_minimised_recorded_and_under_the_callers_id(tmp_path: Path) -> None:
    told: list[Any] = []
    async with begun(tmp_path, {"taskId": "t-2", "status": "working"}, ENDED) as (gateway, token):
        leave = await gateway.follow(about(token), told.append)
        assert callable(leave)
        await touch(gateway)
        await until_async(lambda: told)
    ends = house.events(tmp_path, method="tasks/get", stage="finished")
    assert len({each["call"] for each in ends}) == 2  # to follow it, and what was told
    (note,) = told
    assert (note["taskId"], note["status"]) == (token, "completed")
    assert note["result"]["structuredContent"] == {"id": 7}
    assert note["_meta"]["weighbridge/outcome"]["redactions"] == 2
    assert "resultType" not in note
    assert "LEAK" not in str(note)
    assert "subscriptionId" not in str(note)


async def test_nobody_else_can_follow_a_task(tmp_path: Path) -> None:
    told: list[JsonObject] = []
    async with begun(tmp_path, ENDED) as (gateway, token):
        other = about(token, principal=a_principal(subject="bob"))
        ends = [
            await gateway.follow(other, told.append),
            await gateway.follow(about("t-1"), told.append),
        ]
        await touch(gateway)
        assert record_of(tmp_path, "alpha").calls("subscriptions/listen") == []
    assert [isinstance(end, Finished) and end.error is not None for end in ends] == [True, True]
    assert told == []


async def test_a_task_that_was_not_told_is_asked_for(tmp_path: Path) -> None:
    told: list[JsonObject] = []
    async with begun(tmp_path, {"taskId": "t-1"}) as (gateway, token):
        await gateway.follow(about(token), told.append)
        await touch(gateway)
        await until_async(lambda: told)
    assert told[0]["status"] == "failed"


async def test_rights_that_shrink_end_the_news(tmp_path: Path) -> None:
    """case: AUT-02"""
    told: list[JsonObject] = []
    async with begun(tmp_path, ENDED) as (gateway, token):
        await gateway.follow(about(token), told.append)
        (policy,) = (tmp_path / "policies").glob("*.yaml")
        policy.write_text(DENY)
        await gateway.reload("a test")
        await touch(gateway)
        await until_async(lambda: house.events(tmp_path, method="tasks/get", status="denied"))
    assert told == []


@pytest.mark.parametrize(("can", "count"), [({}, 0), ({"elicitation": {}}, 1)])
async def test_a_question_of_a_task_reaches_only_who_can_be_asked(
    tmp_path: Path, can: JsonObject, count: int
) -> None:
    told: list[Any] = []
    async with begun(tmp_path, ASKING) as (gateway, token):
        await gateway.follow(about(token, caller=Patient(**can)), told.append)
        await touch(gateway)
        await until_async(lambda: told or house.events(tmp_path, status="result_invalid"))
    assert len(told) == count
    for note in told:
        assert note["inputRequests"]["q"]["params"]["message"] == "alpha asks: which?"


async def test_who_has_left_is_told_nothing_and_the_server_nothing_more(tmp_path: Path) -> None:
    told: list[JsonObject] = []
    async with begun(tmp_path, ENDED) as (gateway, token):
        leave = await gateway.follow(about(token), told.append)
        assert callable(leave)
        leave()
        leave()
        listens = record_of(tmp_path, "alpha").calls
        await until_async(lambda: len(listens("notifications/cancelled")) == 1)
        wanted = [each["params"]["notifications"] for each in listens("subscriptions/listen")]
        await touch(gateway)
    assert [each.get("taskIds") for each in wanted] == [["t-1"], None]
    assert told == []
