"""What `weighbridge replay` is told in words, and what does the work, know the same."""

from gateway.cli import replay, replaying
from gateway.replay.report import Wanted
from gateway.replay.types import Counters


def test_the_words_of_the_command_are_those_of_what_does_its_work() -> None:
    assert [*replay.FORMS] == [*replaying.FORMS]
    assert [*replay.WANTED] == [each.value for each in Wanted]
    assert [*replay.COUNTERS] == [each.value for each in Counters]
