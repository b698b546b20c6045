"""Trace context across the gateway: W3C headers in, ids for our spans, W3C header out (SEP-414)."""

import re
from typing import Final

from gateway import ids
from gateway.telemetry.options import IncomingContext
from gateway.telemetry.sampling import Sampler
from gateway.types.calls import ProposedCall, TraceContext
from gateway.types.values import maker, value

# W3C Trace Context, 3.2.2: later versions may append fields, version `ff` is forbidden.
_TRACEPARENT: Final = re.compile(
    r"(?P<version>[0-9a-f]{2})-(?P<trace>[0-9a-f]{32})-(?P<span>[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})"
    r"(?P<more>-[\x21-\x7e]*)?"
)
# W3C Trace Context, 3.3.1.3: one member is `key=value`, with an optional `@system` in the key.
_MEMBER: Final = re.compile(
    r"[a-z0-9][_0-9a-z*/-]{0,240}(@[a-z][_0-9a-z*/-]{0,13})?=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}"
)
_IGNORE: Final = IncomingContext.IGNORE  # to find a member takes longer than to compare it
_MAX_TRACEPARENT: Final = 256
_MAX_STATE: Final = 512  # 3.3.1.5: at least this much is passed on; we pass on no more
_MAX_STATE_READ: Final = 8192
_MAX_MEMBERS: Final = 32


@value
class Trace:
    """The place of one call in a trace: the ids of its spans, made before the spans are."""

    parent: TraceContext | None
    link: TraceContext | None
    trace_id: str
    server_span: str
    authorize_span: str
    client_span: str
    sampled: bool


_trace = maker(Trace)


def parse(traceparent: str, tracestate: str = "") -> TraceContext | None:
    """Return the context that the two headers carry, or None when `traceparent` is unusable."""
    if len(traceparent) > _MAX_TRACEPARENT:
        return None
    match = _TRACEPARENT.fullmatch(traceparent)
    if match is None:
        return None
    version, trace_id, span_id = match["version"], match["trace"], match["span"]
    if version == "ff" or (version == "00" and match["more"] is not None):
        return None
    if not trace_id.strip("0") or not span_id.strip("0"):
        return None
    return TraceContext(
        trace_id=trace_id,
        span_id=span_id,
        sampled=bool(int(match["flags"], 16) & 1),
        state=capped_state(tracestate) if tracestate else "",
    )


def capped_state(tracestate: str) -> str:
    """Return the leftmost members that fit into 32 members and 512 characters, or nothing.

    One malformed member discards all of them, as W3C Trace Context (3.3.1) has it.
    """
    if len(tracestate) > _MAX_STATE_READ:
        return ""
    kept: list[str] = []
    length = -1
    for member in (part.strip(" \t") for part in tracestate.split(",")):
        if not member:
            continue
        if not _MEMBER.fullmatch(member):
            return ""
        length += len(member) + 1
        if length <= _MAX_STATE and len(kept) < _MAX_MEMBERS:
            kept.append(member)
    return ",".join(kept)


def incoming(call: ProposedCall) -> tuple[TraceContext | None, TraceContext | None]:
    """Return the caller's context and, when another one surrounds it, the one of the transport.

    `_meta.traceparent` wins over the header. Baggage is not read: nothing of it goes any further.
    """
    header = parse(call.trace_header) if call.trace_header else None
    text = call.meta.get("traceparent")
    if not isinstance(text, str):
        return header, None
    state = call.meta.get("tracestate")
    meta = parse(text, state if isinstance(state, str) else "")
    if meta is None:
        return header, None
    apart = header is not None and (header.trace_id, header.span_id) != (
        meta.trace_id,
        meta.span_id,
    )
    return meta, header if apart else None


def begin(call: ProposedCall, treatment: IncomingContext, sampler: Sampler) -> Trace:
    """Give a call its place in a trace: the caller's, or a new one.

    A call that the gateway makes by itself begins a trace of its own, linked to the call for whose
    sake it is made: that may have ended long ago.
    """
    parent: TraceContext | None = None
    link: TraceContext | None = None
    if call.cause:
        link = parse(call.trace_header)
    elif treatment is not _IGNORE and (
        call.trace_header or "traceparent" in call.meta  # most callers send neither
    ):
        caller, around = incoming(call)
        parent, link = (caller, around) if treatment is IncomingContext.PARENT else (None, caller)
    trace_id = parent.trace_id if parent is not None else ids.trace_id()
    server_span, authorize_span = ids.two_span_ids()
    return _trace(
        parent=parent,
        link=link,
        trace_id=trace_id,
        server_span=server_span,
        authorize_span=authorize_span,
        client_span=ids.span_id(),
        sampled=sampler.samples(trace_id, parent),
    )


def traceparent(trace: Trace) -> str:
    """Return the header for the downstream: our CLIENT span is the parent of what it does."""
    return f"00-{trace.trace_id}-{trace.client_span}-{'01' if trace.sampled else '00'}"
