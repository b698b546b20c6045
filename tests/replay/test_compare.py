from typing import Any

import pytest

from gateway.replay.compare import Comparing, agree, differences
from gateway.replay.oracle import Decided, Undecided
from gateway.replay.types import Asked, Gone, Grade, Judgement, Missing, Rows, Taken, Why, Written
from gateway.types.decisions import DecisionEffect
from gateway.types.leans import Lean
from gateway.types.outcomes import Status
from gateway.types.tools import Effect, Risk
from gateway.types.values import replaced
from tests.replay.test_types import RECORDED

ALLOW = Judgement(effect=DecisionEffect.ALLOW, code="allowed", rule="a")
HELD = replaced(ALLOW, effect=DecisionEffect.REQUIRE_APPROVAL, people="1 of lead", quorum=1)
DENY = replaced(ALLOW, effect=DecisionEffect.DENY, status=Status.DENIED)
LIMIT = Taken(id="l", rule="a", amount=1.0, key="user=sam", maximum=5.0, window_s=60.0)
MOST = Written(pointer="/n", kind="max", rule="a", value=10)


@pytest.mark.parametrize(
    ("before", "after", "lean"),
    [
        (DENY, ALLOW, Lean.WIDER),
        (DENY, HELD, Lean.WIDER),
        (HELD, ALLOW, Lean.WIDER),
        (ALLOW, HELD, Lean.NARROWER),
        (ALLOW, DENY, Lean.NARROWER),
    ],
)
def test_another_effect_says_all(before: Judgement, after: Judgement, lean: Lean) -> None:
    assert list(differences(before, replaced(after, rule="b"))) == [(Why.EFFECT, lean)]


def given(**changes: Any) -> Judgement:
    return replaced(ALLOW, **changes)


@pytest.mark.parametrize(
    ("before", "after", "why", "lean"),
    [
        (given(), given(exceeded="l"), Why.LIMIT, Lean.NARROWER),
        (given(exceeded="l"), given(), Why.LIMIT, Lean.WIDER),
        (given(limits=(LIMIT,)), given(), Why.LIMIT, Lean.WIDER),
        (given(), given(limits=(LIMIT,)), Why.LIMIT, Lean.NARROWER),
        (
            given(limits=(LIMIT,)),
            given(limits=(replaced(LIMIT, maximum=9.0),)),
            Why.LIMIT,
            Lean.WIDER,
        ),
        (
            given(limits=(LIMIT,)),
            given(limits=(replaced(LIMIT, amount=2.0),)),
            Why.LIMIT,
            Lean.NARROWER,
        ),
        (
            given(limits=(LIMIT,)),
            given(limits=(replaced(LIMIT, window_s=9.0),)),
            Why.LIMIT,
            Lean.OTHER,
        ),
        (HELD, replaced(HELD, quorum=2), Why.APPROVAL, Lean.NARROWER),
        (HELD, replaced(HELD, people="1 of cfo"), Why.APPROVAL, Lean.OTHER),
        (
            given(constraints=(MOST,)),
            given(constraints=(replaced(MOST, value=50),)),
            Why.CONSTRAINT,
            Lean.WIDER,
        ),
        (
            given(constraints=(replaced(MOST, kind="min"),)),
            given(constraints=(replaced(MOST, kind="min", value=50),)),
            Why.CONSTRAINT,
            Lean.NARROWER,
        ),
        (
            given(constraints=(replaced(MOST, kind="set"),)),
            given(constraints=(replaced(MOST, kind="set", value="x"),)),
            Why.CONSTRAINT,
            Lean.OTHER,
        ),
        (given(constraints=(MOST,)), given(), Why.CONSTRAINT, Lean.WIDER),
        (
            given(constraints=(replaced(MOST, is_known=False, expression="args.a"),)),
            given(constraints=(replaced(MOST, is_known=False, expression="args.b"),)),
            Why.CONSTRAINT,
            Lean.OTHER,
        ),
        (given(keep=("/a",)), given(keep=("/a", "/b")), Why.OUTPUT, Lean.WIDER),
        (given(), given(keep=("/a",)), Why.OUTPUT, Lean.NARROWER),
        (given(keep=("/a",)), given(keep=("/b",)), Why.OUTPUT, Lean.OTHER),
        (given(redact={"/a": "hash"}), given(), Why.OUTPUT, Lean.WIDER),
        (
            given(redact={"/a": "hash"}),
            given(redact={"/a": "remove"}),
            Why.OUTPUT,
            Lean.NARROWER,
        ),
        (
            given(),
            given(rows=(Rows(path="", where="row.a", rule="a"),)),
            Why.OUTPUT,
            Lean.NARROWER,
        ),
        (given(does=Effect.READ), given(does=Effect.WRITE), Why.CLASS, Lean.NARROWER),
        (given(risk=Risk.HIGH), given(risk=Risk.LOW), Why.CLASS, Lean.WIDER),
        (given(), given(rule="b"), Why.RULE, Lean.OTHER),
    ],
)
def test_each_thing_that_is_another_one_has_a_name_and_a_way(
    before: Judgement, after: Judgement, why: Why, lean: Lean
) -> None:
    assert list(differences(before, after)) == [(why, lean)]


