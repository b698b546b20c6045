"""What a session of the handshake era is asked, until it answers or nobody waits any more."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.exceptions import MCPError
from mcp_types import JSONRPCError, JSONRPCResponse

from gateway.listen import responses
from gateway.listen.rpc import RequestId, RpcError
from gateway.types.json import Json, JsonObject

# The SDK counts what it asks in a session from 1, and there are clients with 32 bits for an id.
_FIRST: Final = 1 << 30

_Answer = asyncio.Future[JSONRPCResponse | JSONRPCError]


class Questions:
    """The open questions of one session; each id is used once."""

    def __init__(self) -> None:
        self._next = _FIRST
        self._open: dict[RequestId, _Answer] = {}

    @contextmanager
    def one(self) -> Generator[tuple[int, _Answer]]:
        """Give the id of a new question, and what its answer will be; open until the block ends."""
        number = self._next
        self._next += 1
        answer: _Answer = asyncio.get_running_loop().create_future()
        self._open[number] = answer
        try:
            yield number, answer
        finally:
            self._open.pop(number, None)

    def answer(self, message: JsonObject) -> bool:
        """Take a response; False when it is none, or nobody waits for it: the first one counts."""
        question = responses.question_of(message)
        waiting = self._open.get(coerce_request_id(question)) if question is not None else None
        answer = responses.read(message)
        if waiting is None or waiting.done() or isinstance(answer, RpcError):
            return False
        waiting.set_result(answer)
        return True


def told(answer: JSONRPCResponse | JSONRPCError) -> dict[str, Json]:
    """Return the result that an answer has; raises MCPError for an error."""
    if isinstance(answer, JSONRPCResponse):
        return answer.result
    error = answer.error
    raise MCPError(code=error.code, message=error.message, data=error.data)
