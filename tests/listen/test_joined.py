"""Heads and bodies leave together."""

import asyncio
from typing import Any

import anyio

from gateway.bursts import CROWD
from gateway.listen.joined import Joined

HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


class Kept:
    """A transport that keeps what it was told."""

    def __init__(self) -> None:
        self.said: list[Any] = []

    def write(self, data: bytes) -> None:
        self.said.append(data)

    def close(self) -> None:
        self.said.append("closed")

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return "closed" in self.said


def a_joined() -> tuple[Kept, Joined]:
    kept: Any = Kept()
    return kept, Joined(kept, asyncio.get_running_loop())


async def test_a_head_leaves_with_the_body_that_follows_it() -> None:
    kept, transport = a_joined()
    transport.write(HEAD)
    assert kept.said == []
    assert transport.get_write_buffer_size() == len(HEAD)
    transport.write(b"body")
    transport.write(b"more")
    await anyio.lowlevel.checkpoint()
    assert kept.said == [HEAD + b"body", b"more"]


async def test_a_head_waits_no_longer_than_this_turn() -> None:
    """An event stream's head comes long before its first event."""
    kept, transport = a_joined()
    transport.write(HEAD)
    await anyio.lowlevel.checkpoint()
    assert kept.said == [HEAD]
    transport.write(b"data: 1\n\n")
    assert kept.said == [HEAD, b"data: 1\n\n"]


async def test_two_answers_in_one_turn_stay_in_order() -> None:
    kept, transport = a_joined()
    for _ in range(2):
        transport.write(HEAD)
        transport.write(b"x")
    assert b"".join(kept.said) == (HEAD + b"x") * 2


async def test_what_is_held_is_sent_before_the_end() -> None:
    kept, transport = a_joined()
    transport.write(HEAD)
    transport.close()
    assert kept.said == [HEAD, "closed"]
    assert transport.is_closing()


async def test_a_whole_answer_comes_after_what_is_held() -> None:
    kept, transport = a_joined()
    transport.write(HEAD)
    transport.write_whole(HEAD + b"x")
    await anyio.lowlevel.checkpoint()
    assert kept.said == [HEAD, HEAD + b"x"]


async def test_among_many_requests_answers_leave_together_at_the_end_of_the_turn() -> None:
    under_way: set[int] = set(range(CROWD))
    two: list[tuple[Kept, Joined]] = []
    for _ in range(2):
        kept: Any = Kept()
        two.append((kept, Joined(kept, asyncio.get_running_loop(), under_way)))
    for kept, transport in two:
        transport.write_whole(HEAD + b"x")
        assert kept.said == []
        assert transport.get_write_buffer_size() == len(HEAD) + 1
    await anyio.lowlevel.checkpoint()
    assert [kept.said for kept, _ in two] == [[HEAD + b"x"]] * 2
    under_way.pop()
    kept, transport = two[0]
    transport.write_whole(HEAD + b"y")
    assert kept.said == [HEAD + b"x", HEAD + b"y"]


async def test_an_answer_that_waits_stays_before_those_that_follow() -> None:
    kept: Any = Kept()
    transport = Joined(kept, asyncio.get_running_loop(), range(CROWD))
    transport.write_whole(HEAD + b"1")
    transport.write_whole(HEAD + b"2")
    transport.write(HEAD)
    transport.write(b"3")
    await anyio.lowlevel.checkpoint()
    assert b"".join(kept.said) == HEAD + b"1" + HEAD + b"2" + HEAD + b"3"
    transport.write_whole(HEAD + b"4")
    transport.close()
    assert kept.said[-2:] == [HEAD + b"4", "closed"]


async def test_nothing_is_sent_to_a_client_that_has_gone() -> None:
    kept: Any = Kept()
    transport = Joined(kept, asyncio.get_running_loop(), range(CROWD))
    transport.write_whole(HEAD)
    kept.close()
    await anyio.lowlevel.checkpoint()
    assert kept.said == ["closed"]
