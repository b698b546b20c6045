"""Servers as child processes, seen through a supervised server."""

import asyncio
import os
import signal
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.crossing.presence import Waiting
from gateway.servers.entry import Caps
from gateway.servers.stdio import StdioConnection
from gateway.types.operations import Delivered, Delivery, Execution, Failure, Rejected
from tests.helpers.fake_server import Script, record_of, text, until_async
from tests.helpers.fleets import (
    call,
    failed,
    first_text,
    running,
    stdio_entry,
    structured,
    until_status,
)

SMALL = Caps(message_bytes=100_000)


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_call_reaches_the_tool_in_both_eras(tmp_path: Path, era: str) -> None:
    async with running(stdio_entry(Script(eras=[era]), tmp_path)) as servers:
        alpha = servers.server("alpha")
        assert alpha is not None
        got = structured(await call(alpha, arguments={"x": 10**30}, meta={"own": 1}))
        assert alpha.state.era == era
    assert got["arguments"] == {"x": 10**30}
    assert got["meta"]["own"] == 1


async def test_calls_run_side_by_side_and_answers_find_their_call(tmp_path: Path) -> None:
    script = Script(on_call={"slow": [{"delay_ms": 150}, {"reply": text("slow")}]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha, got = servers.server("alpha"), list[str]()

        async def one(name: str) -> None:
            got.append(first_text(await call(alpha, name)))

        async with anyio.create_task_group() as tasks:
            for name in ("slow", "echo", "slow", "echo"):
                tasks.start_soon(one, name)
    assert got == ["echo", "echo", "slow", "slow"]


async def test_a_child_that_dies_ends_its_calls_at_once_and_its_last_words_are_for_operators(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """case: STD-01"""
    script = Script(on_call={"boom": [{"stderr": "boom: no memory"}, {"exit": 3}]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha = servers.server("alpha")
        began = time.monotonic()
        got = failed(await call(alpha, "boom", deadline_s=60))
        assert time.monotonic() - began < 1
        assert (got.failure, got.executed) == (Failure.CLOSED, Execution.UNKNOWN)
        assert got.detail == "`alpha` exited with code 3"
        await until_async(lambda: "code 3; stderr: boom: no memory" in caplog.text)
        await until_status(alpha, "ready")
        assert first_text(await call(alpha)) == "echo"
    assert len(record_of(tmp_path, "alpha").calls()) == 2  # nothing was sent again


async def test_a_start_that_fails_is_shown_with_its_reason(tmp_path: Path) -> None:
    """case: STD-01"""
    script = Script(on_start=[{"stderr": "ModuleNotFound"}, {"exit": 1}])
    async with running(stdio_entry(script, tmp_path)) as servers:
        (state,) = servers.states()
        assert state.status == "failed"
        assert state.reason == "`alpha` exited with code 1; stderr: ModuleNotFound"
        told = failed(await call(servers.server("alpha"), deadline_s=1))
        assert "exited with code 1" in told.detail
        assert "ModuleNotFound" not in told.detail


@pytest.mark.parametrize("newlines", [True, False])
async def test_a_flood_on_stderr_delays_nothing_and_only_its_end_is_kept(
    tmp_path: Path, newlines: bool
) -> None:
    """case: STD-03"""
    steps = [{"stderr_bytes": 2**20, "newlines": newlines}, {"stderr": "the end, S3CRET"}]
    script = Script(on_call={"loud": [*steps, {"reply": text("ok")}]})
    entry = stdio_entry(script, tmp_path, env={"TOKEN": "S3CRET"})
    async with running(entry) as servers:
        alpha = servers.server("alpha")
        assert alpha is not None
        assert first_text(await call(alpha, "loud")) == "ok"
        await until_async(lambda: "the end" in alpha.state.stderr_tail)
        tail = alpha.state.stderr_tail
    assert len(tail) <= 8192
    assert tail.endswith("the end, [secret]\n")


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 2**20])
async def test_long_messages_pass_in_both_directions(tmp_path: Path, size: int) -> None:
    """case: STD-05"""
    script = Script(on_call={"big": [{"reply_text_bytes": size}]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha = servers.server("alpha")
        assert len(first_text(await call(alpha, "big"))) == size
        got = structured(await call(alpha, arguments={"t": "x" * size}))
        assert len(got["arguments"]["t"]) == size


async def test_an_answer_above_the_limit_fails_its_own_call_only(tmp_path: Path) -> None:
    """case: STD-05"""
    script = Script(on_call={"big": [{"reply_text_bytes": 17 * 2**20}]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha = servers.server("alpha")
        got = failed(await call(alpha, "big", deadline_s=20))
        assert got.failure is Failure.TOO_LARGE
        assert "8388608" in got.detail
        assert first_text(await call(alpha)) == "echo"
    assert len(record_of(tmp_path, "alpha").pids()) == 1


async def test_text_outside_ascii_comes_back_whatever_the_locale(tmp_path: Path) -> None:
    """case: STD-06"""
    said = "řemeslník 日本 🎉 \u2713 \u2028 \u0000 \U0001f600"
    async with running(stdio_entry(Script(), tmp_path), environment={"LANG": "C"}) as servers:
        got = structured(await call(servers.server("alpha"), arguments={"t": said}))
    assert got["arguments"]["t"] == said


@pytest.mark.parametrize(
    "step",
    [
        {"raw_hex": b'{"jsonrpc":"2.0","id":$ID,"result":{"content":"\xc3\x28"}}'.hex()},
        {"raw": '{"jsonrpc":"2.0","id":$ID,"result":{"structuredContent":{"mean":NaN}}}'},
        {"raw": '{"jsonrpc":"2.0","id":$ID,"result":{"content":[]'},
        {"raw": '{"jsonrpc":"2.0","id":$ID,"result":null}'},
        {"raw": '{"jsonrpc":"2.0","id":$ID,"result":[]}'},
        {"raw": '{"jsonrpc":"2.0","id":$ID}'},
        {"raw": '{"jsonrpc":"2.0","id":$ID,"error":"no"}'},
        {"raw": '{"jsonrpc":"2.0","id":$ID,"result":{"content":[]},"error":{"code":1}}'},
    ],
)
async def test_a_broken_answer_fails_its_own_call_only(tmp_path: Path, step: Any) -> None:
    """case: OUT-07, OUT-08, STD-06"""
    async with running(stdio_entry(Script(on_call={"bad": [step]}), tmp_path)) as servers:
        alpha = servers.server("alpha")
        got = failed(await call(alpha, "bad"))
        assert (got.failure, got.executed) == (Failure.MALFORMED, Execution.UNKNOWN)
        assert got.detail.startswith("`alpha` sent an answer ")
        assert first_text(await call(alpha)) == "echo"
    assert len(record_of(tmp_path, "alpha").pids()) == 1


async def test_nan_inside_a_text_passes(tmp_path: Path) -> None:
    """case: OUT-07"""
    script = Script(on_call={"text": [{"reply": text('{"mean": NaN}')}]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        assert first_text(await call(servers.server("alpha"), "text")) == '{"mean": NaN}'


async def test_noise_on_stdout_is_skipped_until_it_is_all_there_is(tmp_path: Path) -> None:
    noise = [{"raw": "Listening on port 1"}, {"raw": "[]"}, {"raw": '"x"'}, {"raw": ""}]
    flood = [{"raw": "garbage"} for _ in range(20)]
    script = Script(on_call={"noisy": [*noise, {"reply": text("ok")}], "flood": flood})
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha = servers.server("alpha")
        for _ in range(5):
            assert first_text(await call(alpha, "noisy")) == "ok"
        got = failed(await call(alpha, "flood", deadline_s=30))
        assert got.failure is Failure.CLOSED
        assert got.detail.startswith("`alpha` wrote 10 lines in a row to stdout")
        await until_status(alpha, "ready")


async def test_a_result_of_an_unknown_kind_is_no_result_in_the_modern_era(tmp_path: Path) -> None:
    kinds: dict[str, Any] = {
        "task": {"resultType": "task", "content": []},
        "input": {"resultType": "input_required", "inputRequests": {}},
        "absent": {"content": [{"type": "text", "text": "fine"}]},
    }
    calls = {name: [{"reply": result}] for name, result in kinds.items()}
    async with running(stdio_entry(Script(eras=["modern"], on_call=calls), tmp_path)) as servers:
        alpha = servers.server("alpha")
        assert failed(await call(alpha, "task")).failure is Failure.MALFORMED
        assert failed(await call(alpha, "input")).failure is Failure.MALFORMED
        assert first_text(await call(alpha, "absent")) == "fine"


async def test_an_error_comes_through_with_the_servers_own_secrets_masked(tmp_path: Path) -> None:
    error = {"code": -5, "message": "bad token S3CRET-1", "data": {"token": "S3CRET-1", "n": 1}}
    script = Script(on_call={"no": [{"error": error}]})
    entry = stdio_entry(script, tmp_path, env={"TOKEN": "S3CRET-1"})
    async with running(entry) as servers:
        got = await call(servers.server("alpha"), "no")
    assert isinstance(got, Rejected)
    assert (got.code, got.message) == (-5, "bad token [secret]")
    assert got.data == {"token": "[secret]", "n": 1}


async def test_late_doubled_and_invented_answers_are_dropped(tmp_path: Path) -> None:
    late = [{"delay_ms": 300}, {"reply": text("late")}, {"reply": text("again")}]
    ghost = {"raw": '{"jsonrpc":"2.0","id":"ghost","result":{}}'}
    script = Script(on_call={"late": [*late, ghost]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha = servers.server("alpha")
        assert alpha is not None
        got = failed(await call(alpha, "late", is_read=True, deadline_s=0.1))
        assert (got.failure, got.executed) == (Failure.TIMEOUT, Execution.UNKNOWN)
        connection = alpha.connection
        assert isinstance(connection, StdioConnection)
        await until_async(lambda: connection.unmatched == 3)
        assert first_text(await call(alpha)) == "echo"
    (told,) = record_of(tmp_path, "alpha").calls("notifications/cancelled")
    (sent,) = [m for m in record_of(tmp_path, "alpha").calls() if m["params"]["name"] == "late"]
    assert told["params"]["requestId"] == sent["id"]


async def test_a_caller_of_a_read_that_goes_away_is_told_to_the_server(tmp_path: Path) -> None:
    script = Script(on_call={"hang": [{"delay_ms": 60_000}]})
    record = record_of(tmp_path, "alpha")
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha = servers.server("alpha")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(call, alpha, "hang", is_read=True))
            await until_async(record.calls)
            tasks.cancel_scope.cancel()
        await until_async(lambda: record.calls("notifications/cancelled"))
        assert alpha is not None
        assert alpha.state.in_flight == 0


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_write_is_cancelled_neither_at_its_deadline_nor_when_its_caller_goes_away(
    tmp_path: Path, era: str
) -> None:
    go = tmp_path / "go"
    script = Script(eras=[era], on_call={"put": [{"wait_for_file": str(go)}, {"reply": text("")}]})
    record = record_of(tmp_path, "alpha")
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha = servers.server("alpha")
        assert alpha is not None
        got = failed(await call(alpha, "put", deadline_s=0.1))
        assert (got.failure, got.executed) == (Failure.TIMEOUT, Execution.UNKNOWN)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, alpha, "put")
            await until_async(lambda: len(record.calls()) == 2)
            tasks.cancel_scope.cancel()
        connection = alpha.connection
        assert isinstance(connection, StdioConnection)
        go.touch()
        await until_async(lambda: connection.unmatched == 2)  # both were carried out to their end
    assert record.calls("notifications/cancelled") == []


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_write_that_may_be_cancelled_is_and_an_answer_still_counts(
    tmp_path: Path, era: str
) -> None:
    go = tmp_path / "go"
    put = [{"wait_for_file": str(go)}, {"reply": text("done")}]
    record, caller = record_of(tmp_path, "alpha"), Waiting()
    async with running(stdio_entry(Script(eras=[era], on_call={"put": put}), tmp_path)) as servers:
        got: list[Delivery] = []

        async def left() -> None:
            await until_async(record.calls)
            caller.leave()
            await until_async(lambda: record.calls("notifications/cancelled"))
            go.touch()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(left)
            got.append(await call(servers.server("alpha"), "put", may_cancel=True, presence=caller))
    assert first_text(got[0]) == "done"
    (told,) = record.calls("notifications/cancelled")
    assert told["params"]["requestId"] == record.calls()[0]["id"]


async def test_a_server_that_was_told_of_a_caller_that_left_is_not_waited_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.servers.stdio.GRACE_S", 0.05)
    script = Script(on_call={"put": [{"delay_ms": 60_000}]})
    record, caller = record_of(tmp_path, "alpha"), Waiting()
    caller.leave()
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha = servers.server("alpha")
        got = failed(await call(alpha, "put", may_cancel=True, presence=caller, deadline_s=60))
        again = failed(await call(alpha, "put", may_cancel=True, deadline_s=0.1))
        await until_async(lambda: len(record.calls("notifications/cancelled")) == 2)
    assert (got.failure, got.executed) == (Failure.TIMEOUT, got.executed)
    assert (again.failure, again.executed) == (Failure.TIMEOUT, Execution.UNKNOWN)


async def test_a_call_that_never_left_the_queue_was_not_carried_out(tmp_path: Path) -> None:
    async with running(stdio_entry(Script(), tmp_path)) as servers:
        alpha = servers.server("alpha")
        assert alpha is not None
        pid, big = alpha.state.pid, {"t": "x" * 500_000}
        os.kill(pid, signal.SIGSTOP)  # it reads nothing: the pipe fills up
        try:
            first = failed(await call(alpha, "big", dict(big), deadline_s=0.1))
            second = failed(await call(alpha, "waiting", deadline_s=0.1))
        finally:
            os.kill(pid, signal.SIGCONT)
        assert (first.failure, first.executed) == (Failure.TIMEOUT, Execution.UNKNOWN)
        assert (second.failure, second.executed) == (Failure.TIMEOUT, Execution.NO)
        assert first_text(await call(alpha, "last")) == "last"
    names = [message["params"]["name"] for message in record_of(tmp_path, "alpha").calls()]
    assert names == ["big", "last"]


async def test_progress_rises_reaches_its_own_call_and_nothing_else(tmp_path: Path) -> None:
    steps = [
        {"progress": {"progress": 1, "total": 3, "message": "one"}},
        {"progress": {"progress": 9, "token": "foreign"}},
        {"progress": {"progress": 1}},
        {"progress": {"progress": "many"}},
        {"progress": {"progress": 3}},
        {"reply": text("ok")},
    ]
    async with running(stdio_entry(Script(on_call={"long": steps}), tmp_path)) as servers:
        alpha, news = servers.server("alpha"), list[Any]()

        async def on_progress(*said: Any) -> None:
            news.append(said)

        assert first_text(await call(alpha, "long", on_progress=on_progress)) == "ok"
        assert first_text(await call(alpha, "long")) == "ok"
    assert news == [(1.0, 3.0, "one"), (3.0, None, None)]
    tokens = [
        m["params"].get("_meta", {}).get("progressToken")
        for m in record_of(tmp_path, "alpha").calls()
    ]
    assert isinstance(tokens[0], int)
    assert tokens[1] is None


async def test_progress_does_not_extend_the_deadline(tmp_path: Path) -> None:
    drip = [step for n in range(200) for step in ({"progress": {"progress": n}}, {"delay_ms": 20})]
    async with running(stdio_entry(Script(on_call={"drip": drip}), tmp_path)) as servers:

        async def on_progress(*_: Any) -> None:
            await asyncio.sleep(0)

        began = time.monotonic()
        alpha = servers.server("alpha")
        got = failed(await call(alpha, "drip", deadline_s=0.3, on_progress=on_progress))
    assert got.failure is Failure.TIMEOUT
    assert time.monotonic() - began < 2


async def test_what_a_server_asks_is_answered_at_once(tmp_path: Path) -> None:
    asked = [{"request": {"method": m}} for m in ("ping", "roots/list", "elicitation/create")]
    script = Script(on_call={"ask": [*asked, {"environment": True}]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        got = structured(await call(servers.server("alpha"), "ask"))
    refused = {"code": -32601, "message": "not offered by this client"}
    assert got["answers"] == [{}, refused, refused]


async def test_a_thousand_calls_at_once_end_well_or_busy(tmp_path: Path) -> None:
    """case: HTT-09"""
    script = Script(on_call={"echo": [{"delay_ms": 20}, {"reply": text("ok")}]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha, got = servers.server("alpha"), list[Any]()

        async def one() -> None:
            got.append(await call(alpha, deadline_s=30))

        async with anyio.create_task_group() as tasks:
            for _ in range(1000):
                tasks.start_soon(one)
    answered = sum(isinstance(one, Delivered) for one in got)
    busy = [one for one in got if not isinstance(one, Delivered)]
    assert answered == 64 + 256
    assert {one.failure for one in busy} == {Failure.BUSY}
    assert all(one.executed is Execution.NO and one.retry_after_s for one in busy)


# Asks 20,000 times before it reads again, then says how many answers had been kept for it.
_ASKS = """
import json, sys
def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
answers = 0
for line in sys.stdin:
    message = json.loads(line)
    number, method = message.get("id"), message.get("method")
    answers += method is None
    if method == "initialize":
        info = {"name": "asks", "version": "1"}
        send({"id": number, "result": {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}})
    elif method == "tools/list":
        send({"id": number, "result": {"tools": []}})
    elif method == "tools/call":
        text = {"type": "text", "text": str(answers)}
        if message["params"]["name"] == "flood":
            for _ in range(20000):
                send({"id": "x" * 200, "method": "ping"})
        send({"id": number, "result": {"content": [text]}})
    elif number is not None and method is not None:
        send({"id": number, "error": {"code": -32601, "message": "no"}})
    sys.stdout.flush()
"""


async def test_what_a_server_asks_without_reading_has_a_bound(tmp_path: Path) -> None:
    entry = replace(stdio_entry(Script(), tmp_path), command=sys.executable, args=("-c", _ASKS))
    async with running(entry) as servers:
        alpha = servers.server("alpha")
        await call(alpha, "flood", deadline_s=30)
        kept = int(first_text(await call(alpha, "count")))
    assert 0 < kept < 2_000
