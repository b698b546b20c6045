"""The machine's own clocks."""

from datetime import UTC, datetime

from gateway.clock import SystemClock


def test_both_wall_times_are_the_machines_in_utc() -> None:
    clock, before = SystemClock(), datetime.now(UTC)
    now, nanoseconds = clock.now(), clock.time_ns()
    after = datetime.now(UTC)
    assert before <= now <= after
    assert now.tzinfo is UTC
    assert before.timestamp() <= nanoseconds / 1e9 <= after.timestamp() + 1e-6


def test_seconds_never_go_back() -> None:
    clock = SystemClock()
    seen = [clock.monotonic() for _ in range(1000)]
    assert seen == sorted(seen)
