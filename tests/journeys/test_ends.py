"""Every way a call can end: the right status to the caller, and exactly one final event."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.types.tools import Effect, OnFail, ProvenanceRule, Risk, Source, SourceKind
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Record, Script, record_of, text, tool, until_async
from tests.helpers.gateway import ALLOW, Gateway, outcome, running
from tests.journeys import house

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
POLICY = """
rules:
  - {id: everything, decision: allow, match: {tools: ['*']}}
  - id: never
    decision: deny
    code: not_here
    reason: this is never done here
    match: {tools: [alpha.forbidden]}
    when: args.n > 1
  - id: ask
    decision: require_approval
    reason: money leaves
    approval: {approvers: {roles: [lead]}}
    match: {tools: [alpha.pay]}
  - id: none-left
    decision: obligation
    match: {tools: [alpha.limited]}
    limits: [{id: none, per: [tenant], max: 0, window: 1m}]
"""
GOOD = [
    tool("good", inputSchema=NUMBER),
    tool("error"),
    tool("rpc_error"),
    tool("drifted", outputSchema=NUMBER),
    tool("drifted_write", outputSchema=NUMBER),
    tool("garbage"),
    tool("big"),
    tool("scoped"),
    tool("forbidden", inputSchema=NUMBER),
    tool("pay"),
    tool("slow"),
    tool("slow_write"),
    tool("limited"),
    tool("traced", inputSchema=NUMBER),
    tool("changed", description="another one than reviewed"),
    tool("broken", inputSchema={"type": "object", "required": "n"}),
    tool("unwatched"),
    tool("hidden"),
]
STEPS: dict[str, list[dict[str, Any]]] = {
    "good": [{"reply": text("fine")}],
    "error": [{"reply": {**text("no such row"), "isError": True}}],
    "rpc_error": [{"error": {"code": -32000, "message": "bad day"}}],
    "drifted": [{"reply": text("done")}],
    "drifted_write": [{"reply": {"content": [], "structuredContent": {"n": "x"}}}],
    "garbage": [{"raw": '{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"x":NaN}}'}],
    "big": [{"reply": {"content": [], "structuredContent": {"rows": "x" * 5000}}}],
    "slow": [{"delay_ms": 60_000}],
    "slow_write": [{"delay_ms": 60_000}],
}


@dataclass(frozen=True)
class End:
    """A call, how it ends, and what is known to have happened."""

    tool: str
    status: str
    stage: str = "failed"
    executed: str = "no"
    code: str | None = None
    arguments: house.Json | None = None
    sent: bool = False  # whether the request reached the server


ENDS = [
    End("good", "ok", "finished", "yes", arguments={"n": 1}, sent=True),
    End("error", "tool_failed", executed="yes", sent=True),
    End("drifted", "result_invalid", sent=True),
    End("drifted_write", "result_invalid", executed="yes", sent=True),
    End("garbage", "result_invalid", code="downstream_malformed", sent=True),
    End("big", "result_too_large", sent=True),
    End("slow", "timeout", code="downstream_timeout", sent=True),
    End("slow_write", "indeterminate", executed="unknown", code="downstream_timeout", sent=True),
    End("good", "invalid_arguments", arguments={"n": "1"}),
    End("scoped", "forbidden"),
    End("forbidden", "denied", code="not_here", arguments={"n": 2}),
    End("pay", "approval_pending", code="approval_pending"),
    End("limited", "limit_exceeded", code="none"),
    End("traced", "provenance_failed", code="origin_unknown", arguments={"n": 4711}),
    End("changed", "tool_changed"),
    End("broken", "tool_quarantined"),
    End("unknown", "unknown_tool", code="unknown_tool"),
    End("hidden", "unknown_tool", code="unreviewed"),
]


def reviewed() -> str:
    """Return contracts under which each of the tools meets its end."""
    named = {one["name"]: one for one in GOOD}
    from_results = ProvenanceRule(
        pointer="/n",
        sources=(Source(kind=SourceKind.RESULTS, operands=("row",)),),
        on_fail=OnFail.DENY,
    )
    write: dict[str, Any] = {"effect": Effect.WRITE, "risk": Risk.MEDIUM}
    special: dict[str, dict[str, Any]] = {
        "drifted_write": write,
        "pay": write,
        "limited": write,
        "unwatched": write,
        "slow": {"timeout_s": 0.2},
        "slow_write": {**write, "timeout_s": 0.2},
        "scoped": {"scopes": frozenset({"notes:write"})},
        "big": {"max_result_bytes": 1024},
        "traced": {"provenance": (from_results,)},
    }
    good = [one for one in named if one not in {"changed", "broken", "hidden"}]
    return house.contracts(
        *(house.contract(named[name], **special.get(name, {})) for name in good),
        house.contract(tool("changed")),
        house.contract(tool("broken")),
    )


@dataclass(frozen=True)
class Place:
    """A gateway with one fake behind it."""

    gateway: Gateway
    folder: Path
    alpha: Record


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Place]:
    folder = tmp_path_factory.mktemp("ends")
    release = {"unwatched": [{"wait_for_file": str(folder / "go")}, {"reply": text("late")}]}
    alpha = house.stdio(Script(tools=GOOD, on_call={**STEPS, **release}), folder)
    async with running(
        folder,
        house.config({"alpha": alpha}, approvals={"hold": {"default": "0s"}}),
        policy=POLICY,
        contracts=reviewed(),
    ) as gateway:
        await gateway.listed("alpha__good")
        yield Place(gateway, folder, record_of(folder, "alpha"))


@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize("end", ENDS, ids=lambda end: f"{end.tool}-{end.status}")
async def test_a_call_has_one_final_event_with_its_status(place: Place, end: End, era: str) -> None:
    """case: OBS-05, OUT-04"""
    before = len(place.alpha.calls())
    name, sent = f"alpha__{end.tool}", end.arguments
    if end.tool.endswith("_write"):
        sent = {"era": era}  # or it would be the same write again
    if era == "modern":
        result = await house.call(house.as_modern(place.gateway), name, sent)
    else:
        async with house.legacy(place.gateway) as client:
            result = await house.call(client, name, sent)
    said = outcome(result)
    body = await house.end(place.folder, said["call_id"])
    (event,) = house.ends(place.folder, said["call_id"])
    assert (said["status"], body["status"]) == (end.status, end.status)
    assert (event["stage"], body["executed"]) == (end.stage, end.executed)
    assert body["code"] == (body["code"] if end.code is None else end.code)
    assert (result.get("isError") is True) is (end.status != "ok")
    assert house.texts(result)
    assert (len(place.alpha.calls()) - before) == (1 if end.sent else 0)
    assert event["actor"]["user"] == "local"
    assert event["tenant"] == "local"
    assert len(event["trace_id"]) == 32
    assert body["duration_us"] > 0
    assert body["arguments_digest"].startswith("hmac-sha256:")
    assert body["name"] == name
    if end.status != "unknown_tool":
        assert (body["tool"], body["server"]) == (f"alpha.{end.tool}", "alpha")


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_an_error_of_the_server_passes_as_it_came_and_says_what_became_of_the_call(
    place: Place, era: str
) -> None:
    """case: OUT-04"""
    if era == "modern":
        error = await house.call_for_error(house.as_modern(place.gateway), "alpha__rpc_error")
    else:
        async with house.legacy(place.gateway) as client:
            error = await house.call_for_error(client, "alpha__rpc_error")
    assert (error["code"], error["message"]) == (-32000, "bad day")
    said = error["data"]["weighbridge/outcome"]
    body = await house.end(place.folder, said["call_id"])
    assert (said["status"], body["status"], body["error_code"]) == (
        "tool_failed",
        "tool_failed",
        -32000,
    )


async def test_arguments_that_are_not_json_end_as_invalid_and_leave_no_body(place: Place) -> None:
    """case: OBS-05"""
    said = outcome(await house.call_raw(place.gateway, "alpha__good", '{"n":1,"n":2}'))
    assert (said["status"], said["code"]) == ("invalid_arguments", "not_json")
    assert (await house.end(place.folder, said["call_id"]))["status"] == "invalid_arguments"


async def test_a_read_whose_caller_left_ends_as_cancelled(place: Place) -> None:
    """case: OBS-05"""
    before = len(house.events(place.folder, kind="tool_call", status="cancelled"))
    sent = len(place.alpha.calls())
    waiting = asyncio.ensure_future(place.gateway.call("alpha__slow"))
    await until_async(lambda: len(place.alpha.calls()) > sent)
    waiting.cancel()
    await asyncio.wait({waiting})

    def ended() -> bool:
        return len(house.events(place.folder, kind="tool_call", status="cancelled")) == before + 1

    await until_async(ended)
    (event,) = house.events(place.folder, kind="tool_call", status="cancelled")[before:]
    assert (event["stage"], event["body"]["executed"]) == ("failed", "no")


async def test_a_write_whose_caller_left_goes_on_and_its_true_end_is_kept(place: Place) -> None:
    """case: OBS-05"""
    waiting = asyncio.ensure_future(place.gateway.call("alpha__unwatched"))
    await until_async(
        lambda: [one for one in place.alpha.calls() if one["params"]["name"] == "unwatched"]
    )
    waiting.cancel()
    await asyncio.wait({waiting})
    (place.folder / "go").touch()
    finished = {"kind": "tool_call", "stage": "finished", "tool": "alpha.unwatched"}
    event = await house.event(place.folder, **finished)
    assert (event["body"]["status"], event["body"]["executed"]) == ("ok", "yes")


async def test_no_call_of_this_log_has_two_ends_or_none(place: Place) -> None:
    """case: OBS-05"""
    await house.call(house.as_modern(place.gateway), "alpha__good", {"n": 1})

    def unended() -> set[str]:
        found = house.events(place.folder, kind="tool_call")
        ended = [one["call"] for one in found if one["stage"] != "started"]
        assert len(ended) == len(set(ended))
        return {one["call"] for one in found} - set(ended)

    await until_async(lambda: not unended())


async def test_a_dead_server_ends_a_read_as_unavailable_and_comes_back(tmp_path: Path) -> None:
    """case: OUT-04, OBS-05"""
    listing = [tool("find"), tool("put")]
    with FakeHttp(Script(tools=listing)) as beta:
        reviewed = house.contracts(
            house.contract(listing[0], "beta"),
            house.contract(listing[1], "beta", effect=Effect.WRITE, risk=Risk.MEDIUM),
        )
        async with running(
            tmp_path, house.config({"beta": house.http(beta)}), contracts=reviewed
        ) as gateway:
            await gateway.listed("beta__find")
            beta.stop()
            for name in ("beta__find", "beta__put"):
                result = await gateway.call(name)
                said = outcome(result)
                assert (said["status"], said["executed"], said["retryable"]) == (
                    "unavailable",
                    "no",
                    True,
                )
                assert result["isError"] is True
                assert "beta" in house.texts(result)
                assert (await house.end(tmp_path, said["call_id"]))["status"] == "unavailable"
            beta.start()

            async def back() -> bool:
                return outcome(await gateway.call("beta__find"))["status"] == "ok"

            await until_async(back, house.WITHIN_S)


async def test_a_phase_that_only_plans_lets_nothing_be_changed(tmp_path: Path) -> None:
    """case: OBS-05"""
    put = tool("put")
    alpha = house.stdio(Script(tools=[put]), tmp_path)
    async with house.hosted(
        tmp_path,
        house.config({"alpha": alpha}, runs={"default_phase": "planning"}),
        policy=ALLOW,
        contracts=house.contracts(house.contract(put, effect=Effect.WRITE, risk=Risk.MEDIUM)),
    ) as host:
        said: dict[str, Any] = {}

        async def blocked() -> bool:
            nonlocal said
            said = outcome(await house.call(host, "alpha__put"))
            return said["status"] == "phase_blocked"

        await until_async(blocked, house.WITHIN_S)
        assert (await house.end(tmp_path, said["call_id"]))["status"] == "phase_blocked"
    assert record_of(tmp_path, "alpha").calls() == []
