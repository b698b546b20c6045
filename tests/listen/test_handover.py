"""Requests handed over to another process arrive whole, and so do their answers."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message, Scope

from gateway.listen.handover import FROM, Lines
from gateway.listen.replies import Asgi
from tests.helpers.fake_server import until_async

Raw = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(path: Path, raw: Raw) -> AsyncGenerator[Lines]:
    """Serve raw bytes at a socket, and give the lines that lead there."""
    ends: list[asyncio.Event] = []

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        end = asyncio.Event()
        ends.append(end)
        try:
            await raw(reader, writer)
            await reader.read()  # until it is closed
        finally:
            writer.close()
            end.set()

    server = await asyncio.start_unix_server(served, path)
    lines = Lines(path)
    try:
        yield lines
    finally:
        lines.close()
        server.close()
        async with asyncio.timeout(5):
            for end in ends:
                await end.wait()


class Client:
    """What an ASGI server would be to a request."""

    def __init__(self, *pieces: bytes, **scope: Any) -> None:
        self.scope: Scope = {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "query_string": b"",
            "headers": [],
            "client": ("10.0.0.7", 4711),
            **scope,
        }
        self.sent: list[Message] = []
        self.left = asyncio.Event()
        self._pieces = list(pieces) or [b""]

    async def receive(self) -> Message:
        if not self._pieces:
            await self.left.wait()
            return {"type": "http.disconnect"}
        piece = self._pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(self._pieces)}

    async def send(self, event: Message) -> None:
        self.sent.append(event)

    @property
    def http(self) -> Asgi:
        return Asgi(self.scope, self.receive, self.send)

    @property
    def status(self) -> int:
        return self.sent[0]["status"]

    @property
    def body(self) -> bytes:
        return b"".join(event.get("body", b"") for event in self.sent)


async def test_head_and_body_arrive_as_they_came_but_for_what_is_the_connections(
    tmp_path: Path,
) -> None:
    got: list[bytes] = []

    async def raw(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.append(await reader.readuntil(b"\r\n\r\n"))
        got.append(await reader.readexactly(6))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ndate: never\r\nx-a: 1\r\n\r\nok")

    headers = [
        (b"host", b"a"),
        (b"connection", b"close"),
        (FROM, b"6.6.6.6 1"),  # nobody says who he is
        (b"content-length", b"6"),
    ]
    client = Client(b"abc", b"def", headers=headers, query_string=b"q=1")
    async with listening(tmp_path / "s", raw) as lines:
        assert await lines.hand_over(client.http)
    assert got[0] == (
        b"POST /mcp?q=1 HTTP/1.1\r\nhost: a\r\ncontent-length: 6\r\n"
        b"weighbridge-from: 10.0.0.7 4711\r\n\r\n"
    )
    assert got[1] == b"abcdef"
    assert client.sent[0]["headers"] == [(b"content-length", b"2"), (b"x-a", b"1")]
    assert (client.status, client.body) == (200, b"ok")


async def test_a_body_of_unknown_length_goes_on_in_chunks(tmp_path: Path) -> None:
    got: list[bytes] = []

    async def raw(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        got.append(await reader.readuntil(b"0\r\n\r\n"))
        writer.write(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")

    client = Client(b"abc", b"", b"d", headers=[(b"transfer-encoding", b"chunked")])
    async with listening(tmp_path / "s", raw) as lines:
        assert await lines.hand_over(client.http)
    assert got == [b"3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n"]
    assert client.status == 202


async def test_a_connection_is_used_again_and_a_stream_is_told_piece_by_piece(
    tmp_path: Path,
) -> None:
    made = 0
    go_on = asyncio.Event()

    async def raw(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal made
        made += 1
        while not reader.at_eof():
            try:
                await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return
            writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n")
            await go_on.wait()
            writer.write(b"3\r\ntwo\r\n0\r\n\r\n")

    async with listening(tmp_path / "s", raw) as lines:
        first = Client()
        handing = asyncio.ensure_future(lines.hand_over(first.http))
        await until_async(lambda: first.body == b"one")
        go_on.set()
        assert await handing
        assert first.body == b"onetwo"
        second = Client()
        assert await lines.hand_over(second.http)
        assert second.body == b"onetwo"
        assert made == 1


async def test_the_clients_leaving_is_seen_at_the_other_side(tmp_path: Path) -> None:
    seen = asyncio.Event()

    async def raw(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        assert await reader.read() == b""
        seen.set()
        writer.close()

    client = Client()
    async with listening(tmp_path / "s", raw) as lines:
        handing = asyncio.ensure_future(lines.hand_over(client.http))
        client.left.set()
        async with asyncio.timeout(5):
            await seen.wait()
            assert await handing
    assert client.sent == []


async def test_nobody_there_is_told_before_anything_was_read(tmp_path: Path) -> None:
    client = Client(b"abc")
    assert not await Lines(tmp_path / "nobody").hand_over(client.http)
    assert (await client.receive())["body"] == b"abc"
    assert client.sent == []


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200", b"nonsense\r\n\r\n"])
async def test_a_worker_that_ends_before_it_answers_is_told_as_that(
    tmp_path: Path, said: bytes
) -> None:
    async def raw(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        writer.close()

    client = Client()
    async with listening(tmp_path / "s", raw) as lines:
        assert await lines.hand_over(client.http)
    assert client.status == 502
    assert b"a write is not done twice" in client.body


async def test_an_answer_that_breaks_off_is_not_made_whole(tmp_path: Path) -> None:
    async def raw(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf")
        writer.close()

    client = Client()
    async with listening(tmp_path / "s", raw) as lines:
        assert await lines.hand_over(client.http)
    assert client.body == b"half"
    assert client.sent[-1]["more_body"] is True


async def test_a_client_that_reads_slowly_holds_up_who_sends_to_it(tmp_path: Path) -> None:
    size = 8 << 20
    drained = asyncio.Event()

    async def raw(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % size)
        for _ in range(size >> 16):
            writer.write(b"x" * (1 << 16))
            await writer.drain()
        drained.set()

    client = Client()
    reads = asyncio.Event()

    async def send(event: Message) -> None:
        await reads.wait()
        client.sent.append(event)

    async with listening(tmp_path / "s", raw) as lines:
        handing = asyncio.ensure_future(lines.hand_over(Asgi(client.scope, client.receive, send)))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await drained.wait()
        reads.set()
        assert await handing
    assert len(client.body) == size


@pytest.mark.parametrize("piece", [b"", b"x" * 1000], ids=["silent", "endless"])
async def test_a_refusal_is_not_kept_waiting_by_a_body_that_never_ends(
    tmp_path: Path, piece: bytes
) -> None:
    made = 0

    async def raw(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal made
        made += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\nno")

    class Endless(Client):
        async def receive(self) -> Message:
            if not piece:
                await self.left.wait()
            await asyncio.sleep(0)
            return {"type": "http.request", "body": piece, "more_body": True}

    async with listening(tmp_path / "s", raw) as lines, asyncio.timeout(5):
        for _ in range(2):
            client = Endless(headers=[(b"transfer-encoding", b"chunked")])
            assert await lines.hand_over(client.http)
            assert (client.status, client.body) == (401, b"no")
            assert (b"connection", b"close") in client.sent[0]["headers"]
    assert made == 2  # a line with half of a request on it is not used again


async def test_an_answer_to_head_has_a_length_and_ends_with_its_head(tmp_path: Path) -> None:
    async def raw(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\n")

    client = Client(method="HEAD")
    async with listening(tmp_path / "s", raw) as lines, asyncio.timeout(5):
        assert await lines.hand_over(client.http)
    assert client.status == 401
    assert client.sent[-1]["more_body"] is False
