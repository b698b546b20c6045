"""Servers behind Streamable HTTP: sessions and connections that end, and who waits for what."""

import time
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.crossing.presence import Waiting
from gateway.protocol.words import SESSION_HEADER
from gateway.types.operations import Delivered, Delivery, Execution, Failure
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import text, until_async
from tests.helpers.fleets import (
    call,
    failed,
    first_text,
    http_entry,
    running,
)


@pytest.mark.parametrize("is_read", [True, False])
async def test_a_forgotten_session_is_renewed_once_for_all_calls(
    legacy: FakeHttp, is_read: bool
) -> None:
    """case: HTT-01, IDM-03"""
    async with running(http_entry(legacy)) as servers:
        alpha = servers.server("alpha")
        legacy.forget_sessions()
        got: list[Any] = []

        async def one() -> None:
            got.append(await call(alpha, is_read=is_read))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(one)
        assert all(isinstance(delivery, Delivered) for delivery in got)
    assert len(legacy.calls("initialize")) == 2
    tries = [m for m in legacy.calls() if m["headers"][SESSION_HEADER] in legacy.sessions]
    assert len(tries) == 5


async def test_a_session_that_is_lost_again_and_again_is_an_error(legacy: FakeHttp) -> None:
    """case: HTT-01"""
    legacy.script.on_call = {"echo": [{"http": 404}]}
    async with running(http_entry(legacy)) as servers:
        got = failed(await call(servers.server("alpha")))
    assert (got.failure, got.executed) == (Failure.UNAVAILABLE, Execution.NO)
    assert len(legacy.calls()) == 2


async def test_a_session_refused_in_another_way_recovers_without_repeating_a_write(
    legacy: FakeHttp,
) -> None:
    """case: HTT-01"""
    legacy.script.on_nth_call = [[{"http": 400, "body": "bad session"}]]
    async with running(http_entry(legacy)) as servers:
        alpha = servers.server("alpha")
        assert failed(await call(alpha, "put_item")).executed is Execution.UNKNOWN
        assert first_text(await call(alpha)) == "echo"
    assert len(legacy.calls()) == 2
    assert len(legacy.calls("initialize")) == 2


@pytest.mark.parametrize(("is_read", "sent"), [(True, 2), (False, 1)])
async def test_a_cut_connection_is_tried_again_for_a_read_only(
    fake: FakeHttp, is_read: bool, sent: int
) -> None:
    """case: IDM-03, HTT-03"""
    fake.script.on_nth_call = [[{"drop": True}]]
    async with running(http_entry(fake)) as servers:
        alpha = servers.server("alpha")
        got = await call(alpha, is_read=is_read)
        if is_read:
            assert first_text(got) == "echo"
        else:
            end = failed(got)
            assert (end.failure, end.executed) == (Failure.CLOSED, Execution.UNKNOWN)
            assert end.detail
        assert len(fake.calls()) == sent
        for _ in range(10):
            assert first_text(await call(alpha)) == "echo"


async def test_all_calls_work_after_every_connection_was_cut(fake: FakeHttp) -> None:
    """case: HTT-03"""
    async with running(http_entry(fake)) as servers:
        alpha = servers.server("alpha")
        for _ in range(3):
            assert first_text(await call(alpha)) == "echo"
        fake.close_all()
        await until_async(lambda: not fake.transports)
        for _ in range(10):  # reads: the cut may not have been noticed on this side yet
            assert first_text(await call(alpha, is_read=True)) == "echo"


async def test_connections_are_kept_and_shared(fake: FakeHttp) -> None:
    async with running(http_entry(fake)) as servers:
        alpha = servers.server("alpha")
        before = fake.connections
        for _ in range(20):
            await call(alpha)
    assert fake.connections - before <= 1


