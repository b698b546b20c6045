"""The validation ladder of a stateless request: headers, `_meta`, agreement, version.

Rungs and codes as in MCP 2026-07-28 (streamable HTTP, "Server Validation"); a test compares each
verdict with the SDK's own ladder, which is too slow for every call.
"""

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, Final, NamedTuple

from gateway.listen.headers import HeaderView
from gateway.listen.levels import LEVELS, is_level
from gateway.listen.methods import NAMED_BY
from gateway.listen.rpc import RequestId, RpcError
from gateway.listen.strict import usable_id
from gateway.protocol import mirroring
from gateway.protocol.words import (
    CAPABILITIES_KEY,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    LOG_LEVEL_KEY,
    MODERN_VERSION,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
)
from gateway.types.json import Json, JsonObject

_MODERN_HEADER: Final = MODERN_VERSION.encode()
_OF_REQUEST: Final = itemgetter("jsonrpc", "id", "method", "params")
_OF_META: Final = itemgetter(VERSION_KEY, CAPABILITIES_KEY)
_IDS: Final = frozenset({str, int})


class Asked(NamedTuple):
    """What a request that is in order asks for."""

    request_id: RequestId
    method: str
    params: JsonObject
    meta: JsonObject
    capabilities: JsonObject  # of the client


def in_order(
    message: dict[str, Any], headers: HeaderView, method: str, named_by: str | None
) -> Asked | None:
    """Return what a request asks for that is seen to be in order at the first look: most are.

    Its id is usable, and neither `check_request` nor `climb` finds anything. They say what is wrong
    with any other, if anything is. No header is there twice, that of the version is ours, and what
    the headers say of the method is known.
    """
    try:  # all members at once; whatever is no object has none
        jsonrpc, request_id, named, params = _OF_REQUEST(message)
        meta = params["_meta"]
        version, capabilities = _OF_META(meta)
    except (KeyError, TypeError):
        return None
    if (
        jsonrpc != "2.0"
        or named != method
        or type(request_id) not in _IDS  # a `bool` is none
        or version != MODERN_VERSION
        or type(capabilities) is not dict
        or (LOG_LEVEL_KEY in meta and isinstance(log_level_of(meta), RpcError))
    ):
        return None
    if named_by is not None and (name := params.get(named_by)) is not None:
        shown = headers.values.get(b"mcp-name")
        # What begins like this stands for another text.
        if shown is None or shown[:2] == b"=?" or shown.decode("latin-1") != name:
            return None
    return Asked(request_id, method, params, meta, capabilities)


def asked_in(message: JsonObject) -> Asked:
    """Return what a request asks for that has climbed, after `check_request`."""
    request_id, method, params = usable_id(message["id"]), message["method"], message["params"]
    assert request_id is not None  # noqa: S101 - `check_request` has seen these two
    assert isinstance(method, str)  # noqa: S101
    assert isinstance(params, dict)  # noqa: S101 - and `climb` all others
    meta = params["_meta"]
    assert isinstance(meta, dict)  # noqa: S101
    capabilities = meta[CAPABILITIES_KEY]
    assert isinstance(capabilities, dict)  # noqa: S101
    return Asked(request_id, method, params, meta, capabilities)


def climb(message: JsonObject, headers: HeaderView) -> RpcError | None:
    """Return the first rung on which a request fails, or None; its envelope is valid."""
    if headers.duplicate:
        name = headers.duplicate.decode()
        return RpcError(code=HEADER_MISMATCH, message=f"the {name} header appears more than once")
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not isinstance(meta, dict):
        return _bad_meta(f"`params._meta` must be an object with `{VERSION_KEY}`")
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
    if missing:
        return _bad_meta(f"`params._meta` lacks `{'`, `'.join(missing)}`")
    mismatch = _mismatch(message, meta, headers)
    if mismatch is not None:
        return mismatch
    version = meta[VERSION_KEY]
    if version != MODERN_VERSION:
        return unsupported(str(version))
    if not isinstance(meta[CAPABILITIES_KEY], dict):
        return _bad_meta(f"`{CAPABILITIES_KEY}` must be an object")
    level = log_level_of(meta)
    return level if isinstance(level, RpcError) else None


