"""Grouping of requests that two sides judge differently."""

from gateway.policy.impact import Both, Groups, Impact, Word, cause_of
from gateway.policy.probes import Probe
from gateway.policy.run_cases import RunUnderTest
from gateway.types.decisions import Constraint, Decision, DecisionEffect
from gateway.types.json import Json
from gateway.types.leans import Lean
from gateway.types.tools import Risk
from tests.helpers.probing import a_probe

ALLOW, ASK, DENY = DecisionEffect.ALLOW, DecisionEffect.REQUIRE_APPROVAL, DecisionEffect.DENY


def word(effect: DecisionEffect, rule: str = "", limit: Json = None) -> Word:
    constraint = Constraint(pointer="/limit", kind="max", value=limit, rule=rule)
    return Word(
        decision=Decision(
            effect=effect,
            rule=rule,
            code="no_matching_rule",
            place="rules.yaml:3" if rule else "",
            constraints=() if limit is None else (constraint,),
        ),
        risk=Risk.LOW,
    )


def both(before: DecisionEffect, after: DecisionEffect) -> Both:
    return word(before, "a"), word(after, "b" if after is not DENY else "")


def test_a_weaker_decision_is_wider_and_a_stronger_one_narrower() -> None:
    wider = [(DENY, ALLOW), (DENY, ASK), (ASK, ALLOW)]
    for before, after in wider:
        there, back = (
            cause_of(a_probe(), both(before, after)),
            cause_of(a_probe(), both(after, before)),
        )
        assert there is not None
        assert back is not None
        assert (there.lean, back.lean) == (Lean.WIDER, Lean.NARROWER)


def test_the_same_decision_by_another_rule_is_no_difference() -> None:
    assert cause_of(a_probe(), (word(ALLOW, "a"), word(ALLOW, "b"))) is None
    assert cause_of(a_probe(), (word(DENY, "a"), word(DENY))) is None


def test_what_decides_nothing_is_named_by_its_code() -> None:
    found = cause_of(a_probe(), (word(DENY), word(ALLOW, "b")))
    assert found is not None
    assert (found.before_rule, found.after_rule) == ("(no_matching_rule)", "b")


def test_groups_are_counted_and_sorted_with_what_grants_more_first() -> None:
    groups = Groups()
    for size in (3, 1, 2):
        groups.add(a_probe(arguments={str(n): n for n in range(size)}), both(ALLOW, DENY))
    groups.add(a_probe(), (word(ALLOW, "a", 5), word(ALLOW, "a", 50)))
    groups.add(a_probe(), both(DENY, ALLOW))
    assert groups.add(a_probe(), both(ALLOW, ALLOW)) is None
    found = groups.all(lambda _: None)
    assert [(each.cause.lean, each.count, each.cause.is_decision) for each in found] == [
        (Lean.WIDER, 1, True),
        (Lean.NARROWER, 3, True),
        (Lean.WIDER, 1, False),
    ]
    assert found[1].example.arguments == {"0": 0}
    assert found[1].before_place == "rules.yaml:3"
    impact = Impact(groups=found, requests=5, differing=5)
    assert impact.leaning(Lean.NARROWER) == (found[1],)


def test_an_example_is_made_smaller_while_it_shows_the_same() -> None:
    def ask(probe: Probe) -> Both | None:
        if "amount" not in probe.arguments:
            return None  # not valid
        return both(DENY, ALLOW) if "support" in probe.roles else both(DENY, DENY)

    whole = a_probe(
        arguments={"amount": 1, "note": "x"},
        roles=("sre", "support"),
        scopes=("a",),
        run=RunUnderTest(template="case"),
    )
    groups = Groups()
    groups.add(whole, both(DENY, ALLOW))
    (found,) = groups.all(ask)
    assert found.example == a_probe(arguments={"amount": 1}, roles=("support",))
