"""JSON-RPC 2.0 messages and the MCP error codes, as bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gateway import jsontext
from gateway.protocol.words import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
)
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import WireError

# Codes of our own lie outside of what JSON-RPC and MCP reserve.
OVERLOADED: Final = 503
UNAUTHENTICATED: Final = 401
INSUFFICIENT_SCOPE: Final = 403

# The HTTP status of an error response; anything else travels in a 200.
HTTP_STATUS: Final[Mapping[int, int]] = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
    OVERLOADED: 503,
    UNAUTHENTICATED: 401,
    INSUFFICIENT_SCOPE: 403,
}

RequestId = int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcError:
    """A request that can't be served as it stands."""

    code: int
    message: str
    data: Json = None
    challenge: str = ""  # for the `WWW-Authenticate` header
    status: int = 0  # the HTTP status, where the code alone doesn't say
    is_weighed: bool = False  # the gate answered with it, so it has been recorded

    @property
    def http_status(self) -> int:
        """The HTTP status to answer with."""
        return self.status or HTTP_STATUS.get(self.code, 200)


def of_wire(error: WireError) -> RpcError:
    """Return an error that passes; a code that looks like one of ours means nothing to HTTP."""
    status = HTTP_STATUS.get(error.code, 200) if error.code < 0 else 200
    return RpcError(
        code=error.code, message=error.message, data=error.data, status=status, is_weighed=True
    )


def result_bytes(request_id: RequestId, result: JsonObject) -> bytes:
    """Return a response with a result; the id keeps its JSON type."""
    return jsontext.dump({"jsonrpc": "2.0", "id": request_id, "result": result})


def error_bytes(request_id: RequestId | None, error: RpcError) -> bytes:
    """Return an error response; the id is null when the request's own can't be told."""
    body: JsonObject = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return jsontext.dump({"jsonrpc": "2.0", "id": request_id, "error": body})


def request_bytes(request_id: RequestId, method: str, params: JsonObject) -> bytes:
    """Return a request of the gateway's to a client."""
    return jsontext.dump({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def notification_bytes(method: str, params: JsonObject) -> bytes:
    """Return a notification."""
    return jsontext.dump({"jsonrpc": "2.0", "method": method, "params": params})
