"""The SDK's side of telemetry: resource, exporters and the sinks that feed them.

Importing this costs about 0.3 s, so it is imported late, by the export threads, and only when
something is exported. All that is needed from `OTEL_*` comes as values, not from the process.
"""

import sys
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final

import requests
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import AlwaysOffExemplarFilter, MeterProvider
from opentelemetry.sdk.metrics.export import (
    ConsoleMetricExporter,
    MetricExporter,
    MetricExportResult,
    MetricsData,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SpanExporter, SpanExportResult
from opentelemetry.sdk.version import __version__ as sdk_version

from gateway import __version__
from gateway.telemetry.environment import Destination, Environment, ExporterKind
from gateway.telemetry.facts import ApprovalFacts, CallFacts
from gateway.telemetry.health import Health
from gateway.telemetry.meters import Meters
from gateway.telemetry.metrics import METRICS, Gauges, Kind, Tick
from gateway.telemetry.scrub import ScrubbingExporter
from gateway.telemetry.spans import Pseudonym, SpanBuilder

_COMPRESSIONS: Final = {
    "none": Compression.NoCompression,
    "gzip": Compression.Gzip,
    "deflate": Compression.Deflate,
}


class NotingSession(requests.Session):
    """Remembers why the last request failed, as a class: the SDK tells nobody but its log."""

    last_error = ""

    def send(self, request: requests.PreparedRequest, **kwargs: object) -> requests.Response:
        """Send, and note the outcome."""
        try:
            response = super().send(request, **kwargs)
        except Exception as error:
            self.last_error = type(error).__name__
            raise
        arrived = response.status_code < HTTPStatus.MULTIPLE_CHOICES  # a redirect is no arrival
        self.last_error = "" if arrived else f"HTTP {response.status_code}"
        return response


def _resource(attributes: Mapping[str, str]) -> Resource:
    return Resource(
        {
            "telemetry.sdk.language": "python",
            "telemetry.sdk.name": "opentelemetry",
            "telemetry.sdk.version": sdk_version,
            **attributes,
        }
    )


class SpanSink:
    """Builds the spans of a batch and sends them; see `lane.Sink`."""

    def __init__(self, builder: SpanBuilder, exporter: SpanExporter, health: Health) -> None:
        self._builder = builder
        self._exporter = exporter
        self._health = health
        self.session: NotingSession | None = None

    def deliver(self, items: Sequence[CallFacts | ApprovalFacts]) -> None:
        """Send the spans of these calls in one request."""
        spans = [span for facts in items for span in self._built(facts)]
        result = self._exporter.export(spans)
        error = self.session.last_error if self.session is not None else ""
        if result is SpanExportResult.SUCCESS and not error:
            self._health.delivered(len(items))
        else:
            self._health.failed(error or "export failed", lost=len(items))

    def _built(self, facts: CallFacts | ApprovalFacts) -> list[ReadableSpan]:
        try:
            return self._builder.build(facts)
        except Exception as error:  # one odd call must not take its whole batch along
            self._health.failed(type(error).__name__, lost=1)
            return []

    def flush(self) -> None:
        """Nothing is held back here."""

    def close(self) -> None:
        """Close the connections."""
        self._exporter.shutdown()

    def abort(self) -> None:
        """End the retries of a delivery under way."""
        self._exporter.shutdown()


class NotingMetricExporter(OTLPMetricExporter):
    """The OTLP exporter, with an eye on whether it works."""

    health: Health
    session: NotingSession

    def export(
        self, metrics_data: MetricsData, timeout_millis: float | None = 10_000, **kwargs: object
    ) -> MetricExportResult:
        """Export, and note the outcome."""
        result = super().export(  # pyright: ignore[reportUnknownMemberType] - untyped **kwargs
            metrics_data, timeout_millis, **kwargs
        )
        if result is MetricExportResult.SUCCESS and not self.session.last_error:
            self.health.delivered(1)
        else:  # nothing is lost yet: the next export carries the sums
            self.health.failed(self.session.last_error or "export failed", lost=0)
        return result


class MetricSink:
    """Feeds the instruments; the SDK's reader exports them at intervals. See `lane.Sink`."""

    def __init__(self, provider: MeterProvider, exporter: MetricExporter, gauges: Gauges) -> None:
        self._provider = provider
        self._exporter = exporter
        self._meters = Meters(provider.get_meter("weighbridge", __version__))
        for name, row in METRICS.items():
            if row.kind is Kind.GAUGE:
                self._meters.watch(name, gauges)

    def deliver(self, items: Sequence[CallFacts | ApprovalFacts | Tick]) -> None:
        """Count what happened."""
        for item in items:
            self._meters.record(item)

    def flush(self) -> None:
        """Export now."""
        self._provider.force_flush()

    def close(self) -> None:
        """Export a last time and release everything; `abort` ends it early."""
        self._provider.shutdown()

    def abort(self) -> None:
        """End the retries of an export under way."""
        self._exporter.shutdown()  # pyright: ignore[reportUnknownMemberType] - untyped **kwargs


def open_spans(
    environment: Environment,
    resource: Mapping[str, str],
    value_length: int,
    pseudonym: Pseudonym | None,
    health: Health,
) -> SpanSink:
    """Make the sink for traces."""
    builder = SpanBuilder(_resource(resource), pseudonym)
    destination = environment.traces.destination
    session: NotingSession | None = None
    if environment.traces.exporter is ExporterKind.CONSOLE or destination is None:
        # Standard output is the protocol's when the gateway speaks stdio.
        exporter: SpanExporter = ConsoleSpanExporter(out=sys.stderr)
    else:
        session = NotingSession()
        exporter = OTLPSpanExporter(
            endpoint=destination.endpoint,
            headers=destination.headers,
            timeout=destination.timeout_s,
            compression=_COMPRESSIONS[destination.compression],
            certificate_file=destination.certificate,
            client_key_file=destination.client_key,
            client_certificate_file=destination.client_certificate,
            session=session,
        )
    sink = SpanSink(builder, ScrubbingExporter(exporter, value_length=value_length), health)
    sink.session = session
    return sink


def open_metrics(
    environment: Environment, resource: Mapping[str, str], gauges: Gauges, health: Health
) -> MetricSink:
    """Make the sink for metrics, and the SDK's reader with its thread."""
    destination = environment.metrics.destination
    if environment.metrics.exporter is ExporterKind.CONSOLE or destination is None:
        exporter: MetricExporter = ConsoleMetricExporter(out=sys.stderr)
    else:
        exporter = _otlp_metrics(destination, health)
    reader = PeriodicExportingMetricReader(
        exporter, export_interval_millis=environment.metric_interval_s * 1e3
    )
    provider = MeterProvider(
        metric_readers=[reader],
        resource=_resource(resource),
        exemplar_filter=AlwaysOffExemplarFilter(),  # they need live spans, which we do not have
        shutdown_on_exit=False,  # it would wait for a dead collector; `Telemetry.shutdown` doesn't
    )
    return MetricSink(provider, exporter, gauges)


def _otlp_metrics(destination: Destination, health: Health) -> NotingMetricExporter:
    session = NotingSession()
    exporter = NotingMetricExporter(
        endpoint=destination.endpoint,
        headers=destination.headers,
        timeout=destination.timeout_s,
        compression=_COMPRESSIONS[destination.compression],
        certificate_file=destination.certificate,
        client_key_file=destination.client_key,
        client_certificate_file=destination.client_certificate,
        session=session,
    )
    exporter.health, exporter.session = health, session
    return exporter
