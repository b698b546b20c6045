"""What requests of the handshake era, and those over stdio, are answered with."""

import pytest

from gateway.clock import SystemClock
from gateway.listen.answering import ANSWERED, Answers, Request, in_session, meta_of
from gateway.listen.asked import Questions
from gateway.listen.clients import Client, Outbox
from gateway.listen.gate import ServerInfo
from gateway.listen.proposals import Envelope
from gateway.listen.replies import Asgi
from gateway.listen.rpc import RpcError
from gateway.listen.underway import UnderWay
from gateway.types.calls import Era
from gateway.types.json import Json, JsonObject
from tests.listen.house import House, a_principal


async def _nothing(*parts: object) -> None:
    del parts


async def _never() -> JsonObject:
    raise AssertionError


def _client() -> Client:
    return Client(outbox=Outbox(lambda task: None, _nothing), name="test", log_level="info")


def _request(method: str, params: JsonObject, client: Client, input_error: str = "") -> Request:
    http = Asgi({"type": "http"}, _never, _nothing)
    envelope = Envelope(
        principal=a_principal("ada"), request_id=1, input_error=input_error, client_name=client.name
    )
    return in_session(
        method,
        params,
        envelope,
        client=client,
        version="2025-06-18",
        session="s1",
        transport="http",
        wants_progress=True,
        channel=UnderWay(1, http, Questions(), None),
        carried=lambda value: value,
    )


async def _answered(
    method: str, params: JsonObject, house: House | None = None, client: Client | None = None
) -> JsonObject | RpcError:
    answers = Answers(house or House(), info=ServerInfo(), clock=SystemClock())
    return await answers.answer(_request(method, params, client or _client()))


def test_each_era_has_its_own_requests() -> None:
    assert "logging/setLevel" in ANSWERED[Era.LEGACY] - ANSWERED[Era.MODERN]
    assert {"tasks/get", "server/discover"} <= ANSWERED[Era.MODERN] - ANSWERED[Era.LEGACY]
    assert "ping" not in ANSWERED[Era.LEGACY] | ANSWERED[Era.MODERN]


@pytest.mark.parametrize("meta", [None, 7, [], "x"])
def test_a_meta_that_is_none_is_empty(meta: Json) -> None:
    assert meta_of({"_meta": meta}) == meta_of({}) == {}


async def test_a_call_of_a_session_is_what_its_client_and_its_handshake_say() -> None:
    house, client = House(), _client()
    client.capabilities = {"roots": {}}
    params: JsonObject = {"name": "echo", "arguments": {"a": 1}, "_meta": {"progressToken": 0}}
    result = await _answered("tools/call", params, house, client)
    assert result == {"content": [], "structuredContent": {"a": 1}}
    (call,) = house.calls
    caller = call.caller
    assert (caller.era, caller.protocol_version, caller.session) == (
        Era.LEGACY,
        "2025-06-18",
        "s1",
    )
    assert (caller.wants_progress, caller.capabilities, caller.log_level) == (
        True,
        {"roots": {}},
        "info",
    )
    assert call.client_name == "test"


async def test_a_fault_of_ours_is_told_without_its_words() -> None:
    answer = await _answered("tools/call", {"name": "broken"})
    assert answer == RpcError(code=-32603, message="Internal error")


async def test_a_request_is_over_when_it_is_answered() -> None:
    answers = Answers(House(), info=ServerInfo(), clock=SystemClock())
    request = _request("tools/list", {}, _client())
    assert not request.caller.is_answered
    await answers.answer(request)
    assert request.caller.is_answered


async def test_what_a_client_wants_to_be_told_is_kept_with_it() -> None:
    house, client = House(), _client()
    assert await _answered("logging/setLevel", {"level": "error"}, house, client) == {}
    assert client.log_level == "error"
    assert await _answered("resources/subscribe", {"uri": "note://one"}, house, client) == {}
    assert [*client.watches] == ["note://one"]
    assert await _answered("resources/unsubscribe", {"uri": "note://one"}, house, client) == {}
    assert house.watchers == []


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {}),
        ("tools/call", {"name": "echo", "_meta": 7}),
        ("tools/list", {"cursor": "made-up"}),
        ("tools/list", {"cursor": 7}),
        ("logging/setLevel", {"level": "loud"}),
        ("resources/unsubscribe", {}),
    ],
)
async def test_params_of_a_wrong_form_are_told(method: str, params: JsonObject) -> None:
    answer = await _answered(method, params)
    assert isinstance(answer, RpcError)
    assert (answer.code, answer.is_weighed) == (-32602, False)
