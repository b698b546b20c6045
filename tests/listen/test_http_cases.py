"""Cases from public reports about HTTP: clients that leave, second streams, stops, headers."""

import asyncio

import anyio
import pytest

from gateway import jsontext
from gateway.listen import stream, underway
from gateway.listen.options import HttpOptions
from gateway.types.json import Json, JsonObject
from tests.listen.house import LIMIT_S, House, Place, call_body, serving
from tests.listen.legacy_raw import Stream, begin, call
from tests.listen.raw import changed, child, exchange, opened, post, received, standard, wire


async def test_a_client_that_leaves_costs_no_other_client_anything() -> None:
    """case: HTT-02"""
    house = House()
    message = call_body("slow")
    body = jsontext.dump(message)
    async with serving(house) as place, await opened(place) as staying:
        await staying.send(wire("POST", "/mcp", standard(place, message, key="bob"), body))
        await house.started.wait()
        before = len(asyncio.all_tasks())
        for _ in range(100):
            house.started, house.cancelled = anyio.Event(), anyio.Event()
            async with await opened(place) as leaving:
                await leaving.send(wire("POST", "/mcp", standard(place, message), body))
                with anyio.fail_after(LIMIT_S):
                    await house.started.wait()
            with anyio.fail_after(LIMIT_S):
                await house.cancelled.wait()
        assert len(asyncio.all_tasks()) <= before + 3
        house.release.set()
        with anyio.fail_after(LIMIT_S):
            assert (await received(staying)).status == 200


async def test_second_streams_and_stray_requests_end_nothing() -> None:
    """case: HTT-04"""
    house = House()
    async with serving(house) as place:
        ada, bob = await begin(place), await begin(place, key="bob")
        async with (
            ada.streaming(call("slow")) as working,
            ada.streaming(None, method="GET") as news,
            bob.streaming(None, method="GET") as other,
        ):
            assert [await news.begun(), await other.begun()] == [200, 200]
            again = await exchange(place, ada.headers, b"", method="GET")
            assert again.status == 409
            bare = changed(ada.headers, Mcp_Session_Id=None)
            assert (await exchange(place, bare, b"")).status == 400
            resumed = [*bare, ("Last-Event-ID", "999")]
            assert (await exchange(place, resumed, b"", method="GET")).status == 400
            house.change()
            for stream in (news, other):
                assert (await stream.next())["method"] == "notifications/tools/list_changed"
            house.release.set()
            assert "result" in await working.next()


async def test_a_quiet_call_of_the_handshake_era_is_kept_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """case: HTT-07"""
    for module in (underway, stream):
        monkeypatch.setattr(module, "KEEPALIVE_S", 0.05)
    house = House()
    async with serving(house) as place:
        session = await begin(place)
        async with session.streaming(call("slow")) as quiet:
            seen = b""
            while seen.count(b": ping") < 3:
                seen += await quiet.socket.receive()
            house.release.set()
            assert "result" in await quiet.next()


async def test_a_stop_answers_what_it_can_and_ends_in_time() -> None:
    """case: HTT-06"""
    house = House()
    message = call_body("slow")
    listen: JsonObject = {
        "jsonrpc": "2.0",
        "id": "sub",
        "method": "subscriptions/listen",
        "params": {**child(message, "params"), "notifications": {}},
    }
    with anyio.fail_after(2 * LIMIT_S):
        async with serving(house) as place:
            session = await begin(place)
            async with (
                session.streaming(None, method="GET") as news,
                await opened(place) as idle,
                await opened(place) as late,
                await opened(place) as working,
            ):
                await news.begun()
                await idle.send(
                    wire("POST", "/mcp", standard(place, listen), jsontext.dump(listen))
                )
                assert (await Stream(idle).next())["method"] == (
                    "notifications/subscriptions/acknowledged"
                )
                # One request before the stop, so that the connection is accepted by then.
                echo = call_body("echo")
                again = wire("POST", "/mcp", standard(place, echo), jsontext.dump(echo))
                await late.send(again)
                assert (await received(late)).status == 200
                await working.send(
                    wire("POST", "/mcp", standard(place, message), jsontext.dump(message))
                )
                await house.started.wait()
                place.front.is_closing = True
                await late.send(again)
                refused = await received(late)
                place.stop.set()
                final = await Stream(idle).next()
                house.release.set()
                assert (await received(working)).status == 200
                with pytest.raises(anyio.EndOfStream):
                    await news.next()
    assert refused.status == 503
    assert refused.headers["retry-after"] == "1"
    assert (final["id"], "result" in final) == ("sub", True)


