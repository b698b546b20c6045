"""Answers of clients to questions; one that is none ends its question at once.

Whoever asked would wait for the whole of `limits.ask_timeout` otherwise, as no better answer to the
same question is to be expected.
"""

import re
from typing import Final

from mcp_types import INTERNAL_ERROR, JSONRPCError, JSONRPCResponse
from pydantic import ValidationError

from gateway.listen.rpc import RequestId, RpcError
from gateway.listen.strict import usable_id
from gateway.protocol.words import INVALID_REQUEST
from gateway.types.json import JsonObject

NO_ANSWER: Final = "the client's answer is no JSON-RPC response"
_UNFIT: Final = RpcError(
    code=INVALID_REQUEST,
    message="a response must have `jsonrpc`, `id` and either an object as `result` or an `error`",
)
_ENDS: Final = 512  # bytes of each end in which an id is looked for
# The id of a message that can't be read, where it can't be anything else: first in it, or last.
_ID_FIRST: Final = re.compile(
    rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,18})\s*,'
)
_ID_LAST: Final = re.compile(
    rb',\s*"id"\s*:\s*(\d{1,18})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$'
)
_RESPONSE: Final = re.compile(rb'"(?:result|error)"\s*:')
_REQUEST: Final = re.compile(rb'"method"\s*:')


def is_response(message: JsonObject) -> bool:
    """Whether a message answers something, well or not."""
    return "method" not in message and "id" in message


def read(message: JsonObject) -> JSONRPCResponse | JSONRPCError | RpcError:
    """Return a response as the SDK takes it, or what is wrong with it."""
    kind = JSONRPCError if "error" in message else JSONRPCResponse
    try:
        return kind.model_validate(message)
    except ValidationError:
        return _UNFIT


def fault(message: JsonObject) -> RpcError | None:
    """Return what is wrong with a response, or None."""
    found = read(message)
    return found if isinstance(found, RpcError) else None


def question_of(message: JsonObject) -> RequestId | None:
    """Return the id of the question that a response is about, as far as it tells one."""
    return usable_id(message.get("id"))


def question_in(body: bytes) -> RequestId | None:
    """Return the same for a text that can't be read, as in an answer with a key twice.

    A wrong guess costs the client one of its own questions.
    """
    if _REQUEST.search(body) or not _RESPONSE.search(body):
        return None
    found = _ID_FIRST.match(body[:_ENDS]) or _ID_LAST.search(body[-_ENDS:])
    return int(found[1]) if found else None


def instead(question: RequestId) -> JsonObject:
    """Return the answer that stands in place of one that is none."""
    error: JsonObject = {"code": INTERNAL_ERROR, "message": NO_ANSWER}
    return {"jsonrpc": "2.0", "id": question, "error": error}
