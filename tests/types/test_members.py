import pytest

from gateway.types.members import Members
from gateway.types.outcomes import Status


def test_a_text_gives_the_member_that_it_stands_for() -> None:
    statuses = Members(Status)
    assert all(statuses[str(each)] is each for each in Status)


def test_a_text_that_stands_for_none_is_refused_as_the_class_does() -> None:
    with pytest.raises(ValueError, match="'none' is not a valid Status"):
        Members(Status)["none"]
