"""Spans of usual calls, written at once: nothing but what is their own is made for each.

Making three values and going through their attributes takes longer than to write the bytes. Of
most calls the spans differ from those of an earlier one in ids, times and a few texts, so the bytes
between them are kept, by the value that says which calls are alike (`moulds`). Of whatever has more
to say (links, a `tracestate`, a resource, arguments) the spans are made and encoded one by one;
tests hold the bytes of the one way against those of the other.
"""

from functools import partial
from typing import Final, NamedTuple

from gateway.telemetry import attributes as keys
from gateway.telemetry.facts import ApprovalFacts, CallFacts
from gateway.telemetry.moulds import Shared, Values, alike, put_address
from gateway.telemetry.spans import SpanBuilder, SpanKind
from gateway.telemetry.stencils import Spanned, Write
from gateway.telemetry.wire import TIMES, SpanEncoder, flags, length, status, text_head
from gateway.types.tools import Kind, Tool

_MOST_KEPT: Final = 512  # of each kind; all go when there are more
_TRACE_DIGITS: Final = 32
_SPAN_DIGITS: Final = 16
_TRACE_ID: Final = b"\x0a\x10"
_SPAN_ID: Final = b"\x12\x08"
_PARENT: Final = b"\x22\x08"
_ID_BYTES: Final = 40  # of all four; a blank between digits would make it less
_START: Final = b"\x39"
_END: Final = b"\x41"
_RESOURCE: Final = Kind.RESOURCE
_LOCAL: Final = flags(is_remote=False)
_REMOTE: Final = flags(is_remote=True)


class _Part(NamedTuple):
    """What one span of calls that are alike has around its own."""

    head: bytes  # name and kind
    shared: bytes
    status: bytes


class _Usual(NamedTuple):
    """The same for all three."""

    tool: Tool | None  # is held, so that its id is nobody else's
    kind: Kind | None
    server: _Part
    authorize: _Part
    client: _Part


