"""Responses as ends of requests; most of it is shown in test_http."""

import pytest

from gateway.servers.entry import Caps
from gateway.types.operations import Delivered, Execution, Failure
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script
from tests.helpers.fleets import call, failed, http_entry, running


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
