"""The last gate before the console: a span leaves with known keys and words, or without them.

Before the wire, the same is in `wire`, which is tested against this one.

Imports the SDK, so it is itself imported late: by the export thread only.
"""

from collections.abc import Sequence
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import Link
from opentelemetry.trace.status import Status as SpanStatus
from opentelemetry.util.types import AttributeValue

from gateway.telemetry.attributes import SPAN_ATTRIBUTES
from gateway.telemetry.facts import CODES

_ALLOWED: Final = SPAN_ATTRIBUTES.keys()


class ScrubbingExporter(SpanExporter):
    """Hands spans on with allowed attributes only, without events and free-text descriptions.

    Spans of our own making already are like that. The gate holds for whatever else may come to
    be exported through it, such as a span that an instrumentation put an exception text into.
    """

    def __init__(self, exporter: SpanExporter, *, value_length: int) -> None:
        self._exporter = exporter
        self._value_length = value_length

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export scrubbed copies."""
        return self._exporter.export([self._scrubbed(span) for span in spans])

    def shutdown(self) -> None:
        """Shut the exporter behind down, which ends its retries."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flush the exporter behind."""
        return self._exporter.force_flush(timeout_millis)

    def _scrubbed(self, span: ReadableSpan) -> ReadableSpan:
        if self._is_clean(span):  # copying is dearer than looking
            return span
        return ReadableSpan(
            name=self._cut(span.name),
            context=span.context,
            parent=span.parent,
            resource=span.resource,
            attributes={
                key: self._cut_value(value)
                for key, value in (span.attributes or {}).items()
                if key in SPAN_ATTRIBUTES
            },
            links=[Link(link.context) for link in span.links],
            kind=span.kind,
            status=_coded(span.status),
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=span.instrumentation_scope,
        )

    def _is_clean(self, span: ReadableSpan) -> bool:
        attributes = span.attributes or {}
        return (
            not span.events
            and not span.links
            and attributes.keys() <= _ALLOWED
            and _coded(span.status) is span.status
            and len(span.name) <= self._value_length
            and all(self._cut_value(value) == value for value in attributes.values())
        )

    def _cut_value(self, value: AttributeValue) -> AttributeValue:
        if isinstance(value, str):
            return self._cut(value)
        if isinstance(value, Sequence):
            return tuple(self._cut(str(item)) for item in value)  # all of ours are texts
        return value

    def _cut(self, text: str) -> str:
        return text if len(text) <= self._value_length else text[: self._value_length]


def _coded(status: SpanStatus) -> SpanStatus:
    text = status.description
    if text is None or text in CODES or text.removeprefix("-").isdecimal():
        return status
    return SpanStatus(status.status_code)
