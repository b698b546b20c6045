"""Several workers serve one port: whichever gets a request, the caller sees one gateway."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gateway.types.tools import Effect, Risk
from tests.helpers import forked
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, alive, record_of, text, tool, until_async
from tests.helpers.forked import Forked
from tests.helpers.gateway import MODERN, Gateway, outcome, running
from tests.journeys import house
from tests.journeys.house import Json, LegacyHttp

FIND, PUT, ASK = tool("find"), tool("put"), tool("ask")
POLICY = """rules:
  - {id: all, decision: allow, match: {tools: ['*']}}
  - {id: asking, decision: allow, match: {methods: [elicitation/create], servers: [alpha]}}
"""
DENY = POLICY.replace("tools: ['*']", "tools: [alpha.put, alpha.ask]")
QUESTION = {
    "message": "how many?",
    "requestedSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
}
FORM: Json = {"elicitation": {"form": {}}}
SSE = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


async def of_two(words: Sequence[str], log: Path, environ: Mapping[str, str]) -> Forked:
    """Begin the command with two workers."""
    return forked.begin([words[0], "--workers", "2", *words[1:]], log, environ)


@dataclass
class House:
    """A gateway of two workers, and the server behind it."""

    gateway: Gateway
    alpha: FakeHttp

    @property
    def folder(self) -> Path:
        return self.gateway.folder

    def pids(self) -> dict[int, int]:
        """Return the process of each worker that runs."""
        found: list[Json] = [line for lines in self.gateway.command("status") for line in lines]
        return {each["worker"]["number"]: each["pid"] for each in found}

    async def whole(self) -> dict[int, int]:
        """Wait until both workers run."""

        async def holds() -> bool:
            return set(await asyncio.to_thread(self.pids)) == {1, 2}

        await until_async(holds, house.WITHIN_S)
        return await asyncio.to_thread(self.pids)


@dataclass
class Way:
    """One connection, which leads to one worker for as long as it is open."""

    http: aiohttp.ClientSession
    session: LegacyHttp  # begun over it

    @property
    def worker(self) -> int:
        return int(self.session.headers["Mcp-Session-Id"].split("-")[0].removeprefix("w"))


@asynccontextmanager
async def way(gateway: Gateway) -> AsyncGenerator[Way]:
    connector = aiohttp.TCPConnector(limit=1)
    async with aiohttp.ClientSession(connector=connector) as http:
        session = LegacyHttp(http, gateway.url, house.LEGACY)
        await session.begin(house.LEGACY)
        yield Way(http, session)


@asynccontextmanager
async def way_to(gateway: Gateway, worker: int) -> AsyncGenerator[Way]:
    """Connect to one of the workers, which takes a few attempts: the system shares them out."""
    for _ in range(64):
        async with way(gateway) as found:
            if found.worker == worker:
                yield found
                return
    raise AssertionError(f"no connection came to worker {worker}")


def over(other: Way, session: LegacyHttp) -> LegacyHttp:
    """Return a session as it is used over another connection."""
    moved = LegacyHttp(other.http, session._url, house.LEGACY)  # pyright: ignore[reportPrivateUsage] - of the same test code
    moved.headers, moved._id = session.headers, 1000  # pyright: ignore[reportPrivateUsage] - as above
    return moved


async def modern(found: Way, url: str, method: str, params: Json) -> Json:
    """Send a stateless request over a connection, from a client that can be asked."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": FORM,
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    headers = {
        **SSE,
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": method,
        "Mcp-Name": "alpha__ask",
    }
    async with found.http.post(url, data=json.dumps(body).encode(), headers=headers) as answer:
        return json.loads(await answer.text())["result"]


