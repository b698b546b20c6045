"""That an elicitation is done is told to whoever was sent to its URL, and to nobody else."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.errors import AskRefused
from gateway.servers.elicited import MOST_OPEN, Elicited
from gateway.servers.hearing import run_safely
from gateway.servers.supervisor import Server
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Rejected
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, text, until_async
from tests.helpers.fleets import Listener, call, http_entry, running, stdio_entry

CAN: JsonObject = {"elicitation": {"form": {}, "url": {}}}


def asking(name: str) -> Any:
    params = {"mode": "url", "message": "log in", "url": "https://x.test", "elicitationId": name}
    return {"request": {"method": "elicitation/create", "params": params}}


def done(name: Json) -> Any:
    params = {"elicitationId": name}
    return {"notify": {"method": "notifications/elicitation/complete", "params": params}}


async def yes(method: str, params: JsonObject) -> JsonObject:
    return {"action": "accept"}


async def no(method: str, params: JsonObject) -> JsonObject:
    raise AskRefused(-32601, "not offered")


def a_script() -> Script:
    return Script(
        eras=["legacy"],
        on_call={
            "at_once": [asking("e-1"), done("e-1"), {"reply": text("ok")}],
            "ask": [asking("e-2"), {"reply": text("ok")}],
            "tell": [done("e-0"), done(7), done("e-2"), done("e-2"), {"reply": text("ok")}],
            "urls": [{"error": REQUIRED}],
            "visited": [done("e-3"), {"reply": text("ok")}],
        },
    )


REQUIRED: JsonObject = {
    "code": -32042,
    "message": "log in first",
    "data": {"elicitations": [{"mode": "url", "elicitationId": "e-3", "url": "u", "message": ""}]},
}


@pytest.fixture(params=["stdio", "http"])
async def alpha(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Server | None]:
    @asynccontextmanager
    async def served() -> AsyncGenerator[Any]:
        if request.param == "stdio":
            yield stdio_entry(a_script(), tmp_path)
        else:
            with FakeHttp(a_script()) as fake:
                yield http_entry(fake)

    async with served() as entry, running(entry) as servers:
        yield servers.server("alpha")


async def made(server: Server | None, name: str, ear: Listener, lane: str = "ada") -> None:
    await call(server, name, ear=ear, capabilities=CAN, lane=lane)


async def test_the_end_of_an_elicitation_is_heard_while_its_call_is_under_way(
    alpha: Server | None,
) -> None:
    ear = Listener(answer=yes)
    await made(alpha, "at_once", ear)
    await until_async(lambda: ear.done == ["e-1"])


async def test_it_is_heard_once_by_the_caller_that_was_asked_also_when_another_call_is_under_way(
    alpha: Server | None,
) -> None:
    ear, later, other = Listener(answer=yes), Listener(answer=yes), Listener(answer=yes)
    await made(alpha, "ask", ear)
    await made(alpha, "tell", other, lane="bob")
    assert ear.done == []
    await made(alpha, "tell", later)
    await until_async(lambda: ear.done)
    await made(alpha, "at_once", later)
    await until_async(lambda: later.done)
    assert (ear.done, later.done, other.done) == (["e-2"], ["e-1"], [])


async def test_a_question_that_nobody_was_asked_has_no_end(alpha: Server | None) -> None:
    ear = Listener(answer=no)
    await made(alpha, "ask", ear)
    await made(alpha, "tell", ear)
    ear.answer = yes
    await made(alpha, "at_once", ear)
    await until_async(lambda: ear.done)
    assert ear.done == ["e-1"]


async def test_urls_that_an_error_asks_for_are_elicitations_as_well(alpha: Server | None) -> None:
    ear = Listener(answer=yes)
    await made(alpha, "urls", ear)
    await made(alpha, "visited", Listener(answer=yes))
    await until_async(lambda: ear.done == ["e-3"])


async def test_only_so_many_are_remembered_and_the_oldest_is_forgotten_first() -> None:
    ear = Listener()
    async with anyio.create_task_group() as tasks:

        def start(work: Callable[[], Awaitable[None]]) -> bool:
            tasks.start_soon(run_safely, work)
            return True

        elicited = Elicited(start)
        for number in range(MOST_OPEN + 1):
            elicited.asked(asking(f"e-{number}")["request"], ear)
        for number in (0, 1, MOST_OPEN):
            elicited.completed({"elicitationId": f"e-{number}"})
    assert ear.done == ["e-1", f"e-{MOST_OPEN}"]


@pytest.mark.parametrize(
    "data", [None, [], {}, {"elicitations": 1}, {"elicitations": [1, {}, {"elicitationId": 1}]}]
)
def test_an_error_that_names_no_elicitation_means_nothing(data: Json) -> None:
    elicited = Elicited(lambda work: pytest.fail("told"))
    elicited.ended(Rejected(code=-32042, message="", data=data), Listener())
    unknown: list[Json] = [{}, {"elicitationId": 1}, {"elicitationId": ""}, None]
    for params in unknown:
        elicited.completed(params)
