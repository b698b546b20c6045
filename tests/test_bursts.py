"""What a turn of the event loop sends leaves together at its end."""

import asyncio
from typing import Any

from gateway.bursts import Burst, burst_of


async def test_what_is_added_in_one_turn_leaves_in_order_in_the_next() -> None:
    burst, said = Burst(asyncio.get_running_loop()), list[int]()
    for number in range(3):
        burst.add(lambda number=number: said.append(number))
    assert said == []
    await asyncio.sleep(0)
    assert said == [0, 1, 2]
    await asyncio.sleep(0)
    assert said == [0, 1, 2]


async def test_what_is_added_while_it_leaves_waits_for_the_next_turn() -> None:
    burst, said = Burst(asyncio.get_running_loop()), list[str]()

    def first() -> None:
        burst.add(lambda: said.append("second"))
        said.append("first")

    burst.add(first)
    await asyncio.sleep(0)
    assert said == ["first"]
    await asyncio.sleep(0)
    assert said == ["first", "second"]


async def test_a_fault_of_one_does_not_hold_up_the_others() -> None:
    loop, told, said = asyncio.get_running_loop(), list[Any](), list[str]()
    loop.set_exception_handler(lambda _, context: told.append(context["exception"]))
    burst = Burst(loop)

    def broken() -> None:
        raise RuntimeError("closed")

    burst.add(broken)
    burst.add(lambda: said.append("sent"))
    await asyncio.sleep(0)
    assert said == ["sent"]
    assert [str(each) for each in told] == ["closed"]


async def test_an_event_loop_has_one() -> None:
    loop = asyncio.get_running_loop()
    assert burst_of(loop) is burst_of(loop)
    other = asyncio.new_event_loop()
    assert burst_of(other) is not burst_of(loop)
    other.close()
