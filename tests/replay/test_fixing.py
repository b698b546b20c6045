from typing import Any

import pytest

from gateway.replay.oracle import Answer
from gateway.types.decisions import DecisionEffect
from tests.helpers.replays import (
    a_known_case,
    a_law,
    a_secret_note,
    again,
    decided,
    places,
    policy,
    recorded,
    rule,
    undecided,
)

ALL = rule("all")


def under(*rules: dict[str, Any], then: tuple[dict[str, Any], ...] = (ALL,), **sent: Any) -> Answer:
    """Judge a call with an unknown note that was allowed under rules that did not look at it."""
    law = a_law(policy(*then), a_secret_note())
    other = a_law(policy(*rules), a_secret_note(), id="sha256:now")
    call = recorded(a_known_case(law, {"note": "hush", **sent}))
    assert call.unknown
    return again(call, law, other)


def test_a_new_rule_that_reads_an_unknown_value_decides_nothing() -> None:
    found = under(ALL, rule("new", "deny", when="args.note.contains('u')"))
    assert places(found) == ["/arguments/note"]
    assert undecided(found).missing[0].readers == ("new",)


def test_a_new_rule_about_what_is_known_decides() -> None:
    found = under(ALL, rule("new", "deny", when="args.amount > 5.0"), amount=9)
    assert decided(found).rule == "new"


@pytest.mark.parametrize(
    ("when", "effect"),
    [
        ("args.amount > 5.0 || args.note == 'x'", DecisionEffect.DENY),
        ("args.amount > 50.0 && args.note == 'x'", DecisionEffect.ALLOW),
    ],
)
def test_what_decides_whatever_the_unknown_value_is_decides(
    when: str, effect: DecisionEffect
) -> None:
    assert decided(under(ALL, rule("new", "deny", when=when), amount=9)).effect is effect


def test_whether_a_hidden_value_is_there_is_not_taken_for_its_absence() -> None:
    found = under(ALL, rule("new", "deny", when="has(args.note) && args.note == 'x'"))
    assert places(found) == ["/arguments/note"]


def test_a_denial_that_no_unknown_value_can_lift_is_certain() -> None:
    no = rule("no", "deny")
    found = under(ALL, no, rule("new", "deny", when="args.note == 'x'"), then=(ALL, no))
    assert undecided(found).certain is DecisionEffect.DENY  # by one of them, or as it fails


def test_a_rule_that_could_fail_is_a_possibility_too() -> None:
    asked = {"approvers": {"roles": ["lead"]}}
    new = rule("new", when="args.note == 'x'")
    held = rule("ask", "require_approval", approval=asked)
    found = under(held, new, then=(held,))
    assert undecided(found).certain is None  # a condition that can't be evaluated denies


def test_the_same_rule_says_what_it_said() -> None:
    same = rule("same", "deny", when="args.note == 'x'")
    found = under(ALL, same, rule("new", "obligation", output={"keep": ["/a"]}), then=(ALL, same))
    assert (decided(found).rule, decided(found).keep) == ("all", ("/a",))


SUM = {"id": "l", "per": ["user"], "max": 9, "window": "1h", "sum": "size(args.note)"}


def test_an_amount_that_was_computed_then_is_the_one_of_then() -> None:
    counted = rule("all", limits=[SUM])
    more = rule("all", limits=[{**SUM, "max": 99}])
    (taken,) = decided(under(more, then=(counted,))).limits
    assert (taken.amount, taken.maximum) == (4.0, 99.0)


def test_another_amount_of_an_unknown_value_may_not_be_computable_at_all() -> None:
    found = under(rule("all", limits=[{**SUM, "sum": "size(args.note) * 2"}]))
    assert places(found) == ["/arguments/note"]


def test_a_value_that_was_written_then_is_written_again_and_unknown() -> None:
    writing = rule("all", constrain={"set": {"id": "args.note"}})
    more = rule("more", "obligation", output={"keep": ["/a"]})
    (written,) = decided(under(writing, more, then=(writing,))).constraints
    assert (written.is_known, written.expression, written.value) == (False, "args.note", None)


def test_another_value_made_of_an_unknown_one_is_not_known() -> None:
    found = under(rule("all", constrain={"set": {"id": "args.note + '!'"}}))
    assert places(found) == ["/arguments/note"]
