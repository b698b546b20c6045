"""Reading a body within a size and a time."""

from collections import deque

import anyio
import pytest
from starlette.types import Message

from gateway.listen.body import BodyRefused, arrived, read_body


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


class _Door:
    """The short way of a request whose body is there, or is not."""

    is_left = False

    def __init__(self, body: bytes | None) -> None:
        self._body = body

    def take(self) -> bytes | None:
        return self._body

    def answer(self, body: bytes) -> bool:
        raise AssertionError(body)


def test_a_body_that_is_there_needs_no_waiting_and_may_be_as_long_as_any() -> None:
    assert arrived(None, 4) is None
    assert arrived(_Door(None), 4) is None
    assert arrived(_Door(b""), 4) == b""
    assert arrived(_Door(b"abcd"), 4) == b"abcd"
    with pytest.raises(BodyRefused) as refused:
        arrived(_Door(b"abcde"), 4)
    assert refused.value.status == 413
