"""What an operator says about telemetry in the configuration; the rest is `OTEL_*` variables."""

from dataclasses import dataclass
from enum import StrEnum


class IncomingContext(StrEnum):
    """What a caller's trace context counts for; it is the caller's word and can force sampling."""

    PARENT = "parent"  # our spans are children of the caller's
    LINK = "link"  # a trace of our own, with a link to the caller's span
    IGNORE = "ignore"  # a trace of our own, and no mention


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryOptions:
    """The `telemetry` section, already checked; `value_length` counts characters."""

    incoming_context: IncomingContext = IncomingContext.PARENT
    service_name: str = "weighbridge"  # `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win
    capture_content: bool = False  # the redacted arguments become a span attribute
    worker: int | None = None  # which of several that serve one port; an attribute of the resource
    value_length: int = 2048  # `OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT` wins
