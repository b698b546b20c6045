"""Servers as child processes: what they get, how they end, and what is left behind (nothing)."""

import asyncio
import json
import os
import shlex
import signal
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from gateway.types.tools import Effect, Risk
from tests.helpers.fake_server import Script, Step, alive, record_of, text, tool, until_async
from tests.helpers.gateway import ALLOW, Gateway, outcome, running, spawned
from tests.journeys import house
from tests.journeys.house import Json

MIB = 1 << 20
SECRETS = {
    "GW_DB_URL": "s1-JxK2qPwe83",
    "GW_SIGNING_KEY": "s2-JxK2qPwe83",
    "AWS_SECRET_ACCESS_KEY": "s3-JxK2qPwe83",
}
WRONG_UTF8 = b'{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"\xc3\x28"}]}}'
SIZES = [65_535, 65_536, 65_537, MIB]
STEPS: dict[str, list[Step]] = {
    "get_environment": [{"environment": True}],
    "get_wrong_bytes": [{"raw_hex": WRONG_UTF8.hex()}],
    "get_17_mib": [{"reply_text_bytes": 17 * MIB}],
    **{f"get_{size}": [{"reply_text_bytes": size}] for size in SIZES},
}


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Gateway]:
    """A gateway with secrets in its environment, under a locale that knows no letters."""
    folder = tmp_path_factory.mktemp("processes")
    tools = [tool(name) for name in [*STEPS, "get_echo"]]
    own = {"ALPHA_MODE": "loud", "ALPHA_TOKEN": "s4-JxK2qPwe83"}
    alpha = house.stdio(Script(tools=tools, on_call=STEPS), folder, env=own)
    beta = house.stdio(Script(), folder, "beta", env={"BETA_TOKEN": "s5-JxK2qPwe83"})
    config = house.unreviewed(
        {"alpha": alpha, "beta": beta},
        limits={"max_result_bytes": 60 * MIB},
    )
    async with running(
        folder,
        config,
        environ={**SECRETS, "LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"},
        listen={"max_body": 3 * MIB},
    ) as started:
        await started.listed("alpha__get_echo")
        yield started


async def test_a_child_gets_its_own_values_and_none_of_the_gateways(gateway: Gateway) -> None:
    """case: CFG-02"""
    result = await gateway.call("alpha__get_environment")
    said: Json = result["structuredContent"]
    environment = said["environment"]
    assert environment["ALPHA_MODE"] == "loud"
    assert environment["ALPHA_TOKEN"] == "[secret]"  # it was there, and stays behind
    assert {"PATH", "HOME", "LANG"} <= set(environment)
    assert not set(SECRETS) & set(environment)
    assert "BETA_TOKEN" not in environment
    assert not [one for one in said["descriptors"] if "socket" in one or "store.db" in one]
    assert not [value for value in SECRETS.values() if value in json.dumps(said)]


@pytest.mark.parametrize("size", SIZES)
async def test_a_long_line_passes_in_both_directions(gateway: Gateway, size: int) -> None:
    """case: STD-05"""
    back = await gateway.call(f"alpha__get_{size}")
    assert house.texts(back) == "x" * size
    there = await gateway.call("alpha__get_echo", {"t": "y" * size})
    assert there["structuredContent"]["arguments"] == {"t": "y" * size}


async def test_a_line_beyond_the_limit_fails_that_call_alone(gateway: Gateway) -> None:
    """case: STD-05"""
    pid = record_of(gateway.folder, "alpha").pids()
    said = outcome(await gateway.call("alpha__get_17_mib"))
    assert said["status"] == "result_too_large"
    assert "alpha" in said["reason"]
    assert outcome(await gateway.call("alpha__get_echo"))["status"] == "ok"
    assert record_of(gateway.folder, "alpha").pids() == pid


async def test_a_locale_without_letters_changes_no_text(gateway: Gateway) -> None:
    """case: STD-06"""
    words = "řemeslník 日本 🎉 \u2028 \u0000"
    result = await gateway.call("alpha__get_echo", {"t": words})
    assert result["structuredContent"]["arguments"] == {"t": words}


