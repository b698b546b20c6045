"""Plain HTTP responses, and bodies that are read twice."""

from starlette.types import Message

from gateway.listen.replies import Asgi, send_error
from gateway.listen.rpc import OVERLOADED, RpcError


async def _never(event: Message) -> None:
    raise AssertionError(event)


async def test_a_body_that_was_read_is_read_once_more_and_then_what_follows() -> None:
    async def left() -> Message:
        return {"type": "http.disconnect"}

    again = Asgi({}, left, _never).replayed(b"body")
    assert await again.receive() == {"type": "http.request", "body": b"body", "more_body": False}
    assert await again.receive() == {"type": "http.disconnect"}


async def test_an_error_has_the_status_of_its_code_or_another() -> None:
    sent: list[Message] = []

    async def send(event: Message) -> None:
        sent.append(event)

    error = RpcError(code=OVERLOADED, message="too many")
    await send_error(send, error)
    await send_error(send, error, 7, status=429)
    assert [event["status"] for event in sent[::2]] == [503, 429]
    assert sent[3]["body"].startswith(b'{"jsonrpc":"2.0","id":7,')
