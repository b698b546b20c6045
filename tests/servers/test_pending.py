"""One call over a pipe."""

import asyncio
from typing import Any

import anyio

from gateway.servers.deadlines import Deadlines
from gateway.servers.elicited import Elicited
from gateway.servers.pending import Pending
from gateway.types.operations import Delivered
from tests.helpers.fleets import Listener

_DONE = Delivered(result={}, size=1)


def _soon(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


async def test_the_first_end_counts_and_the_deadline_then_means_nothing() -> None:
    expired: list[int] = []
    pending = Pending(Deadlines(), _soon(0.05), lambda _: expired.append(1))
    pending.settle(_DONE)
    pending.settle(Delivered(result={"late": True}, size=1))
    await pending.ended()
    pending.close()
    await anyio.sleep(0.1)
    assert pending.delivery is _DONE
    assert expired == []


async def test_news_are_told_in_order_before_the_end() -> None:
    told: list[Any] = []

    async def report(*news: Any) -> None:
        told.append(news)

    ear = Listener(report=report)
    pending = Pending(Deadlines(), _soon(5), lambda _: None)
    pending.lend(ear, 10)
    pending.progressed({"progress": 1})
    pending.progressed({"progress": 1})
    pending.logged({"level": "info"})
    pending.progressed({"progress": 2})
    pending.settle(_DONE)
    await pending.ended()
    pending.close()
    assert told == [(1.0, None, None), (2.0, None, None)]
    assert ear.logged == [{"level": "info"}]


async def test_an_ear_that_takes_no_news_ends_with_the_deadline() -> None:
    async def hangs(*_: Any) -> None:
        await anyio.sleep_forever()

    pending = Pending(Deadlines(), _soon(0.05), lambda _: None)
    pending.lend(Listener(report=hangs), 10)
    pending.progressed({"progress": 1})
    with anyio.fail_after(15):
        await pending.ended()
    pending.close()


async def test_the_deadline_rests_with_a_question_and_has_as_much_left_as_before() -> None:
    expired, answers, go = asyncio.Event(), list[Any](), asyncio.Event()

    async def answer(method: str, params: Any) -> Any:
        await go.wait()
        return {"ok": True}

    async with anyio.create_task_group() as tasks:

        def start(work: Any) -> bool:
            tasks.start_soon(work)
            return True

        ear = Listener(answer=answer)
        pending = Pending(Deadlines(), _soon(0.2), lambda _: expired.set())
        pending.lend(ear, 10)
        hearing = pending.let_ask(ear, start, answers.append, Elicited(start))
        hearing.asked({"id": 1, "method": "roots/list"})
        hearing.asked({"id": 1, "method": "roots/list"})  # the same again: one answer
        hearing.asked({"id": "1", "method": "roots/list"})
        await anyio.sleep(0.4)
        assert not expired.is_set()
        go.set()
        with anyio.fail_after(15):
            await expired.wait()
        pending.close()
    assert [reply["id"] for reply in answers] == [1, "1"]
