from gateway.judging import judge
from gateway.replay.judgements import judgement
from gateway.replay.types import Rows
from gateway.types.decisions import DecisionEffect
from gateway.types.outcomes import Status
from gateway.types.tools import Effect, Risk
from tests.helpers.replays import a_known_case, a_law, a_secret_note, policy, rule

LIMITS = [{"id": "l", "per": ["user"], "max": 9, "window": "1h"}]


def test_a_judgement_has_what_lies_behind_the_event_as_well() -> None:
    law = a_law(
        policy(
            rule(
                "main",
                constrain={"max": {"amount": "size(identity.user) * 2"}},
                limits=LIMITS,
                output={
                    "keep": ["/id"],
                    "redact": [{"path": "/id", "as": "hash"}],
                    "rows": [{"path": "/rows", "where": "row.a"}],
                },
            ),
            rule("soon", "deny", mode="shadow"),
        ),
        a_secret_note(),
    )
    said = judgement(judge(a_known_case(law, {"amount": 3})))
    (written,), (taken,) = said.constraints, said.limits
    assert (written.value, written.expression) == (6, "size(identity.user) * 2")
    assert (taken.key, taken.maximum, taken.window_s) == ("user=sam", 9.0, 3600.0)
    assert (said.keep, said.redact) == (("/id",), {"/id": "hash"})
    assert said.rows == (Rows(path="/rows", where="row.a", rule="main"),)
    assert said.shadow == (("soon", "deny"),)
    assert (said.effect, said.does, said.risk) == (DecisionEffect.ALLOW, Effect.READ, Risk.LOW)


def test_who_is_asked_is_told_in_words() -> None:
    asked = {"approvers": {"roles": ["lead", "cfo"], "users": ["kim"]}, "quorum": 2}
    law = a_law(policy(rule(decision="require_approval", approval=asked)), a_secret_note())
    said = judgement(judge(a_known_case(law)))
    assert (said.effect, said.people, said.quorum) == (
        DecisionEffect.REQUIRE_APPROVAL,
        "2 of lead or cfo or kim",
        2,
    )


def test_a_refusal_is_a_denial_in_its_own_words() -> None:
    law = a_law(policy(rule()), a_secret_note(scopes=frozenset({"x"})))
    said = judgement(judge(a_known_case(law)))
    assert (said.effect, said.status, said.code) == (
        DecisionEffect.DENY,
        Status.FORBIDDEN,
        "insufficient_scope",
    )