def log_level_of(meta: JsonObject) -> str | RpcError:
    """Return from which level on the request wants log messages; empty: it wants none."""
    level = meta.get(LOG_LEVEL_KEY)
    if level is None:
        return ""
    if isinstance(level, str) and is_level(level):
        return level
    return _bad_meta(f"`{LOG_LEVEL_KEY}` must be one of `{'`, `'.join(LEVELS)}`")


def unsupported(version: str) -> RpcError:
    """Return the error for a revision that isn't served statelessly."""
    return RpcError(
        code=UNSUPPORTED_VERSION,
        message="Unsupported protocol version",
        data={"supported": [MODERN_VERSION], "requested": version},
    )


def serves(version_header: bytes) -> bool:
    """Return whether the revision named by the header is served statelessly."""
    return version_header == _MODERN_HEADER


def _bad_meta(message: str) -> RpcError:
    return RpcError(code=INVALID_PARAMS, message=message)


def _mismatch(message: JsonObject, meta: JsonObject, headers: HeaderView) -> RpcError | None:
    """Compare the mirrored headers with the body, which alone decides."""
    version = headers.get(b"mcp-protocol-version")
    if version is None or version.decode("latin-1") != meta[VERSION_KEY]:
        return _differs("mcp-protocol-version", "protocol version in `params._meta`")
    method = message["method"]
    if headers.text(b"mcp-method") != method:
        return _differs("mcp-method", "`method`")
    key = NAMED_BY.get(method) if isinstance(method, str) else None
    params = message["params"]
    if key is None or not isinstance(params, dict) or params.get(key) is None:
        return None
    if _decoded(headers.get(b"mcp-name")) != params[key]:
        return _differs("mcp-name", f"`params.{key}`")
    return None


def _decoded(header: bytes | None) -> str | None:
    """Return a header's text; an unsafe one travels as `=?base64?…?=`."""
    if header is None:
        return None
    text = header.decode("latin-1")
    return mirroring.decoded(text) if text.startswith("=?") else text


def _differs(header: str, field: str) -> RpcError:
    return RpcError(
        code=HEADER_MISMATCH, message=f"the {header} header does not match the body's {field}"
    )


class ParamHeaders:
    """Checks `Mcp-Param-*` headers against the arguments that they mirror."""

    def __init__(self, *, remembered: int = 4096) -> None:
        self._remembered = remembered
        # Keyed by identity: the schema is held, so its id can't be given to another.
        self._annotated: dict[int, tuple[JsonObject, bool]] = {}

    def refuse(
        self, schema: JsonObject, arguments: JsonObject, raw: Iterable[tuple[bytes, bytes]]
    ) -> RpcError | None:
        """Return the mismatch, or None; headers that the schema does not name are ignored."""
        known = self._annotated.get(id(schema))
        is_annotated = known[1] if known and known[0] is schema else self._look(schema)
        if not is_annotated:
            return None
        wrong = mirroring.mismatch(schema, arguments, raw)
        return None if wrong is None else RpcError(code=HEADER_MISMATCH, message=wrong)

    def _look(self, schema: JsonObject) -> bool:
        annotated = mirroring.fault_of(schema) is None and bool(mirroring.map_of(schema))
        if len(self._annotated) >= self._remembered:
            self._annotated.clear()
        self._annotated[id(schema)] = (schema, annotated)
        return annotated


def cursor_of(params: JsonObject) -> str | RpcError | None:
    """Return the cursor of a list request; absent and null both mean the first page."""
    cursor: Json = params.get("cursor")
    if cursor is None or isinstance(cursor, str):
        return cursor
    return RpcError(code=INVALID_PARAMS, message="`cursor` must be a string")
