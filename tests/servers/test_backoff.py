"""Pauses between attempts."""

from gateway.servers.backoff import Backoff
from gateway.servers.entry import Timeouts


def pauses(backoff: Backoff, count: int, *, slow: bool = False) -> list[float]:
    return [backoff.next_s(slow=slow) for _ in range(count)]


def test_pauses_double_up_to_a_minute_and_never_end() -> None:
    got = pauses(Backoff(Timeouts(), lambda: 1.0), 40)
    assert got[:5] == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert got[7:] == [60.0] * 33


def test_jitter_takes_away_a_quarter_at_most() -> None:
    assert pauses(Backoff(Timeouts(), lambda: 0.0), 2) == [0.375, 0.75]


def test_faults_that_do_not_mend_themselves_start_at_a_longer_pause() -> None:
    assert pauses(Backoff(Timeouts(), lambda: 1.0), 4, slow=True) == [10.0, 20.0, 40.0, 60.0]


def test_about_ten_attempts_fall_into_the_first_minute() -> None:
    """case: LIF-06"""
    backoff, passed, attempts = Backoff(Timeouts(), lambda: 0.5), 0.0, 0
    gap = Timeouts().wake_gap_s  # with calls coming all the time, one wakes an attempt this often
    while passed < 60:
        attempts += 1
        passed += min(backoff.next_s(slow=False), gap)
    assert attempts <= 15


def test_a_healthy_time_starts_over() -> None:
    backoff = Backoff(Timeouts(), lambda: 1.0)
    pauses(backoff, 10)
    backoff.reset()
    assert pauses(backoff, 1) == [0.5]
