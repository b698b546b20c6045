"""Responses as ends of requests; most of it is shown in test_http."""

import asyncio
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway import jsontext
from gateway.servers.entry import Caps, Entry
from gateway.servers.reading import Reader
from gateway.servers.replies import Exchange, read_reply, read_whole
from gateway.servers.response import Headers, Response
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered, Execution, Failure
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script
from tests.helpers.fleets import call, failed, http_entry, running
from tests.servers.test_response import Line


@pytest.mark.parametrize(
    ("steps", "failure"),
    [
        ([{"http": 200, "body": "<html>sign in</html>"}], Failure.MALFORMED),
        ([{"http": 202}], Failure.MALFORMED),
        ([{"sse": ["data: garbage\n\n"] * 10}, {"delay_ms": 60_000}], Failure.MALFORMED),
        ([{"sse": ['data: {"id":$ID,"result":NaN}\n\n']}, {"delay_ms": 60_000}], Failure.MALFORMED),
        ([{"sse": ["data: [1]\n\n"] * 3}], Failure.CLOSED),
    ],
)
async def test_what_is_no_answer_ends_the_call_as_such(
    steps: list[dict[str, object]], failure: Failure
) -> None:
    with FakeHttp(Script(on_call={"echo": steps})) as fake:
        async with running(http_entry(fake)) as servers:
            got = failed(await call(servers.server("alpha"), deadline_s=4))
    assert (got.failure, got.executed) == (failure, Execution.UNKNOWN)


@pytest.mark.parametrize(("value", "seconds"), [("3", 3.0), ("soon", None), ("9" * 30, None)])
async def test_the_time_to_wait_is_taken_when_it_is_a_number(
    value: str, seconds: float | None
) -> None:
    steps = [{"http": 503, "headers": [["Retry-After", value]]}]
    with FakeHttp(Script(on_call={"echo": steps})) as fake:
        async with running(http_entry(fake)) as servers:
            got = failed(await call(servers.server("alpha")))
    assert (got.retry_after_s, got.executed) == (seconds, Execution.UNKNOWN)


async def test_a_stream_that_never_comes_to_its_answer_is_not_read_for_ever() -> None:
    note = 'data: {"jsonrpc":"2.0","method":"notifications/x","params":{"t":"%s"}}\n\n' % (
        "x" * 900
    )
    steps: list[dict[str, object]] = [{"sse": [note] * 3}, {"delay_ms": 60_000}]
    with FakeHttp(Script(on_call={"echo": steps})) as fake:
        async with running(http_entry(fake, caps=Caps(message_bytes=1_024))) as servers:
            got = failed(await call(servers.server("alpha"), deadline_s=4))
    assert (got.failure, got.executed) == (Failure.TOO_LARGE, Execution.UNKNOWN)
    assert "2048 bytes of events and no answer" in got.detail


async def test_an_answer_counts_after_notes_that_are_larger_than_it_might_be() -> None:
    note = 'data: {"jsonrpc":"2.0","method":"notifications/x","params":{"t":"%s"}}\n\n' % (
        "x" * 900
    )
    answer = 'data: {"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}\n\n'
    steps: list[dict[str, object]] = [{"sse": [note, answer]}]
    with FakeHttp(Script(on_call={"echo": steps})) as fake:
        async with running(http_entry(fake, caps=Caps(message_bytes=1_024))) as servers:
            got = await call(servers.server("alpha"), deadline_s=4)
    assert isinstance(got, Delivered)


_IDS = st.sampled_from([7, 8, 7.0, "7", True, None])
_RESULTS = st.one_of(
    st.sampled_from([None, [], "x", {}, {"content": ["it is s3cret"]}]),
    st.fixed_dictionaries(
        {}, optional={"resultType": st.sampled_from(["complete", "input_required", "task", 1])}
    ),
)
_MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0"),
        "id": _IDS,
        "result": _RESULTS,
        "error": st.sampled_from([None, {"code": 1, "message": "no"}]),
        "method": st.sampled_from(["x", None]),
        "more": st.just(1),
    },
)


def _arrived(body: bytes) -> Response:
    response = Response(Line(), stays=False)
    response.arrived(Headers(), body)
    return response


def _nothing(message: JsonObject) -> None:
    del message


@given(
    message=_MESSAGES,
    modern=st.booleans(),
    cut=st.sampled_from([0, 1, 5]),
    cap=st.sampled_from([20, 50, 1_000]),
    credentials=st.sampled_from([(), ("s3cret",)]),
)
@example(
    message={"jsonrpc": "2.0", "id": 7, "result": {"content": ["it is s3cret"]}},
    modern=False,
    cut=0,
    cap=1_000,
    credentials=("s3cret",),
)
def test_a_result_that_is_seen_at_once_is_the_one_that_is_read_at_length(
    message: Any, modern: bool, cut: int, cap: int, credentials: tuple[str, ...]
) -> None:
    body = jsontext.dump(message)
    body = body[: len(body) - cut]
    reader = Reader(credentials)
    exchange = Exchange(
        entry=Entry(name="a", caps=Caps(message_bytes=cap)),
        number=7,
        reader=reader,
        modern=modern,
        in_session=False,
        take=_nothing,
        capabilities={"roots": {}, "extensions": {}},
    )
    seen = read_whole(_arrived(body), 7, reader, cap)
    at_length = asyncio.run(read_reply(_arrived(body), exchange))
    if seen is not None:
        assert seen == at_length
    elif isinstance(at_length, Delivered):  # of what is usual, all is seen at once
        is_complete = at_length.result.get("resultType", "complete") == "complete"
        assert message.keys() != {"jsonrpc", "id", "result"} or not is_complete
