"""Spans as OTLP protobuf, and the last gate before the wire: known keys and known words only.

The official encoder makes a message of every span, attribute and value, in Python: about 130 µs a
call. Most attributes say the same in one call after the other, so each is written once here and
kept as bytes, and those that calls share as one piece; tests hold the outcome against the official
encoder's. What is written by key comes from the table of attributes, so there is no way out for any
other key, nor for events.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from struct import Struct
from typing import Final

from opentelemetry.trace import TraceState

from gateway import __version__
from gateway.telemetry import attributes as keys
from gateway.telemetry.attributes import SPAN_ATTRIBUTES
from gateway.telemetry.facts import CODES
from gateway.telemetry.moulds import Shared, Value, Values
from gateway.telemetry.spans import Span, SpanKind
from gateway.types.calls import TraceContext

SCOPE: Final = "weighbridge"

# Never the same in two spans: keeping them would only push out what comes again.
_VARYING: Final = frozenset({keys.REQUEST_ID, keys.DIGEST, keys.ARGUMENTS, keys.APPROVAL_WAIT})
_MOST_KEPT: Final = 4096  # attributes; all go when there are more
_LONGEST_KEPT: Final = 256  # bytes

# Tags are the field's number and how its value is written (`opentelemetry/proto/trace/v1`).
TIMES: Final = Struct("<cQcQ")
_FLAGS: Final = Struct("<BBI")
_LINK_FLAGS: Final = Struct("<BI")
_DOUBLE: Final = Struct("<Bd")
_HAS_IS_REMOTE: Final = 0x100
_IS_REMOTE: Final = 0x200
_ERROR: Final = 2
_TRACE_BYTES: Final = 16
_SPAN_BYTES: Final = 8
_INT64: Final = range(-(2**63), 2**63)
NO_STATUS: Final = b"\x7a\x00"  # it is there, and empty: unset


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


_VARINTS: Final = tuple(_varint(number) for number in range(4096))


def length(number: int) -> bytes:
    """Return a length as it stands before what is so long."""
    return _VARINTS[number] if number < len(_VARINTS) else _varint(number)


def _field(tag: bytes, body: bytes) -> bytes:
    return tag + length(len(body)) + body


def _text(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # half a surrogate pair is no reason to lose a span


def text_head(key: str, size: int) -> bytes:
    """Return all of an attribute that stands before its text of so many bytes."""
    inner = b"\x0a" + length(size)
    head = _head(key) + length(len(inner) + size) + inner
    return b"\x4a" + length(len(head) + size) + head


def flags(*, is_remote: bool) -> bytes:
    """Return what a span says of its parent."""
    return _FLAGS.pack(0x85, 0x01, _HAS_IS_REMOTE | _IS_REMOTE if is_remote else _HAS_IS_REMOTE)


_FLAGS_OF: Final = (flags(is_remote=False), flags(is_remote=True))


class SpanEncoder:
    """Writes spans of one resource; texts are cut at `value_length` characters."""

    def __init__(self, resource: Mapping[str, str], value_length: int) -> None:
        self._value_length = value_length
        about = b"".join(
            _field(b"\x0a", _head(key) + _any_value(value)) for key, value in resource.items()
        )
        self._resource = _field(b"\x0a", about)
        scope = _field(b"\x0a", _text(SCOPE)) + _field(b"\x12", _text(__version__))
        self._scope = _field(b"\x0a", scope)
        self._heads = {key: _head(key) for key in SPAN_ATTRIBUTES}
        self._kept: dict[tuple[str, Value], bytes] = {}
        self._names: dict[str, bytes] = {}
        self._shared: dict[Shared, bytes] = {}

    def request(self, spans: Sequence[bytes]) -> bytes:
        """Return the request that carries these encoded spans."""
        scope = len(self._scope) + sum(map(len, spans))
        scope_head = b"\x12" + length(scope)
        resource = len(self._resource) + len(scope_head) + scope
        head = b"\x0a" + length(resource) + self._resource + scope_head + self._scope
        return b"".join((head, *spans))

    def span(self, span: Span) -> bytes:
        """Return one span as it stands in a request; ValueError when its ids are none."""
        trace_id, span_id = bytes.fromhex(span.trace_id), bytes.fromhex(span.span_id)
        if len(trace_id) != _TRACE_BYTES or len(span_id) != _SPAN_BYTES:
            raise ValueError("an id of the wrong length")
        parts = [b"\x0a\x10", trace_id, b"\x12\x08", span_id]
        if span.state:
            parts.append(_state(span.state))
        if span.parent:
            parts += (b"\x22\x08", bytes.fromhex(span.parent))
        parts += (
            self.named(span.name, span.kind),
            TIMES.pack(b"\x39", span.start_ns, b"\x41", span.end_ns),
        )
        shared = self._shared.get(span.shared)
        parts.append(self._share(span.shared) if shared is None else shared)
        parts += self._attributes(span.values)
        for link in span.links:
            parts.append(_link(link))
        parts += (status(span.failure), _FLAGS_OF[span.is_parent_remote])
        body = b"".join(parts)
        return b"\x12" + length(len(body)) + body

    def named(self, name: str, kind: SpanKind) -> bytes:
        """Return a span's name and kind."""
        return (self._names.get(name) or self._name(name)) + b"\x30" + _VARINTS[kind]

    def attributes(self, values: Values) -> bytes:
        """Return attributes as they stand in a span, those that say something."""
        return b"".join(self._attributes(values))

    def _name(self, name: str) -> bytes:
        found = _field(b"\x2a", _text(name[: self._value_length]))
        if len(name) > _LONGEST_KEPT:
            return found
        if len(self._names) >= _MOST_KEPT:
            self._names.clear()
        self._names[name] = found
        return found

    def _share(self, shared: Shared) -> bytes:
        found = self.attributes(shared.values)
        if len(self._shared) >= _MOST_KEPT:
            self._shared.clear()
        self._shared[shared] = found
        return found

    def _attributes(self, values: Values) -> list[bytes]:
        written: list[bytes] = []
        for pair in values.items():
            found = self._kept.get(pair)
            written.append(self._attribute(*pair) if found is None else found)
        return written

    def _attribute(self, key: str, value: Value) -> bytes:
        """Write an attribute; nothing for a key that is not in the table."""
        head = self._heads.get(key)
        if head is None:
            return b""
        if type(value) is str and value:  # nearly all of them: written without a detour
            text = _text(value[: self._value_length])
            found = text_head(key, len(text)) + text
        elif _says(value):
            found = _field(b"\x4a", head + _any_value(self._cut(value)))
        else:
            found = b""
        if key not in _VARYING and len(found) <= _LONGEST_KEPT:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key, value] = found
        return found

    def _cut(self, value: Value) -> Value:
        if isinstance(value, str):
            return value[: self._value_length]
        if isinstance(value, tuple):
            return tuple(each[: self._value_length] for each in value)
        return value


