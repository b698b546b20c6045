"""One strict parse of a JSON-RPC message, which everything after it decides on.

Arguments that can't be read are the model's mistake and get a tool result that says so; any other
fault of the text is the client's and gets a JSON-RPC error.
"""

import re
from operator import itemgetter
from typing import Final

from gateway import jsontext
from gateway.errors import JsonError
from gateway.listen.rpc import RequestId, RpcError
from gateway.protocol.words import INVALID_REQUEST, PARSE_ERROR
from gateway.types.json import Json, JsonObject
from gateway.types.values import maker, value

_ARGUMENTS = "/params/arguments"
# A string that never ends matches up to the end, so that scanning stays linear.
_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)|[{}\[\],:]', re.DOTALL)


@value
class Incoming:
    """A JSON object as it came in, and what was wrong with the tool arguments in it."""

    message: JsonObject
    input_error: str = ""  # when set, the arguments were taken out of the message

    @property
    def request_id(self) -> RequestId | None:
        """The request's id, or None for a notification or when the id itself is unusable."""
        found = self.message.get("id")
        return found if type(found) is str or type(found) is int else usable_id(found)


_incoming = maker(Incoming)


def usable_id(value: Json) -> RequestId | None:
    """Return a JSON-RPC id that MCP accepts (a string or an integer), else None."""
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    return None


def decode(body: bytes, *, max_bytes: int) -> Incoming | RpcError:
    """Read one JSON-RPC message; batches and anything but an object are refused."""
    try:
        value = jsontext.parse(body, max_bytes=max_bytes)
        input_error = ""
    except JsonError as error:
        salvaged = _without_arguments(body, error, max_bytes=max_bytes)
        if salvaged is None:
            return RpcError(code=PARSE_ERROR, message=f"Parse error: {str(error)[:200]}")
        value, input_error = salvaged
    if not isinstance(value, dict):
        return RpcError(
            code=INVALID_REQUEST,
            message="the body must be a single JSON-RPC request or notification object",
        )
    return _incoming(message=value, input_error=input_error)


def check_request(message: JsonObject) -> RpcError | None:
    """Check the envelope of a request or notification (JSON-RPC 2.0, section 4)."""
    if message.get("jsonrpc") != "2.0":
        return _invalid('`jsonrpc` must be "2.0"')
    if not isinstance(message.get("method"), str):
        return _invalid("`method` must be a string")
    if "id" in message and usable_id(message["id"]) is None:
        return _invalid("`id` must be a string or an integer")
    if not isinstance(message.get("params", _EMPTY), dict):
        return _invalid("`params` must be an object")
    return None


_EMPTY: JsonObject = {}
_OF_REQUEST: Final = itemgetter("jsonrpc", "id", "method")
_IDS: Final = frozenset({str, int})


def is_request(message: JsonObject) -> bool:
    """Whether a message is seen to be a request at the first look, as nearly all are.

    Then its id is usable, and `check_request` finds nothing; it says of any other what is wrong.
    """
    try:  # all members at once
        jsonrpc, request_id, method = _OF_REQUEST(message)
    except KeyError:
        return False
    return (
        jsonrpc == "2.0"
        and type(request_id) in _IDS  # a `bool` is none
        and type(method) is str
        and type(message.get("params", _EMPTY)) is dict
    )


def _invalid(message: str) -> RpcError:
    return RpcError(code=INVALID_REQUEST, message=message)


def _without_arguments(body: bytes, error: JsonError, *, max_bytes: int) -> tuple[Json, str] | None:
    """Parse the message with empty arguments, if the fault lay in them and nowhere else."""
    if error.pointer != _ARGUMENTS and not error.pointer.startswith(_ARGUMENTS + "/"):
        return None
    span = _span_of_arguments(body)
    if span is None:
        return None
    try:
        value = jsontext.parse(body[: span[0]] + b"{}" + body[span[1] :], max_bytes=max_bytes)
    except JsonError:
        return None
    inside = error.pointer.removeprefix(_ARGUMENTS)
    where = f" at `{inside[:200]}`" if inside else ""
    return value, f"{error.message[:200]}{where}"


def _span_of_arguments(body: bytes) -> tuple[int, int] | None:
    """Find the bytes of `params.arguments`; they need not be valid JSON, only balanced."""
    names = [b"", b"", b""]  # the current key of the message and of its params
    depth, start, last_string = 0, -1, b""
    for token in _TOKENS.finditer(body):
        text = token[0]
        match text[:1]:
            case b'"':
                last_string = text
            case b"{" | b"[":
                depth += 1
                if depth < 3:
                    names[depth] = b""
            case b":":
                if depth < 3:
                    names[depth] = last_string
                if depth == 2 and names[1:] == [b'"params"', b'"arguments"']:
                    start = token.end()
            case closing:  # a comma or a closing bracket
                if start >= 0 and depth == 2:
                    return start, token.start()
                depth -= closing != b","
    return None
