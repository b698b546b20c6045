"""Extensions that clients declare."""

import pytest

from gateway.types.extensions import TASKS, knows
from gateway.types.json import JsonObject


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        ({"extensions": {TASKS: {}}}, True),
        ({"extensions": {"other": {}}}, False),
        ({"extensions": [TASKS]}, False),
        ({"tasks": {}}, False),
        ({}, False),
    ],
)
def test_an_extension_is_known_where_it_is_declared(
    capabilities: JsonObject, expected: bool
) -> None:
    assert knows(capabilities, TASKS) is expected