async def test_bytes_that_are_not_utf_8_cost_that_message_alone(gateway: Gateway) -> None:
    """case: STD-06"""
    result = await gateway.call("alpha__get_wrong_bytes")
    assert outcome(result)["status"] == "result_invalid"
    assert outcome(await gateway.call("alpha__get_echo"))["status"] == "ok"


async def test_a_child_that_dies_ends_its_calls_at_once_and_comes_back(tmp_path: Path) -> None:
    """case: STD-01, OUT-04"""
    tools = [tool("find"), tool("put"), tool("die")]
    waits: list[Step] = [{"wait_for_file": str(tmp_path / "go")}, {"reply": text("ok")}]
    die: list[Step] = [{"stderr": "boom"}, {"exit": 3}]
    fast: dict[str, list[Step]] = {"find": waits, "put": waits, "die": die}
    alpha = house.stdio(Script(tools=tools, on_call=fast), tmp_path)
    beta = house.stdio(
        Script(on_start=[{"stderr": "ModuleNotFound"}, {"exit": 1}]), tmp_path, "beta"
    )
    async with running(
        tmp_path,
        house.config({"alpha": alpha, "beta": beta}),
        contracts=house.contracts(
            house.contract(tools[0]),
            *(house.contract(tool, effect=Effect.WRITE, risk=Risk.MEDIUM) for tool in tools[1:3]),
        ),
    ) as gateway:
        await gateway.listed("alpha__find")
        record = record_of(tmp_path, "alpha")
        pending = [
            asyncio.ensure_future(gateway.call(f"alpha__{name}")) for name in ("find", "put")
        ]
        await until_async(lambda: len(record.calls()) == 2)
        began = time.monotonic()
        died = outcome(await gateway.call("alpha__die"))
        write_end = outcome(await pending[1])
        assert time.monotonic() - began < 5  # a stop waits for 10
        for end in (write_end, died):
            assert (end["status"], end["executed"]) == ("indeterminate", "unknown")
        assert "`alpha`" in died["reason"]
        assert "code 3" in died["reason"]
        assert "boom" not in died["reason"]  # a server has no words in the gateway's own text
        await until_async(lambda: len(record.pids()) >= 2, house.WITHIN_S)
        await until_async(lambda: len(record.calls()) == 4, house.WITHIN_S)
        (tmp_path / "go").touch()
        assert outcome(await pending[0])["status"] == "ok"
        sent = sorted(message["params"]["name"] for message in record.calls())
        assert sent == ["die", "find", "find", "put"]  # only the read was sent again
        state = await house.server_status(tmp_path, "beta", "failed")
        assert "ModuleNotFound" in state["reason"] + state["stderr"]


def left(folder: Path) -> list[int]:
    """Return the processes of the fake that run, whoever started them."""
    return [pid for pid in record_of(folder, "alpha").pids() if alive(pid)]


def wrapped(folder: Path) -> Json:
    """Return an entry that starts the server through a shell, as wrappers do."""
    entry = house.stdio(Script(tools=[tool("find")]), folder)
    line = shlex.join([entry["command"], *entry["args"]]) + "; true"
    return {**entry, "command": "sh", "args": ["-c", line]}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_clients_that_come_and_go_cost_no_process_and_a_stop_leaves_none(
    tmp_path: Path, number: signal.Signals
) -> None:
    """case: STD-02"""
    async with running(tmp_path, house.unreviewed({"alpha": wrapped(tmp_path)})) as gateway:
        await gateway.listed("alpha__find")
        for _ in range(20):
            async with house.legacy(gateway) as client:
                await house.call(client, "alpha__find")
        assert len(left(tmp_path)) == 1
        assert await gateway.stop(number) == 0
    await until_async(lambda: not left(tmp_path))
    assert len(record_of(tmp_path, "alpha").pids()) == 1


