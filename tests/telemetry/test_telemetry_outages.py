"""Telemetry: a collector that is away, slow or refuses costs no call anything."""

import logging
import time
from pathlib import Path

import pytest

from gateway.telemetry.options import TelemetryOptions
from gateway.telemetry.telemetry import Telemetry
from tests.helpers.otlp_receiver import OtlpReceiver
from tests.telemetry.builders import (
    a_record,
    endpoint,
)

OPTIONS = TelemetryOptions()
STOP_S = 2.0  # what a stop may take


def dead_collectors(receiver: OtlpReceiver, kind: str) -> str:
    match kind:
        case "closed port":
            return "http://127.0.0.1:1"
        case "black hole":
            receiver.hang = True
        case "503":
            receiver.answer = 503
        case _:
            return receiver.url.replace("http:", "https:")
    return receiver.url


@pytest.mark.parametrize("kind", ["closed port", "black hole", "503", "no TLS there"])
def test_a_dead_collector_costs_no_call_anything_and_stop_ends_in_time(
    receiver: OtlpReceiver, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """case: OBS-02"""
    url = dead_collectors(receiver, kind)
    before = time.monotonic()
    telemetry = Telemetry.start(OPTIONS, endpoint(url, OTEL_EXPORTER_OTLP_TIMEOUT="10"))
    records = [a_record() for _ in range(100)]
    calls = time.monotonic()
    for record in records:
        telemetry.record(record)
    recorded = time.monotonic()
    telemetry.flush(0.2)
    stopping = time.monotonic()
    telemetry.shutdown(STOP_S)
    stopped = time.monotonic()
    assert calls - before < 0.5
    assert recorded - calls < 0.1
    assert stopped - stopping < STOP_S + 0.5
    assert len(caplog.records) <= 2  # one line a signal
    assert telemetry.state().traces.exported == 0


def told_of(host: str, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what was said of one collector; exports to others may still end meanwhile."""
    return [said for record in caplog.records if host in (said := record.getMessage())]


def test_a_refusing_collector_is_told_of_once_by_host_only(
    receiver: OtlpReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    """case: OBS-02"""
    receiver.answer = 400  # not retried
    environ = endpoint(
        receiver.url.replace("//", "//u:MARK1@") + "/MARK2",
        OTEL_EXPORTER_OTLP_HEADERS="x-key=MARK3%20a",
        OTEL_METRICS_EXPORTER="none",
    )
    with caplog.at_level(logging.DEBUG):
        telemetry = Telemetry.start(OPTIONS, environ)
        for count in range(1, 4):
            telemetry.record(a_record())
            assert telemetry.flush(5)
            assert len(receiver.requests) == count
        telemetry.shutdown(STOP_S)
    assert receiver.requests[0].headers["x-key"] == "MARK3 a"
    assert receiver.requests[0].path == "/MARK2/v1/traces"
    (told,) = told_of(receiver.url.removeprefix("http://"), caplog)
    assert "(HTTP 400)" in told
    assert "MARK" not in caplog.text
    state = telemetry.state().traces
    assert (state.exported, state.dropped, state.last_error) == (0, 3, "HTTP 400")
    assert "MARK" not in repr(telemetry.state())


def test_memory_is_bounded_while_the_collector_hangs_and_drops_are_counted(
    receiver: OtlpReceiver,
) -> None:
    """case: OBS-02"""
    receiver.hang = True
    telemetry = Telemetry.start(
        OPTIONS,
        endpoint(
            receiver.url,
            OTEL_BSP_MAX_QUEUE_SIZE="10",
            OTEL_BSP_MAX_EXPORT_BATCH_SIZE="5",
            OTEL_METRICS_EXPORTER="none",
        ),
    )
    telemetry.record(a_record())
    telemetry.flush(0.001)
    receiver.wait_for(lambda: len(receiver.requests) == 1)
    for _ in range(100):
        telemetry.record(a_record())
    state = telemetry.state().traces
    assert (state.waiting, state.dropped) == (10, 90)
    telemetry.shutdown(0.1)


def test_export_recovers_when_the_collector_does(receiver: OtlpReceiver) -> None:
    receiver.answer = 400
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url, OTEL_METRICS_EXPORTER="none"))
    telemetry.record(a_record())
    assert telemetry.flush(5)
    assert telemetry.state().traces.last_error == "HTTP 400"
    receiver.requests.clear()
    receiver.answer = 200
    telemetry.record(a_record())
    assert telemetry.flush(5)
    assert len(receiver.spans) == 3
    state = telemetry.state().traces
    assert (state.exported, state.last_error) == (1, "")
    telemetry.shutdown(STOP_S)


def test_an_exporter_that_cannot_be_made_leaves_the_gateway_running(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """case: OBS-02"""
    missing = str(tmp_path / "key.pem")
    environ = endpoint("https://127.0.0.1:1", OTEL_EXPORTER_OTLP_CLIENT_KEY=missing)
    environ["OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"] = missing
    telemetry = Telemetry.start(OPTIONS, environ)
    telemetry.record(a_record())
    assert telemetry.flush(5)
    assert telemetry.state().traces.last_error == "OSError"
    assert telemetry.state().traces.dropped == 1
    assert telemetry.shutdown(STOP_S)
    assert "Traceback" not in caplog.text
    assert len(told_of("127.0.0.1:1`", caplog)) <= 2


def test_a_record_that_cannot_be_read_is_counted_not_raised(receiver: OtlpReceiver) -> None:
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url, OTEL_METRICS_EXPORTER="none"))
    record = a_record()
    record.call = None  # type: ignore[assignment]
    telemetry.record(record)
    telemetry.record(a_record(trace_id="not hex"))
    telemetry.record(a_record())
    assert telemetry.flush(5)
    assert telemetry.state().traces.dropped == 2
    assert len(receiver.spans) == 3
    telemetry.shutdown(STOP_S)
