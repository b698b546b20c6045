"""A machine whose clock differs from the database's decides nothing by it."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from gateway.errors import StoreUnavailable
from gateway.store.engine import Engine, Lock
from gateway.store.migrate import migrate
from gateway.store.postgres import PostgresEngine

pytestmark = pytest.mark.postgres


@pytest.fixture
def engine_name() -> str:
    return "postgres"


class Shifted:
    """The machine's clock, wrong by some seconds, which may change between two looks."""

    def __init__(self, *seconds: float) -> None:
        self._seconds = [*seconds]

    def time_ns(self) -> int:
        seconds = self._seconds.pop(0) if len(self._seconds) > 1 else self._seconds[0]
        return time.time_ns() + round(seconds * 1e9)

    def now(self) -> datetime:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=self.time_ns() // 1000)

    def monotonic(self) -> float:
        return time.monotonic()


def at(store_url: str, *seconds: float) -> Engine:
    """Connect a machine whose clock is wrong."""
    clock = Shifted(*seconds)

    def prepare(engine: Engine) -> None:
        migrate(engine, "postgres", clock)

    return PostgresEngine(store_url, prepare=prepare, busy_s=2, clock=clock)


@pytest.fixture
def tables(store_url: str) -> None:
    """Have the tables made by a machine whose clock is right."""
    engine = at(store_url, 0)
    engine.has_table("meta")
    engine.close()


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("seconds", "said"), [(40, r"4\d s ahead of that"), (-40, r"\d\d s behind that")]
)
def test_a_clock_that_differs_by_much_changes_nothing(
    store_url: str, seconds: float, said: str
) -> None:
    """Clock skew.

    The message says which way, and the mend.
    """
    engine = at(store_url, seconds)
    with (
        pytest.raises(StoreUnavailable, match=f"{said} of the database; have both go by one time"),
        engine.transaction(lock=Lock.EVENTS) as transaction,
    ):
        transaction.execute("keep_fact", {"name": "a", "value": "1"})
    with engine.reading() as reading:  # people can still look
        assert reading.fetch("get_fact", {"name": "a"}) == []
    engine.close()


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("seconds", [(0,), (2,), (-2,), (0, 60)])
def test_a_little_difference_and_a_process_that_stood_still_meanwhile_do_no_harm(
    store_url: str, seconds: tuple[float, ...]
) -> None:
    engine = at(store_url, *seconds)
    with engine.transaction(lock=Lock.EVENTS) as transaction:
        transaction.execute("keep_fact", {"name": "a", "value": "1"})
    engine.close()
