"""The short way of requests and answers that are whole."""

import gc
import socket

import anyio
import pytest
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from gateway import jsontext
from gateway.listen.direct import CycleDirect, direct_of, let_pass
from gateway.listen.serve import serve
from gateway.listen.sse import WATCH_AFTER_S
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


def _cycles() -> int:
    """Return how many answered requests only the collector could find."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return sum(isinstance(each, RequestResponseCycle) for each in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


@pytest.mark.parametrize("together", [1, 3])
async def test_requests_that_are_answered_leave_nothing_for_the_collector(together: int) -> None:
    house = House()
    async with serving(house) as place, await opened(place) as stream:
        await stream.send(_request(place))
        await received(stream)
        gc.collect()
        gc.disable()
        try:
            for _ in range(5):
                await stream.send(_request(place) * together)
                left = together
                while left:
                    left -= (await stream.receive()).count(b"HTTP/1.1 200")
            await stream.send(_request(place))  # whose beginning lets go of the one before
            await received(stream)
            await anyio.sleep(2 * WATCH_AFTER_S)  # until then it could have to be watched
            house.calls.clear()
            assert _cycles() == 0
        finally:
            gc.enable()


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


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        ("POST / HTTP/1.1\r\nexpect: 100-continue\r\n", b"\r\n\r\nyes"),
        ("HEAD / HTTP/1.1\r\n", None),
    ],
    ids=["expect", "head"],
)
async def test_nothing_is_written_behind_an_answer(head: str, answer: bytes | None) -> None:
    asked_again, stop, ready = anyio.Event(), anyio.Event(), anyio.Event()
    answered: list[bool] = []
    data = b""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            for _ in range(2):
                await send({"type": f"{(await receive())['type']}.complete"})
            return
        direct = direct_of(scope)
        assert direct is not None
        assert direct.take() == b"ab"
        assert direct.take() is None  # whoever has it gives it on
        assert not direct.is_left
        answered.append(direct.answer(b"yes"))
        if answered[-1]:
            assert (await receive())["type"] == "http.disconnect"
        else:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body"})
        asked_again.set()

    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: serve(app, sock, stop=stop, on_ready=ready.set))
            await ready.wait()
            async with await anyio.connect_tcp("127.0.0.1", sock.getsockname()[1]) as stream:
                await stream.send(f"{head}host: a\r\ncontent-length: 2\r\n\r\nab".encode())
                with anyio.fail_after(LIMIT_S):
                    await asked_again.wait()
                    stop.set()
                    data = b"".join([piece async for piece in stream])
    assert answered == [answer is not None]
    assert data.endswith(answer or b"\r\n\r\n")
    assert data.count(b"HTTP/1.1 ") == 1
