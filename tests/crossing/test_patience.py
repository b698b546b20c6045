import asyncio
from collections.abc import Awaitable, Callable

import pytest

from gateway.crossing.patience import MOST_LATE, Listening, Patience
from gateway.errors import AskRefused
from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered, Delivery, Execution, Failure, Undelivered
from gateway.types.relay import Ear, Outbound

DONE = Delivered(result={"content": []}, size=1)


def outbound(deadline_s: float = 0.05) -> Outbound:
    return Outbound(method=Method.CALL_TOOL, params={}, deadline_s=deadline_s, is_read=False)


class Tasks:
    """A process that starts work as a task of the loop."""

    def aside(self, work: Callable[[], Awaitable[Delivery]]) -> "asyncio.Future[Delivery]":
        return asyncio.ensure_future(work())


class Slow:
    """A server that answers when it is told to."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.late: list[float] = []
        self.ear: Ear | None = None

    async def request(self, outbound: Outbound, ear: Ear | None) -> Delivery:
        self.late.append(outbound.late_s)
        self.ear = ear
        await self.go.wait()
        return DONE


class Person:
    """A caller that takes its time to answer."""

    wants_progress = True

    def __init__(self) -> None:
        self.heard: list[object] = []
        self.go = asyncio.Event()

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.heard.append((progress, total, message))

    async def log(self, params: JsonObject) -> None:
        self.heard.append(params)

    async def completed(self, elicitation_id: str) -> None:
        self.heard.append(elicitation_id)

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        await self.go.wait()
        return {"action": method, **params}


def a_patience(window_s: float = 60.0) -> Patience:
    return Patience(starter=Tasks(), window_s=window_s)


async def test_what_comes_in_time_is_what_came() -> None:
    server = Slow()
    server.go.set()
    waited = await a_patience().wait("alpha", server.request, outbound(15), None)
    assert (waited.delivery, waited.late) == (DONE, None)
    assert server.late == [60]


async def test_a_request_goes_on_after_its_caller_has_its_answer() -> None:
    server, person = Slow(), Person()
    waited = await a_patience().wait("alpha", server.request, outbound(), person)
    assert isinstance(waited.delivery, Undelivered)
    assert (waited.delivery.failure, waited.delivery.executed) == (
        Failure.TIMEOUT,
        Execution.UNKNOWN,
    )
    assert server.ear is not None
    await server.ear.progress(1, None, None)
    await server.ear.log({})
    assert (person.heard, server.ear.wants_progress) == ([], False)
    with pytest.raises(AskRefused):
        await server.ear.ask("elicitation/create", {})
    server.go.set()
    assert waited.late is not None
    assert await waited.late == DONE


async def test_only_so_many_requests_to_a_server_go_on() -> None:
    server, patience = Slow(), a_patience()
    waits = [
        await patience.wait("alpha", server.request, outbound(), None) for _ in range(MOST_LATE)
    ]
    plain = asyncio.ensure_future(patience.wait("alpha", server.request, outbound(), None))
    await asyncio.sleep(0)
    assert server.late[-1] == 0
    other = await patience.wait("beta", server.request, outbound(), None)
    assert other.late is not None
    server.go.set()
    assert (await plain).late is None
    for waited in waits:
        assert waited.late is not None
        await waited.late
    await asyncio.sleep(0)
    again = await patience.wait("alpha", server.request, outbound(15), None)
    assert (again.delivery, server.late[-1]) == (DONE, 60)


async def test_without_a_window_nothing_goes_on() -> None:
    server = Slow()
    server.go.set()
    await a_patience(0).wait("alpha", server.request, outbound(7), None)
    assert server.late == [0]


async def test_the_time_of_a_person_is_not_the_servers() -> None:
    person = Person()

    async def asks(_: Outbound, ear: Ear | None) -> Delivery:
        assert ear is not None
        await ear.ask("elicitation/create", {})
        return DONE

    asyncio.get_running_loop().call_later(0.3, person.go.set)
    waited = await a_patience().wait("alpha", asks, outbound(0.1), person)
    assert (waited.delivery, waited.late) == (DONE, None)


async def test_who_listens_hears_what_is_said() -> None:
    person = Person()
    person.go.set()
    ear = Listening(person)
    assert ear.wants_progress
    await ear.progress(1, 2, "m")
    await ear.log({"level": "info"})
    assert person.heard == [(1, 2, "m"), {"level": "info"}]
    assert await ear.ask("roots/list", {"a": 1}) == {"action": "roots/list", "a": 1}
    assert ear.asked_s() >= 0


async def test_the_end_of_an_elicitation_is_told_after_the_answer_as_well() -> None:
    person = Person()
    listening = Listening(person)
    listening.close()
    await listening.completed("e-1")
    assert person.heard == ["e-1"]


async def test_a_request_that_nobody_waits_for_any_more_is_to_keep_no_place() -> None:
    server, left = Slow(), asyncio.Event()

    async def request(outbound: Outbound, ear: Ear | None) -> Delivery:
        assert outbound.patience is not None
        outbound.patience.on_left(left.set)
        return await server.request(outbound, ear)

    waited = await a_patience().wait("alpha", request, outbound(), None)
    assert left.is_set()
    server.go.set()
    assert waited.late is not None
    assert await waited.late == DONE


async def test_a_request_whose_answer_comes_in_time_keeps_its_place_until_then() -> None:
    left = asyncio.Event()

    async def request(outbound: Outbound, ear: Ear | None) -> Delivery:
        del ear
        assert outbound.patience is not None
        outbound.patience.on_left(left.set)
        return DONE

    assert (await a_patience().wait("alpha", request, outbound(15), None)).delivery == DONE
    assert not left.is_set()
