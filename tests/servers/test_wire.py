"""The client for tool calls, against real sockets, on both event loops."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeAlias

import pytest
import uvloop

from gateway.bursts import CROWD
from gateway.servers import wire

Loop: TypeAlias = Callable[[Coroutine[None, None, None]], None]
JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Loop:
    """Run a coroutine on one of the loops that the gateway may run on."""
    runner = uvloop.run if request.param == "uvloop" else asyncio.run

    def bounded(work: Coroutine[None, None, None]) -> None:
        async def within() -> None:
            async with asyncio.timeout(15):
                await work

        runner(within())

    return bounded


class Server:
    """Answers every request on a connection with the same bytes, and counts connections."""

    def __init__(self, answer: bytes, *, then_close: bool = False) -> None:
        self.answer, self.then_close = answer, then_close
        self.connections = 0
        self.asked: list[bytes] = []
        self.over: list[asyncio.Event] = []

    async def stop(self, pool: wire.Pool, server: asyncio.Server) -> None:
        pool.close()
        server.close()
        for over in self.over:
            await over.wait()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        over = asyncio.Event()
        self.over.append(over)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                self.asked.append(head + await reader.readexactly(length))
                writer.write(self.answer)
                await writer.drain()
                if self.then_close:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        over.set()

    async def pool(self) -> tuple[wire.Pool, asyncio.Server]:
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        return wire.Pool(f"http://127.0.0.1:{port}/mcp?x=1", connect_s=2, idle_s=2), server


def test_requests_share_one_kept_connection(run: Loop) -> None:
    async def work() -> None:
        fake = Server(JSON)
        pool, server = await fake.pool()
        for _ in range(3):
            with await pool.post(b"[1]", b"x-a: b\r\n") as response:
                assert (response.status, response.content_type) == (200, "application/json")
                assert await response.read() == b"{}"
        assert fake.connections == 1
        assert fake.asked[0].startswith(b"POST /mcp?x=1 HTTP/1.1\r\nhost: 127.0.0.1:")
        assert b"\r\nx-a: b\r\n" in fake.asked[0]
        assert fake.asked[0].endswith(b"\r\n\r\n[1]")
        await fake.stop(pool, server)

    run(work())


def test_a_connection_that_says_close_is_not_kept(run: Loop) -> None:
    async def work() -> None:
        fake = Server(JSON.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"))
        pool, server = await fake.pool()
        for _ in range(2):
            with await pool.post(b"") as response:
                await response.read()
        assert fake.connections == 2
        await fake.stop(pool, server)

    run(work())


def test_an_interim_response_is_passed_over(run: Loop) -> None:
    async def work() -> None:
        fake = Server(b"HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\n" + JSON)
        pool, server = await fake.pool()
        with await pool.post(b"") as response:
            assert response.status == 200
            assert response.headers.getall("x", []) == []
        await fake.stop(pool, server)

    run(work())


def test_a_large_body_waits_for_its_reader(run: Loop) -> None:
    size = 8 << 20

    async def work() -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        fake = Server(head % size + b"x" * size)
        pool, server = await fake.pool()
        with await pool.post(b"") as response:
            assert not response.is_complete
            assert sum([len(piece) async for piece in response.iter_any()]) == size
        await fake.stop(pool, server)

    run(work())


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab", b"hello there\r\n\r\n", b""]
)
def test_an_answer_that_breaks_off_is_an_error(run: Loop, answer: bytes) -> None:
    async def work() -> None:
        fake = Server(answer, then_close=True)
        pool, server = await fake.pool()
        with pytest.raises(ConnectionError):
            await (await pool.post(b"")).read()
        await fake.stop(pool, server)

    run(work())


@pytest.mark.parametrize(
    ("begun", "more"),
    [
        (b"HTTP/1.1 200 OK\r\nx: ", b"a" * 65536),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 3000),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: ", b"a" * 65536),
        (b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n", b"x"),
    ],
    ids=["header", "interim responses", "trailer", "upgrade"],
)
def test_what_never_becomes_an_answer_is_an_error(run: Loop, begun: bytes, more: bytes) -> None:
    async def work() -> None:
        fake = Server(begun + more * 64)
        pool, server = await fake.pool()
        with pytest.raises(ConnectionError):
            await pool.post(b"")
        await fake.stop(pool, server)

    run(work())


def test_a_body_without_a_length_ends_with_its_connection(run: Loop) -> None:
    async def work() -> None:
        fake = Server(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{}", then_close=True
        )
        pool, server = await fake.pool()
        with await pool.post(b"") as response:
            assert await response.read() == b"{}"
        await fake.stop(pool, server)

    run(work())


def test_nothing_was_sent_when_nobody_listens(run: Loop) -> None:
    async def work() -> None:
        pool, server = await Server(JSON).pool()
        server.close()
        await server.wait_closed()
        with pytest.raises(wire.Unreachable):
            await pool.post(b"")

    run(work())


@pytest.mark.parametrize("fields", [{"x": "a\r\nX-Evil: 1"}, {"x\n": "a"}, {"x": "a", "y": "\r"}])
def test_a_header_can_not_start_another(fields: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="line break"):
        wire.head_of(fields)


def test_leaving_an_unread_response_closes_its_connection(run: Loop) -> None:
    async def work() -> None:
        stream = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: hello\n\n"
        fake = Server(stream)
        pool, server = await fake.pool()
        for _ in range(2):
            with await pool.post(b"") as response:
                assert response.content_type == "text/event-stream"
        assert fake.connections == 2
        await fake.stop(pool, server)

    run(work())


def test_of_too_many_responses_that_nobody_waits_for_the_oldest_is_closed(
    run: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "_MOST_DRIFTING", 1)

    async def work() -> None:
        fake = Server(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}")  # never complete
        pool, server = await fake.pool()

        async def given_up() -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(0.05):
                    with await pool.post(b"[1]", stays=True) as response:
                        await response.read()

        await given_up()
        assert not fake.over[0].is_set()
        await given_up()
        await fake.over[0].wait()
        assert not fake.over[1].is_set()
        pool.close(drifting=False)
        assert not fake.over[1].is_set()
        await fake.stop(pool, server)

    run(work())


def test_a_response_that_nobody_waits_for_ends_with_its_last_byte(run: Loop) -> None:
    async def work() -> None:
        asked = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            await asked.wait()
            writer.write(JSON)
            assert await reader.read() == b"[1]"  # to the end: our side has closed
            writer.close()
            over.set()

        over = asyncio.Event()
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        pool = wire.Pool(f"http://127.0.0.1:{port}/", connect_s=2, idle_s=2)
        with suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                await pool.post(b"[1]", stays=True)
        asked.set()
        await over.wait()
        server.close()

    run(work())


STREAM = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    b"a\r\ndata: {}\n\n\r\n"
)


class Late:
    """Answers with a stream whose end comes only when it is told, and counts connections."""

    def __init__(self, end: bytes) -> None:
        self.end = end
        self.told, self.over = asyncio.Event(), asyncio.Event()
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(STREAM)
                await self.told.wait()
                self.told.clear()
                writer.write(self.end)
                await writer.drain()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        self.over.set()

    @asynccontextmanager
    async def pool(self) -> AsyncGenerator[wire.Pool]:
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        pool = wire.Pool(f"http://127.0.0.1:{port}/", connect_s=2, idle_s=2)
        try:
            yield pool
        finally:
            pool.close()
            self.told.set()
            server.close()
            async with asyncio.timeout(5):
                await self.over.wait()


async def read(pool: wire.Pool, *, is_read: bool = True) -> None:
    with await pool.post(b"") as response:
        async for piece in response.iter_any():
            assert piece == b"data: {}\n\n"
            break
        response.is_read = is_read


async def free(pool: wire.Pool) -> None:
    """Wait until a connection can be used again."""
    idle: Any = pool
    while not idle._idle:
        await asyncio.sleep(0.001)


def test_a_stream_that_has_said_all_gives_its_connection_back_with_its_end(
    run: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "_LINGER_S", 60)

    async def work() -> None:
        late = Late(b"0\r\n\r\n")
        async with late.pool() as pool:
            for _ in range(3):
                await read(pool)
                late.told.set()
                await free(pool)
            assert late.connections == 1

    run(work())


@pytest.mark.parametrize(
    "end",
    [b"", b"x" * 9, b"10000\r\n" + b"x" * 65_536, STREAM, b"0\r\n\r\n" + JSON],
    ids=["nothing", "no chunk", "more than is waited for", "another", "an answer to nothing"],
)
def test_a_stream_that_has_said_all_is_not_waited_for_at_any_price(
    run: Loop, monkeypatch: pytest.MonkeyPatch, end: bytes
) -> None:
    monkeypatch.setattr(wire, "_LINGER_S", 60 if end else 0.01)

    async def work() -> None:
        late = Late(end)
        async with late.pool() as pool:
            await read(pool)
            late.told.set()
            held: Any = pool
            async with asyncio.timeout(5):
                while held._lingering:
                    await asyncio.sleep(0.001)
            assert not held._idle

    run(work())


@pytest.mark.parametrize("why", ["unread", "too many", "over"])
def test_a_stream_is_closed_at_once_where_there_is_no_reason_to_wait(
    run: Loop, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    monkeypatch.setattr(wire, "_LINGER_S", 60)
    monkeypatch.setattr(wire, "_MOST_LINGERING", 0 if why == "too many" else 1)

    async def work() -> None:
        late = Late(b"")
        async with late.pool() as pool:
            await read(pool, is_read=why != "unread")
            if why == "over":
                pool.close(drifting=False)
            held: Any = pool
            async with asyncio.timeout(5):
                while held._lingering:
                    await asyncio.sleep(0.001)
            assert not held._idle

    run(work())


class Noted:
    """A transport that keeps what was written."""

    def __init__(self) -> None:
        self.said: list[bytes] = []
        self.is_aborted = False

    def write(self, data: bytes) -> None:
        self.said.append(data)

    def abort(self) -> None:
        self.is_aborted = True


def connections(pool: wire.Pool, many: int) -> list[tuple[wire.Connection, Noted]]:
    made: list[tuple[wire.Connection, Noted]] = []
    for _ in range(many):
        connection, transport = wire.Connection(pool), Noted()
        connection.connection_made(transport)  # pyright: ignore[reportArgumentType]
        made.append((connection, transport))
    return made


def test_among_many_a_request_leaves_at_the_end_of_the_turn(run: Loop) -> None:
    async def work() -> None:
        pool = wire.Pool("http://127.0.0.1/", connect_s=2, idle_s=2)
        made = connections(pool, CROWD + 2)
        for number, (connection, transport) in enumerate(made):
            connection.send(b"%d" % number, stays=False)
            assert transport.said == ([b"%d" % number] if number < CROWD - 1 else [])
        made[-1][0].close()  # whoever waited for the last one has gone
        await asyncio.sleep(0)
        assert [each.said for _, each in made] == [
            *([b"%d" % number] for number in range(CROWD + 1)),
            [],
        ]
        assert made[-1][1].is_aborted

    run(work())


def test_requests_are_counted_until_they_have_ended_however_they_end(run: Loop) -> None:
    async def work() -> None:
        pool = wire.Pool("http://127.0.0.1/", connect_s=2, idle_s=2)
        (first, _), (second, _), (third, _) = connections(pool, 3)
        responses = [each.send(b"", stays=False) for each in (first, second, third)]
        assert pool.under_way == 3
        first.data_received(JSON)
        responses[0].free()
        assert pool.under_way == 2
        second.connection_lost(None)
        responses[1].free()
        second.connection_lost(None)
        assert pool.under_way == 1
        responses[2].leave()
        third.connection_lost(None)
        assert pool.under_way == 0
        first.send(b"", stays=False)  # the one that was kept
        assert pool.under_way == 1

    run(work())
