"""Our spans as the SDK's, for its exporters: the console's takes nothing else.

Imports the SDK, so it is itself imported late: by the export thread only.
"""

from typing import Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, TraceFlags, TraceState
from opentelemetry.trace.status import Status, StatusCode

from gateway import __version__
from gateway.telemetry.spans import Span
from gateway.telemetry.wire import SCOPE
from gateway.types.calls import TraceContext

_SCOPE: Final = InstrumentationScope(SCOPE, __version__)
_SAMPLED: Final = TraceFlags(TraceFlags.SAMPLED)


def readable(span: Span, resource: Resource) -> ReadableSpan:
    """Return the span as the SDK has it."""
    state = TraceState.from_header([span.state]) if span.state else None
    values = span.shared.values | span.values
    trace_id = int(span.trace_id, 16)
    parent: SpanContext | None = None
    if span.parent:
        parent = SpanContext(trace_id, int(span.parent, 16), span.is_parent_remote, _SAMPLED, state)
    return ReadableSpan(
        name=span.name,
        context=SpanContext(trace_id, int(span.span_id, 16), False, _SAMPLED, state),
        parent=parent,
        resource=resource,
        attributes={key: value for key, value in values.items() if value not in ("", ())},
        links=[Link(_remote(each)) for each in span.links],
        kind=SpanKind[span.kind.name],
        status=Status(StatusCode.ERROR, span.failure) if span.failure else Status(),
        start_time=span.start_ns,
        end_time=span.end_ns,
        instrumentation_scope=_SCOPE,
    )


def _remote(context: TraceContext) -> SpanContext:
    flags = _SAMPLED if context.sampled else TraceFlags(TraceFlags.DEFAULT)
    state = TraceState.from_header([context.state]) if context.state else None
    return SpanContext(int(context.trace_id, 16), int(context.span_id, 16), True, flags, state)
