"""The validation ladder of a stateless request: headers, `_meta`, agreement, version.

Rungs and codes as in MCP 2026-07-28 (streamable HTTP, "Server Validation"); a test compares each
verdict with the SDK's own ladder, which is too slow for every call.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from gateway.listen.levels import LEVELS, is_level
from gateway.listen.methods import NAMED_BY
from gateway.listen.rpc import RpcError
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

_ROUTING: Final = frozenset({b"mcp-protocol-version", b"mcp-method", b"mcp-name"})
_KEY: Final = b"idempotency-key"
_KEPT: Final = _ROUTING | {b"content-type", b"content-length", b"accept", b"traceparent", _KEY}
_MODERN_HEADER: Final = MODERN_VERSION.encode()
_BLANKS: Final = b" \t"


class HeaderView:
    """The headers of a request, by their names in small letters."""

    __slots__ = ("_values", "duplicate", "raw", "run")

    def __init__(self, raw: Sequence[tuple[bytes, bytes]], run: bytes = b"") -> None:
        self.raw = raw
        self.duplicate = b""  # a routing header that came twice
        self._values = dict(raw)
        if len(self._values) != len(raw):
            self._join(run)
        # The run that the header with this name, in small letters, is about.
        self.run = self.text(run) if run and run not in _KEPT else ""

    def _join(self, run: bytes) -> None:
        """Make one of those that came twice, where that is of consequence."""
        # Two are one list (RFC 9110, 5.3). A list is no key, and names no run: whoever reads it
        # refuses it.
        lists = {_KEY, run}
        names = [key for key, _ in self.raw]
        for key in self._values:
            if names.count(key) > 1 and key in _ROUTING:
                self.duplicate = key
            elif key in lists:
                shown = [value.strip(_BLANKS) for name, value in self.raw if name == key]
                self._values[key] = b", ".join(shown)

    def get(self, key: bytes) -> bytes | None:
        """Return a header without the blanks that parsers may leave (RFC 9110, 5.5), or None."""
        found = self._values.get(key)
        return None if found is None else found.strip(_BLANKS)

    def text(self, key: bytes) -> str:
        """Return a header as text, empty when it is absent."""
        found = self._values.get(key)
        return "" if found is None else found.strip(_BLANKS).decode("latin-1")

    @property
    def has_params(self) -> bool:
        """Whether there are Mcp-Param-* headers."""
        return any(key.startswith(b"mcp-param-") for key in self._values)

    @property
    def idempotency_key(self) -> str | None:
        """Return the host's key for this request as it came, or None."""
        found = self.get(_KEY)
        return None if found is None else found.decode("latin-1")


@lru_cache(maxsize=128)
def accepts(header: bytes) -> tuple[bool, bool]:
    """Return whether an Accept header takes JSON, and whether it takes an event stream."""
    ranges = {part.partition(b";")[0].strip().lower() for part in header.split(b",")}
    any_type = b"*/*" in ranges
    return (
        any_type or not ranges.isdisjoint({b"application/json", b"application/*"}),
        any_type or not ranges.isdisjoint({b"text/event-stream", b"text/*"}),
    )


@lru_cache(maxsize=128)
def is_json(content_type: bytes) -> bool:
    """Return whether a Content-Type is exactly JSON; parameters are ignored."""
    return content_type.partition(b";")[0].strip().lower() == b"application/json"


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
        if not self._is_annotated(schema):
            return None
        wrong = mirroring.mismatch(schema, arguments, raw)
        return None if wrong is None else RpcError(code=HEADER_MISMATCH, message=wrong)

    def _is_annotated(self, schema: JsonObject) -> bool:
        known = self._annotated.get(id(schema))
        if known is not None and known[0] is schema:
            return known[1]
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
