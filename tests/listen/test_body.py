"""Reading a body within a size and a time."""

from collections import deque

import anyio
import pytest
from starlette.types import Message

from gateway.listen.body import BodyRefused, body_of, read_body
from gateway.listen.headers import HeaderView
from gateway.listen.options import HttpOptions
from gateway.listen.replies import Asgi


def _receiving(*messages: Message | None) -> "Feed":
    return Feed(deque(messages))


class Feed:
    """Gives messages one by one; None stands for a client that stays silent."""

    def __init__(self, messages: deque[Message | None]) -> None:
        self.messages = messages

    async def __call__(self) -> Message:
        message = self.messages.popleft()
        if message is None:
            await anyio.sleep_forever()
        assert message is not None
        return message


def _part(body: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


async def _read(feed: Feed, length: bytes | None = None) -> bytes:
    return await read_body(feed, content_length=length, max_bytes=4, deadline_s=0.01)


async def test_parts_are_joined() -> None:
    feed = _receiving(_part(b"ab", more=True), _part(b"cd", more=False))
    assert await _read(feed, b"4") == b"abcd"


@pytest.mark.parametrize(
    ("feed", "length", "status"),
    [
        (_receiving(), b"5", 413),
        (_receiving(_part(b"12345", more=False)), None, 413),
        (_receiving(_part(b"123", more=True), _part(b"45", more=True)), None, 413),
        (_receiving(None), b"2", 408),
        (_receiving(_part(b"1", more=True), None), b"junk", 408),
        (_receiving({"type": "http.disconnect"}), None, 0),
        (_receiving(_part(b"1", more=True), {"type": "http.disconnect"}), None, 0),
    ],
)
async def test_what_is_too_much_or_too_slow_is_refused(
    feed: Feed, length: bytes | None, status: int
) -> None:
    with pytest.raises(BodyRefused) as refused:
        await _read(feed, length)
    assert refused.value.status == status


async def test_what_has_arrived_is_the_body_unless_it_is_too_large() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return _part(b"ab", more=False)

    async def send(message: Message) -> None:
        sent.append(message)

    http, options = Asgi({"type": "http"}, receive, send), HttpOptions(max_body_bytes=4)
    headers = HeaderView([])
    assert await body_of(http, headers, None, options) == b"ab"
    assert await body_of(http, headers, b"", options) == b""
    assert await body_of(http, headers, b"abcd", options) == b"abcd"
    assert sent == []
    assert await body_of(http, headers, b"abcde", options) is None
    assert sent[0]["status"] == 413
    assert (b"connection", b"close") in sent[0]["headers"]
    long = HeaderView([(b"content-length", b"5")])
    assert await body_of(http, long, None, options) is None
    assert sent[2]["status"] == 413


async def test_nobody_is_answered_who_has_left_before_the_end_of_a_body() -> None:
    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    http = Asgi({"type": "http"}, receive, send)
    assert await body_of(http, HeaderView([]), None, HttpOptions()) is None
