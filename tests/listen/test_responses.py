"""Answers of clients that are none end their question at once, over both transports."""

import anyio
import pytest

from gateway import jsontext
from gateway.listen import responses
from gateway.listen.lines import write_all
from gateway.listen.rpc import RequestId, RpcError
from gateway.types.json import Json, JsonObject
from tests.listen.house import LIMIT_S, House, serving
from tests.listen.legacy_raw import EVERYTHING, begin, call, request
from tests.listen.raw import child, exchange
from tests.listen.test_stdio import hear, linked

FORM: JsonObject = {"message": "sure?", "requestedSchema": {"type": "object", "properties": {}}}
ASK = call("ask", {"method": "elicitation/create", "params": FORM, "within_s": 60})
# With the id of the question in the place of `%d`.
NO_ANSWERS = [
    b'{"jsonrpc":"2.0","id":%d}',
    b'{"jsonrpc":"2.0","id":%d,"result":"yes"}',
    b'{"jsonrpc":"2.0","id":%d,"result":null}',
    b'{"jsonrpc":"2.0","id":%d,"error":{"message":"no code"}}',
    b'{"id":%d,"result":{"action":"accept"}}',
    b'{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","action":"cancel"}}',
    b'{"result":{"n":1e999},"id":%d}',
    b'{"jsonrpc":"2.0","result":{"action":"\\ud800"},"id":%d}',
]


def refused(result: JsonObject) -> JsonObject:
    return child(result, "structuredContent", "refused")


@pytest.mark.parametrize("text", NO_ANSWERS)
async def test_over_http_the_question_ends_and_the_client_is_told(text: bytes) -> None:
    """case: RPC-05"""
    async with serving(House()) as place:
        session = await begin(place)
        with anyio.fail_after(LIMIT_S):
            async with session.streaming(ASK) as stream:
                number = (await stream.next())["id"]
                assert isinstance(number, int)
                reply = await exchange(place, session.headers, text % number)
                came = refused(child(await stream.next(), "result"))
    assert reply.status == 400
    assert (came["code"], came["message"]) == (-32603, responses.NO_ANSWER)


@pytest.mark.parametrize("text", NO_ANSWERS)
async def test_over_stdio_the_question_ends(text: bytes) -> None:
    """case: RPC-05"""
    async with linked(House()) as (to_front, reader, _):
        hello: JsonObject = {
            "protocolVersion": "2025-11-25",
            "capabilities": EVERYTHING,
            "clientInfo": {"name": "test", "version": "1"},
        }
        await write_all(to_front, jsontext.dump(request("initialize", hello, 0)) + b"\n")
        await hear(reader)
        ready: JsonObject = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await write_all(to_front, jsontext.dump(ready) + b"\n" + jsontext.dump(ASK) + b"\n")
        number = (await hear(reader))["id"]
        assert isinstance(number, int)
        await write_all(to_front, text % number + b"\n")
        ended = await hear(reader)
        if "error" in ended:  # a line that can't be read is answered, a response never
            assert child(ended, "error")["code"] == -32700
            ended = await hear(reader)
        assert refused(child(ended, "result"))["message"] == responses.NO_ANSWER


async def test_nobody_ends_the_question_of_another_session() -> None:
    async with serving(House()) as place:
        session, other = await begin(place), await begin(place, key="bob")
        with anyio.fail_after(LIMIT_S):
            async with session.streaming(ASK) as stream:
                number = (await stream.next())["id"]
                no_answer: JsonObject = {"jsonrpc": "2.0", "id": number, "result": 1}
                assert (await other.send(no_answer)).status == 400
                answer: JsonObject = {"action": "decline"}
                await session.send({"jsonrpc": "2.0", "id": number, "result": answer})
                came = child(await stream.next(), "result", "structuredContent")
    assert came["answer"] == answer


@pytest.mark.parametrize(
    ("body", "question"),
    [
        (b'{"id":3,"result":{"a":1,"a":2}}', 3),
        (b'{"error":{},"id":4}', 4),
        (b'{"result":{"id":5},"x":1', None),
        (b'{"id":6,"method":"m","result":NaN}', None),
        (b'{"id":"7","result":NaN}', None),
        (b'{"id":8}', None),
        (b"", None),
    ],
)
def test_the_question_is_told_only_by_what_can_be_nothing_else(
    body: bytes, question: RequestId | None
) -> None:
    assert responses.question_in(body) == question


@pytest.mark.parametrize("number", [None, 1.5, True, [1]])
def test_an_answer_to_nothing_ends_nothing(number: Json) -> None:
    message: JsonObject = {"jsonrpc": "2.0", "id": number, "result": {}}
    assert responses.is_response(message)
    assert responses.question_of(message) is None


def test_a_sound_answer_is_left_as_it_is() -> None:
    answer: JsonObject = {"jsonrpc": "2.0", "id": 1, "result": {"n": 10**30}}
    assert responses.fault(answer) is None
    assert not isinstance(responses.read(responses.instead("q")), RpcError)
