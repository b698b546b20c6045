"""What is counted here leaves as the SDK's own instruments would have it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.sdk.metrics import AlwaysOffExemplarFilter, MeterProvider
from opentelemetry.sdk.metrics.export import (
    InMemoryMetricReader,
    MetricExporter,
    MetricExportResult,
    MetricsData,
)

from gateway.clock import SystemClock
from gateway.telemetry.durations import (
    BUCKETS,
    MAX_SERIES,
    CountedDurations,
    CountingReader,
    Durations,
    InstrumentDurations,
)
from gateway.telemetry.metrics import METRICS, Kind, Name

Value = tuple[Name, dict[str, str], float]


class Both:
    """The same values given to the SDK and to us."""

    def __init__(self) -> None:
        self.readers = (InMemoryMetricReader(), InMemoryMetricReader())
        self.providers = [
            MeterProvider(
                [reader], exemplar_filter=AlwaysOffExemplarFilter(), shutdown_on_exit=False
            )
            for reader in self.readers
        ]
        official, plain = (each.get_meter("t") for each in self.providers)
        self.counted = CountedDurations(SystemClock())
        self.all: tuple[Durations, Durations] = (InstrumentDurations(official), self.counted)
        for meter in (official, plain):  # so that there is something to add durations to
            meter.create_counter("beside").add(1)

    def record(self, values: Iterable[Value]) -> None:
        for name, labels, seconds in values:
            for each in self.all:
                with each.lock:
                    each.of(name, labels).record(seconds)

    def exports(self) -> tuple[MetricsData, MetricsData]:
        """Return what the SDK exports, and what we do."""
        official, plain = (reader.get_metrics_data() for reader in self.readers)
        assert official is not None
        assert plain is not None
        return official, self.counted.added_to(plain, "t")

    def close(self) -> None:
        for each in self.providers:
            each.shutdown()


def as_sent(data: MetricsData) -> Sequence[Any]:
    """Return what a collector gets, metrics and points in an order of their own, without times."""
    (resource,) = encode_metrics(data).resource_metrics
    (scope,) = resource.scope_metrics
    metrics = sorted(scope.metrics, key=lambda metric: metric.name)
    for metric in metrics:
        for point in (*metric.histogram.data_points, *metric.sum.data_points):
            assert 0 < point.start_time_unix_nano <= point.time_unix_nano
            point.start_time_unix_nano = point.time_unix_nano = 0
        metric.histogram.data_points.sort(key=str)
    return metrics


durations = st.sampled_from(sorted({0.0, *(each for some in BUCKETS.values() for each in some)}))
values = st.lists(
    st.tuples(
        st.sampled_from(list(BUCKETS)),
        st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["1", "2", ""])),
        # Sixteenths add up to the same in whatever order they are added.
        durations | st.integers(0, 10_000_000).map(lambda number: number / 16),
    ),
    max_size=12,
)


def without_sums(metrics: Sequence[Any]) -> list[float]:
    """Take the sums out, which add up in another order where there are several exports."""
    points = [point for metric in metrics for point in metric.histogram.data_points]
    sums = [point.sum for point in points]
    for point in points:
        point.sum = 0
    return sums


@given(st.lists(values, min_size=1, max_size=3))
def test_what_leaves_is_what_the_sdk_would_have_sent(batches: list[list[Value]]) -> None:
    both = Both()
    for batch in batches:
        both.record(batch)
        official, ours = map(as_sent, both.exports())
        assert without_sums(ours) == pytest.approx(without_sums(official))
        assert ours == official
    both.close()


def test_labels_without_end_share_a_series_as_in_the_sdk() -> None:
    """case: OBS-07"""
    both = Both()
    both.record((Name.AUTHORIZATION, {"n": str(number)}, 0.5) for number in range(MAX_SERIES + 3))
    official, ours = map(as_sent, both.exports())
    (metric,) = [each for each in ours if each.name == Name.AUTHORIZATION]
    points = metric.histogram.data_points
    assert len(points) == MAX_SERIES + 1
    beyond = [point for point in points if point.attributes[0].key == "otel.metric.overflow"]
    assert [point.count for point in beyond] == [3]
    (theirs,) = [each for each in official if each.name == Name.AUTHORIZATION]
    # The older ones of the versions that we go with have no bound.
    is_bounded = len(theirs.histogram.data_points) == len(points)
    assert ours == official or not is_bounded
    both.close()


def test_the_same_labels_are_one_series_whatever_their_order() -> None:
    counted = CountedDurations(SystemClock())
    one = counted.of(Name.AUTHORIZATION, {"a": "1", "b": "2"})
    assert counted.of(Name.AUTHORIZATION, {"b": "2", "a": "1"}) is one
    assert counted.of(Name.AUTHORIZATION, {"a": "2", "b": "1"}) is not one
    assert counted.of(Name.SERVER_DURATION, {"a": "1", "b": "2"}) is not one


def test_labels_are_kept_as_they_were_given() -> None:
    both = Both()
    labels = {"a": "1"}
    series = both.counted.of(Name.AUTHORIZATION, labels)
    labels["a"] = "2"
    series.record(1.0)
    (metric,) = [each for each in as_sent(both.exports()[1]) if each.name == Name.AUTHORIZATION]
    assert metric.histogram.data_points[0].attributes[0].value.string_value == "1"
    both.close()


def test_a_series_without_a_value_says_nothing() -> None:
    both = Both()
    both.counted.of(Name.AUTHORIZATION, {"a": "1"})
    assert [each.name for each in as_sent(both.exports()[1])] == ["beside"]
    both.close()


def test_durations_stand_in_their_own_scope_alone() -> None:
    both = Both()
    both.record([(Name.AUTHORIZATION, {}, 1.0)])
    plain = both.exports()[0]
    (resource,) = both.counted.added_to(plain, "another").resource_metrics
    assert resource == replace(resource, scope_metrics=plain.resource_metrics[0].scope_metrics)
    both.close()


def test_every_histogram_of_the_table_has_its_buckets() -> None:
    assert set(BUCKETS) == {name for name, row in METRICS.items() if row.kind is Kind.HISTOGRAM}


class Kept(MetricExporter):
    """Keeps what is exported."""

    def __init__(self) -> None:
        super().__init__()
        self.exported: list[MetricsData] = []

    def export(
        self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: object
    ) -> MetricExportResult:
        self.exported.append(metrics_data)
        return MetricExportResult.SUCCESS

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        return True

    def shutdown(self, timeout_millis: float = 30_000, **kwargs: object) -> None:
        pass


def test_the_reader_exports_durations_with_the_rest() -> None:
    both, exporter = Both(), Kept()
    reader = CountingReader(exporter, both.counted, scope="t", interval_s=3600)
    provider = MeterProvider([reader], shutdown_on_exit=False)
    provider.get_meter("t").create_counter("beside").add(1)
    both.record([(Name.AUTHORIZATION, {"a": "1"}, 1.0)])
    provider.force_flush()
    assert as_sent(exporter.exported[0]) == as_sent(both.exports()[0])
    provider.shutdown()
    both.close()
