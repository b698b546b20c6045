"""Heads that came before: what they are read as is what the parser reads, and nothing else is."""

import asyncio
from typing import Any

import anyio
import pytest
import uvicorn
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from gateway.listen.direct import direct_of
from gateway.listen.repeats import Head, Heads, seen_of
from gateway.listen.serve import PromptProtocol
from tests.helpers.transports import Wire

LINES = (
    b"Host: localhost",
    b"Content-Type: application/json",
    b"Authorization: Bearer wb_a_0",
    b"Mcp-Name: alpha__find",
)


def request(body: bytes, *lines: bytes, first: bytes = b"POST /mcp HTTP/1.1") -> bytes:
    return b"\r\n".join([first, *(lines or LINES), b"Content-Length: %d" % len(body), b"", body])


def in_the_middle(body: bytes) -> bytes:
    at = b"content-length:\t%d" % len(body)
    return b"\r\n".join([b"POST /a%20b?c=d HTTP/1.1", *LINES[:2], at, *LINES[2:], b"", body])


class Counted:
    """A parser that says when it is given something."""

    def __init__(self, parser: Any, server: "Server") -> None:
        self.parser, self.server = parser, server

    def __getattr__(self, name: str) -> Any:
        return getattr(self.parser, name)

    def feed_data(self, data: bytes) -> None:
        self.server.parsed += 1
        self.parser.feed_data(data)


class Server:
    """One connection, and what its application is given."""

    def __init__(self, *, limit: int | None = None, is_known: bool = True) -> None:
        config = uvicorn.Config(
            self.app,
            interface="asgi3",
            proxy_headers=False,
            ws="none",
            log_config=None,
            timeout_keep_alive=75,
            limit_concurrency=limit,
        )
        self.state = ServerState()
        self.protocol = PromptProtocol(config, self.state, {}, asyncio.get_running_loop())
        self.wire = Wire()
        self.protocol.connection_made(self.wire)
        if is_known:
            self.protocol.introduced()
        self.parsed = self.came = 0  # pieces
        self.got: list[tuple[Scope, bytes]] = []
        self.protocol.parser = Counted(self.protocol.parser, self)  # pyright: ignore[reportAttributeAccessIssue]

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        while (event := await receive())["type"] == "http.request":
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        self.got.append(({**scope}, body))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    async def sent(self, *pieces: bytes) -> None:
        for piece in pieces:
            if self.wire.is_open:
                self.came += 1
                self.protocol.data_received(piece)
        for _ in range(6):
            await anyio.lowlevel.checkpoint()

    def told(self) -> list[tuple[dict[str, Any], bytes]]:
        """Return what the application was given, but for what is the server's own."""
        return [
            ({key: scope[key] for key in scope if not key.startswith("weighbridge.")}, body)
            for scope, body in self.got
        ]


class Never(Heads):
    """Knows none."""

    def learn(self, data: bytes, scope: Scope) -> None:
        """Keep nothing."""


async def both(*requests: bytes, **options: Any) -> tuple[Server, Server]:
    """Send requests to a connection that knows heads, and to one that never does."""
    knows, parses = Server(**options), Server(**options)
    parses.protocol.heads = Never()
    for each in requests:
        await knows.sent(each)
        await parses.sent(each)
    assert knows.told() == parses.told()
    assert knows.wire.written == parses.wire.written
    assert knows.wire.is_open == parses.wire.is_open
    assert parses.parsed == parses.came
    return knows, parses


@pytest.mark.parametrize("made", [request, in_the_middle])
async def test_a_head_is_parsed_once_whatever_the_length_of_its_body(made: Any) -> None:
    bodies = [b"{}", b"[1]", b"{}", b"x" * 70_000, b"", b"x" * 999]
    knows, _ = await both(*map(made, bodies))
    assert knows.parsed == 1
    assert [body for _, body in knows.got] == bodies
    lengths = [dict(scope["headers"])[b"content-length"] for scope, _ in knows.got]
    assert lengths == [b"%d" % len(body) for body in bodies]


async def test_each_of_several_heads_is_known_and_no_more_than_a_few() -> None:
    made = [request(b"{}", *LINES, b"X: %d" % number) for number in range(12)]
    knows, _ = await both(*made, *made)
    assert knows.parsed == 12 + 4


async def test_headers_that_are_the_same_are_seen_once() -> None:
    knows, _ = await both(request(b"{}"), request(b"[]"), request(b"{ }"), request(b"[1]"))
    seen = [seen_of(scope) for scope, _ in knows.got]
    assert seen[0] is None
    assert seen[1] is not None
    assert seen[1] is seen[2] is seen[3]
    raw = [scope["headers"] for scope, _ in knows.got]
    assert raw[1] is not raw[2]
    assert raw[2] is raw[3]


