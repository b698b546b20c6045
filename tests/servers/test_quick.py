"""Reads that are sent at once: they arrive and end as any other read does."""

from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import anyio
import pytest

from gateway import jsontext
from gateway.servers.quick import QuickReads
from gateway.servers.supervisor import Server
from gateway.types.json import JsonObject
from gateway.types.operations import Delivery, Execution, Failure
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, text, until_async
from tests.helpers.fleets import (
    Listener,
    call,
    failed,
    first_text,
    http_entry,
    running,
    structured,
)

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
MESSAGE = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"ř"}]}}'


class Counted:
    """How many reads were sent at once."""

    def __init__(self) -> None:
        self.count = 0


@pytest.fixture
def sent_at_once() -> Generator[Counted]:
    counted, read = Counted(), QuickReads.read

    def noted(*given: Any) -> Any:
        counted.count += 1
        return read(*given)

    with patch.object(QuickReads, "read", noted):
        yield counted


async def quickly(server: Server | None, name: str = "echo", **more: Any) -> Delivery:
    """Call as a read whose arguments are written."""
    arguments: JsonObject = more.pop("arguments", {})
    return await call(
        server,
        name,
        arguments,
        is_read=True,
        written=jsontext.dump(arguments),
        traceparent=TRACE,
        **more,
    )


async def test_it_arrives_as_any_other_read(fake: FakeHttp, sent_at_once: Counted) -> None:
    given: JsonObject = {"x": [1, {"ř": None}], "text": 'a"b'}
    async with running(http_entry(fake, headers={"X-Own": "1"})) as servers:
        alpha = servers.server("alpha")
        plain = structured(await call(alpha, "echo", given, is_read=True, traceparent=TRACE))
        quick = structured(await quickly(alpha, arguments=given))
    assert sent_at_once.count == 1
    assert quick == plain
    one, two = fake.calls()
    assert two["params"] == one["params"]
    assert two["id"] > one["id"]
    lengths = {"content-length"}
    heads = [{k: v for k, v in each["headers"].items() if k not in lengths} for each in (one, two)]
    assert heads[0] == heads[1]


ANSWERS: dict[str, list[Any]] = {
    "json": [{"reply": text("plain")}],
    "stream": [{"sse": [f"event: message\r\ndata: {MESSAGE}\r\n\r\n"]}],
    "stream in pieces": [{"sse": [": x\n\n", f"data: {MESSAGE}\n\n"]}],
    "stream without an answer": [{"sse": [": nothing\n\n"]}],
    "error": [{"error": {"code": -32000, "message": "no"}}],
    "no json": [{"http": 200, "body": "hello"}],
    "no number": [{"http": 200, "body": '{"jsonrpc":"2.0","id":$ID,"result":{"x":NaN}}'}],
    "another's": [{"http": 200, "body": {"jsonrpc": "2.0", "id": 999, "result": {}}}],
    "no result": [{"http": 200, "body": {"jsonrpc": "2.0", "id": "$ID", "result": 1}}],
    "401": [{"http": 401, "body": "who"}],
    "404": [{"http": 404, "body": "where"}],
    "429": [{"headers": [("retry-after", "3")]}, {"http": 429, "body": "later"}],
    "500": [{"http": 500, "body": "broken"}],
    "dropped": [{"drop": True}],
    "late": [{"delay_ms": 60_000}],
}


@pytest.mark.parametrize("answer", ANSWERS)
async def test_it_ends_as_any_other_read(
    fake: FakeHttp, sent_at_once: Counted, answer: str
) -> None:
    ends: list[Delivery] = []
    requests: list[list[Any]] = []
    for send in (partial(call, is_read=True, traceparent=TRACE), quickly):
        fake.script.on_call = {"odd": ANSWERS[answer]}
        async with running(http_entry(fake)) as servers:
            alpha, before = servers.server("alpha"), len(fake.calls())
            structured(await call(alpha, is_read=True))  # so that a connection is free
            ends.append(await send(alpha, "odd", deadline_s=0.3 if answer == "late" else 5.0))
            requests.append([each["params"] for each in fake.calls()[before:]])
    assert sent_at_once.count == 1
    assert ends[1] == ends[0]
    assert requests[1] == requests[0]  # as often repeated, too


