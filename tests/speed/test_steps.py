"""The way of a call gets no longer unnoticed, counted in steps of the interpreter.

Whoever means a change renews what is kept: `scripts/steps --renew`.
"""

from pathlib import Path

import pytest

from tests.speed import steps
from tests.speed.steps import TOLERANCE, Steps, a_world, counted, told

RENEW = "if the change is meant, run `scripts/steps --renew` and commit tests/speed/steps.json"


async def test_no_kind_of_call_takes_more_steps_than_are_kept(tmp_path: Path) -> None:
    kept = steps.kept()
    if kept is None:
        pytest.skip(f"nothing is kept for Python {steps.version()}; run `scripts/steps --renew`")
    found = await steps.measured(tmp_path)
    grown = [
        told(kind, kept[kind], now)
        for kind, now in found.items()
        if kind not in kept or now.total > kept[kind].total * (1 + TOLERANCE)
    ]
    assert not grown, "\n".join([*grown, RENEW])
    less = [
        told(kind, kept[kind], now)
        for kind, now in found.items()
        if now.total < kept[kind].total * (1 - 2 * TOLERANCE)
    ]
    assert not less, "\n".join(["a call takes fewer steps now; keep that:", *less, RENEW])


async def test_hundreds_of_rules_about_a_tool_take_no_more_steps_than_ten(tmp_path: Path) -> None:
    found: dict[int, Steps] = {}
    for rules in (10, 300):
        async with a_world(tmp_path / str(rules), rules=rules) as world:
            found[rules] = await counted(world, "read")
    assert found[300].total < found[10].total * 1.5, told("read", found[10], found[300])


async def test_a_long_list_takes_no_more_steps_than_a_short_one(tmp_path: Path) -> None:
    found: dict[int, Steps] = {}
    for tools in (5, 45):
        async with a_world(tmp_path / str(tools), tools=tools) as world:
            found[tools] = await counted(world, "list")
    assert found[45].total < found[5].total * 1.5, told("list", found[5], found[45])


def test_what_has_grown_is_told_by_function() -> None:
    was = Steps(100, {"a.py:f": 60, "a.py:g": 40})
    now = Steps(130, {"a.py:f": 60, "a.py:g": 20, "b.py:h": 50})
    assert told("read", was, now).splitlines() == [
        "read: 130 steps, 100 are kept (+30.0%)",
        "     +50  b.py:h (0 -> 50)",
        "     -20  a.py:g (40 -> 20)",
    ]
