"""What a session is asked, until it answers."""

import asyncio

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import JSONRPCError, JSONRPCResponse

from gateway.listen.asked import Questions, told
from gateway.types.json import Json, JsonObject


def _answer(question: Json, **members: Json) -> JsonObject:
    return {"jsonrpc": "2.0", "id": question, **members}


async def test_the_first_answer_counts_and_only_for_its_question() -> None:
    questions = Questions()
    with questions.one() as (first, one), questions.one() as (second, two):
        assert first != second
        assert not questions.answer(_answer(first + 100, result={}))
        assert questions.answer(_answer(second, result={"n": 10**40}))
        assert not questions.answer(_answer(second, result={"n": 2}))
        assert not one.done()
        assert told(await two) == {"n": 10**40}


async def test_an_error_of_the_client_is_raised_with_its_code_and_data() -> None:
    questions = Questions()
    with questions.one() as (number, answer):
        error: JsonObject = {"code": 7, "message": "no", "data": [1]}
        assert questions.answer(_answer(number, error=error))
        with pytest.raises(MCPError) as raised:
            told(await answer)
    found = raised.value.error
    assert (found.code, found.message, found.data) == (7, "no", [1])


async def test_what_nobody_waits_for_is_not_taken() -> None:
    questions = Questions()
    with questions.one() as (number, _):
        pass
    assert not questions.answer(_answer(number, result={}))
    with questions.one() as (number, answer):
        answer.cancel()
        assert not questions.answer(_answer(number, result={}))


@pytest.mark.parametrize(
    "message", [{"result": "yes"}, {"result": {}, "error": {}}, {"error": {"code": 1}}, {}]
)
async def test_what_is_no_answer_leaves_its_question_open(message: JsonObject) -> None:
    questions = Questions()
    with questions.one() as (number, answer):
        assert not questions.answer(_answer(number, **message))
        assert not questions.answer(_answer(None, result={}))
        assert not questions.answer(_answer(True, result={}))
        assert not answer.done()


async def test_an_id_that_comes_back_as_a_text_is_the_same() -> None:
    """As it is for the SDK, and so for what its clients have always been granted."""
    questions = Questions()
    with questions.one() as (number, answer):
        assert questions.answer(_answer(str(number), result={}))
        assert isinstance(await answer, JSONRPCResponse)


async def test_numbers_are_none_that_the_sdk_gives_and_fit_into_32_bits() -> None:
    questions = Questions()
    numbers: list[int] = []
    for _ in range(3):
        with questions.one() as (number, _):
            numbers.append(number)
    assert numbers == sorted(set(numbers))
    assert 1_000_000 < numbers[0] < numbers[-1] < 1 << 31


def test_a_result_is_told_as_it_is() -> None:
    answer = JSONRPCResponse(jsonrpc="2.0", id=1, result={"a": None})
    assert told(answer) == {"a": None}
    wrong = JSONRPCError.model_validate(_answer(1, error={"code": 3, "message": "m"}))
    with pytest.raises(MCPError):
        told(wrong)


async def test_a_question_that_is_given_up_is_forgotten() -> None:
    questions = Questions()

    async def ask() -> None:
        with questions.one() as (_, answer):
            await answer

    task = asyncio.create_task(ask())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with questions.one() as (number, _):
        assert not questions.answer(_answer(number - 1, result={}))
