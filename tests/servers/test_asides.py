"""What no call waits for."""

import anyio
import pytest

from gateway.servers.asides import Asides, client_session
from gateway.types.json import JsonObject
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, until_async
from tests.helpers.fleets import http_entry


def _headers(method: str, params: JsonObject) -> dict[str, str]:
    return {"content-type": "application/json", "mcp-method": method}


async def test_messages_are_posted_beside_the_calls_and_none_after_the_end() -> None:
    with FakeHttp(Script()) as fake:
        entry = http_entry(fake)
        async with client_session(entry) as pool, anyio.create_task_group() as tasks:
            asides = Asides(entry, pool, tasks, _headers)
            asides.post_soon({"jsonrpc": "2.0", "method": "own/first"}, "own/first")
            await until_async(lambda: fake.calls("own/first"))
            asides.closed = True
            asides.post_soon({"jsonrpc": "2.0", "method": "own/second"}, "own/second")
        assert not fake.calls("own/second")


async def test_a_fault_beside_the_calls_ends_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken() -> None:
        raise ValueError("x")

    with FakeHttp(Script()) as fake:
        entry = http_entry(fake)
        async with client_session(entry) as pool, anyio.create_task_group() as tasks:
            asides = Asides(entry, pool, tasks, _headers)
            assert asides.start(broken)
            await until_async(lambda: "internal fault" in caplog.text)
            asides.closed = True
            assert not asides.start(broken)


async def test_only_so_much_runs_that_may_be_left_undone() -> None:
    with FakeHttp(Script()) as fake:
        entry, go, done = http_entry(fake), anyio.Event(), list[int]()

        async def slow() -> None:
            await go.wait()
            done.append(1)

        async with client_session(entry) as pool, anyio.create_task_group() as tasks:
            asides = Asides(entry, pool, tasks, _headers)
            for _ in range(2_000):
                asides.start_some(slow)
            go.set()
            await until_async(lambda: len(done) == 1_000)
            asides.start_some(slow)
            await until_async(lambda: len(done) == 1_001)


async def test_a_new_stream_takes_over_from_the_one_before() -> None:
    with FakeHttp(Script()) as fake:
        entry, heard = http_entry(fake), list[JsonObject]()
        async with client_session(entry) as pool, anyio.create_task_group() as tasks:
            asides = Asides(entry, pool, tasks, _headers)
            asides.listen(asides.open_get, heard.append)
            await until_async(lambda: len(fake.streams) == 1)
            asides.listen(asides.open_get, heard.append)
            await until_async(lambda: fake.connections >= 2 and len(fake.streams) == 1)
            assert asides.listens
            fake.announce("own/note")
            await until_async(lambda: [note["method"] for note in heard] == ["own/note"])
            tasks.cancel_scope.cancel()