def _head(key: str) -> bytes:
    return _field(b"\x0a", _text(key)) + b"\x12"


def _says(value: Value) -> bool:
    """Return whether there is something to write, and OTLP can."""
    return value not in ("", ()) and (not isinstance(value, int) or value in _INT64)


def _any_value(value: Value) -> bytes:
    """Return an AnyValue behind its length."""
    if isinstance(value, str):
        body = _field(b"\x0a", _text(value))
    elif isinstance(value, float):
        body = _DOUBLE.pack(0x21, value)
    elif isinstance(value, int):
        body = b"\x18" + _varint(value % 2**64)
    else:
        items = b"".join(_field(b"\x0a", _field(b"\x0a", _text(each))) for each in value)
        body = _field(b"\x2a", items)
    return length(len(body)) + body


def status(failure: str) -> bytes:
    """Return a span's status: unset, or an error of such a code."""
    if not failure:
        return NO_STATUS
    code = bytes((0x18, _ERROR))
    if failure in CODES or failure.removeprefix("-").isdecimal():
        code = _field(b"\x12", _text(failure)) + code
    return _field(b"\x7a", code)


def _link(context: TraceContext) -> bytes:
    ids = b"\x0a\x10" + bytes.fromhex(context.trace_id) + b"\x12\x08"
    flags = _LINK_FLAGS.pack(0x35, _HAS_IS_REMOTE | _IS_REMOTE)
    return _field(b"\x6a", ids + bytes.fromhex(context.span_id) + flags)


@lru_cache(maxsize=256)
def _state(state: str) -> bytes:
    members = TraceState.from_header([state]).items()
    return _field(b"\x1a", _text(",".join(f"{key}={value}" for key, value in members)))
