"""The server around the application: its deadlines and its end."""

import os
import signal

import anyio
import pytest

from gateway import jsontext
from gateway.listen import serve
from gateway.listen.serve import stop_on_signals
from tests.listen.house import LIMIT_S, House, call_body, serving
from tests.listen.raw import opened, post, received, standard, wire


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
