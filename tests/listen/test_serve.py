"""The server around the application: its deadlines and its end."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import cast

import anyio
import pytest
import uvicorn
from anyio.streams.buffered import BufferedByteReceiveStream
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from gateway import jsontext
from gateway.listen import serve
from gateway.listen.direct import direct_of
from gateway.listen.serve import PromptProtocol, stop_on_signals
from tests.helpers.transports import Wire
from tests.listen.house import LIMIT_S, House, call_body, serving
from tests.listen.raw import exchange, opened, post, received, standard, wire


async def test_headers_that_do_not_arrive_close_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serve, "_HEADER_DEADLINE_S", 0.05)
    async with serving(House()) as place:
        for text in (b"", b"POST /mcp HTTP/1.1\r\nHost: lo"):
            async with await opened(place) as stream:
                if text:
                    await stream.send(text)
                with anyio.fail_after(LIMIT_S), pytest.raises(anyio.EndOfStream):
                    await stream.receive()
        house_call = call_body("echo")
        assert (await post(place, house_call)).status == 200


async def test_the_headers_of_a_later_request_have_as_little_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serve, "_HEADER_DEADLINE_S", 0.05)
    message, begun = call_body("echo"), b"POST /mcp HTTP/1.1\r\nHost: lo"
    async with serving(House()) as place:
        text = wire("POST", "/mcp", standard(place, message), jsontext.dump(message))
        for pieces in ((text + begun,), (text, begun)):
            async with await opened(place) as stream:
                await stream.send(pieces[0])
                assert (await received(stream)).status == 200
                for piece in pieces[1:]:
                    await stream.send(piece)
                with anyio.fail_after(LIMIT_S), pytest.raises(anyio.EndOfStream):
                    await stream.receive()


_CHUNKED = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "begun",
    [b"POST /", b"POST /mcp HTTP/1.1\r\nX: ", _CHUNKED + b"1;", _CHUNKED + b"0\r\nX: "],
    ids=["target", "header", "chunk extension", "trailer"],
)
async def test_what_never_ends_closes_the_connection(begun: bytes) -> None:
    async with serving(House()) as place, await opened(place) as stream:
        await stream.send(begun)
        sent = 0
        with anyio.fail_after(LIMIT_S), suppress(anyio.BrokenResourceError):
            while sent < 64 << 20:  # far more than sockets hold
                await stream.send(b"a" * 65536)
                sent += 65536
    assert sent < 64 << 20


async def test_too_many_headers_are_refused() -> None:
    async with serving(House()) as place:
        many = [(f"X-{number}", "a") for number in range(300)]
        message = call_body("echo")
        head = [*standard(place, message), *many]
        assert (await exchange(place, head, jsontext.dump(message))).status == 400


async def test_a_trailer_is_no_header() -> None:
    async with serving(House()) as place, await opened(place) as stream:
        message = call_body("echo")
        body = jsontext.dump(message)
        head = standard(place, message)
        plain = [(name, value) for name, value in head if name != "Authorization"]
        assert plain != head
        (credential,) = [f"{name}: {value}" for name, value in head if name == "Authorization"]
        chunks = b"%x\r\n%b\r\n0\r\n%b\r\n\r\n" % (len(body), body, credential.encode())
        text = wire("POST", "/mcp", [*plain, ("Transfer-Encoding", "chunked")], b"")
        await stream.send(text.replace(b"Content-Length: 0\r\n", b"") + chunks)
        assert (await received(stream)).status == 401


async def test_a_call_under_way_is_answered_before_the_end() -> None:
    house = House()
    message = call_body("slow")
    async with serving(house) as place, await opened(place) as stream:
        await stream.send(wire("POST", "/mcp", standard(place, message), jsontext.dump(message)))
        with anyio.fail_after(LIMIT_S):
            await house.started.wait()
            place.stop.set()
            while not place.front.is_closing:
                await anyio.lowlevel.checkpoint()
            house.release.set()
            assert b"late" in (await received(stream)).body


async def test_a_connection_without_a_credential_is_soon_closed_and_one_with_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serve, "STRANGER_S", 0)
    message = call_body("echo")
    async with serving(House()) as place:
        async with await opened(place) as stream:
            await stream.send(wire("POST", "/mcp", [("Host", "localhost")], b"{}"))
            assert (await received(stream)).status == 401
            with anyio.fail_after(LIMIT_S), pytest.raises(anyio.EndOfStream):
                await stream.receive()
        text = wire("POST", "/mcp", standard(place, message), jsontext.dump(message))
        async with await opened(place) as stream:
            for _ in range(2):
                await stream.send(text)
                assert (await received(stream)).status == 200
                for _ in range(3):  # other connections come and go meanwhile
                    assert (await post(place, message)).status == 200


async def test_idle_connections_of_strangers_keep_nobody_out() -> None:
    message = call_body("echo")
    async with serving(House(), max_connections=4) as place, AsyncExitStack() as stack:
        text = wire("POST", "/mcp", standard(place, message), jsontext.dump(message))
        known = await stack.enter_async_context(await opened(place))
        await known.send(text)
        assert (await received(known)).status == 200
        for _ in range(12):
            stranger = await stack.enter_async_context(await opened(place))
            await stranger.send(wire("GET", "/", [("Host", "localhost")], b""))
            assert (await received(stranger)).status == 404
        assert (await post(place, message)).status == 200
        await known.send(text)
        assert (await received(known)).status == 200


async def test_a_client_that_leaves_while_it_pipelines_takes_its_first_request_along(
    caplog: pytest.LogCaptureFixture,
) -> None:
    house = House()
    slow, next_one = call_body("slow"), call_body("echo")
    async with serving(house) as place:
        async with await opened(place) as stream:
            for message in (slow, next_one):
                head = standard(place, message)
                await stream.send(wire("POST", "/mcp", head, jsontext.dump(message)))
            with anyio.fail_after(LIMIT_S):
                await house.started.wait()
        with anyio.fail_after(LIMIT_S):
            await house.cancelled.wait()
        assert (await post(place, next_one)).status == 200
    assert [call.name for call in house.calls] == ["slow", "echo"]
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_responses_do_not_name_the_server() -> None:
    async with serving(House()) as place:
        reply = await post(place, call_body("echo"))
    assert "server" not in reply.headers
    assert "date" in reply.headers


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_sets_the_event(number: signal.Signals) -> None:
    async with stop_on_signals() as stop:
        os.kill(os.getpid(), number)
        with anyio.fail_after(LIMIT_S):
            await stop.wait()


async def test_a_second_signal_ends_the_process_at_once_after_one_last_thing(
    tmp_path: Path,
) -> None:
    """case: STD-07"""
    program = (
        "import anyio, pathlib, sys\n"
        "from gateway.listen.serve import stop_on_signals\n"
        "last = pathlib.Path(sys.argv[1])\n"
        "async def main():\n"
        "    async with stop_on_signals(lambda: print('first', flush=True), last.touch) as stop:\n"
        "        print('ready', flush=True)\n"
        "        with anyio.CancelScope(shield=True):\n"
        "            await anyio.sleep_forever()\n"
        "anyio.run(main, backend_options={'use_uvloop': True})\n"
    )
    last = tmp_path / "last"
    process = await anyio.open_process([sys.executable, "-c", program, str(last)], stderr=None)
    async with process:
        assert process.stdout
        said = BufferedByteReceiveStream(process.stdout)
        with anyio.fail_after(2 * LIMIT_S):
            assert await said.receive_until(b"\n", 100) == b"ready"
            process.send_signal(signal.SIGTERM)
            assert await said.receive_until(b"\n", 100) == b"first"
            assert not last.exists()
            process.send_signal(signal.SIGINT)
            assert await process.wait() == -signal.SIGINT
    assert last.exists()


class _Timers:
    """An event loop's timers and its clock, moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0
        self.made: list[tuple[asyncio.TimerHandle, Callable[[], object]]] = []

    @property
    def waiting(self) -> list[tuple[asyncio.TimerHandle, Callable[[], object]]]:
        return [each for each in self.made if not each[0].cancelled()]

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Callable[[], object]) -> asyncio.TimerHandle:
        loop = asyncio.get_running_loop()
        handle = asyncio.TimerHandle(self.now + delay, callback, (), loop)
        self.made.append((handle, callback))
        return handle

    def call_soon(self, callback: Callable[[], object]) -> asyncio.Handle:
        return asyncio.get_running_loop().call_soon(callback)

    def create_future(self) -> "asyncio.Future[object]":
        return asyncio.get_running_loop().create_future()

    def create_task(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(work)

    def move(self, seconds: float) -> None:
        self.now += seconds
        due = [each for each in self.waiting if each[0].when() <= self.now]
        self.made = [each for each in self.waiting if each[0].when() > self.now]
        for _, callback in due:
            callback()


_BEGUN = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n"


async def _settled() -> None:
    for _ in range(3):
        await anyio.lowlevel.checkpoint()


def _connected(timers: _Timers, app: ASGIApp) -> tuple[PromptProtocol, Wire]:
    config = uvicorn.Config(app, ws="none", log_config=None, timeout_keep_alive=75)
    loop = cast("asyncio.AbstractEventLoop", timers)
    protocol, wire = PromptProtocol(config, ServerState(), {}, loop), Wire()
    protocol.connection_made(wire)
    protocol.introduced()
    timers.made.clear()  # that of the headers
    return protocol, wire


async def _at_once(scope: Scope, receive: Receive, send: Send) -> None:
    direct = direct_of(scope)
    assert direct is not None
    assert direct.take() is not None
    assert direct.answer(b"{}")


async def test_one_timer_sees_to_it_that_no_connection_is_idle_for_too_long() -> None:
    timers = _Timers()
    protocol, wire = _connected(timers, _at_once)
    for _ in range(3):
        protocol.data_received(_BEGUN + b"{}")
        await _settled()
        timers.move(50)
        assert wire.is_open
        assert len(timers.waiting) == 1
    assert wire.written.count(b"HTTP/1.1 200") == 3
    timers.move(24.9)
    assert wire.is_open
    timers.move(0.1)
    assert not wire.is_open
    assert timers.waiting == []


async def test_a_line_end_that_begins_no_request_keeps_no_connection_open() -> None:
    timers = _Timers()
    protocol, wire = _connected(timers, _at_once)
    protocol.data_received(_BEGUN + b"{}")
    await _settled()
    timers.move(74)
    protocol.data_received(b"\r\n")
    assert wire.is_open
    timers.move(1)
    assert not wire.is_open


async def test_a_request_under_way_is_not_idle_however_long_it_takes() -> None:
    timers = _Timers()
    release = anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if protocol.server_state.total_requests:
            await release.wait()
        await _at_once(scope, receive, send)

    protocol, wire = _connected(timers, app)
    protocol.data_received(_BEGUN + b"{}")
    await _settled()
    timers.move(70)
    protocol.data_received(_BEGUN + b"{}")
    await _settled()
    timers.move(200)
    assert wire.is_open
    release.set()
    await _settled()
    timers.move(74)
    assert wire.is_open
    timers.move(1)
    assert not wire.is_open


async def test_a_connection_that_is_lost_leaves_no_timer() -> None:
    timers = _Timers()
    protocol, _ = _connected(timers, _at_once)
    protocol.data_received(_BEGUN + b"{}")
    await _settled()
    timer = protocol.timeout_keep_alive_task
    assert timer is not None
    protocol.connection_lost(ConnectionResetError())
    assert timer.cancelled()
    assert protocol.timeout_keep_alive_task is None


@pytest.mark.parametrize("fault", [None, RuntimeError, asyncio.CancelledError])
async def test_a_request_counts_as_a_task_until_it_is_over_and_no_longer(
    fault: type[BaseException] | None,
) -> None:
    begun, release = anyio.Event(), anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        begun.set()
        await release.wait()
        if fault is not None:
            raise fault
        await _at_once(scope, receive, send)

    protocol, wire = _connected(_Timers(), app)
    protocol.data_received(_BEGUN + b"{}")
    await begun.wait()
    assert len(protocol.tasks) == 1  # whom the end of the server waits for
    release.set()
    await _settled()
    assert protocol.tasks == set()
    assert wire.written.startswith(b"HTTP/1.1 500" if fault is not None else b"HTTP/1.1 200")


async def test_the_requests_of_a_connection_are_served_by_one_task() -> None:
    seen: list[asyncio.Task[None] | None] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(asyncio.current_task())
        await anyio.lowlevel.checkpoint()
        await _at_once(scope, receive, send)

    protocol, wire = _connected(_Timers(), app)
    for _ in range(3):
        protocol.data_received(_BEGUN + b"{}")
        await _settled()
        assert protocol.tasks == set()  # it waits, and nobody waits for it
    assert wire.written.count(b"HTTP/1.1 200") == 3
    (task,) = {*seen}
    assert task is not None
    assert not task.done()
    protocol.connection_lost(None)
    await _settled()
    assert task.done()
    assert not task.cancelled()


async def test_a_task_that_was_cancelled_serves_no_other_request() -> None:
    seen: list[asyncio.Task[None] | None] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        seen.append(task)
        assert task is not None
        if len(seen) == 1:
            task.cancel()  # by somebody who does not take it back
            with suppress(asyncio.CancelledError):
                await anyio.sleep(1)
        await _at_once(scope, receive, send)

    protocol, wire = _connected(_Timers(), app)
    for _ in range(2):
        protocol.data_received(_BEGUN + b"{}")
        await _settled()
    assert wire.written.count(b"HTTP/1.1 200") == 2
    assert len({*seen}) == 2


async def test_requests_that_come_together_are_served_in_their_order() -> None:
    served: list[str] = []
    release = anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        served.append(scope["path"])
        await release.wait()
        await _at_once(scope, receive, send)

    protocol, wire = _connected(_Timers(), app)
    paths = [b"/one", b"/two", b"/three"]
    protocol.data_received(
        b"".join(_BEGUN.replace(b"POST / ", b"POST %b " % each) + b"{}" for each in paths)
    )
    await _settled()
    assert served == ["/one"]
    release.set()
    for _ in range(5):
        await _settled()
    assert served == ["/one", "/two", "/three"]
    assert wire.written.count(b"HTTP/1.1 200") == 3
    protocol.data_received(_BEGUN + b"{}")
    await _settled()
    assert len(served) == 4
    protocol.connection_lost(None)
    await _settled()
    assert protocol.tasks == set()
