from typing import Any

import pytest

from gateway.replay.then import FAILS
from gateway.types.tools import Effect, Risk, RiskRaise
from tests.helpers.replays import (
    a_known_case,
    a_law,
    a_secret_note,
    policy,
    recorded,
    rule,
    then_of,
)

NOTE = "args.note == 'x'"


def held(then: dict[str, Any], now: dict[str, Any], sent: dict[str, Any]) -> Any:
    """Return what is known of the condition of rule `r`, by how it fared then."""
    law = a_law(policy(rule("all"), then), a_secret_note())
    other = a_law(policy(rule("all"), now), a_secret_note())
    call = recorded(a_known_case(law, sent))
    found = next(each for each in other.policy.rules if each.id == "r")
    return then_of(call, law).held(found, a_known_case(other, sent))


def test_a_rule_that_matched_held_and_one_that_did_not_does_not() -> None:
    r = rule("r", "obligation", when=NOTE, output={"keep": ["/a"]})
    assert held(r, r, {"note": "x"}) == (True,)
    assert held(r, r, {"note": "y"}) == (False,)


def test_a_rule_with_another_condition_was_not_asked() -> None:
    r = rule("r", "deny", when=NOTE)
    assert held(r, {**r, "when": "args.note == 'z'"}, {"note": "y"}) == (True, False, FAILS)


def test_the_condition_of_a_rule_with_another_effect_is_still_the_same() -> None:
    r = rule("r", "deny", when=NOTE)
    assert held(r, {**r, "decision": "allow"}, {"note": "y"}) == (False,)


def test_of_a_rule_that_was_about_others_nothing_is_known() -> None:
    r = rule("r", "deny", when=NOTE)
    elsewhere = {**r, "match": {"tools": ["*"], "users": ["kim"]}}
    assert held(elsewhere, r, {"note": "y"}) == (True, False, FAILS)


def test_the_rule_that_could_not_be_evaluated_fails_again() -> None:
    r = rule("r", "deny", when=NOTE)
    assert held(r, r, {}) == (FAILS,)


def test_rules_behind_one_that_failed_may_have_failed_too() -> None:
    first, r = rule("first", "deny", when="args.amount > 1.0"), rule("r", "deny", when=NOTE)
    law = a_law(policy(first, r), a_secret_note())
    call = recorded(a_known_case(law, {"note": "y"}))
    then, (one, other) = then_of(call, law), law.policy.rules
    assert then.held(one, then.case) == (FAILS,)
    assert then.held(other, then.case) == (False, FAILS)


def test_a_condition_on_the_class_counts_only_where_that_is_the_same() -> None:
    r = rule("r", "deny", when="tool.risk == 'low' && args.note == 'x'")
    law = a_law(policy(rule("all"), r), a_secret_note())
    riskier = a_law(policy(rule("all"), r), a_secret_note(risk=Risk.HIGH))
    call = recorded(a_known_case(law, {"note": "y"}))
    then, found = then_of(call, law), law.policy.rules[1]
    assert then.held(found, a_known_case(law)) == (True, False, FAILS)  # judged as critical yet
    now = a_known_case(riskier, effect=Effect.READ, risk=Risk.HIGH)
    assert then.held(found, now) == (True, False, FAILS)
    same = a_known_case(law, effect=Effect.READ, risk=Risk.LOW)
    assert then.held(found, same) == (False,)


def test_a_shadow_that_was_told_held_or_failed() -> None:
    r = rule("r", "deny", mode="shadow", when=NOTE)
    assert held(r, r, {"note": "x"}) == (True, FAILS)
    assert held(r, r, {"note": "y"}) == (False,)


@pytest.mark.parametrize(
    ("sent", "valid", "traced"),
    [({"amount": 1}, True, True), ({"amount": "x"}, False, False)],
)
def test_how_far_a_call_came_is_known_by_its_end(
    sent: dict[str, Any], valid: bool, traced: bool
) -> None:
    law = a_law(policy(rule()), a_secret_note())
    then = then_of(recorded(a_known_case(law, sent)), law)
    assert (then.was_valid, then.was_traced) == (valid, traced)
    assert (then.classified is not None) is valid


def test_the_class_before_rules_raised_it_is_known() -> None:
    law = a_law(policy(rule(risk="high")), a_secret_note())
    then = then_of(recorded(a_known_case(law)), law)
    assert then.classified == (Effect.READ, Risk.LOW)
    assert then.call.judged.risk is Risk.HIGH


def test_taint_and_counts_are_known_where_somebody_minded() -> None:
    plain = a_law(policy(rule()), a_secret_note())
    minding = a_law(policy(rule("t", when="!run.tainted")), a_secret_note())
    raising = RiskRaise(when="false", reason="r", risk=Risk.HIGH)
    writing = a_law(policy(rule()), a_secret_note(raises=(raising,)))
    found = [then_of(recorded(a_known_case(law)), law) for law in (plain, minding, writing)]
    assert [each.knows_taint for each in found] == [False, True, False]
    assert [each.has_counted for each in found] == [False, False, True]
