"""The way back to a client whose connection the SDK keeps."""

import math
from collections.abc import Mapping
from typing import Any, cast

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from gateway.errors import AskRefused
from gateway.listen.backchannel import Channel, ChannelCaller
from gateway.listen.clients import Client, Outbox, Task
from gateway.types.calls import Era
from gateway.types.json import JsonObject


class Wire:
    """Stands for the SDK's channel: notes what is sent, answers or waits."""

    def __init__(self, answer: JsonObject | MCPError | None = None) -> None:
        self.sent: list[tuple[str, Any]] = []
        self._answer = answer

    async def notify(self, method: str, params: Mapping[str, Any] | None) -> None:
        self.sent.append((method, params))

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.sent.append(("progress", progress))

    async def send_raw_request(self, method: str, params: Mapping[str, Any]) -> JsonObject:
        self.sent.append((method, params))
        match self._answer:
            case None:
                await anyio.sleep(math.inf)
                raise AssertionError
            case MCPError() as error:
                raise error
            case answer:
                return answer


def _caller(wire: Wire, era: Era = Era.LEGACY, log_level: str = "") -> ChannelCaller:
    return ChannelCaller(
        era=era,
        protocol_version="v",
        transport="stdio",
        wants_progress=True,
        channel=cast("Channel", wire),
        carried=lambda value: value,
        capabilities={"roots": {}},
        log_level=log_level,
    )


async def test_an_answer_is_handed_back_as_it_came() -> None:
    wire = Wire({"roots": [], "own": 10**40})
    assert await _caller(wire).ask("roots/list", {}, within_s=1) == {"roots": [], "own": 10**40}


async def test_an_error_of_the_client_is_a_refusal_with_its_code_and_data() -> None:
    wire = Wire(MCPError(code=7, message="no", data={"n": 1}))
    with pytest.raises(AskRefused) as refused:
        await _caller(wire).ask("roots/list", {}, within_s=1)
    found = refused.value
    assert (found.code, found.message, found.data) == (7, "no", {"n": 1})


async def test_no_answer_in_time_is_a_refusal() -> None:
    with pytest.raises(AskRefused) as refused:
        await _caller(Wire()).ask("roots/list", {}, within_s=0.01)
    assert refused.value.code == -32001


@pytest.mark.parametrize(
    ("era", "method"), [(Era.LEGACY, "sampling/createMessage"), (Era.MODERN, "roots/list")]
)
async def test_what_can_not_be_asked_is_not_sent(era: Era, method: str) -> None:
    wire = Wire({})
    with pytest.raises(AskRefused):
        await _caller(wire, era).ask(method, {}, within_s=1)
    assert wire.sent == []


async def test_without_a_level_only_a_client_of_the_handshake_era_hears_logs() -> None:
    old, new, loud = Wire(), Wire(), Wire()
    message: JsonObject = {"level": "info", "data": 1}
    await _caller(old).log(message)
    await _caller(new, Era.MODERN).log(message)
    await _caller(loud, log_level="error").log(message)
    assert old.sent == [("notifications/message", message)]
    assert new.sent == loud.sent == []


async def test_progress_only_rises() -> None:
    wire = Wire()
    caller = _caller(wire)
    for progress in (1, 1, 0, 2):
        await caller.progress(progress, None, None)
    assert [value for _, value in wire.sent] == [1, 2]


DONE: JsonObject = {"elicitationId": "e-1"}
COMPLETED = "notifications/elicitation/complete"


async def test_the_end_of_an_elicitation_comes_with_the_request_or_on_the_sessions_stream() -> None:
    wire, told, waiting = Wire(), list[tuple[str, JsonObject | None]](), list[Task]()

    async def send(method: str, params: JsonObject | None) -> None:
        told.append((method, params))

    caller = _caller(wire)
    caller.client = Client(outbox=Outbox(waiting.append, send))
    await caller.completed(DONE)
    assert (wire.sent, waiting) == ([(COMPLETED, DONE)], [])
    caller.is_answered = True
    await caller.completed(DONE)
    await caller.completed({"elicitationId": "e-2"})
    await waiting.pop()()
    assert len(wire.sent) == 1
    assert told == [(COMPLETED, DONE), (COMPLETED, {"elicitationId": "e-2"})]
    caller.client.close()
    await caller.completed(DONE)
    assert waiting == []


async def test_a_stateless_client_is_told_of_no_elicitation() -> None:
    wire = Wire()
    await _caller(wire, Era.MODERN).completed(DONE)
    assert wire.sent == []
