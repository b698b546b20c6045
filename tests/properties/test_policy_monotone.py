"""What no edit of a policy may do, on generated policies and calls."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.compile import compile_policy
from gateway.policy.engine import CompiledPolicy, PolicyRequest
from gateway.policy.files import load
from gateway.types.actors import Actor
from gateway.types.decisions import DecisionEffect
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Risk
from tests.policy.example import SAM, request

NAMES = ("a", "b", "c")
TOOLS = ("crm.find", "crm.save", "hr.find")
# Conditions that ask what the caller has, never what it lacks.
CONDITIONS = (
    "args.n > 3",
    "args.n <= 3",
    "'a' in identity.roles",
    "identity.scopes.exists(s, s == 'b')",
    "identity.tenant == 'acme'",
)
_STRENGTH = {DecisionEffect.DENY: 0, DecisionEffect.REQUIRE_APPROVAL: 1, DecisionEffect.ALLOW: 2}

names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True)


@st.composite
def matches(draw: st.DrawFn, *, about_caller: bool = True) -> str:
    parts: list[str] = []
    if draw(st.booleans()):
        parts.append(f"tools: ['{draw(st.sampled_from((*TOOLS, 'crm.*', '*.find')))}']")
    if draw(st.booleans()):
        parts.append(f"phases: [{draw(st.sampled_from(('acting', 'planning')))}]")
    if draw(st.booleans()):
        parts.append(f"effects: [{draw(st.sampled_from(('read', 'write')))}]")
    for word in ("roles", "scopes") if about_caller else ():
        if draw(st.booleans()):
            kind = draw(st.sampled_from(("any", "all")))
            parts.append(f"{word}: {{{kind}: [{', '.join(draw(names))}]}}")
    return f"match: {{{', '.join(parts)}}}"


@st.composite
def rules(draw: st.DrawFn, decisions: Sequence[str], *, conditions: Sequence[str]) -> str:
    decision = draw(st.sampled_from(decisions))
    # A denial that asks for roles or scopes is a negation: who loses them gains.
    grants = decision in ("allow", "require_approval")
    parts = [f"decision: {decision}", draw(matches(about_caller=grants))]
    usable = [each for each in conditions if grants or "identity" not in each]
    if usable and draw(st.booleans()):
        parts.append(f'when: "{draw(st.sampled_from(usable))}"')
    if decision == "require_approval":
        parts.append("approval: {approvers: {roles: [x]}}")
    return ", ".join(parts)


ALL = ("allow", "deny", "require_approval")
policies = st.lists(rules(ALL, conditions=CONDITIONS), max_size=6)
grants_only = st.lists(rules(("allow", "deny"), conditions=CONDITIONS), max_size=6)


@st.composite
def calls(draw: st.DrawFn) -> PolicyRequest:
    actor = replace(
        SAM,
        roles=frozenset(draw(st.sets(st.sampled_from(NAMES)))),
        scopes=frozenset(draw(st.sets(st.sampled_from(NAMES)))),
        tenant=draw(st.sampled_from(("acme", "globex"))),
    )
    return request(
        draw(st.sampled_from(TOOLS)),
        {"n": draw(st.integers(0, 6) | st.floats(0, 6))},
        actor=actor,
        effect=draw(st.sampled_from((Effect.READ, Effect.WRITE))),
        risk=draw(st.sampled_from(Risk)),
        phase=draw(st.sampled_from((Phase.ACTING, Phase.PLANNING))),
    )


def compiled(bodies: Sequence[str]) -> CompiledPolicy:
    lines = [f"  - {{id: r{index}, {body}}}\n" for index, body in enumerate(bodies)]
    return compile_policy([load("rules:\n" + "".join(lines) + ("" if lines else "  []"), file="p")])


def strength(policy: CompiledPolicy, call: PolicyRequest) -> int:
    return _STRENGTH[policy.decide(call).effect]


def poorer(actor: Actor) -> list[Actor]:
    return [
        *(replace(actor, roles=actor.roles - {role}) for role in actor.roles),
        *(replace(actor, scopes=actor.scopes - {scope}) for scope in actor.scopes),
    ]


@given(grants_only, calls())
def test_a_caller_who_loses_a_role_or_scope_gains_nothing(
    bodies: list[str], call: PolicyRequest
) -> None:
    policy = compiled(bodies)
    for actor in poorer(call.actor):
        less = replace(call, actor=actor)
        assert strength(policy, less) <= strength(policy, call)
        assert policy.may(less) <= policy.may(call)


@given(policies, rules(("deny",), conditions=CONDITIONS), calls(), st.integers(0, 6))
def test_a_further_denial_never_lets_more_through(
    bodies: list[str], denial: str, call: PolicyRequest, position: int
) -> None:
    before = compiled(bodies)
    after = compiled([*bodies[:position], denial, *bodies[position:]])
    assert strength(after, call) <= strength(before, call)
    assert after.may(call) <= before.may(call)


@given(
    st.lists(rules(ALL, conditions=("args.nope == 1", "args.n / 0 == 1", "args.n")), max_size=6),
    calls(),
)
def test_rules_that_can_not_be_evaluated_deny_everything(
    bodies: list[str], call: PolicyRequest
) -> None:
    broken = [body if "when:" in body else f'{body}, when: "args.nope"' for body in bodies]
    decision = compiled(broken).decide(call)
    assert decision.effect is DecisionEffect.DENY
    assert decision.code in ("no_matching_rule", "policy_evaluation_error")


@given(policies, calls(), st.randoms(use_true_random=False))
def test_the_order_of_rules_never_changes_the_effect(
    bodies: list[str], call: PolicyRequest, random: Random
) -> None:
    shuffled = random.sample(bodies, len(bodies))
    assert strength(compiled(shuffled), call) == strength(compiled(bodies), call)


@given(policies, calls())
def test_what_is_let_through_is_also_listed(bodies: list[str], call: PolicyRequest) -> None:
    policy = compiled(bodies)
    if policy.decide(call).effect is not DecisionEffect.DENY:
        assert policy.may(call)


@given(policies, calls())
def test_a_decision_is_the_same_each_time(bodies: list[str], call: PolicyRequest) -> None:
    assert compiled(bodies).decide(call) == compiled(bodies).decide(call)
