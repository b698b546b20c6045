import threading
from collections.abc import Sequence

from gateway.telemetry.lane import Lane

WAIT_S = 15.0


class Basket:
    """A sink that keeps what it gets, or holds on to it until it is let go."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.flushed = self.closed = 0
        self.entered = threading.Event()
        self.free = threading.Event()
        self.free.set()

    def deliver(self, items: Sequence[int]) -> None:
        self.entered.set()
        assert self.free.wait(WAIT_S)
        if -1 in items:
            raise ValueError("bad batch")
        self.batches.append(list(items))

    def flush(self) -> None:
        self.flushed += 1

    def close(self) -> None:
        self.closed += 1

    def abort(self) -> None:
        self.free.set()


class Log:
    def __init__(self) -> None:
        self.failures: list[tuple[str, int]] = []

    def failed(self, error: Exception, count: int) -> None:
        self.failures.append((type(error).__name__, count))


def a_lane(
    basket: Basket,
    log: Log | None = None,
    *,
    capacity: int = 100,
    batch: int = 10,
    delay_s: float = 60,
) -> Lane[int]:
    return Lane(
        "test",
        lambda: basket,
        capacity=capacity,
        batch=batch,
        delay_s=delay_s,
        warm_up_s=0,
        failed=(log or Log()).failed,
    )


def ended(lane: Lane[int]) -> bool:
    lane.stop()
    return lane.wait(WAIT_S)


def flushed(lane: Lane[int]) -> bool:
    return lane.await_flush(lane.ask_flush(), WAIT_S)


def test_a_full_batch_is_delivered_before_its_time() -> None:
    basket = Basket()
    lane = a_lane(basket)
    for number in range(10):
        lane.put(number)
    assert basket.entered.wait(WAIT_S)
    assert ended(lane)
    assert [number for batch in basket.batches for number in batch] == list(range(10))


def test_few_items_are_delivered_when_their_time_has_come() -> None:
    basket = Basket()
    lane = a_lane(basket, delay_s=0.01)
    lane.put(1)
    assert basket.entered.wait(WAIT_S)
    assert ended(lane)


def test_a_flush_waits_for_what_was_put_before_it() -> None:
    basket = Basket()
    lane = a_lane(basket)
    for number in range(25):
        lane.put(number)
    assert flushed(lane)
    assert sum(len(batch) for batch in basket.batches) == 25
    assert max(len(batch) for batch in basket.batches) <= 10
    assert basket.flushed == 1
    assert ended(lane)


def test_a_flush_gives_up_when_its_time_is_over() -> None:
    basket = Basket()
    basket.free.clear()
    lane = a_lane(basket)
    lane.put(1)
    assert not lane.await_flush(lane.ask_flush(), 0.01)
    basket.free.set()
    assert ended(lane)


def test_a_full_queue_drops_the_oldest_and_counts() -> None:
    basket = Basket()
    basket.free.clear()
    lane = a_lane(basket, capacity=3, batch=1)
    lane.put(0)
    assert basket.entered.wait(WAIT_S)
    for number in range(1, 8):
        lane.put(number)
    assert (lane.waiting, lane.dropped) == (3, 4)
    basket.free.set()
    assert ended(lane)
    assert basket.batches == [[0], [5], [6], [7]]


def test_a_bad_batch_is_lost_alone() -> None:
    basket, log = Basket(), Log()
    lane = a_lane(basket, log)
    lane.put(-1)
    assert flushed(lane)
    lane.put(2)
    assert flushed(lane)
    assert log.failures == [("ValueError", 1)]
    assert basket.batches == [[2]]
    assert ended(lane)


def test_stopping_delivers_the_rest_and_closes() -> None:
    basket = Basket()
    lane = a_lane(basket)
    lane.put(1)
    assert ended(lane)
    assert (basket.batches, basket.closed) == ([[1]], 1)


def test_a_sink_that_breaks_while_closing_ends_all_the_same() -> None:
    class Brittle(Basket):
        def close(self) -> None:
            raise OSError("gone")

    log = Log()
    lane = a_lane(Brittle(), log)
    assert ended(lane)
    assert log.failures == [("OSError", 0)]


def test_what_comes_after_the_end_is_dropped() -> None:
    lane = a_lane(Basket())
    assert ended(lane)
    lane.put(1)
    assert (lane.dropped, lane.waiting) == (1, 0)
    assert flushed(lane)


def test_aborting_breaks_a_delivery_off_and_counts_the_rest_as_lost() -> None:
    basket, log = Basket(), Log()
    basket.free.clear()
    lane = a_lane(basket, log, batch=1)
    for number in range(3):
        lane.put(number)
    assert basket.entered.wait(WAIT_S)
    lane.stop()
    assert not lane.wait(0.01)
    lane.abort()
    assert lane.wait(WAIT_S)
    assert log.failures == [("TimeoutError", 2)]


def test_a_sink_that_cannot_be_made_loses_everything_quietly() -> None:
    log = Log()

    def broken() -> Basket:
        raise ImportError("no SDK")

    lane = Lane("test", broken, capacity=9, batch=9, delay_s=60, warm_up_s=60, failed=log.failed)
    lane.put(1)
    assert flushed(lane)
    assert log.failures == [("ImportError", 1)]
    lane.put(2)
    assert lane.dropped == 1
    lane.abort()
    assert ended(lane)
