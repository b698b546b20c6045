import logging
from datetime import UTC, datetime

import pytest

from gateway.telemetry.health import Health, silence_sdk


class HandClock:
    """A clock that stands still until it is set."""

    seconds = 0.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds, UTC)

    def time_ns(self) -> int:
        return int(self.seconds * 1e9)

    def monotonic(self) -> float:
        return self.seconds


def test_a_long_outage_is_one_line_in_ten_minutes(caplog: pytest.LogCaptureFixture) -> None:
    """case: OBS-02"""
    clock = HandClock()
    health = Health("traces", "collector:4318", clock)
    for second in range(0, 1201, 5):
        clock.seconds = second
        health.failed("HTTP 503", lost=2)
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 3
    assert set(lines) == {
        "traces do not arrive at `collector:4318` (HTTP 503); "
        "calls go on without them, see `weighbridge doctor`"
    }
    assert health.lost == 482


def test_recovery_is_said_once_if_the_outage_was(caplog: pytest.LogCaptureFixture) -> None:
    health = Health("metrics", "collector:4318", HandClock())
    with caplog.at_level(logging.INFO):
        health.delivered(1)
        health.failed("ConnectionError", lost=0)
        health.delivered(3)
        health.delivered(3)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert (health.exported, health.last_error) == (7, "")


def test_the_sdks_own_log_is_silent_while_we_speak_for_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """case: OBS-02"""
    silence_sdk()
    sdk = logging.getLogger("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    with caplog.at_level(logging.DEBUG):
        sdk.error("Failed to export to http://u:MARK@c")
        logging.getLogger("urllib3.connectionpool").debug("POST /MARK")
    assert caplog.records == []