class CallWriter:
    """Writes the spans of finished calls; each is used by one thread."""

    def __init__(self, builder: SpanBuilder, encoder: SpanEncoder, value_length: int) -> None:
        self._builder = builder
        self._encoder = encoder
        self._value_length = value_length
        self._usual: dict[tuple[object, ...], _Usual] = {}
        self._heads: dict[tuple[str, int], bytes] = {}
        self._peers: dict[str, bytes] = {}

    def written(self, facts: CallFacts | ApprovalFacts) -> list[bytes]:
        """Return the spans of one call as they stand in a request, all or, raising, none."""
        spans = self.at_once(facts) if isinstance(facts, CallFacts) else None
        if spans is None:
            spans = [self._encoder.span(span) for span in self._builder.build(facts)]
        return spans

    def at_once(self, facts: CallFacts) -> list[bytes] | None:
        """Return the spans of a usual call, or None for one that has more to say.

        Raises ValueError for an id that is none.
        """
        usual = self._of(facts)
        return self._written(facts, usual) if usual is not None else None

    def writer_for(self, facts: CallFacts) -> Write | None:
        """Return what writes the spans of calls like this one; None where these say more."""
        usual = self._of(facts)
        return partial(self._written, usual=usual) if usual is not None else None

    def _of(self, facts: CallFacts) -> _Usual | None:
        if not _is_usual(facts):
            return None
        key = _told_apart(facts)
        usual = self._usual.get(key) or self._made(key, facts)
        # The URI of a resource is a value of each call.
        return usual if usual.kind is not _RESOURCE else None

    def _written(self, facts: Spanned, usual: _Usual) -> list[bytes]:
        ids = bytes.fromhex(
            facts.trace_id + facts.server_span + facts.authorize_span + facts.client_span
        )
        if len(ids) != _ID_BYTES:
            raise ValueError("an id of the wrong length")
        trace, server = _TRACE_ID + ids[:16] + _SPAN_ID, ids[16:24]
        own = self._text(keys.CALL, facts.call_id)
        if facts.run_id:
            own += self._text(keys.RUN, facts.run_id)
        spans: list[bytes] = []
        if facts.judged_ns:
            part = usual.authorize
            body = b"".join(
                (
                    trace,
                    ids[24:32],
                    _PARENT,
                    server,
                    part.head,
                    TIMES.pack(_START, facts.received_ns, _END, facts.judged_ns),
                    part.shared,
                    own,
                    part.status,
                    _LOCAL,
                )
            )
            spans.append(b"\x12" + length(len(body)) + body)
        if facts.sent_ns:
            part = usual.client
            end = facts.answered_ns or facts.closed_ns
            body = b"".join(
                (
                    trace,
                    ids[32:],
                    _PARENT,
                    server,
                    part.head,
                    TIMES.pack(_START, facts.sent_ns, _END, end),
                    part.shared,
                    own,
                    self._of_client(facts),
                    part.status,
                    _LOCAL,
                )
            )
            spans.append(b"\x12" + length(len(body)) + body)
        part, parent = usual.server, facts.parent
        body = b"".join(
            (
                trace,
                server,
                b"" if parent is None else _PARENT + bytes.fromhex(parent.span_id),
                part.head,
                TIMES.pack(_START, facts.received_ns, _END, facts.closed_ns),
                part.shared,
                own,
                self._text(keys.REQUEST_ID, facts.request_id),
                self._peers.get(facts.peer) or self._peer(facts.peer),
                self._text(keys.DIGEST, facts.digest),
                part.status,
                _LOCAL if parent is None else _REMOTE,
            )
        )
        spans.append(b"\x12" + length(len(body)) + body)
        return spans

    def _of_client(self, facts: Spanned) -> bytes:
        if not facts.result_size:
            return b""
        return self._encoder.attributes({keys.RESULT_SIZE: facts.result_size})

    def _text(self, key: str, text: str) -> bytes:
        """Write an attribute that is a text; what stands before it is kept by its length."""
        if not text:
            return b""
        written = text[: self._value_length].encode("utf-8", "replace")
        size = len(written)
        head = self._heads.get((key, size))
        if head is None:
            if len(self._heads) >= _MOST_KEPT:
                self._heads.clear()
            head = self._heads[key, size] = text_head(key, size)
        return head + written

    def _peer(self, peer: str) -> bytes:
        values: Values = {}
        put_address(values, peer, keys.CLIENT_ADDRESS, keys.CLIENT_PORT)
        if len(self._peers) >= _MOST_KEPT:
            self._peers.clear()
        found = self._peers[peer] = self._encoder.attributes(values)
        return found

    def _made(self, key: tuple[object, ...], facts: CallFacts) -> _Usual:
        mould = self._builder.mould(alike(facts))
        part = self._part
        found = _Usual(
            tool=facts.tool,
            kind=mould.kind,
            server=part(mould.name, SpanKind.SERVER, mould.server, mould.failure),
            authorize=part(mould.authorize_name, SpanKind.INTERNAL, mould.authorize, ""),
            client=part(mould.name, SpanKind.CLIENT, mould.client, mould.downstream_failure),
        )
        if len(self._usual) >= _MOST_KEPT:
            self._usual.clear()
        self._usual[key] = found
        return found

    def _part(self, name: str, kind: SpanKind, shared: Shared, failure: str) -> _Part:
        encoder = self._encoder
        return _Part(
            head=encoder.named(name, kind),
            shared=encoder.attributes(shared.values),
            status=status(failure),
        )


def _told_apart(facts: CallFacts) -> tuple[object, ...]:
    """Return what calls have to share to be alike, as it lies there.

    INVARIANT: all that `moulds.alike` is made of, which takes three times as long to make.
    """
    actor = facts.actor
    return (
        facts.method,
        id(facts.tool),
        facts.cause,
        facts.transport,
        facts.protocol,
        None if actor is None else (actor.tenant, actor.user, actor.roles),
        facts.phase,
        facts.effect,
        facts.risk,
        facts.verdict,
        facts.code,
        facts.rule,
        facts.revision,
        facts.shadow,
        facts.observed,
        facts.status,
        facts.reason,
        facts.executed,
        facts.tool_error,
        facts.error_code,
        not facts.answered_ns,
        facts.downstream_transport,
        facts.downstream_address,
        facts.downstream_version,
    )


def _is_usual(facts: CallFacts) -> bool:
    """Whether spans of a call say nothing but what `_written` writes."""
    parent = facts.parent
    return (
        facts.link is None
        and facts.asked_by is None
        and (parent is None or not parent.state)
        and not (facts.approval_id or facts.content or facts.redactions)
        and len(facts.trace_id) == _TRACE_DIGITS
        and len(facts.server_span) == _SPAN_DIGITS
        and len(facts.authorize_span) == _SPAN_DIGITS
        and len(facts.client_span) == _SPAN_DIGITS
    )
