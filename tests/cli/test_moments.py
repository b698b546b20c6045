"""Moments as people type them."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.cli.moments import age, earlier, later, left, seconds
from gateway.clock import SystemClock
from gateway.store.times import microseconds


def test_a_time_is_in_utc_unless_it_says_otherwise() -> None:
    assert earlier("2026-11-29T09:00:00") == datetime(2026, 11, 29, 9, tzinfo=UTC)
    assert earlier("2026-11-29T09:00:00+02:00") == datetime(2026, 11, 29, 7, tzinfo=UTC)
    assert later("2999-01-01") == datetime(2999, 1, 1, tzinfo=UTC)


def test_an_age_counts_back_and_a_span_ahead() -> None:
    now = SystemClock().now()
    past, future = earlier("24h"), later("90d")
    assert past is not None
    assert future is not None
    assert timedelta(0) <= past - (now - timedelta(days=1)) < timedelta(minutes=1)
    assert timedelta(0) <= future - (now + timedelta(days=90)) < timedelta(minutes=1)


def test_nothing_is_no_moment() -> None:
    assert (earlier(""), later("")) == (None, None)


@pytest.mark.parametrize("text", ["yesterday", "12parsecs", "2026-13-01", "9" * 30 + "d"])
def test_what_is_no_moment_is_told(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        later(text)
    told = capsys.readouterr().err
    assert told == (
        f"weighbridge: `{text}` is neither a time (2026-11-29T09:00:00) nor a span (90d)\n"
    )


def test_what_is_to_come_can_not_be_over(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        later("2020-01-01")
    assert capsys.readouterr().err == "weighbridge: `2020-01-01` is over already\n"


@pytest.mark.parametrize(
    ("seconds_ago", "said"),
    [(-5, "0s"), (59.5, "59s"), (61, "1m"), (7_300, "2h"), (3 * 86_400 + 5, "3d")],
)
def test_an_age_is_told_in_its_largest_unit(seconds_ago: float, said: str) -> None:
    now = SystemClock().now()
    assert age(microseconds(now - timedelta(seconds=seconds_ago))) == said


def test_a_span_is_read_with_its_unit(capsys: pytest.CaptureFixture[str]) -> None:
    assert seconds("5m") == 300.0
    with pytest.raises(SystemExit):
        seconds("5")
    assert "`5` is not a span of time" in capsys.readouterr().err


def test_what_is_to_come_is_told_as_what_is_left_of_it() -> None:
    now = SystemClock().now()
    assert left(microseconds(now + timedelta(seconds=605))) == "10m"
    assert left(microseconds(now - timedelta(seconds=1))) == "over"
