"""Responses as they arrive, without a socket."""

import asyncio

import pytest

from gateway.servers.response import Headers, Response


class Line:
    """A connection that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def finish(self, response: Response) -> None:
        self.told.append("finish")

    def drift(self) -> None:
        self.told.append("drift")

    def close(self) -> None:
        self.told.append("close")

    def pause(self) -> None:
        self.told.append("pause")

    def resume(self) -> None:
        self.told.append("resume")


def test_a_field_has_one_name_in_every_case_and_may_come_twice() -> None:
    headers = Headers()
    headers.add(b"A", b"1")
    headers.add(b"a", b"2")
    assert (headers.get("A"), headers.get("b", "-")) == ("1", "-")
    assert (headers.getall("A", []), headers.getall("b", ["x"])) == (["1", "2"], ["x"])


@pytest.mark.parametrize(("stays", "told"), [(True, "drift"), (False, "close")])
async def test_a_waiter_that_is_cancelled_leaves_a_response_open_that_is_to_stay(
    stays: bool, told: str
) -> None:
    line = Line()

    async def waited() -> None:
        with Response(line, stays=stays) as response:
            await response.begun()

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(waited(), 0.01)
    assert line.told == [told]


async def test_a_fault_of_a_reader_gives_the_connection_back_to_be_judged() -> None:
    line = Line()
    with pytest.raises(ValueError, match="bad"), Response(line, stays=True):
        raise ValueError("bad")
    assert line.told == ["finish"]


async def test_a_response_that_is_complete_does_not_drift() -> None:
    line, response = Line(), None
    response = Response(line, stays=True)
    response.end()
    response.leave()
    assert line.told == ["close"]
