"""The stdio front as a process, spoken to line by line."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from gateway import jsontext
from gateway.listen.lines import write_all
from gateway.types.json import JsonObject
from tests.listen.house import House, call_body
from tests.listen.pipes import LIMIT_S, hear, linked
from tests.listen.raw import child

ROOT = Path(__file__).parents[2]


class Host:
    """A host that starts the front and speaks to it."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.stdin = process.stdin
        self.stdout = BufferedByteReceiveStream(process.stdout)

    async def say(self, text: bytes) -> None:
        await self.stdin.send(text + b"\n")

    async def hear(self) -> JsonObject:
        value = jsontext.parse(await self.stdout.receive_until(b"\n", 1 << 21), max_bytes=1 << 21)
        assert isinstance(value, dict)
        return value

    async def ask(self, message: JsonObject) -> JsonObject:
        await self.say(jsontext.dump(message))
        return await self.hear()


@asynccontextmanager
async def started(*arguments: str) -> AsyncGenerator[Host]:
    command = [sys.executable, "-m", "tests.listen.stdio_program", *arguments]
    with anyio.fail_after(LIMIT_S):
        async with await anyio.open_process(
            command, cwd=ROOT, stderr=subprocess.DEVNULL
        ) as process:
            try:
                yield Host(process)
            finally:
                if process.returncode is None:
                    process.kill()


async def test_a_stateless_subscription_is_acknowledged_as_far_as_it_is_honoured() -> None:
    house = House()
    params = {**child(call_body("x"), "params"), "notifications": {}}
    params["notifications"] = {
        "toolsListChanged": True,
        "own/thing": True,
        "resourceSubscriptions": ["note://one", "note://gone"],
    }
    message: JsonObject = {"jsonrpc": "2.0", "id": 4, "method": "subscriptions/listen"}
    async with linked(house) as (to_front, reader, _):
        await write_all(to_front, jsontext.dump({**message, "params": params}) + b"\n")
        ack = await hear(reader)
        assert child(ack, "params")["notifications"] == {
            "toolsListChanged": True,
            "resourceSubscriptions": ["note://one"],
        }
        house.change()
        change = await hear(reader)
        house.update("note://one")
        update = await hear(reader)
        cancel: JsonObject = {"requestId": 4}
        note: JsonObject = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        await write_all(to_front, jsontext.dump({**note, "params": cancel}) + b"\n")
        await house.unwatched.wait()
        assert (house.watchers, len(house.listeners)) == ([], 1)
        task = {**message, "id": 5, "method": "tasks/get"}
        task["params"] = {**child(call_body("x"), "params"), "taskId": "t1"}
        await write_all(to_front, jsontext.dump(task) + b"\n")
        assert child(await hear(reader), "error")["code"] == -32021
        declared: JsonObject = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
        child(task, "params", "_meta")["io.modelcontextprotocol/clientCapabilities"] = declared
        await write_all(to_front, jsontext.dump(task) + b"\n")
        assert child(await hear(reader), "result")["status"] == "working"
    assert change["method"] == "notifications/tools/list_changed"
    meta: JsonObject = {"io.modelcontextprotocol/subscriptionId": 4}
    assert child(change, "params", "_meta") == meta
    assert update["method"] == "notifications/resources/updated"
    assert update["params"] == {"uri": "note://one", "_meta": meta}


async def test_a_stateless_client_discovers_calls_and_sees_progress() -> None:
    steps = call_body("steps", meta={"progressToken": "t"})
    discover = {**call_body("x"), "method": "server/discover"}
    async with linked(House()) as (to_front, reader, _):
        await write_all(to_front, jsontext.dump(discover) + b"\n" + jsontext.dump(steps) + b"\n")
        heard = [await hear(reader) for _ in range(5)]
    results = [child(message, "result") for message in heard if "result" in message]
    progress = [child(message, "params") for message in heard if "params" in message]
    assert [result["resultType"] for result in results] == ["complete", "complete"]
    assert [params["progress"] for params in progress] == [0, 1, 2]


