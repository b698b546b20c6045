"""The SDK's side of telemetry: resource, exporters and the sinks that feed them.

Importing this costs about 0.3 s, so it is imported late, by the export threads, and only when
something is exported. All that is needed from `OTEL_*` comes as values, not from the process.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
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
from gateway.clock import SystemClock
from gateway.telemetry.durations import CountedDurations, CountingReader, InstrumentDurations
from gateway.telemetry.environment import Destination, Environment, ExporterKind
from gateway.telemetry.facts import SpanItem
from gateway.telemetry.health import Health
from gateway.telemetry.meters import Meters
from gateway.telemetry.metrics import METRICS, Gauges, Kind
from gateway.telemetry.moulds import Pseudonym
from gateway.telemetry.readable import readable
from gateway.telemetry.scrub import ScrubbingExporter
from gateway.telemetry.sending import NotingSession, Sender
from gateway.telemetry.spans import SpanBuilder
from gateway.telemetry.stencils import Measured
from gateway.telemetry.usual import CallWriter
from gateway.telemetry.wire import SCOPE, SpanEncoder

_COMPRESSIONS: Final = {
    "none": Compression.NoCompression,
    "gzip": Compression.Gzip,
    "deflate": Compression.Deflate,
}


def _whole(attributes: Mapping[str, str]) -> dict[str, str]:
    return {
        "telemetry.sdk.language": "python",
        "telemetry.sdk.name": "opentelemetry",
        "telemetry.sdk.version": sdk_version,
        **attributes,
    }


class SpanExport(Protocol):
    """Where the spans of a batch go; used by one thread, but for `close`."""

    def add(self, item: SpanItem) -> None:
        """Take the spans of one call along with the next sending, all or, raising, none."""
        ...

    def send(self) -> str:
        """Send what was added; return the class of what failed, or nothing."""
        ...

    def close(self) -> None:
        """End retries and close connections; called from any thread."""
        ...


class OtlpSpans:
    """Spans to a collector; see `SpanExport`."""

    def __init__(self, writer: CallWriter, encoder: SpanEncoder, sender: Sender) -> None:
        self._writer = writer
        self._encoder = encoder
        self._sender = sender
        self._added: list[bytes] = []

    def add(self, item: SpanItem) -> None:
        """Write them, unless they are written."""
        if isinstance(item, bytes):
            self._added.append(item)
        else:
            self._added += self._writer.written(item)

    def send(self) -> str:
        """Send them in one request."""
        added, self._added = self._added, []
        return self._sender.send(self._encoder.request(added)) if added else ""

    def close(self) -> None:
        """Close the connection."""
        self._sender.close()


class ConsoleSpans:
    """Spans to standard error, as the SDK prints them; see `SpanExport`."""

    def __init__(self, builder: SpanBuilder, resource: Resource, exporter: SpanExporter) -> None:
        self._builder = builder
        self._resource = resource
        self._exporter = exporter
        self._added: list[ReadableSpan] = []

    def add(self, item: SpanItem) -> None:
        """Make them the SDK's."""
        if isinstance(item, bytes):
            raise TypeError("spans that are written already can't be printed")
        self._added += [readable(span, self._resource) for span in self._builder.build(item)]

    def send(self) -> str:
        """Print them."""
        added, self._added = self._added, []
        return "" if self._exporter.export(added) is SpanExportResult.SUCCESS else "export failed"

    def close(self) -> None:
        """Nothing is open."""


class SpanSink:
    """Sends the spans of a batch; see `lane.Sink`."""

    def __init__(self, export: SpanExport, health: Health, early: CallWriter | None = None) -> None:
        self._export = export
        self._health = health
        self.early = early
        """What whoever puts calls writes usual ones with; None: all that is done here."""

    def deliver(self, items: Sequence[SpanItem]) -> None:
        """Send the spans of these calls in one request."""
        built = sum(map(self._add, items))
        if not built:
            return
        error = self._export.send()
        if error:
            self._health.failed(error, lost=built)
        else:
            self._health.delivered(built)

    def _add(self, item: SpanItem) -> bool:
        try:
            self._export.add(item)
        except Exception as error:  # one odd call must not take its whole batch along
            self._health.failed(type(error).__name__, lost=1)
            return False
        return True

    def flush(self) -> None:
        """Nothing is held back here."""

    def close(self) -> None:
        """Close the connections."""
        self._export.close()

    def abort(self) -> None:
        """End the retries of a delivery under way."""
        self._export.close()


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

    def __init__(
        self,
        provider: MeterProvider,
        exporter: MetricExporter,
        gauges: Gauges,
        counted: CountedDurations | None,
    ) -> None:
        self._provider = provider
        self._exporter = exporter
        meter = provider.get_meter(SCOPE, __version__)
        self._meters = Meters(meter, counted or InstrumentDurations(meter))
        for name, row in METRICS.items():
            if row.kind is Kind.GAUGE:
                self._meters.watch(name, gauges)

    def deliver(self, items: Sequence[Measured]) -> None:
        """Count what happened."""
        self._meters.record(items)

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
    destination = environment.traces.destination
    whole = _whole(resource)
    if environment.traces.exporter is ExporterKind.CONSOLE or destination is None:
        # Standard output is the protocol's when the gateway speaks stdio.
        printing = ScrubbingExporter(ConsoleSpanExporter(out=sys.stderr), value_length=value_length)
        return SpanSink(ConsoleSpans(SpanBuilder(pseudonym), Resource(whole), printing), health)
    # Two, since each is of one thread.
    encoders = SpanEncoder(whole, value_length), SpanEncoder(whole, value_length)
    late, early = (CallWriter(SpanBuilder(pseudonym), each, value_length) for each in encoders)
    return SpanSink(OtlpSpans(late, encoders[0], Sender(destination, SystemClock())), health, early)


def open_metrics(
    environment: Environment, resource: Mapping[str, str], gauges: Gauges, health: Health
) -> MetricSink:
    """Make the sink for metrics, and the SDK's reader with its thread."""
    destination = environment.metrics.destination
    if environment.metrics.exporter is ExporterKind.CONSOLE or destination is None:
        exporter: MetricExporter = ConsoleMetricExporter(out=sys.stderr)
    else:
        exporter = _otlp_metrics(destination, health)
    interval_s, counted = environment.metric_interval_s, None
    if environment.sums_from_start:
        counted = CountedDurations(SystemClock())
        reader = CountingReader(exporter, counted, scope=SCOPE, interval_s=interval_s)
    else:
        reader = PeriodicExportingMetricReader(exporter, export_interval_millis=interval_s * 1e3)
    provider = MeterProvider(
        metric_readers=[reader],
        resource=Resource(_whole(resource)),
        exemplar_filter=AlwaysOffExemplarFilter(),  # they need live spans, which we do not have
        shutdown_on_exit=False,  # it would wait for a dead collector; `Telemetry.shutdown` doesn't
    )
    return MetricSink(provider, exporter, gauges, counted)


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
