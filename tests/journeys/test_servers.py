"""Servers that are slow, dead, changing or broken: what agents and operators get to see of it."""

import socket
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, Step, record_of, text, tool, until_async
from tests.helpers.gateway import ALLOW, outcome, running
from tests.journeys import house
from tests.journeys.house import Json


@contextmanager
def silent() -> Generator[str]:
    """Accept connections and say nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"


@contextmanager
def closed() -> Generator[str]:
    """A port that nobody listens on; it stays taken, so that nobody else gets it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"


async def test_servers_that_do_not_start_cost_the_others_nothing(tmp_path: Path) -> None:
    """case: LIF-01"""
    alpha = house.stdio(Script(tools=[tool("find")]), tmp_path)
    with silent() as gamma, closed() as beta:
        servers = {
            "alpha": alpha,
            "beta": {"url": beta},
            "gamma": {"url": gamma, "start_timeout": "1s"},
            "delta": {"command": "no-such-command"},
        }
        began = time.monotonic()
        async with running(tmp_path, house.unreviewed(servers)) as gateway:
            assert time.monotonic() - began < 8  # most of it is the start of the interpreter
            await gateway.listed("alpha__find")
            began = time.monotonic()
            assert await gateway.names() == ["alpha__find"]
            assert time.monotonic() - began < 0.5
            assert outcome(await gateway.call("alpha__find"))["status"] == "ok"
            reasons = {"beta": "refused", "gamma": "in time", "delta": "no-such-command"}
            for name, reason in reasons.items():
                state = await house.server_status(tmp_path, name, "failed")
                assert reason in state["reason"], state


async def test_a_changed_list_is_judged_anew_before_the_host_hears_of_it(tmp_path: Path) -> None:
    """case: LIF-02"""
    required = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    first = [tool("t1"), tool("t3"), tool("change")]
    second = [tool("t2"), tool("t3", inputSchema=required), tool("change")]
    steps: list[Step] = [
        {"set": {"tools": second}},
        {"notify": {"method": "notifications/tools/list_changed"}},
        {"reply": text("done")},
    ]
    alpha = house.stdio(Script(tools=first, on_call={"change": steps}), tmp_path)
    reviewed = house.contracts(*(house.contract(one) for one in first))
    async with house.hosted(
        tmp_path, house.config({"alpha": alpha}), policy=ALLOW, contracts=reviewed
    ) as host:
        await house.listed(host, "alpha__t1", "alpha__t3")
        host.notes.clear()
        await house.call(host, "alpha__change")
        await host.until_note("notifications/tools/list_changed")
        assert await house.names_of(host) == ["alpha__change"]
        for name, status in (
            ("t1", "unknown_tool"),
            ("t2", "unknown_tool"),
            ("t3", "tool_changed"),
        ):
            assert outcome(await house.call(host, f"alpha__{name}"))["status"] == status
        assert len(record_of(tmp_path, "alpha").calls()) == 1
        changed = await house.event(tmp_path, action="tool_changed", tool="alpha.t3")
        assert "/inputSchema/required" in str(changed["body"]["changes"])


async def test_many_notes_of_a_change_cause_few_new_lists_and_the_new_schema_is_enforced(
    tmp_path: Path,
) -> None:
    """case: LIF-02"""
    required = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    with FakeHttp(Script(tools=[tool("get_a")])) as alpha:
        config = house.unreviewed({"alpha": house.http(alpha)})
        async with running(tmp_path, config) as gateway:
            await gateway.listed("alpha__get_a")
            await until_async(lambda: alpha.streams)
            before = len(alpha.calls("tools/list"))
            alpha.script.tools = [tool("get_a", inputSchema=required), tool("get_b")]
            for _ in range(20):
                alpha.announce()
            await gateway.listed("alpha__get_b")
            assert outcome(await gateway.call("alpha__get_a"))["status"] == "invalid_arguments"
            assert outcome(await gateway.call("alpha__get_a", {"n": 1}))["status"] == "ok"
            assert len(alpha.calls("tools/list")) - before <= 4


