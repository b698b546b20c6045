"""Streams that no call belongs to."""

from typing import Any

import pytest

from gateway.servers import streams
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, until_async
from tests.helpers.fleets import http_entry, running


async def test_a_stream_that_was_cut_is_opened_again_and_the_tools_are_listed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streams, "_FIRST_PAUSE_S", 0.05)
    with FakeHttp(Script(eras=["legacy"])) as fake:
        async with running(http_entry(fake)):
            await until_async(lambda: fake.streams)
            lists = len(fake.calls("tools/list"))
            fake.close_all()
            await until_async(lambda: len(fake.calls("tools/list")) > lists)
            await until_async(lambda: fake.streams)


@pytest.mark.parametrize("status", [404, 405, 500])
async def test_a_server_without_such_a_stream_is_not_asked_again(status: int) -> None:
    with FakeHttp(Script(eras=["legacy"])) as fake:
        fake.on_get = [{"http": status}]
        async with running(http_entry(fake)) as servers:
            await until_async(lambda: [m for m, _ in fake.requests if m == "GET"])
            assert servers.states()[0].status == "ready"
    assert len([method for method, _ in fake.requests if method == "GET"]) == 1


async def test_a_server_that_tells_no_changes_is_not_listened_to() -> None:
    capabilities: dict[str, Any] = {"tools": {}}
    with FakeHttp(Script(eras=["legacy"], capabilities=capabilities)) as fake:
        async with running(http_entry(fake)):
            pass
    assert not [method for method, _ in fake.requests if method == "GET"]