@pytest.fixture(scope="module")
async def only(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[House]:
    folder = tmp_path_factory.mktemp("workers")
    steps: dict[str, list[Json]] = {
        "put": [{"wait_for_file": str(folder / "go")}, {"reply": text("done")}],
        "ask": [
            {"request": {"method": "elicitation/create", "params": QUESTION}},
            {"reply": text("asked")},
        ],
    }
    script = Script(tools=[FIND, PUT, ASK], eras=["legacy"], on_call=steps)
    with FakeHttp(script) as alpha:
        contracts = house.contracts(
            house.contract(FIND),
            house.contract(ASK),
            house.contract(PUT, effect=Effect.WRITE, risk=Risk.MEDIUM),
        )
        config = house.config({"alpha": house.http(alpha)}, operations={"lease": "1s"})
        async with running(
            folder, config, policy=POLICY, contracts=contracts, begin=of_two
        ) as gateway:
            await gateway.listed("alpha__find")
            yield House(gateway, alpha)


async def test_a_session_is_answered_whichever_worker_its_requests_reach(only: House) -> None:
    gateway = only.gateway
    async with way_to(gateway, 1) as first, way_to(gateway, 2) as second:
        for here, there in ((first, second), (second, first)):
            moved = over(there, here.session)
            said = await moved.request("tools/call", {"name": "alpha__find", "arguments": {"a": 1}})
            assert said["id"] == 1001
            assert said["result"]["structuredContent"]["arguments"] == {"a": 1}
            assert await moved.request("ping") == {"jsonrpc": "2.0", "id": 1002, "result": {}}

    def instances() -> set[str]:
        # Those of this test: workers that others of this module killed had names of their own.
        calls = house.events(only.folder, kind="tool_call")[-2:]
        return {one["gateway"]["instance"] for one in calls}

    await until_async(lambda: len(instances()) == 2)


async def test_a_stream_opened_at_the_other_worker_tells_of_changed_lists(only: House) -> None:
    gateway = only.gateway
    policy = only.folder / "policies/policy.yaml"
    async with AsyncExitStack() as stack:
        ways = [await stack.enter_async_context(way_to(gateway, number)) for number in (1, 2)]
        aside = [await stack.enter_async_context(way_to(gateway, number)) for number in (2, 1)]
        streams = [
            await stack.enter_async_context(
                other.http.get(gateway.url, headers=found.session.headers)
            )
            for found, other in zip(ways, aside, strict=True)
        ]
        assert [stream.status for stream in streams] == [200, 200]
        policy.write_text(DENY)
        gateway.process.send_signal(signal.SIGHUP)  # the parent passes it on to both
        for stream in streams:
            async with asyncio.timeout(house.WITHIN_S):
                while b"tools/list_changed" not in await stream.content.readline():
                    pass
        for found in ways:
            names = (await found.session.request("tools/list"))["result"]["tools"]
            assert "alpha__find" not in [each["name"] for each in names]
        policy.write_text(POLICY)
        gateway.process.send_signal(signal.SIGHUP)
        for stream in streams:
            async with asyncio.timeout(house.WITHIN_S):
                while b"tools/list_changed" not in await stream.content.readline():
                    pass
            stream.close()
    await gateway.listed("alpha__find")


async def test_a_session_that_was_ended_at_the_other_worker_is_ended(only: House) -> None:
    gateway = only.gateway
    async with way_to(gateway, 1) as first, way_to(gateway, 2) as second:
        async with second.http.delete(gateway.url, headers=first.session.headers) as answer:
            assert answer.status == 200
        for found in (first, second):
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
            async with found.http.post(
                gateway.url, data=body, headers=first.session.headers
            ) as answer:
                assert answer.status == 404


@pytest.mark.parametrize("made_up", ["w1-nobody", "w2-nobody", "w7-nobody", "nobody"])
async def test_a_session_that_was_made_up_is_unknown_everywhere(only: House, made_up: str) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    for _ in range(4):
        async with (
            aiohttp.ClientSession() as http,
            http.post(
                only.gateway.url, data=body, headers={**SSE, "Mcp-Session-Id": made_up}
            ) as answer,
        ):
            assert answer.status == 404
            assert "Session not found" in await answer.text()


async def test_an_answer_finds_the_call_that_waits_for_it_at_the_other_worker(only: House) -> None:
    url = only.gateway.url
    call: Json = {"name": "alpha__ask", "arguments": {}}
    async with way_to(only.gateway, 1) as first, way_to(only.gateway, 2) as second:
        for here, there in ((first, second), (second, first)):
            asked = await modern(here, url, "tools/call", call)
            assert asked["resultType"] == "input_required"
            (key,) = asked["inputRequests"]
            back = {
                "requestState": asked["requestState"],
                "inputResponses": {key: {"action": "accept", "content": {"n": 3}}},
            }
            done = await modern(there, url, "tools/call", {**call, **back})
            assert house.texts(done) == "asked"


async def test_a_killed_worker_comes_back_and_a_write_of_its_is_not_done_twice(
    only: House,
) -> None:
    gateway = only.gateway
    before = await only.whole()
    call = {"name": "alpha__put", "arguments": {"what": "once"}}
    async with way_to(gateway, 1) as first, way_to(gateway, 2) as second:
        sent = len(only.alpha.calls("tools/call"))
        pending = asyncio.ensure_future(over(first, second.session).request("tools/call", call))
        await until_async(lambda: len(only.alpha.calls("tools/call")) > sent)
        os.kill(before[2], signal.SIGKILL)
        assert "repeat the call" in (await pending)["error"]["message"]
        await until_async(lambda: not alive(before[2]), house.WITHIN_S)
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()

        async def answered() -> int:
            headers = second.session.headers
            async with first.http.post(gateway.url, data=body, headers=headers) as answer:
                return answer.status

        # Until its last socket is closed, a request may reach it, and is answered with 502.
        async with asyncio.timeout(house.WITHIN_S):
            while (status := await answered()) == 502:
                await asyncio.sleep(0.05)
        assert status == 404  # its session is gone, and its client begins anew
        assert (await first.session.request("ping"))["result"] == {}
        (only.folder / "go").touch()

        async def settled() -> Json:
            said = await first.session.request("tools/call", call)
            return outcome(said["result"])

        async def is_settled() -> bool:
            return (await settled())["status"] not in {"in_progress", "pending"}

        await until_async(is_settled, house.WITHIN_S)
        assert (await settled())["status"] == "indeterminate"
        assert len(only.alpha.calls("tools/call")) == sent + 1
    after = await only.whole()
    assert after[1] == before[1]
    assert after[2] != before[2]
    log = (only.folder / "log.txt").read_text()
    assert f"worker 2 of 2 (pid {before[2]}) was ended by SIGKILL; it starts anew" in log
    async with way_to(gateway, 2) as again:
        assert (await again.session.request("ping"))["result"] == {}


async def test_the_end_of_the_parent_is_the_end_of_its_workers_in_either_way(
    tmp_path: Path,
) -> None:
    for number, code in ((signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)):
        folder = tmp_path / str(number)
        folder.mkdir()
        config = house.unreviewed({"alpha": house.stdio(Script(tools=[FIND]), folder)})
        async with running(folder, config, begin=of_two) as gateway:
            pids = await House(gateway, FakeHttp(Script())).whole()
            gateway.process.send_signal(number)
            await until_async(lambda pids=pids: not any(map(alive, pids.values())), house.WITHIN_S)
            assert await gateway.process.wait() == code
            await until_async(
                lambda folder=folder: not any(map(alive, record_of(folder, "alpha").pids())),
                house.WITHIN_S,
            )
            assert len(house.events(folder, action="gateway_stopped")) == 2


def config_of(folder: Path, **sections: Any) -> list[str]:
    (folder / "policies").mkdir()
    (folder / "policies/policy.yaml").write_text(POLICY)
    sections.setdefault("store", f"sqlite:///{folder}/store.db")
    (folder / "config.yaml").write_text(
        house.config({}, **{"admin": {"address": "127.0.0.1:0"}, **sections})
    )
    return ["serve", "--workers", "2", "--config", str(folder / "config.yaml")]


async def test_a_port_that_other_workers_have_is_taken(only: House, tmp_path: Path) -> None:
    address = only.gateway.url.removeprefix("http://").removesuffix("/mcp")
    words = config_of(tmp_path, listen={"address": address})
    done = await asyncio.to_thread(forked.ran, words)
    assert done.returncode == 2
    assert f"can't listen on `{address}`: Address already in use" in done.stderr


def test_workers_that_cannot_start_end_the_command_and_say_why_once_each(tmp_path: Path) -> None:
    done = forked.ran(
        config_of(tmp_path, listen={"address": "127.0.0.1:0"}, store="sqlite:////dev/null/store.db")
    )
    assert done.returncode != 0
    assert "before it served; all workers end" in done.stderr
    assert "/dev/null" in done.stderr
