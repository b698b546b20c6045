"""What the configuration decides about a gateway, seen in the gateway that it makes."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.errors import StoreUnavailable
from gateway.types.calls import Era, Method
from gateway.types.json import JsonObject
from gateway.types.outcomes import Status
from tests.helpers.cases import AbsentCaller, a_call, a_principal
from tests.helpers.fake_server import Script, text, tool
from tests.helpers.workspaces import a_workspace
from tests.journeys import house

FIND = tool("find")
DENY = "rules: []\n"


class Asking(AbsentCaller):
    """A caller that can be asked for input."""

    @property
    def capabilities(self) -> JsonObject:
        return {"elicitation": {}}


class Patient(AbsentCaller):
    """A caller that can come back for the result of a task."""

    @property
    def capabilities(self) -> JsonObject:
        return {"extensions": {"io.modelcontextprotocol/tasks": {}}}


async def called(folder: Path, script: Script, name: str = "alpha__find", **sections: Any) -> Any:
    """Call a reviewed tool once through a gateway with these sections."""
    entry = house.stdio(script, folder, **sections.pop("entry", {}))
    proposed = a_call(name, caller=sections.pop("caller", AbsentCaller()))
    place = a_workspace(folder, {"alpha": entry}, contracts=[house.contract(FIND)], **sections)
    async with place.opened() as gateway:
        return await gateway.handle(proposed)


async def test_names_follow_the_expose_section(tmp_path: Path) -> None:
    script = Script(tools=[FIND])
    finished = await called(tmp_path, script, "find", expose={"transparent": True})
    assert finished.status is Status.OK


async def test_a_result_is_bounded_by_the_limits_section(tmp_path: Path) -> None:
    script = Script(tools=[FIND], on_call={"find": [{"reply_text_bytes": 5000}]})
    finished = await called(tmp_path, script, limits={"max_result_bytes": 2000})
    assert len(str(finished.result["content"])) < 3000


@pytest.mark.parametrize(
    "where", [{"limits": {"call_timeout": "50ms"}}, {"entry": {"timeout": "50ms"}}]
)
async def test_a_call_is_bounded_by_the_limits_section_or_its_servers_entry(
    where: dict[str, Any], tmp_path: Path
) -> None:
    silent = Script(tools=[FIND], on_call={"find": []})
    with anyio.fail_after(10):  # without either it would be a minute
        assert (await called(tmp_path, silent, **where)).status is Status.TIMEOUT


async def test_a_secret_of_the_configuration_is_in_no_event(tmp_path: Path) -> None:
    says = {"isError": True, **text("key s3cr3t-value-1 is wrong")}
    script = Script(tools=[FIND], on_call={"find": [{"reply": says}]})
    entry = house.stdio(script, tmp_path, env={"KEY": "s3cr3t-value-1"})
    place = a_workspace(tmp_path, {"alpha": entry}, contracts=[house.contract(FIND)])
    async with place.opened() as gateway:
        await gateway.handle(a_call("alpha__find", {"note": "s3cr3t-value-1"}))
    assert house.ends(tmp_path, "call_1")
    assert b"s3cr3t" not in (tmp_path / "store.db").read_bytes()


async def test_a_changed_policy_is_in_force_after_a_reload_and_both_are_in_the_log(
    tmp_path: Path,
) -> None:
    entry = house.stdio(Script(tools=[FIND]), tmp_path)
    place = a_workspace(tmp_path, {"alpha": entry}, contracts=[house.contract(FIND)])
    policy = tmp_path / "policies/policy.yaml"
    async with place.opened() as gateway:
        first = gateway.activation.current().id
        policy.write_text(DENY)
        await gateway.reload("told to")
        assert (await gateway.handle(a_call("alpha__find"))).status is Status.UNKNOWN_TOOL
        policy.write_text("rules: [")
        await gateway.reload("told to")
        assert (await gateway.handle(a_call("alpha__find"))).status is Status.UNKNOWN_TOOL
        assert "policy.yaml:2:" in gateway.snapshot().problem
    activated = house.events(tmp_path, action="policy_activated")
    assert [event["body"]["by"] for event in activated] == ["start", "told to"]
    assert activated[1]["body"]["from"] == first
    assert "change" not in activated[0]["body"]
    assert activated[1]["body"]["change"]["narrower"] == 1
    (refused,) = house.events(tmp_path, action="policy_refused")
    assert "policy.yaml:2:" in refused["body"]["errors"][0]


async def test_a_change_of_the_policy_is_told_to_the_fronts(tmp_path: Path) -> None:
    async with a_workspace(tmp_path).opened() as gateway:
        heard: list[str] = []
        gateway.on_changed(heard.append)
        (tmp_path / "policies/policy.yaml").write_text(DENY)
        await gateway.reload("told to")
    assert heard == ["tool", "resource", "prompt"]


async def test_an_event_about_the_gateway_that_can_not_be_kept_is_a_line_of_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise StoreUnavailable("the disk is full")

    async with a_workspace(tmp_path).opened() as gateway:
        monkeypatch.setattr(type(gateway.store.events), "append", refuse)
        (tmp_path / "policies/policy.yaml").write_text(DENY)
        await gateway.reload("told to")
        assert gateway.activation.problem == ""
    assert "an event could not be recorded: the disk is full" in caplog.messages


async def test_a_task_goes_on_for_its_owner_and_for_nobody_else(tmp_path: Path) -> None:
    begun: dict[str, Any] = {"resultType": "task", "taskId": "t-1", "status": "working"}
    script = Script(
        tools=[FIND],
        on_call={"find": [{"reply": begun}]},
        on_method={"tasks/get": [{"reply": {"taskId": "t-1", "status": "completed"}}]},
    )
    entry = house.stdio(script, tmp_path)
    place = a_workspace(tmp_path, {"alpha": entry}, contracts=[house.contract(FIND)])
    async with place.opened() as gateway:
        started = await gateway.handle(a_call("alpha__find", caller=Patient()))
        token = str(started.result["taskId"])
        asked: dict[str, Any] = {"method": Method.GET_TASK, "params": {"taskId": token}}
        finished = await gateway.handle(a_call(token, **asked))
        other = await gateway.handle(a_call(token, principal=a_principal(user="ann"), **asked))
    assert (finished.result["taskId"], finished.result["status"]) == (token, "completed")
    assert other.error is not None
    assert other.error.code == -32602


@pytest.mark.parametrize("ended", ["text", [{"structuredContent": {"secret": "LEAK"}}]])
async def test_a_task_whose_result_is_no_object_is_refused(tmp_path: Path, ended: Any) -> None:
    """Nobody can tell what of it may leave."""
    begun: dict[str, Any] = {"resultType": "task", "taskId": "t-1", "status": "working"}
    got = {"taskId": "t-1", "status": "completed", "result": ended}
    script = Script(
        tools=[FIND],
        on_call={"find": [{"reply": begun}]},
        on_method={"tasks/get": [{"reply": got}]},
    )
    entry = house.stdio(script, tmp_path)
    place = a_workspace(tmp_path, {"alpha": entry}, contracts=[house.contract(FIND)])
    async with place.opened() as gateway:
        token = str(
            (await gateway.handle(a_call(caller=Patient(), name="alpha__find"))).result["taskId"]
        )
        finished = await gateway.handle(
            a_call(token, method=Method.GET_TASK, params={"taskId": token})
        )
    assert finished.status is Status.RESULT_INVALID


@pytest.mark.parametrize(
    ("most", "status"), [(9_000, Status.INPUT_REQUIRED), (1_100, Status.RESULT_TOO_LARGE)]
)
async def test_what_comes_with_a_question_is_minimised_and_bounded_like_a_result(
    tmp_path: Path, most: int, status: Status
) -> None:
    asked: dict[str, Any] = {
        "resultType": "input_required",
        "inputRequests": {"q": {"method": "elicitation/create", "params": {"message": "x" * 999}}},
        "structuredContent": {"id": 7, "secret": "LEAK"},
        "content": [{"type": "text", "text": "the secret is LEAK"}],
    }
    script = Script(eras=["modern"], tools=[FIND], on_call={"find": [{"reply": asked}]})
    policy = (
        "rules:\n  - {id: all, decision: allow, match: {tools: ['*']}, output: {keep: [/id]}}\n"
        "  - {id: ask, decision: allow, match: {methods: [elicitation/create]}}\n"
    )
    finished = await called(
        tmp_path, script, caller=Asking(), policy=policy, limits={"max_result_bytes": most}
    )
    assert finished.status is status
    assert "LEAK" not in str(finished.result)


KEEPING = "rules:\n  - {id: all, decision: allow, match: {tools: ['*']}, output: {keep: [/id]}}\n"


_MORE: dict[str, Any] = {"row": "LEAK", "_meta": {"vendor/row": "LEAK"}}
_RESULT: dict[str, Any] = {"structuredContent": {"id": 7, "secret": "LEAK"}, "content": [], **_MORE}


@pytest.mark.parametrize(
    ("said", "count"),
    [({"status": "working"}, 2), ({"status": "completed", "result": _RESULT}, 5)],
)
async def test_what_surrounds_the_result_of_a_task_is_minimised_and_counted_as_well(
    tmp_path: Path, said: dict[str, Any], count: int
) -> None:
    begun = {"resultType": "task", "taskId": "t-1", "status": "working", **_MORE}
    script = Script(
        tools=[FIND],
        on_call={"find": [{"reply": begun}]},
        on_method={"tasks/get": [{"reply": {"taskId": "t-1", **said, **_MORE}}]},
    )
    entry, contracts = house.stdio(script, tmp_path), [house.contract(FIND)]
    place = a_workspace(tmp_path, {"alpha": entry}, policy=KEEPING, contracts=contracts)
    async with place.opened() as gateway:
        started = await gateway.handle(a_call("alpha__find", caller=Patient()))
        token = str(started.result["taskId"])
        told = await gateway.handle(a_call(token, method=Method.GET_TASK, params={"taskId": token}))
    assert "LEAK" not in str([started.result, told.result])
    outcomes: list[Any] = [started.result["_meta"], told.result["_meta"]]
    assert [each["weighbridge/outcome"]["redactions"] for each in outcomes] == [2, count]


class Person(Asking):
    """A caller of the handshake era that fills in every form."""

    era = Era.LEGACY

    async def ask(self, method: str, params: JsonObject, *, within_s: float) -> JsonObject:
        del method, params, within_s
        return {"action": "accept", "content": {"pin": "LEAK"}}


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_what_a_server_asked_of_whom_and_by_which_rule_is_in_the_log(
    tmp_path: Path, protocol: str
) -> None:
    def asks(message: str) -> dict[str, Any]:
        question = {"method": "elicitation/create", "params": {"message": message}}
        if protocol == "legacy":
            return {"request": question}
        return {"reply": {"resultType": "input_required", "inputRequests": {"q": question}}}

    steps = [[asks("your LEAK name?"), {"reply": text("done")}], [asks("your LEAK password?")]]
    steps[1] += [{"reply": text("done")}] if protocol == "legacy" else []
    if protocol == "modern":  # its second round is another request
        steps = [steps[0][:1], [{"reply": text("done")}], steps[1]]
    script = Script(eras=[protocol], tools=[FIND], on_nth_call=steps)
    policy = (
        "rules:\n  - {id: all, decision: allow, match: {tools: ['*']}}\n"
        "  - {id: ask, decision: allow, match: {methods: [elicitation/create]}}\n"
        "  - id: no-passwords\n    decision: deny\n    code: asks_password\n"
        "    match: {methods: [elicitation/create]}\n"
        "    when: args.message.contains('password')\n"
    )
    entry, contracts = house.stdio(script, tmp_path), [house.contract(FIND)]
    place = a_workspace(tmp_path, {"alpha": entry}, policy=policy, contracts=contracts)
    async with place.opened() as gateway:
        for number in (1, 2):
            await gateway.handle(a_call("alpha__find", caller=Person(), call_id=f"call_{number}"))

    def told(call: str) -> list[tuple[str, str, str, str]]:
        found = house.events(tmp_path, kind="authorization", call=call)
        return [
            (each["stage"], body["outcome"], body["server"], body["rule"])
            for each in found
            if "outcome" in (body := each["body"])
        ]

    assert told("call_1") == [
        ("started", "asked", "alpha", "ask"),
        ("finished", "accept", "alpha", "ask"),
    ]
    assert told("call_2") == [("failed", "forbidden", "alpha", "no-passwords")]
    assert b"LEAK" not in (tmp_path / "store.db").read_bytes()


@pytest.mark.parametrize(
    ("expose", "name", "message"),
    [({}, "alpha__find", "alpha asks: sure?"), ({"transparent": True}, "find", "sure?")],
)
async def test_a_person_is_told_which_server_asks_unless_there_is_only_one(
    tmp_path: Path, expose: dict[str, Any], name: str, message: str
) -> None:
    question = {"method": "elicitation/create", "params": {"message": "sure?"}}
    asked: dict[str, Any] = {"resultType": "input_required", "inputRequests": {"q": question}}
    script = Script(eras=["modern"], tools=[FIND], on_call={"find": [{"reply": asked}]})
    policy = "rules:\n  - {id: all, decision: allow, match: {methods: ['*']}}\n"
    finished = await called(tmp_path, script, name, caller=Asking(), policy=policy, expose=expose)
    shown: Any = finished.result["inputRequests"]["q"]["params"]
    assert shown == {"message": message, "_meta": {"weighbridge/server": "alpha"}}
