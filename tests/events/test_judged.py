from gateway.events import judged
from gateway.types.decisions import Decision, DecisionEffect, Inputs, Limit, OutputPolicy
from gateway.types.outcomes import Refusal, Status
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Risk
from gateway.types.values import replaced

INPUTS = Inputs(effect=Effect.READ, risk=Risk.LOW, phase=Phase.ACTING)
ALLOWED = Decision(
    effect=DecisionEffect.ALLOW,
    code="",
    rule="all",
    place="rules.yaml:2",
    matched=("all",),
    revision="sha256:r",
    output=OutputPolicy(keep=("/a",)),
    inputs=INPUTS,
)
LIMIT = Limit(id="l", key="k", maximum=1, window_s=1, amount=2, rule="all")


def test_what_a_decision_alone_makes_up_is_the_same_as_of_any_call() -> None:
    assert ALLOWED.is_plain
    judged.plain(ALLOWED)
    verdict, grounds = judged.plain(ALLOWED)
    assert verdict == judged.verdict(ALLOWED, None, "", "another")
    assert grounds == judged.grounds(ALLOWED)
    assert verdict["revision"] == "sha256:r"
    assert grounds["place"] == "rules.yaml:2"
    assert grounds["kept"] == ["/a"]


def test_decisions_about_arguments_and_those_of_no_policy_are_told_call_by_call() -> None:
    for other in (
        replaced(ALLOWED, reason="since"),
        replaced(ALLOWED, limits=(LIMIT,)),
        replaced(ALLOWED, revision=""),
    ):
        assert not other.is_plain
    assert judged.verdict(Decision(), None, "", "sha256:n")["revision"] == "sha256:n"


def test_a_refusal_has_the_word_and_what_it_does_not_say_is_the_decisions() -> None:
    refusal = Refusal(status=Status.INVALID_ARGUMENTS, code="bad", reason="no")
    told = judged.verdict(ALLOWED, refusal, "no", "")
    assert (told["decision"], told["status"], told["code"]) == ("deny", "invalid_arguments", "bad")
    assert (told["rule"], told["reason"]) == ("all", "no")
