"""Histograms of durations, counted here and handed to the SDK with what it exports.

An instrument of the SDK takes 6 µs for each value: it makes a measurement of it, and finds out what
its labels stand for. Here that is found out once for calls that are alike, and a value is a few
additions. Tests hold what leaves against what the SDK's own instruments make of the same values:
sums since the start in fixed buckets, without exemplars. Where anything else is asked for, such as
sums since the last export, it is their work (`InstrumentDurations`).

Imports OpenTelemetry, so it is itself imported late: by the export thread only.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from threading import Lock
from typing import Final, Protocol

from opentelemetry.metrics import Histogram as Instrument
from opentelemetry.metrics import Meter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricExporter,
    MetricsData,
    PeriodicExportingMetricReader,
    ResourceMetrics,
    ScopeMetrics,
)

from gateway.clock import Clock
from gateway.telemetry.metrics import METRICS, Labels, Name

# Buckets of the GenAI conventions v0.1.0, in seconds.
_CALL_S: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
BUCKETS: Final[Mapping[Name, tuple[float, ...]]] = {
    Name.SERVER_DURATION: _CALL_S,
    Name.CLIENT_DURATION: _CALL_S,
    # Judging takes tens of microseconds; the buckets above would put every call into the first.
    Name.AUTHORIZATION: (
        *(2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2),
        *(0.05, 0.1, 0.5, 1),
    ),
    # People take their time; a request waits for a day at most before somebody should hear of it.
    Name.APPROVAL_WAIT: (
        *(1, 5, 15, 30, 60, 120, 300, 600, 1800),
        *(3600, 7200, 14_400, 28_800, 43_200, 86_400),
    ),
}
MAX_SERIES: Final = 2000  # of one metric, as in the SDK; what is beyond shares one
OVERFLOW: Final[Mapping[str, bool]] = {"otel.metric.overflow": True}


class Series(Protocol):
    """The values of one metric under one set of labels."""

    def record(self, seconds: float) -> None:
        """Count one more."""
        ...


class Durations(Protocol):
    """Where the durations of calls are counted."""

    @property
    def lock(self) -> AbstractContextManager[object]:
        """Held while values are recorded, a batch at a time."""
        ...

    def of(self, name: Name, labels: Labels) -> Series:
        """Return where values are counted under these labels."""
        ...


class _Recorded:
    """A series of an instrument of the SDK."""

    __slots__ = ("_instrument", "_labels")

    def __init__(self, instrument: Instrument, labels: Labels) -> None:
        self._instrument = instrument
        self._labels = labels

    def record(self, seconds: float) -> None:
        self._instrument.record(seconds, self._labels)


class InstrumentDurations:
    """Durations as the SDK counts them, in whatever form its exporter is told to export."""

    def __init__(self, meter: Meter) -> None:
        self.lock: AbstractContextManager[object] = nullcontext()  # instruments have their own
        self._instruments = {
            name: meter.create_histogram(
                name,
                METRICS[name].unit,
                METRICS[name].meaning,
                explicit_bucket_boundaries_advisory=bounds,
            )
            for name, bounds in BUCKETS.items()
        }

    def of(self, name: Name, labels: Labels) -> Series:
        """Return what records under these labels."""
        return _Recorded(self._instruments[name], labels)


class _Counted:
    """A series of our own: sums since its first value."""

    __slots__ = ("_bounds", "_clock", "counts", "labels", "least", "most", "since", "total")

    def __init__(
        self, bounds: tuple[float, ...], labels: Mapping[str, str | bool], clock: Clock
    ) -> None:
        self._bounds = bounds
        self._clock = clock
        self.labels = labels
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0
        self.least, self.most = float("inf"), float("-inf")
        self.since = 0  # of the first value; 0: there is none

    def record(self, seconds: float) -> None:
        if not self.since:
            self.since = self._clock.time_ns()
        self.counts[bisect_left(self._bounds, seconds)] += 1
        self.total += seconds
        if seconds < self.least:  # noqa: PLR1730 - a call of `min` takes twice as long
            self.least = seconds
        if seconds > self.most:  # noqa: PLR1730 - likewise
            self.most = seconds

    def point(self, now: int) -> HistogramDataPoint:
        return HistogramDataPoint(
            attributes=self.labels,
            start_time_unix_nano=self.since,
            time_unix_nano=now,
            count=sum(self.counts),
            sum=self.total,
            bucket_counts=tuple(self.counts),
            explicit_bounds=self._bounds,
            min=self.least,
            max=self.most,
        )


class CountedDurations:
    """Durations that are counted here; recorded by one thread, and exported by another."""

    def __init__(self, clock: Clock) -> None:
        self.lock: AbstractContextManager[object] = Lock()
        self._clock = clock
        self._series: dict[Name, dict[frozenset[tuple[str, str]], _Counted]] = {
            name: {} for name in BUCKETS
        }
        self._beyond: dict[Name, _Counted] = {}

    def of(self, name: Name, labels: Labels) -> Series:
        """Return the series of these labels, always the same; the one of all others when full."""
        known, key = self._series[name], frozenset(labels.items())
        found = known.get(key)
        if found is None and len(known) >= MAX_SERIES:
            found = self._beyond.get(name)
            if found is None:
                found = self._beyond[name] = _Counted(BUCKETS[name], OVERFLOW, self._clock)
        elif found is None:
            found = known[key] = _Counted(BUCKETS[name], {**labels}, self._clock)
        return found

    def added_to(self, data: MetricsData, scope: str) -> MetricsData:
        """Return an export with the durations among the other metrics of a scope."""
        return replace(
            data,
            resource_metrics=[self._of_resource(each, scope) for each in data.resource_metrics],
        )

    def _of_resource(self, resource: ResourceMetrics, scope: str) -> ResourceMetrics:
        return replace(
            resource,
            scope_metrics=[
                self._of_scope(each) if each.scope.name == scope else each
                for each in resource.scope_metrics
            ],
        )

    def _of_scope(self, scope: ScopeMetrics) -> ScopeMetrics:
        return replace(scope, metrics=[*scope.metrics, *self._metrics()])

    def _metrics(self) -> Iterable[Metric]:
        with self.lock:
            now = self._clock.time_ns()
            for name, known in self._series.items():
                every = (*known.values(), *filter(None, (self._beyond.get(name),)))
                points = [each.point(now) for each in every if each.since]
                if points:
                    row = METRICS[name]
                    yield Metric(
                        name=name.value,
                        description=row.meaning,
                        unit=row.unit,
                        data=Histogram(
                            data_points=points,
                            aggregation_temporality=AggregationTemporality.CUMULATIVE,
                        ),
                    )


class CountingReader(PeriodicExportingMetricReader):
    """The SDK's reader, whose exports have the durations that are counted here as well."""

    def __init__(
        self,
        exporter: MetricExporter,
        durations: CountedDurations,
        *,
        scope: str,
        interval_s: float,
    ) -> None:
        self._durations = durations  # before the thread begins
        self._scope = scope
        super().__init__(exporter, export_interval_millis=interval_s * 1e3)

    def _receive_metrics(
        self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: object
    ) -> None:
        whole = self._durations.added_to(metrics_data, self._scope)
        super()._receive_metrics(  # pyright: ignore[reportUnknownMemberType] - untyped **kwargs
            whole, timeout_millis, **kwargs
        )
