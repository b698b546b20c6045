"""Which workers are away, by what the others say of themselves."""

from typing import Any

import pytest

from gateway.actions.crew import absent, worker_of
from gateway.types.json import JsonObject
from gateway.types.workers import Worker


def a_status(number: int, of: int = 3, front: str = "http://a/mcp") -> JsonObject:
    return {"front": front, "pids": "host", "worker": {"number": number, "of": of}}


def test_each_worker_that_says_nothing_is_named_with_its_gateway() -> None:
    told: list[JsonObject] = [
        a_status(3),
        a_status(1),
        a_status(1, of=2, front="http://b/mcp"),
        {"front": "stdio"},
    ]
    assert absent(told) == (
        "worker 2 of 3 at http://a/mcp does not serve right now",
        "worker 2 of 2 at http://b/mcp does not serve right now",
    )
    assert absent([a_status(number) for number in (1, 2, 3)]) == ()


@pytest.mark.parametrize("told", [None, {}, {"number": 1}, {"number": "1", "of": 2}, "1 of 2"])
def test_a_gateway_that_names_no_worker_is_alone(told: Any) -> None:
    assert worker_of({"worker": told}) is None
    assert absent([{"worker": told}]) == ()


def test_a_worker_is_told_as_it_was_written() -> None:
    assert worker_of(a_status(2)) == Worker(number=2, of=3)