@pytest.mark.parametrize("cancelled", [True, False])
async def test_a_server_learns_that_nobody_waits(
    fake: FakeHttp, sent_at_once: Counted, cancelled: bool
) -> None:
    fake.script.on_call = {"hang": [{"delay_ms": 60_000}]}
    async with running(http_entry(fake)) as servers:
        alpha = servers.server("alpha")
        if cancelled:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(partial(quickly, alpha, "hang"))
                await until_async(fake.calls)
                tasks.cancel_scope.cancel()
        else:
            got = failed(await quickly(alpha, "hang", deadline_s=0.2))
            assert (got.failure, got.executed) == (Failure.TIMEOUT, Execution.UNKNOWN)
        await until_async(lambda: fake.disconnects)
        if fake.script.eras == ["legacy"]:
            await until_async(lambda: fake.calls("notifications/cancelled"))
            (told,) = fake.calls("notifications/cancelled")
            assert told["params"]["requestId"] == fake.calls()[0]["id"]
        assert first_text(await quickly(alpha)) == "echo"
    assert sent_at_once.count >= 1


async def test_a_deadline_holds_while_an_answer_drips(
    fake: FakeHttp, sent_at_once: Counted
) -> None:
    fake.script.on_call = {"drip": [{"sse": [": x\n\n"]}, {"delay_ms": 20}] * 300}
    async with running(http_entry(fake)) as servers:
        got = failed(await quickly(servers.server("alpha"), "drip", deadline_s=0.3))
    assert got.failure is Failure.TIMEOUT
    assert sent_at_once.count == 1


async def test_the_connection_is_used_again(fake: FakeHttp, sent_at_once: Counted) -> None:
    async with running(http_entry(fake)) as servers:
        alpha = servers.server("alpha")
        structured(await quickly(alpha))
        before = fake.connections
        for _ in range(10):
            structured(await quickly(alpha))
        assert fake.connections == before
        assert alpha is not None
        assert alpha.state.in_flight == 0
    assert sent_at_once.count == 11


async def test_without_a_free_connection_it_is_sent_like_any_other(
    fake: FakeHttp, tmp_path: Path, sent_at_once: Counted
) -> None:
    go = tmp_path / "go"
    fake.script.on_call = {"slow": [{"wait_for_file": str(go)}, {"reply": text("slow")}]}
    async with running(http_entry(fake)) as servers:
        alpha, got = servers.server("alpha"), list[Delivery]()

        async def slow() -> None:
            got.append(await quickly(alpha, "slow"))

        async with anyio.create_task_group() as tasks:
            for number in range(1, 4):
                tasks.start_soon(slow)
                await until_async(lambda number=number: len(fake.calls()) == number)
            go.touch()
    assert [first_text(each) for each in got] == ["slow"] * 3
    assert sent_at_once.count < 3


async def test_all_places_taken_is_waited_for_as_ever(fake: FakeHttp, tmp_path: Path) -> None:
    go = tmp_path / "go"
    fake.script.on_call = {"slow": [{"wait_for_file": str(go)}, {"reply": text("slow")}]}
    async with running(http_entry(fake, max_calls=1)) as servers:
        alpha, ends = servers.server("alpha"), list[Delivery]()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(quickly, alpha, "slow")
            await until_async(fake.calls)
            ends.append(await quickly(alpha, deadline_s=0.2))
            go.touch()
        assert failed(ends[0]).failure is Failure.BUSY
        assert first_text(await quickly(alpha)) == "echo"


async def test_on_a_lane_nothing_is_sent_at_once(legacy: FakeHttp, sent_at_once: Counted) -> None:
    """Its server may ask whoever calls."""
    asks: JsonObject = {"elicitation": {}}
    async with running(http_entry(legacy), asks=lambda _: asks) as servers:
        alpha = servers.server("alpha")
        structured(await quickly(alpha))
        assert sent_at_once.count == 1
        whose: dict[str, Any] = {"capabilities": asks, "lane": "a", "owner": "a"}
        structured(await quickly(alpha, ear=Listener(), **whose))
    assert sent_at_once.count == 1


async def test_it_is_only_for_reads_that_say_so(fake: FakeHttp, sent_at_once: Counted) -> None:
    async with running(http_entry(fake)) as servers:
        structured(await call(servers.server("alpha"), is_read=True))
        structured(await call(servers.server("alpha")))
    assert sent_at_once.count == 0


async def test_a_session_that_is_being_renewed_is_waited_for(sent_at_once: Counted) -> None:
    with FakeHttp(Script(eras=["legacy"])) as fake:
        async with running(http_entry(fake)) as servers:
            alpha = servers.server("alpha")
            structured(await quickly(alpha))
            fake.forget_sessions()
            assert first_text(await quickly(alpha)) == "echo"
            assert first_text(await quickly(alpha)) == "echo"
    assert sent_at_once.count == 3
