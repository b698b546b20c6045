"""Heads that are known: they are read as the parser reads them, and all else is left to it."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.servers import wire
from gateway.servers.likeness import Likeness
from gateway.servers.response import Response

DATES = (b"Mon, 30 Nov 2026 22:30:00 GMT", b"Tue, 01 Dec 2026 00:00:01 GMT")
LENGTH = (
    b"HTTP/1.1 200 OK\r\nDate: %b\r\nMcp-Session-Id: s-1\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n"
)
CHUNKED = (
    b"HTTP/1.1 200 OK\r\ndate: %b\r\nserver: x\r\ncontent-type: application/json; charset=utf-8\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)


def in_length(body: bytes, date: bytes = DATES[0]) -> bytes:
    return LENGTH % (date, len(body)) + body


def in_chunks(body: bytes, date: bytes = DATES[0]) -> bytes:
    return CHUNKED % date + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


class Pool(wire.Pool):
    """Keeps connections without an event loop, and counts what it keeps."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1/", connect_s=1, idle_s=1)
        self.counted = 0

    def keep(self, connection: wire.Connection) -> None:
        self.counted += 1


class Blind(Likeness):
    """Knows nothing: the parser reads all."""

    def look(self, data: bytes) -> None:
        return None


class Transport:
    """Goes nowhere."""

    def write(self, data: bytes) -> None: ...
    def abort(self) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...


class Counting(wire.Connection):
    """Counts the fields that the parser reads."""

    read = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        self.read += 1
        super().on_header(name, value)


def connected(pool: Pool) -> Counting:
    connection = Counting(pool)
    connection.connection_made(Transport())  # type: ignore[arg-type]
    return connection


def answered(connection: wire.Connection, *pieces: bytes) -> Response:
    response = connection.send(b"", stays=False)
    for piece in pieces:
        connection.data_received(piece)
    return response


def seen(pool: Pool, pieces: list[bytes]) -> dict[str, Any]:
    """Return all that a reader could tell of a response."""
    connection, before = connected(pool), pool.counted
    response: Any = answered(connection, *pieces)
    told: dict[str, Any] = {
        "began": response.began,
        "complete": response.is_complete,
        "failed": response._fault is not None,
    }
    if response.is_complete:
        told |= {
            "status": response.status,
            "type": response.content_type,
            "encoding": response.encoding,
            "body": b"".join(response._pieces),
            "headers": response.headers.without("date", "content-length")._fields,
        }
    connection.finish(response)
    return told | {"kept": pool.counted - before}


@pytest.mark.parametrize("made", [in_length, in_chunks])
@pytest.mark.parametrize("split", [False, True], ids=["one piece", "head first"])
def test_a_head_is_read_by_the_parser_once(made: Any, split: bool) -> None:
    pool = Pool()
    connection = connected(pool)
    read: list[int] = []
    for number, body in enumerate((b"{}", b'{"a":1}' * 99, b"[]")):
        whole = made(body, DATES[number % 2])
        end = whole.index(b"\r\n\r\n") + 4
        last = len(whole) - 5 if made is in_chunks else len(whole)
        pieces = (whole[:end], whole[end:last], whole[last:]) if split else (whole,)
        response = answered(connection, *[piece for piece in pieces if piece])
        assert (response.whole(), response.status) == (body, 200)
        assert response.content_type == "application/json"
        read.append(connection.read)
        connection.finish(response)
    assert read == [4, 4, 4]
    assert pool.counted == 3


def test_fields_beside_the_length_and_the_date_are_those_of_the_head() -> None:
    connection = connected(Pool())
    for body in (b"{}", b"[1]"):
        response = answered(connection, in_length(body))
        assert response.headers.getall("mcp-session-id", []) == ["s-1"]
        connection.finish(response)


def test_another_head_is_not_taken_for_one_that_is_known() -> None:
    connection = connected(Pool())
    connection.finish(answered(connection, in_length(b"{}")))
    response = answered(connection, in_length(b"{}").replace(b"s-1", b"s-2"))
    assert response.headers.get("mcp-session-id") == "s-2"


def test_heads_are_kept_within_bounds() -> None:
    pool = Pool()
    connection = connected(pool)
    for number in range(100):
        one = in_length(b"{}").replace(b"s-1", b"s-%d" % number)
        connection.finish(answered(connection, one))
    likeness: Any = pool.likeness
    assert len(likeness._known) <= 16
    large = in_length(b"{}").replace(b"s-1", b"s" * 9_000)
    connection.finish(answered(connection, large))
    assert pool.likeness.look(large) is None


def test_what_comes_after_a_whole_answer_ends_the_connection() -> None:
    pool = Pool()
    for more in (in_length(b"[2]"), b"x", b"HTTP/1.1 200 OK\r\n\r\n"):
        for at_once in (True, False):
            connection = connected(pool)
            pieces = [in_length(b"{}") + more] if at_once else [in_length(b"{}"), more]
            response = answered(connection, *pieces)
            assert (response.is_complete, response.whole()) == (True, b"{}")
            assert response.headers.getall("mcp-session-id", []) == ["s-1"]
            connection.finish(response)
            assert (connection.usable, pool.counted) == (False, 0)


