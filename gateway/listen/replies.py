"""Plain HTTP responses, sent without a framework."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from starlette.types import Message, Receive, Scope, Send

from gateway import jsontext
from gateway.listen.rpc import RequestId, RpcError, error_bytes
from gateway.types.json import JsonObject

Headers = Sequence[tuple[bytes, bytes]]


class Asgi(NamedTuple):
    """One HTTP request as an ASGI server hands it over."""

    scope: Scope
    receive: Receive
    send: Send

    def replayed(self, body: bytes) -> "Asgi":
        """Return the request with its body, which has been read, to be read once more."""
        given = False

        async def receive() -> Message:
            nonlocal given
            if given:
                return await self.receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        return self._replace(receive=receive)


_JSON: Final = (b"content-type", b"application/json")


async def send_bytes(send: Send, status: int, body: bytes, headers: Headers = ()) -> None:
    """Send a JSON body that is ready."""
    length = (b"content-length", b"%d" % len(body))
    await send(
        {"type": "http.response.start", "status": status, "headers": [_JSON, length, *headers]}
    )
    await send({"type": "http.response.body", "body": body})


async def send_json(send: Send, status: int, body: JsonObject, headers: Headers = ()) -> None:
    """Send a JSON object."""
    await send_bytes(send, status, jsontext.dump(body), headers)


async def send_error(
    send: Send,
    error: RpcError,
    request_id: RequestId | None = None,
    *,
    status: int | None = None,
    headers: Headers = (),
) -> None:
    """Send a JSON-RPC error under the HTTP status that belongs to its code, or another."""
    code = error.http_status if status is None else status
    await send_bytes(send, code, error_bytes(request_id, error), headers)


async def send_empty(send: Send, status: int, headers: Headers = ()) -> None:
    """Send a response without a body."""
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(b"content-length", b"0"), *headers],
        }
    )
    await send({"type": "http.response.body", "body": b""})