async def test_a_cancelled_request_does_not_hold_the_end_of_input() -> None:
    house = House()
    slow = {**call_body("slow"), "id": 8}
    cancel = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}'
    async with linked(house) as (to_front, _, _):
        await write_all(to_front, jsontext.dump(slow) + b"\n")
        await house.started.wait()
        await write_all(to_front, cancel + b"\n")
        await house.cancelled.wait()
        os.close(to_front)
        assert not house.release.is_set()


async def test_stopping_does_not_wait_for_requests() -> None:
    house = House()
    async with linked(house) as (to_front, _, stop):
        await write_all(to_front, jsontext.dump(call_body("slow")) + b"\n")
        await house.started.wait()
        stop.set()
        await house.cancelled.wait()


async def test_every_line_gets_the_answer_it_deserves() -> None:
    async with started("2000") as host:
        big = await host.ask(call_body("echo", {"n": 10**40}))
        assert child(big, "result", "structuredContent") == {"n": 10**40}
        assert child(big, "result")["resultType"] == "complete"

        body = jsontext.dump(call_body("echo", {"a": "X"})).replace(b'"X"', b"NaN")
        await host.say(body)
        refused = child(await host.hear(), "result", "structuredContent")
        assert refused["status"] == "invalid_arguments"

        for line, code in [
            (b"{", -32700),
            (b"[]", -32600),
            (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
            (b"x" * 3000, -32600),
            (b"\xff", -32700),
        ]:
            await host.say(line)
            error = await host.hear()
            assert error["id"] is None
            assert child(error, "error")["code"] == code

        await host.say(b"")
        await host.say(b'{"jsonrpc":"2.0","id":5,"result":{}}')  # a response nobody waits for
        ping: JsonObject = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
        ping["params"] = child(call_body("x"), "params")
        answer = await host.ask(ping)
        assert (answer["id"], child(answer, "error")["code"]) == ("p", -32601)

        fresh = await host.ask({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
        assert child(fresh, "error")["code"] == -32022


async def test_nothing_goes_before_the_handshake() -> None:
    async with started() as host:
        params: JsonObject = {"name": "echo"}
        early: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        assert child(await host.ask(early), "error")["code"] == -32600
        ping: JsonObject = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert await host.ask(ping) == {"jsonrpc": "2.0", "id": 2, "result": {}}


async def test_the_end_of_input_lets_requests_finish() -> None:
    async with started() as host:
        await host.say(jsontext.dump(call_body("echo", {"n": 1})))
        await host.stdin.aclose()
        assert child(await host.hear(), "result", "structuredContent") == {"n": 1}
        assert await host.process.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_at_once_with_a_call_under_way(number: signal.Signals) -> None:
    async with started() as host:
        await host.ask(call_body("echo"))
        await host.say(jsontext.dump(call_body("slow", meta={"progressToken": 1})))
        host.process.send_signal(number)
        with anyio.fail_after(15):
            assert await host.process.wait() == 0


def test_a_host_that_vanishes_ends_it() -> None:
    command = [sys.executable, "-m", "tests.listen.stdio_program"]
    message = jsontext.dump(call_body("echo")) + b"\n"
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(message)
        process.stdin.flush()
        assert process.stdout.readline()
        process.stdout.close()
        process.stdin.write(message)
        process.stdin.flush()
        assert process.wait(LIMIT_S) == 0


async def test_messages_that_are_turned_away_are_noticed_without_their_text() -> None:
    """case: OBS-05"""
    house = House()
    secret = "hunter2-in-a-body"
    lines = {
        "parse_error": b'{"a": "' + secret.encode(),
        "invalid_request": jsontext.dump({"jsonrpc": "1.0", "id": 1, "method": "ping"}),
        "method_not_found": jsontext.dump(
            {**call_body("echo"), "method": secret},
        ),
    }
    async with linked(house) as (to_front, reader, _):
        for line in lines.values():
            await write_all(to_front, line + b"\n")
            await hear(reader)
    assert [found.reason for found in house.turned] == list(lines)
    assert [found.method for found in house.turned] == ["", "ping", ""]
    assert {found.transport for found in house.turned} == {"stdio"}
    assert secret not in repr(house.turned)