PROXIED = HttpOptions(
    allowed_hosts=("mcp.example.com", "internal"), allowed_origins=("https://app.example.com",)
)


async def test_host_and_origin_are_checked_before_any_work() -> None:
    """case: HTT-08"""
    house = House()
    outer = HttpOptions(
        allowed_hosts=("mcp.example.com",), allowed_origins=("https://app.example.com",)
    )
    name, forwarded = "mcp.example.com", ("X-Forwarded-Host", "mcp.example.com")
    message = call_body("echo")

    async def status(options_place: Place, host: str, *more: tuple[str, str]) -> int:
        headers = [*changed(standard(options_place, message), Host=host), *more]
        return (await exchange(options_place, headers, jsontext.dump(message))).status

    async with serving(house, outer) as place:
        refused = [
            await status(place, "evil.example"),
            await status(place, name, ("Origin", "https://evil.example")),
            await status(place, name, ("Origin", "null")),
            await status(place, "internal", forwarded),
        ]
        assert house.calls == []
        passed = [
            await status(place, name),
            await status(place, name, ("Origin", "https://app.example.com")),
        ]
    async with serving(house, PROXIED) as place:  # a proxy that rewrites Host: name it as well
        passed.append(await status(place, "internal", forwarded))
    assert (refused, passed) == ([421, 403, 403, 421], [200, 200, 200])


async def test_a_burst_is_answered_whole_or_told_to_come_back() -> None:
    """case: HTT-09"""
    async with serving(House(), HttpOptions(max_requests=16)) as place:
        replies = await asyncio.gather(*(post(place, call_body("echo")) for _ in range(200)))
    statuses = {reply.status for reply in replies}
    assert statuses <= {200, 503}
    assert 200 in statuses
    assert all(reply.headers["retry-after"] for reply in replies if reply.status == 503)


def _heads(reply: bytes) -> list[str]:
    head, _, _ = reply.partition(b"\r\n\r\n")
    return [line.split(b":")[0].decode().lower() for line in head.split(b"\r\n")[1:]]


async def test_responses_have_each_header_once(place: Place) -> None:
    """case: HTT-10"""
    session = await begin(place)
    plain, streamed = call_body("echo"), call_body("steps", meta={"progressToken": 1})
    old = call("echo")
    requests = [
        (standard(place, plain), plain),
        (standard(place, streamed), streamed),
        (standard(place, plain), {**plain, "method": "own/ask"}),
        (session.headers, old),
    ]
    for headers, message in requests:
        async with await opened(place) as socket:
            await socket.send(wire("POST", "/mcp", headers, jsontext.dump(message)))
            seen = b""
            while b"\r\n\r\n" not in seen:
                seen += await socket.receive()
        names = _heads(seen)
        for name in ("mcp-session-id", "content-type", "content-length", "transfer-encoding"):
            assert names.count(name) <= 1
        assert not {"content-length", "transfer-encoding"} <= set(names)


async def test_a_doubled_session_is_none(place: Place) -> None:
    """case: HTT-10"""
    session = await begin(place)
    body = jsontext.dump(call("echo"))
    merged: Json = f"{session.session}, {session.session}"
    for headers in (
        changed(session.headers, Mcp_Session_Id=str(merged)),
        changed(session.headers, Mcp_Session_Id="abc, abc"),
    ):
        assert (await exchange(place, headers, body)).status == 404
    other = await begin(place, key="bob")
    doubled = [*session.headers, ("Mcp-Session-Id", other.session)]
    assert (await exchange(place, doubled, body)).status == 400
    assert place.house.calls == []