async def test_a_server_that_is_killed_again_and_again_is_there_once(tmp_path: Path) -> None:
    """case: STD-02"""
    async with running(tmp_path, house.unreviewed({"alpha": wrapped(tmp_path)})) as gateway:
        await gateway.listed("alpha__find")
        for _ in range(2):
            (pid,) = left(tmp_path)
            os.kill(pid, signal.SIGKILL)
            await until_async(lambda gone=pid: left(tmp_path) not in ([], [gone]), house.WITHIN_S)
        assert len(left(tmp_path)) == 1
    await until_async(lambda: not left(tmp_path))


async def test_a_host_that_kills_its_gateway_leaves_no_server_behind(tmp_path: Path) -> None:
    """case: STD-02"""
    alpha = house.stdio(Script(tools=[tool("find")]), tmp_path)
    async with house.hosted(tmp_path, house.unreviewed({"alpha": alpha}), policy=ALLOW) as host:
        await house.listed(host, "alpha__find")
        assert len(left(tmp_path)) == 1
        host.process.kill()
        await host.process.wait()
    await until_async(lambda: not left(tmp_path))


async def test_a_stop_ends_a_child_that_ignores_every_hint_and_its_helper(
    tmp_path: Path,
) -> None:
    """case: STD-07"""
    stubborn = Script(tools=[tool("find")], ignore=["eof", "sigterm"], helper=True)
    alpha = house.stdio(stubborn, tmp_path)
    async with running(tmp_path, house.unreviewed({"alpha": alpha})) as gateway:
        await gateway.listed("alpha__find")
        assert await gateway.stop() == 0
    helper = int((tmp_path / "alpha.helper").read_text())
    await until_async(lambda: not left(tmp_path) and not alive(helper))


async def stuck(gateway: Gateway, folder: Path) -> asyncio.Future[Json]:
    """Have a write under way that its server never answers."""
    await gateway.listed("alpha__put")
    waiting = asyncio.ensure_future(gateway.call("alpha__put"))
    await until_async(lambda: record_of(folder, "alpha").calls(), house.WITHIN_S)
    return waiting


def stubborn(folder: Path) -> tuple[str, str]:
    """Return configuration and contracts of a server that answers nothing and ends at nothing."""
    script = Script(
        tools=[tool("put")],
        on_call={"put": [{"delay_ms": 600_000}]},
        ignore=["eof", "sigterm"],
        helper=True,
    )
    write = house.contract(tool("put"), effect=Effect.WRITE, risk=Risk.MEDIUM)
    return house.config({"alpha": house.stdio(script, folder)}), house.contracts(write)


async def test_a_stop_with_a_call_under_way_and_a_stubborn_child_takes_ten_seconds_at_most(
    tmp_path: Path,
) -> None:
    """case: STD-07"""
    config, contracts = stubborn(tmp_path)
    async with running(tmp_path, config, contracts=contracts, begin=spawned) as gateway:
        waiting = await stuck(gateway, tmp_path)
        helper = int((tmp_path / "alpha.helper").read_text())
        began = time.monotonic()
        gateway.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(house.WITHIN_S):
            assert await gateway.process.wait() == 0
        # Ten for the call and the child together, on a machine with other work; not ten for each.
        assert time.monotonic() - began < 18
        await asyncio.gather(waiting, return_exceptions=True)
    await until_async(lambda: not left(tmp_path) and not alive(helper))
    (end,) = [
        one["body"]
        for one in house.events(tmp_path, kind="tool_call")
        if one["stage"] in {"finished", "failed"}
    ]
    assert end["executed"] == "unknown"


async def test_a_second_signal_ends_gateway_and_children_at_once(tmp_path: Path) -> None:
    """case: STD-07"""
    config, contracts = stubborn(tmp_path)
    async with running(tmp_path, config, contracts=contracts, begin=spawned) as gateway:
        waiting = await stuck(gateway, tmp_path)
        helper = int((tmp_path / "alpha.helper").read_text())
        gateway.process.send_signal(signal.SIGTERM)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await gateway.process.wait()
        began = time.monotonic()
        gateway.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(house.WITHIN_S):
            assert await gateway.process.wait() == -signal.SIGTERM
        assert time.monotonic() - began < 8  # a stop waits for 10
        await asyncio.gather(waiting, return_exceptions=True)
    await until_async(lambda: not left(tmp_path) and not alive(helper))
