"""The short way of requests and answers that are whole."""

import anyio
from starlette.types import Scope

from gateway import jsontext
from gateway.listen.direct import CycleDirect, direct_of, let_pass
from tests.listen.house import LIMIT_S, House, Place, call_body, serving
from tests.listen.raw import opened, received, standard, wire

MESSAGE = call_body("echo")
BODY = jsontext.dump(MESSAGE)


def _request(place: Place) -> bytes:
    return wire("POST", "/mcp", standard(place, MESSAGE), BODY)


def test_only_a_server_that_has_it_gives_it() -> None:
    scope: Scope = {"type": "http"}
    assert direct_of(scope) is None
    direct = CycleDirect.__new__(CycleDirect)
    let_pass(scope, direct)
    assert direct_of(scope) is direct


async def test_both_ways_send_the_same_answer() -> None:
    async with serving(House()) as place, await opened(place) as stream:
        await stream.send(_request(place))
        short = await received(stream)
        # One that closes its connection is answered by ASGI.
        await stream.send(_request(place).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
        long = await received(stream)
    assert short.status == long.status == 200
    assert short.json["result"] == long.json["result"]
    assert short.headers.keys() | {"connection"} == long.headers.keys()
    assert short.headers["content-type"] == long.headers["content-type"] == "application/json"


async def test_a_body_in_two_pieces_is_read_whole() -> None:
    async with serving(House()) as place, await opened(place) as stream:
        text = _request(place)
        await stream.send(text[:-5])
        for _ in range(10):  # its server is in this loop, and reads it meanwhile
            await anyio.lowlevel.checkpoint()
        await stream.send(text[-5:])
        with anyio.fail_after(LIMIT_S):
            assert (await received(stream)).status == 200


async def test_requests_that_come_together_are_answered_in_their_order() -> None:
    async with serving(House()) as place, await opened(place) as stream:
        later = BODY.replace(b'"id":1', b'"id":2')
        assert later != BODY
        await stream.send(_request(place) + wire("POST", "/mcp", standard(place, MESSAGE), later))
        data = b""
        with anyio.fail_after(LIMIT_S):
            while b'"id":2' not in data:
                data += await stream.receive()
    assert data.count(b"HTTP/1.1 200 OK") == 2
    assert data.index(b'"id":1') < data.index(b'"id":2')
