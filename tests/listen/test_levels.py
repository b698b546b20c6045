"""Levels of log messages."""

import pytest

from gateway.listen.levels import LEVELS, is_level, reaches
from gateway.types.json import Json


def test_a_message_reaches_who_asked_for_its_level_or_a_lower_one() -> None:
    for rank, level in enumerate(LEVELS):
        reached = [threshold for threshold in LEVELS if reaches({"level": level}, threshold)]
        assert reached == list(LEVELS[: rank + 1])


@pytest.mark.parametrize("level", ["loud", "", None, 3, ["info"]])
def test_what_is_no_level_reaches_nobody(level: Json) -> None:
    assert not is_level(level)
    assert not reaches({"level": level}, "debug")
