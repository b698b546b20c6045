from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from gateway.store.times import microseconds, moment


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_kept_time_comes_back_exact(at: datetime) -> None:
    assert moment(microseconds(at)) == at


def test_the_same_moment_is_the_same_number_in_every_zone() -> None:
    at = datetime(2026, 11, 29, 12, tzinfo=timezone(timedelta(hours=2)))
    assert microseconds(at) == microseconds(at.astimezone(UTC))
