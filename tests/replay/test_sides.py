"""One judgement beside another."""

from gateway.replay.sides import NONE, UNKNOWN, beside, lines
from gateway.types.values import replaced
from tests.helpers.compared import ALLOW, ASK, DENY


def test_every_judgement_has_the_same_lines() -> None:
    named = [[each.name for each in lines(judged)] for judged in (ALLOW, ASK, DENY)]
    assert named[0] == named[1] == named[2]
    assert len({*named[0]}) == len(named[0])


def test_the_first_difference_is_marked_and_what_nobody_says_is_left_out() -> None:
    sides = [*beside(DENY, ALLOW)]
    assert [(each.name, each.change) for each in sides][:2] == [
        ("decision", "first"),
        ("by", "more"),
    ]
    assert [each.change for each in sides].count("first") == 1
    assert "people" not in {each.name for each in sides}
    assert not any(each.before == each.after == NONE for each in sides)


def test_a_rule_that_moved_in_its_file_is_no_difference() -> None:
    before, after = replaced(ALLOW, place="a.yaml:3"), replaced(ALLOW, place="a.yaml:9")
    sides = {each.name: each for each in beside(before, after)}
    assert (sides["place"].before, sides["place"].after) == ("a.yaml:3", "a.yaml:9")
    assert {each.change for each in sides.values()} == {"same"}


def test_beside_what_nobody_can_know_stands_a_question() -> None:
    assert {(each.after, each.change) for each in beside(ALLOW, None)} == {(UNKNOWN, "same")}
