import pytest

from gateway.replay import history
from gateway.replay.history import Span
from gateway.replay.types import Recorded
from gateway.store.events import EventFilter, StoredEvent
from gateway.types.decisions import DecisionEffect
from gateway.types.events import EventKind
from tests.helpers.histories import History
from tests.helpers.ledgers import MemoryLog


async def a_history(many: int = 12) -> History:
    made = History(seed=3)
    await made.runs(0, many)
    return made


async def read(log: history.Log, span: Span | None = None) -> list[Recorded]:
    return [each async for each in history.calls(log, span or Span())]


async def test_calls_come_in_the_order_in_which_they_were_judged() -> None:
    made = await a_history()
    found = await read(made.log)
    assert len(found) == made.calls
    assert [each.seq for each in found] == sorted(each.seq for each in found)


async def test_each_call_has_its_end() -> None:
    found = await read((await a_history()).log)
    assert all(each.ended is not None and each.ended.seq > each.seq for each in found)


class Interleaved:
    """A log in which all decisions come first, and all ends last."""

    def __init__(self, log: MemoryLog) -> None:
        self.log = log
        first = [each for each in log.kept if each.json()["kind"] == EventKind.AUTHORIZATION]
        rest = [each for each in log.kept if each not in first]
        self.kept = [
            StoredEvent(seq=seq, body=each.body) for seq, each in enumerate(first + rest, start=1)
        ]

    async def query(self, wanted: EventFilter) -> list[StoredEvent]:
        if wanted.call or wanted.few_calls:
            return await self.log.query(wanted)
        return self.kept[wanted.after : wanted.after + wanted.limit]


async def test_calls_that_are_under_way_at_once_get_their_own_ends() -> None:
    made = await a_history()
    plain, mixed = await read(made.log), await read(Interleaved(made.log))
    assert [(each.call, each.judged, each.is_sent) for each in mixed] == [
        (each.call, each.judged, each.is_sent) for each in plain
    ]


async def test_what_people_said_later_is_looked_up() -> None:
    found = await read((await a_history(60)).log)
    asked = [each for each in found if each.judged.effect is DecisionEffect.REQUIRE_APPROVAL]
    assert asked
    assert all(each.asked is not None for each in asked)
    assert any(each.asked is not None and each.asked.is_denied for each in asked)


async def test_one_call_is_found_by_its_id() -> None:
    made = await a_history(2)
    first = (await read(made.log))[0]
    assert await history.call(made.log, first.call) == first
    assert await history.call(made.log, "call_none") is None


async def test_a_call_without_an_end_is_read_as_far_as_the_log_goes() -> None:
    made = await a_history(1)
    first = made.log.kept[0]
    cut = MemoryLog(kept=[first])
    cut.of_calls[str(first.json()["call"])] = [first]
    (only,) = await read(cut)
    assert only.ended is None


class Asked:
    """A log that notes what is looked up, and may have been asked for more than it gives."""

    def __init__(self, log: MemoryLog) -> None:
        self.log = log
        self.asked = list[EventFilter]()

    async def query(self, wanted: EventFilter) -> list[StoredEvent]:
        if wanted.call or wanted.few_calls:
            self.asked.append(wanted)
        return await self.log.query(wanted)


async def test_calls_of_a_page_are_looked_up_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "_TOGETHER", 3)
    log = Asked((await a_history(60)).log)
    found = await read(log)
    assert max(len(each.few_calls) for each in log.asked) == 3
    looked = [call for each in log.asked for call in each.few_calls]
    assert len(looked) > len(log.asked) > 0
    assert not any(each.call for each in log.asked)
    asked = {each.call for each in found if each.judged.effect is DecisionEffect.REQUIRE_APPROVAL}
    assert asked <= {*looked}


async def test_calls_with_more_events_than_are_looked_up_at_once_are_looked_up_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = await a_history(60)
    plain = await read(made.log)
    monkeypatch.setattr(history, "_MOST_EVENTS", 6)  # of one call there are no more than five
    log = Asked(made.log)
    assert await read(log) == plain
    assert any(each.call for each in log.asked)


async def test_events_that_tell_of_no_call_are_not_even_read() -> None:
    made = await a_history(2)
    plain = await read(made.log)
    other = next(each.body for each in made.log.kept if b'"kind":"retrieval"' in each.body)
    many = len(made.log.kept)
    made.log.kept.append(StoredEvent(seq=many + 1, body=other.removesuffix(b"}")))
    assert await read(made.log) == plain


async def test_an_event_that_does_not_begin_as_the_gateway_has_it_is_read() -> None:
    made = await a_history(1)
    decision = next(each for each in made.log.kept if b'"authorization"' in each.body)
    odd = b'{"stage":"decided",' + decision.body.removeprefix(b"{")
    log = MemoryLog(kept=[StoredEvent(seq=1, body=odd)])
    assert [each.call for each in await read(log)] == [decision.json()["call"]]