async def test_a_slow_start_of_one_server_delays_no_handshake(tmp_path: Path) -> None:
    """case: LIF-03"""
    wait: list[Step] = [{"wait_for_file": str(tmp_path / "go")}]
    slow = Script(tools=[tool("find")], on_start=wait)
    servers = {"alpha": house.stdio(slow, tmp_path)} | {
        f"s{number}": house.stdio(Script(tools=[tool("find")]), tmp_path, f"s{number}")
        for number in range(3)
    }
    began = time.monotonic()
    async with house.hosted(tmp_path, house.unreviewed(servers), policy=ALLOW) as host:
        assert time.monotonic() - began < 8
        await house.listed(host, "s0__find", "s1__find", "s2__find")
        assert "alpha__find" not in await house.names_of(host)
        host.notes.clear()
        (tmp_path / "go").touch()
        await host.until_note("notifications/tools/list_changed")
        await house.listed(host, "alpha__find")


async def test_a_list_that_fails_is_told_apart_from_an_empty_one(tmp_path: Path) -> None:
    """case: LIF-07"""
    failing = Script(on_list=[{"error": {"code": -32603, "message": "x"}}])
    with FakeHttp(Script(on_list=[{"http": 401}])) as beta:
        servers: dict[str, Json] = {
            "alpha": house.stdio(failing, tmp_path),
            "beta": house.http(beta),
            "gamma": house.stdio(Script(tools=[]), tmp_path, "gamma"),
            "delta": house.stdio(Script(tools=[tool("find")]), tmp_path, "delta"),
        }
        async with running(tmp_path, house.unreviewed(servers)) as gateway:
            await gateway.listed("delta__find")
            assert await gateway.names() == ["delta__find"]

            def told() -> bool:
                names = ("alpha", "beta", "gamma")
                found = {name: house.server_of(tmp_path, name) for name in names}
                return (
                    bool(found["alpha"]["reason"])
                    and "credential" in found["beta"]["reason"]
                    and found["gamma"]["status"] == "ready"
                    and not found["gamma"]["reason"]
                )

            await until_async(told, house.WITHIN_S)


async def test_a_known_list_outlives_a_failing_one_and_is_called_stale(tmp_path: Path) -> None:
    """case: LIF-07"""
    with FakeHttp(Script(tools=[tool("get_a")])) as alpha:
        config = house.unreviewed({"alpha": house.http(alpha)})
        async with running(tmp_path, config) as gateway:
            await gateway.listed("alpha__get_a")
            await until_async(lambda: alpha.streams)
            alpha.script.on_list = [{"error": {"code": -32603, "message": "x"}}]
            alpha.announce()

            def stale() -> bool:
                state = house.server_of(tmp_path, "alpha")
                return state["stale"] and bool(state["reason"])

            await until_async(stale, house.WITHIN_S)
            assert await gateway.names() == ["alpha__get_a"]
            assert outcome(await gateway.call("alpha__get_a"))["status"] == "ok"


async def test_a_reviewed_tool_of_a_server_that_is_not_there_yet_is_unavailable_not_unknown(
    tmp_path: Path,
) -> None:
    """case: LIF-03"""
    names = ("find", "hidden", "draft")
    wait: list[Step] = [{"wait_for_file": str(tmp_path / "go")}]
    servers: dict[str, Json] = {
        "alpha": house.stdio(Script(tools=[tool(name) for name in names], on_start=wait), tmp_path),
        "beta": {"command": "no-such-command"},
    }
    contracts = house.contracts(
        house.contract(tool("find")),
        house.contract(tool("hidden")),
        house.contract(tool("draft"), reviewed=False),
        house.contract(tool("find"), "beta"),
    )
    policy = "rules:\n  - {id: all, decision: allow, match: {tools: ['*.find', '*.draft']}}\n"
    config = house.config(servers)
    async with running(tmp_path, config, contracts=contracts, policy=policy) as gateway:
        assert await gateway.names() == []
        starting = outcome(await gateway.call("alpha__find"))
        assert (starting["status"], starting["executed"]) == ("unavailable", "no")
        assert starting["reason"] == "`alpha` is still starting"
        assert starting["retryable"] is True
        assert starting["retry_after_s"] > 0
        down = outcome(await gateway.call("beta__find"))
        assert down["status"] == "unavailable"
        assert "no-such-command" in down["reason"]
        for name in ("alpha__hidden", "alpha__draft", "alpha__made_up", "gamma__find"):
            assert outcome(await gateway.call(name))["status"] == "unknown_tool", name
        end = await house.end(tmp_path, starting["call_id"])
        assert (end["status"], end["tool"]) == ("unavailable", "alpha.find")
        (tmp_path / "go").touch()
        await gateway.listed("alpha__find")
        assert outcome(await gateway.call("alpha__find"))["status"] == "ok"