@pytest.mark.parametrize(
    "other",
    [
        request(b"{}", *LINES[:-1], b"Mcp-Name: alpha__fine"),
        request(b"{}", *LINES, b"X: y"),
        request(b"{}", first=b"POST /mcp HTTP/1.0"),
        request(b"{}", first=b"POST /mcp/ HTTP/1.1"),
        request(b"{}").lower().replace(b"post /mcp http", b"POST /mcp HTTP"),
        request(b"{}").replace(b"Length: 2", b"Length: +2"),
        request(b"{}").replace(b"Length: 2", b"Length: 2 "),
        request(b"{}").replace(b"Length: 2", b"Length: "),
        request(b"{}").replace(b"Length: 2", b"Length: 2\r\nContent-Length: 2"),
        request(b"{}").replace(b"Length: 2", b"Length: 2\r\nTransfer-Encoding: chunked"),
        request(b"{}").replace(b"Length: 2", b"Length: 99999999999999999999999"),
        request(b"{}").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"),
        request(b"{}").replace(b"\r\n\r\n", b"\r\nUpgrade: websocket\r\n\r\n"),
        request(b"{}").replace(b"\r\n\r\n", b"\r\n x\r\n\r\n"),
        request(b"{}").replace(b"\r\n\r\n", b"\n\n"),
        request(b"{}") + request(b"[]"),
        request(b"{}") + b"x",
        b"\r\n" + request(b"{}"),
        b"GET /mcp HTTP/1.1\r\n" + LINES[0] + b"\r\n\r\n",
        b"x",
    ],
)
async def test_whatever_is_not_the_same_is_left_to_the_parser(other: bytes) -> None:
    knows, _ = await both(request(b"{}"), request(b"[]"), other)
    assert knows.parsed == 2
    # And is known no more easily when it comes first.
    await both(other, other, request(b"{}"))


async def test_a_number_that_the_parser_takes_is_taken_as_it_stands() -> None:
    other = request(b"{}").replace(b"Length: 2", b"Length: 0002")
    knows, _ = await both(request(b"{}"), other)
    assert knows.parsed == 1
    assert dict(knows.got[1][0]["headers"])[b"content-length"] == b"0002"


@given(st.binary(max_size=40), st.integers(0, 200), st.integers(0, 3))
@example(b"", 120, 1)
def test_bytes_that_differ_anywhere_are_never_read_otherwise(put: bytes, at: int, cut: int) -> None:
    async def work() -> None:
        one = request(b"{}")
        await both(one, one[:at] + put + one[at + cut :])

    asyncio.run(work())


async def test_a_request_in_pieces_is_the_parsers() -> None:
    knows = Server()
    one = request(b"[1,2]")
    await knows.sent(one)
    for at in (3, len(one) - 7, len(one) - 2):
        await knows.sent(one[:at], one[at:])
    assert [body for _, body in knows.got] == [b"[1,2]"] * 4
    assert knows.parsed == 7
    await knows.sent(one)
    assert (knows.parsed, len(knows.got)) == (7, 5)


async def test_what_came_behind_an_unfinished_request_is_not_taken_for_another() -> None:
    """The body of one looks like a head that is known."""
    knows = Server()
    inner = request(b"{}")
    await knows.sent(inner)
    outer = request(b"x" * 10 + inner)
    await knows.sent(outer[: -len(inner)], inner)
    assert [body for _, body in knows.got] == [b"{}", b"x" * 10 + inner]


async def test_nothing_is_kept_of_a_stranger() -> None:
    knows = Server(is_known=False)
    for _ in range(3):
        await knows.sent(request(b"{}"))
    assert knows.parsed == 3
    knows.protocol.introduced()
    for _ in range(3):
        await knows.sent(request(b"{}"))
    assert knows.parsed == 4


async def test_too_many_requests_are_refused_as_ever() -> None:
    knows = Server(limit=3)
    await knows.sent(request(b"{}"))
    others = {asyncio.ensure_future(asyncio.sleep(9)) for _ in range(3)}
    knows.state.tasks |= others
    await knows.sent(request(b"{}"))
    assert b"503 Service Unavailable" in knows.wire.written
    assert (knows.parsed, len(knows.got)) == (2, 1)
    for each in others:
        each.cancel()


async def test_the_application_gets_all_that_it_does_of_others() -> None:
    taken: list[bytes | None] = []

    class Direct(Server):
        async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
            direct = direct_of(scope)
            assert direct is not None
            taken.append(direct.take())
            scope["weighbridge.introduce"]()
            assert direct.answer(b"{}")

    knows = Direct()
    for body in (b"{}", b"[1]"):
        await knows.sent(request(body))
    assert taken == [b"{}", b"[1]"]
    assert knows.parsed == 1
    assert knows.wire.written.count(b"HTTP/1.1 200") == 2
    assert knows.state.total_requests == 2
    assert knows.state.tasks == set()


