"""Which way a request takes to a server, and what it takes along."""

from pathlib import Path
from typing import Any

import pytest

from gateway.types.json import JsonObject
from gateway.types.operations import Execution, Undelivered
from tests.helpers.fake_server import Script, record_of
from tests.helpers.fleets import call, running, stdio_entry

CAN: JsonObject = {"roots": {}}
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize("more", [{}, {"capabilities": CAN, "lane": "ada"}])
async def test_every_way_carries_the_trace_beside_the_callers_own_meta(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    async with running(stdio_entry(Script(eras=["legacy"]), tmp_path)) as servers:
        alpha = servers.server("alpha")
        await call(alpha, traceparent=TRACE, meta={"own": 1}, **more)
        (sent,) = record_of(tmp_path, "alpha").calls()
        assert sent["params"]["_meta"] == {"own": 1, "traceparent": TRACE}
        assert alpha is not None
        assert alpha.state.lanes == bool(more)


@pytest.mark.parametrize("more", [{}, {"capabilities": CAN, "lane": "ada"}])
async def test_what_may_no_longer_leave_is_not_sent_however_long_it_waited(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    async with running(stdio_entry(Script(eras=["legacy"]), tmp_path)) as servers:
        got = await call(servers.server("alpha"), may_leave=lambda: False, **more)
        assert isinstance(got, Undelivered)
        assert got.executed is Execution.NO
        assert record_of(tmp_path, "alpha").calls() == []