@pytest.mark.parametrize(
    ("before", "after", "lean"),
    [
        (HELD, given(exceeded="l"), Lean.NARROWER),
        (given(exceeded="l"), HELD, Lean.WIDER),
        (DENY, given(exceeded="l"), Lean.OTHER),
        (given(exceeded="l"), DENY, Lean.OTHER),
        (given(exceeded="l"), given(exceeded="m"), Lean.OTHER),
        (DENY, replaced(HELD, exceeded="l"), Lean.OTHER),
    ],
)
def test_a_call_that_a_limit_stops_is_granted_nothing_by_any_rule(
    before: Judgement, after: Judgement, lean: Lean
) -> None:
    found = [*differences(before, after)]
    assert found[0] == (Why.LIMIT, lean)
    assert {each for _, each in found} == {lean}


def test_higher_terms_of_a_limit_that_still_has_no_room_grant_nothing() -> None:
    old, new = (given(limits=(replaced(LIMIT, maximum=n),), exceeded="l") for n in (5.0, 6.0))
    assert list(differences(old, new)) == []
    assert list(differences(replaced(HELD, exceeded="l"), old)) == [(Why.RULE, Lean.OTHER)]


def test_what_is_demanded_of_a_call_that_does_not_go_is_no_difference() -> None:
    assert list(differences(DENY, replaced(DENY, constraints=(MOST,), keep=("/a",)))) == []


def test_terms_that_are_not_known_are_not_compared() -> None:
    told = replaced(LIMIT, key="", maximum=None, window_s=None)
    assert list(differences(given(limits=(told,)), given(limits=(LIMIT,)))) == []


def test_changes_of_two_ways_go_neither() -> None:
    after = given(redact={"/a": "hash"}, constraints=(replaced(MOST, value=50),))
    compared = Comparing()(RECORDED, given(constraints=(MOST,)), Decided(judgement=after))
    assert compared.why == (Why.CONSTRAINT, Why.OUTPUT)
    assert compared.grants is Lean.OTHER
    assert compared.cause is Why.CONSTRAINT


def test_a_run_comes_apart_once_and_what_follows_is_marked() -> None:
    comparing, call = Comparing(), replaced(RECORDED, run="run_1")
    same, other = Decided(judgement=ALLOW), Decided(judgement=DENY)
    found = [comparing(call, ALLOW, each) for each in (same, other, same, other)]
    assert [each.is_first for each in found] == [False, True, False, False]
    assert [each.follows_divergence for each in found] == [False, False, True, True]
    elsewhere = comparing(replaced(RECORDED, run="run_2"), ALLOW, other)
    assert (elsewhere.is_first, elsewhere.follows_divergence) == (True, False)


def test_another_rule_alone_lets_no_run_come_apart() -> None:
    comparing, call = Comparing(), replaced(RECORDED, run="run_1")
    comparing(call, ALLOW, Decided(judgement=given(rule="b")))
    assert not comparing(call, ALLOW, Decided(judgement=ALLOW)).follows_divergence


def test_a_no_of_a_person_that_would_not_be_asked_for_is_named() -> None:
    call = replaced(RECORDED, asked=Asked(approval="apr_1", state="denied"))
    assert Comparing()(call, HELD, Decided(judgement=ALLOW)).overrides_denial
    assert not Comparing()(call, HELD, Decided(judgement=DENY)).overrides_denial
    full = given(exceeded="l")
    assert not Comparing()(call, HELD, Decided(judgement=full)).overrides_denial


def test_what_nobody_can_know_says_what_is_missing() -> None:
    missing = Missing(place="/arguments/note", why=Gone.REDACTED)
    answer = Undecided(missing=(missing,), certain=DecisionEffect.DENY)
    found = Comparing()(RECORDED, ALLOW, answer)
    assert (found.grade, found.after, found.missing) == (Grade.UNDECIDABLE, None, (missing,))
    assert found.certain is DecisionEffect.DENY


def test_two_judgements_agree_by_what_events_tell() -> None:
    known = given(constraints=(MOST,), limits=(LIMIT,), reason="in other words")
    told = given(
        constraints=(replaced(MOST, value=None, is_known=False),),
        limits=(Taken(id="l", rule="a", amount=1.0),),
    )
    assert agree(told, known)
    assert not agree(told, replaced(known, rule="b"))


def test_a_call_that_no_check_had_classified_agrees_with_whatever_class_its_event_tells() -> None:
    again = replaced(DENY, does=None, risk=None)
    for does, risk in ((Effect.WRITE, Risk.LOW), (Effect.DESTRUCTIVE, Risk.CRITICAL)):
        assert agree(replaced(DENY, does=does, risk=risk), again)
    assert not agree(again, replaced(DENY, does=Effect.WRITE))