@pytest.mark.parametrize(
    "more", [b"content-encoding: gzip\r\n", b"connection: close\r\n", b"x: \xff\r\n"]
)
def test_what_is_no_plain_answer_is_left_to_the_parser(more: bytes) -> None:
    pool = Pool()
    connection = connected(pool)
    one = in_length(b"{}").replace(b"\r\n\r\n", b"\r\n" + more + b"\r\n")
    connection.finish(answered(connection, one))
    assert pool.likeness.look(one) is None


def test_trailers_are_no_part_of_a_head() -> None:
    for split in (False, True):
        pool = Pool()
        connection = connected(pool)
        one = in_chunks(b"{}")[:-2] + b"content-encoding: gzip\r\n\r\n"
        end = one.index(b"\r\n\r\n") + 4
        response = answered(connection, *((one[:end], one[end:]) if split else (one,)))
        assert response.headers.get("content-encoding") == "gzip"
        connection.finish(response)
        assert pool.likeness.look(in_chunks(b"{}")) is None


def test_a_head_whose_body_never_comes_is_an_answer_that_broke_off() -> None:
    connection = connected(Pool())
    connection.finish(answered(connection, in_length(b"{}")))
    response: Any = answered(connection, LENGTH % (DATES[0], 2))
    connection.eof_received()
    connection.connection_lost(None)
    assert (response.is_complete, type(response._fault)) == (False, ConnectionResetError)


# Bodies and framings that fit, nearly fit, or are made to be seen elsewhere than they end.
_BODIES = st.sampled_from([b"", b"{}", b"0\r\n\r\n", b"\r\n\r\n", b"x" * 300, in_length(b"{}")])
_NUMBERS = st.sampled_from([b"", b"0", b"00", b"2", b"02", b"+2", b"2 ", b"0x2", b"5", b"300"])
_FIELDS = st.sampled_from(
    [
        b"Content-Length: 2\r\n",
        b"content-length: 2\r\n",
        b"Content-Length: \r\n",
        b"Content-Length:2\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"transfer-encoding: gzip, chunked\r\n",
        b"Date: Mon, 30 Nov 2026 22:30:00 GMT\r\n",
        b"Date: yesterday\r\n",
        b" folded\r\n",
        b"Connection: close\r\n",
        b"Content-Encoding: gzip\r\n",
        b"no colon\r\n",
        b"x: \x00\r\n",
        b"x: a\n",
        b"\n",
    ]
)


@st.composite
def _streams(draw: st.DrawFn) -> list[bytes]:
    """A response that is nearly a usual one, in pieces."""
    body, made = draw(_BODIES), draw(st.sampled_from([in_length, in_chunks]))
    data = bytearray(made(body, draw(st.sampled_from(DATES))))
    match draw(st.integers(0, 5)):
        case 0:  # a field more
            at = data.index(b"\r\n", draw(st.integers(0, data.index(b"\r\n\r\n")))) + 2
            data[at:at] = draw(_FIELDS)
        case 1:  # another length
            data = data.replace(b"th: %d\r" % len(body), b"th: %b\r" % draw(_NUMBERS))
            data = data.replace(b"\r\n\r\n%x\r" % len(body), b"\r\n\r\n%b\r" % draw(_NUMBERS))
        case 2:  # another sign
            at = draw(st.integers(0, len(data) - 1))
            data[at : at + 1] = draw(st.sampled_from([b"", b"\r", b"\n", b" ", b"0", b"\xff"]))
        case 3:  # more or less than all
            end = draw(st.integers(0, len(data)))
            data = data[:end] + draw(st.sampled_from([b"", b"\r\n", b"x", in_length(b"[1]")]))
        case _:
            pass
    head = data.find(b"\r\n\r\n") + 4
    cuts = sorted(
        {
            0,
            len(data),
            *draw(
                st.sampled_from(
                    [(), (head,), (head, head + 2), (9,), (len(data) - 5,), (head, len(data) - 7)]
                )
            ),
        }
    )
    pieces = [bytes(data[a:b]) for a, b in pairwise(cuts)]
    return [piece for piece in pieces if piece]


@given(st.lists(_streams(), min_size=1, max_size=4))
@example([[in_length(b"{}")], [in_length(b"").replace(b": 0", b": 2\r\nContent-Length: 2")]])
@example([[in_length(b"{}")], [LENGTH % (DATES[0], 0)]])
@example([[in_length(b"").replace(b": 0", b": ")]])
@example([[in_chunks(b"{}")], [CHUNKED % DATES[0] + b"2;x=y\r\n{}\r\n0\r\n\r\n"]])
def test_whatever_a_server_sends_is_read_as_the_parser_reads_it(
    streams: list[list[bytes]],
) -> None:
    knowing, blind = Pool(), Pool()
    blind.likeness = Blind()
    for pool in (knowing, blind):
        for usual in (in_length(b"{}"), in_chunks(b"{}")):
            connection = connected(pool)
            connection.finish(answered(connection, usual))
        assert pool.counted == 2
    for pieces in streams:
        assert seen(knowing, pieces) == seen(blind, pieces)
