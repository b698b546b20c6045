"""Moments as people type them."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.cli.moments import earlier, later
from gateway.clock import SystemClock


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
