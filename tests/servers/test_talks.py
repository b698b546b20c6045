"""To which call a message of an HTTP server belongs that doesn't say so."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from gateway.servers.asides import Asides, client_session
from gateway.servers.elicited import Elicited
from gateway.servers.hearing import Rest
from gateway.servers.talks import Talks
from gateway.types.json import JsonObject
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, until_async
from tests.helpers.fleets import Listener, http_entry

QUESTION: JsonObject = {"jsonrpc": "2.0", "id": "q", "method": "roots/list"}
LOG: JsonObject = {"method": "notifications/message", "params": {"data": "x"}}


async def _roots(method: str, params: JsonObject) -> JsonObject:
    return {"roots": []}


def _rest() -> Rest:
    return Rest(asyncio.get_running_loop().time() + 5, lambda when: None)


@asynccontextmanager
async def _talks() -> AsyncGenerator[tuple[Talks, list[JsonObject]]]:
    taken: list[JsonObject] = []
    with FakeHttp(Script()) as fake:
        entry = http_entry(fake)
        async with client_session(entry) as pool, anyio.create_task_group() as tasks:
            headers = {"content-type": "application/json"}
            asides = Asides(entry, pool, tasks, lambda method, params: headers)
            yield Talks(asides, taken.append, Elicited(asides.start)), taken


async def test_the_only_call_hears_what_says_not_whose_it_is() -> None:
    async with _talks() as (talks, taken):
        ear = Listener(answer=_roots)
        talks.begin(ear, _rest())
        talks.take_loose(QUESTION)
        talks.take_loose(LOG)
        await until_async(lambda: ear.asked and ear.logged)
        assert taken == []


async def test_of_two_calls_neither_hears_it() -> None:
    async with _talks() as (talks, taken):
        ears = Listener(answer=_roots), Listener(answer=_roots)
        first, _ = [talks.begin(ear, _rest()) for ear in ears]
        talks.take_loose(QUESTION)
        assert taken == [QUESTION]
        assert not talks.tainted
        talks.end(first, None)
        talks.take_loose(QUESTION)
        await until_async(lambda: ears[1].asked)
        assert ears[0].asked == []


@pytest.mark.parametrize("message", [{**QUESTION, "method": "ping"}, {"method": "own/note"}])
async def test_pings_and_other_notes_are_nobodys(message: JsonObject) -> None:
    async with _talks() as (talks, taken):
        talks.begin(Listener(), _rest())
        talks.take_loose(message)
        assert taken == [message]


async def test_a_question_after_a_call_was_given_up_taints_the_connection() -> None:
    async with _talks() as (talks, taken):
        talks.given_up = True
        talks.begin(Listener(answer=_roots), _rest())
        talks.take_loose(LOG)
        assert not talks.tainted
        talks.take_loose(QUESTION)
        assert talks.tainted
        assert taken == [LOG, QUESTION]
