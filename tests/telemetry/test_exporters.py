from collections.abc import Iterator

import pytest

from gateway.clock import SystemClock
from gateway.telemetry import environment
from gateway.telemetry.exporters import open_metrics, open_spans
from gateway.telemetry.facts import facts_of
from gateway.telemetry.health import Health, silence_sdk
from gateway.telemetry.metrics import Name
from tests.helpers.otlp_receiver import OtlpReceiver, otlp_receiver
from tests.telemetry.builders import a_record, endpoint


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    silence_sdk()
    with otlp_receiver() as receiver:
        yield receiver


def a_health() -> Health:
    return Health("traces", "c:1", SystemClock())


def test_a_redirect_is_no_arrival(receiver: OtlpReceiver) -> None:
    """case: OBS-07"""
    receiver.answer = 302
    health = a_health()
    sink = open_spans(environment.read(endpoint(receiver.url)), {}, 100, None, health)
    sink.deliver([facts_of(a_record())])
    assert (health.exported, health.lost, health.last_error) == (0, 1, "HTTP 302")
    sink.close()


@pytest.mark.parametrize("compression", ["none", "gzip", "deflate"])
def test_both_signals_arrive_whatever_the_compression(
    receiver: OtlpReceiver, compression: str
) -> None:
    variables = environment.read(endpoint(receiver.url, OTEL_EXPORTER_OTLP_COMPRESSION=compression))
    health = a_health()
    spans = open_spans(variables, {"service.name": "gw"}, 100, None, health)
    metrics = open_metrics(variables, {"service.name": "gw"}, {}, health)
    facts = facts_of(a_record())
    spans.deliver([facts])
    metrics.deliver([facts])
    metrics.flush()
    assert {span.resource["service.name"] for span in receiver.spans} == {"gw"}
    assert {point.resource["service.name"] for point in receiver.points} == {"gw"}
    assert (health.exported, health.last_error) == (2, "")
    spans.close()
    metrics.close()


def test_spans_that_are_written_go_along_with_others(receiver: OtlpReceiver) -> None:
    health = a_health()
    sink = open_spans(environment.read(endpoint(receiver.url)), {}, 100, None, health)
    assert sink.early is not None
    written = sink.early.at_once(facts_of(a_record(trace_id="2" * 32)))
    assert written is not None
    sink.deliver([facts_of(a_record(trace_id="1" * 32)), b"".join(written)])
    assert [span.trace_id[0] for span in receiver.spans] == ["1"] * 3 + ["2"] * 3
    assert len(receiver.requests) == 1
    assert (health.exported, health.lost) == (2, 0)
    sink.close()


def test_the_console_takes_calls_only() -> None:
    health = a_health()
    variables = environment.read({"OTEL_TRACES_EXPORTER": "console"})
    sink = open_spans(variables, {}, 100, None, health)
    assert sink.early is None
    sink.deliver([b"written"])
    assert (health.exported, health.lost, health.last_error) == (0, 1, "TypeError")


def test_a_failed_export_of_metrics_loses_nothing(receiver: OtlpReceiver) -> None:
    receiver.answer = 400
    health = a_health()
    sink = open_metrics(environment.read(endpoint(receiver.url)), {}, {}, health)
    sink.deliver([facts_of(a_record())])
    sink.flush()
    assert (health.lost, health.last_error) == (0, "HTTP 400")
    receiver.requests.clear()
    receiver.answer = 200
    sink.flush()
    assert receiver.named("mcp.server.operation.duration")[0].count == 1
    sink.close()


@pytest.mark.parametrize(
    ("preference", "temporality", "counts"), [("", 2, [1, 2]), ("delta", 1, [1, 1])]
)
def test_durations_add_up_as_the_variables_ask_for(
    receiver: OtlpReceiver,
    monkeypatch: pytest.MonkeyPatch,
    preference: str,
    temporality: int,
    counts: list[int],
) -> None:
    name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
    monkeypatch.setenv(name, preference)  # the SDK's exporter reads it from there
    variables = environment.read(endpoint(receiver.url, **{name: preference}))
    sink = open_metrics(variables, {}, {}, a_health())
    found: list[int] = []
    for _ in counts:
        sink.deliver([facts_of(a_record())])
        sink.flush()
        for metric in (Name.SERVER_DURATION, Name.CLIENT_DURATION, Name.AUTHORIZATION):
            (point,) = receiver.named(metric)
            assert point.temporality == temporality
        (point,) = receiver.named(Name.SERVER_DURATION)
        found.append(point.count)
    sink.close()
    assert found == counts
