"""What a case starts as, and what it takes to skip the durable steps."""

from gateway.case import Case
from gateway.types.decisions import Decision, DecisionEffect, Limit
from gateway.types.tools import Effect, Risk
from tests.helpers.cases import a_case

ALLOWED = Decision(effect=DecisionEffect.ALLOW)
LIMIT = Limit(id="l", key="sam", maximum=1, window_s=60, amount=1, rule="r")


def test_what_no_check_has_learned_stands_at_its_worst() -> None:
    case = a_case()
    assert case.arguments is None
    assert (case.effect, case.risk) == (Effect.DESTRUCTIVE, Risk.CRITICAL)
    assert case.decision.effect is DecisionEffect.DENY
    assert not case.is_plain_read


def test_only_an_allowed_read_without_limits_is_a_plain_one() -> None:
    def case(effect: Effect, decision: Decision) -> Case:
        return a_case(effect=effect, decision=decision)

    assert case(Effect.READ, ALLOWED).is_plain_read
    assert not case(Effect.WRITE, ALLOWED).is_plain_read
    limited = Decision(effect=DecisionEffect.ALLOW, limits=(LIMIT,))
    assert not case(Effect.READ, limited).is_plain_read
    held = Decision(effect=DecisionEffect.REQUIRE_APPROVAL)
    assert not case(Effect.READ, held).is_plain_read