@pytest.mark.parametrize("cancelled", [True, False])
async def test_the_end_of_waiting_for_a_read_closes_the_response_or_sends_a_note(
    fake: FakeHttp, cancelled: bool
) -> None:
    fake.script.on_call = {"hang": [{"delay_ms": 60_000}]}
    async with running(http_entry(fake)) as servers:
        alpha = servers.server("alpha")
        if cancelled:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(partial(call, alpha, "hang", is_read=True))
                await until_async(fake.calls)
                tasks.cancel_scope.cancel()
        else:
            got = failed(await call(alpha, "hang", is_read=True, deadline_s=0.2))
            assert (got.failure, got.executed) == (Failure.TIMEOUT, Execution.UNKNOWN)
        await until_async(lambda: fake.disconnects)
        if fake.script.eras == ["legacy"]:
            await until_async(lambda: fake.calls("notifications/cancelled"))
            (told,) = fake.calls("notifications/cancelled")
            assert told["params"]["requestId"] == fake.calls()[0]["id"]
        else:
            assert not fake.calls("notifications/cancelled")


@pytest.mark.parametrize("streams", [True, False])
async def test_the_response_to_a_write_stays_open_when_nobody_waits(
    fake: FakeHttp, tmp_path: Path, streams: bool
) -> None:
    go = tmp_path / "go"
    begin: list[Any] = [{"sse": [": x\n\n"]}] if streams else []
    fake.script.on_call = {"put": [*begin, {"wait_for_file": str(go)}, {"reply": text("")}]}
    async with running(http_entry(fake)) as servers:
        alpha = servers.server("alpha")
        before = len(fake.transports)
        got = failed(await call(alpha, "put", deadline_s=0.2))
        assert (got.failure, got.executed) == (Failure.TIMEOUT, Execution.UNKNOWN)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, alpha, "put")
            await until_async(lambda: len(fake.calls()) == 2)
            tasks.cancel_scope.cancel()
        assert len(fake.transports) >= before + 1
        go.touch()
        await until_async(lambda: len(fake.transports) <= before)
        assert fake.disconnects == 0  # both responses came to their own end
        assert first_text(await call(alpha)) == "echo"
    assert not fake.calls("notifications/cancelled")


async def test_a_write_that_may_be_cancelled_is_and_an_answer_still_counts(
    fake: FakeHttp, tmp_path: Path
) -> None:
    go, caller, got = tmp_path / "go", Waiting(), list[Delivery]()
    fake.script.on_call = {"put": [{"wait_for_file": str(go)}, {"reply": text("done")}]}
    is_legacy = fake.script.eras == ["legacy"]
    async with running(http_entry(fake)) as servers:

        async def left() -> None:
            await until_async(fake.calls)
            caller.leave()
            if is_legacy:
                await until_async(lambda: fake.calls("notifications/cancelled"))
            else:  # a closed response: there is no way to answer it
                await until_async(lambda: fake.disconnects)
            go.touch()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(left)
            got.append(await call(servers.server("alpha"), "put", may_cancel=True, presence=caller))
    if is_legacy:
        assert first_text(got[0]) == "done"
    else:
        ended = failed(got[0])
        assert (ended.failure, ended.executed) == (Failure.TIMEOUT, Execution.UNKNOWN)


@pytest.mark.parametrize("drip", [[{"sse": [": x\n\n"]}], [{"progress": {"progress": 1}}]])
async def test_a_drip_does_not_extend_the_deadline(fake: FakeHttp, drip: list[Any]) -> None:
    fake.script.on_call = {"drip": [*drip, {"delay_ms": 20}] * 300}
    async with running(http_entry(fake)) as servers:
        began = time.monotonic()
        got = failed(await call(servers.server("alpha"), "drip", deadline_s=0.3))
        assert got.failure is Failure.TIMEOUT
        assert time.monotonic() - began < 2


@pytest.mark.parametrize(("values", "works"), [(["s1", "s1"], True), (["s1", "s2"], False)])
async def test_doubled_session_ids_count_once_and_unequal_ones_are_a_fault(
    legacy: FakeHttp, values: list[str], works: bool
) -> None:
    """case: HTT-10"""
    legacy.script.session = False
    legacy.sessions.add("s1")
    result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "x"}}
    pairs = [["Mcp-Session-Id", value] for value in values]
    legacy.script.on_initialize = [{"headers": pairs}, {"reply": result}]
    async with running(http_entry(legacy)) as servers:
        (state,) = servers.states()
        assert (state.status == "ready") is works
        if works:
            assert first_text(await call(servers.server("alpha"))) == "echo"
            assert legacy.calls()[0]["headers"][SESSION_HEADER] == "s1"
