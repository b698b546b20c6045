from gateway.replay.history import Span
from gateway.replay.watching import Watched
from gateway.store.events import EventFilter, StoredEvent


class Numbers:
    """A log of numbers alone."""

    def __init__(self, *numbers: int) -> None:
        self.numbers = numbers

    async def query(self, wanted: EventFilter) -> list[StoredEvent]:
        found = [each for each in self.numbers if each > wanted.after][: wanted.limit]
        return [StoredEvent(seq=each, body=b"{}") for each in found]

    async def last_seq(self) -> int:
        return self.numbers[-1] if self.numbers else 0


async def test_how_much_was_read_is_told_by_numbers() -> None:
    watched = await Watched.of(Numbers(10, 12, 15, 20), Span())
    assert watched.share == 0.0
    await watched.query(EventFilter(after=0, limit=3))
    assert watched.share == 0.5
    await watched.query(EventFilter(call="call_1", after=15))  # looked up aside
    assert watched.share == 0.5
    await watched.query(EventFilter(after=15))
    assert watched.share == 1.0


async def test_an_empty_log_is_no_fault() -> None:
    assert (await Watched.of(Numbers(), Span())).share == 0.0
