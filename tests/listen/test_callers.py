"""The way back to a stateless client."""

import pytest

from gateway import jsontext
from gateway.errors import AskRefused
from gateway.listen.callers import ModernHttpCaller, progress_token
from gateway.types.json import Json


@pytest.mark.parametrize(
    ("token", "usable"), [("a", True), ("", True), (0, True), (True, False), (1.5, False)]
)
def test_a_progress_token_is_text_or_an_integer(token: Json, usable: bool) -> None:
    assert (progress_token({"progressToken": token}) is not None) is usable


async def test_progress_that_does_not_rise_is_not_told() -> None:
    pushed: list[bytes] = []
    caller = ModernHttpCaller(push=pushed.append, token=0)
    for progress in (0.0, 0.0, 2.0, 1.0, 3.0):
        await caller.progress(progress, 3, None)
    told = [jsontext.parse(message) for message in pushed]
    assert [jsontext.get(message, "/params/progress") for message in told] == [0, 2, 3]


async def test_a_log_message_needs_a_level_that_was_asked_for() -> None:
    pushed: list[bytes] = []
    await ModernHttpCaller(push=pushed.append, token=None).log({"level": "emergency"})
    await ModernHttpCaller(push=pushed.append, token=None, log_level="error").log({"level": "info"})
    assert pushed == []


async def test_nobody_is_asked() -> None:
    caller = ModernHttpCaller(push=lambda _: None, token=None, capabilities={"roots": {}})
    with pytest.raises(AskRefused) as refused:
        await caller.ask("roots/list", {}, within_s=1)
    assert refused.value.code == -32601