def scope_of(data: bytes, **more: Any) -> Scope:
    lines = data.split(b"\r\n\r\n")[0].split(b"\r\n")[1:]
    split = [line.partition(b":") for line in lines]
    headers = [(name.lower(), value.strip()) for name, _, value in split]
    return {"type": "http", "http_version": "1.1", "headers": headers, **more}


def test_a_head_that_is_too_long_is_not_kept() -> None:
    short, long = (request(b"{}", b"X: " + b"x" * many) for many in (3_000, 5_000))
    assert Head.of(short, scope_of(short)) is not None
    assert Head.of(long, scope_of(long)) is None
    heads = Heads()
    heads.learn(long, scope_of(long))
    assert heads.find(long) is None


@pytest.mark.parametrize(
    "line",
    [
        b"Connection: close",
        b"Connection: keep-alive, X",
        b"Transfer-Encoding: chunked",
        b"Upgrade: h2c",
        b"Expect: 100-continue",
        b"Trailer: X",
        b"Content-Length: 2",
    ],
)
def test_no_head_is_kept_that_says_how_to_go_on(line: bytes) -> None:
    for data in (request(b"{}", *LINES, line), request(b"{}", line, *LINES)):
        assert Head.of(data, scope_of(data)) is None
    plain = request(b"{}", *LINES, b"Connection: Keep-Alive")
    assert Head.of(plain, scope_of(plain)) is not None


@pytest.mark.parametrize("length", [b"2 ", b"2\t", b"", b"x", b"+2", b"0" * 20 + b"2"])
def test_no_head_is_kept_whose_length_is_written_otherwise(length: bytes) -> None:
    data = request(b"{}").replace(b"Length: 2", b"Length: " + length)
    assert Head.of(data, scope_of(data)) is None


def test_no_head_is_kept_that_was_read_otherwise() -> None:
    data = request(b"{}")
    assert Head.of(data, scope_of(data)) is not None
    assert Head.of(data, scope_of(data, http_version="1.0")) is None
    assert Head.of(data[:-6], scope_of(data)) is None  # its end has not come
    read = scope_of(data)["headers"]
    for other in ([*read, (b"x", b"")], read[:-1], [(b"host", b"other"), *read[1:]]):
        assert Head.of(data, scope_of(data, headers=other)) is None


async def test_what_follows_the_length_counts_as_well() -> None:
    one = in_the_middle(b"{}")
    knows, _ = await both(one, one.replace(b"alpha__find", b"alpha__fine"), one)
    assert knows.parsed == 2
    assert dict(knows.got[1][0]["headers"])[b"mcp-name"] == b"alpha__fine"


async def test_of_requests_that_come_together_no_head_is_taken_for_the_others() -> None:
    one, two = (request(b"{}", first=b"POST /%b HTTP/1.1" % name) for name in (b"one", b"two"))
    knows, _ = await both(one + two, one, two, one, two)
    assert [scope["path"] for scope, _ in knows.got] == ["/one", "/two"] * 3
    assert len(knows.protocol.heads) == 2
    assert knows.parsed == 2


async def test_a_request_that_comes_before_the_last_one_is_answered_waits_for_it() -> None:
    release, begun = anyio.Event(), list[bytes]()

    class Slow(Server):
        async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
            begun.append(scope["path"])
            if self.got:
                await release.wait()
            await super().app(scope, receive, send)

    slow = Slow()
    for _ in range(3):
        await slow.sent(request(b"{}"))
    assert len(begun) == 2
    release.set()
    await slow.sent()
    assert len(slow.got) == 3
    assert slow.wire.written.count(b"HTTP/1.1 200") == 3


async def test_the_rest_of_a_body_that_nobody_waits_for_is_no_request() -> None:
    class Curt(Server):
        async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
            self.got.append((scope, b""))
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"{}"})

    curt = Curt()
    inner = request(b"{}")
    await curt.sent(inner)
    await curt.sent(request(b"x" * 10 + inner)[: -len(inner)])
    await curt.sent(inner)
    assert len(curt.got) == 2


async def test_too_many_connections_are_refused_as_ever() -> None:
    knows = Server(limit=3)
    await knows.sent(request(b"{}"))
    knows.state.connections |= {Server().protocol for _ in range(3)}
    await knows.sent(request(b"{}"))
    assert b"503 Service Unavailable" in knows.wire.written
    assert len(knows.got) == 1
