"""What no edit of a policy may do, on generated policies and calls."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from hypothesis import assume, given
from hypothesis import strategies as st

from gateway.policy.compile import compile_policy
from gateway.policy.engine import CompiledPolicy, PolicyRequest
from gateway.policy.files import load
from gateway.policy.methods import OF
from gateway.types.actors import Actor
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Kind, Risk
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

URIS = ("file:///a", "file:///b/c", "file:///{path}", "crm:///a")
ASKS = tuple(method for method in Method if method.is_ask)
TARGETS = {
    Kind.TOOL: (TOOLS, ("crm.*", "*.find")),
    Kind.RESOURCE: (URIS, ("file:*", "*:///a", "file:///b/?")),
    Kind.PROMPT: (TOOLS, ("crm.*", "*.find")),
}

names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True)


@st.composite
def methods_of(draw: st.DrawFn, kind: Kind | None) -> list[str]:
    possible = [*(Method if kind is None else OF[kind]), *ASKS]
    some = st.lists(st.sampled_from(sorted(possible)), min_size=1, max_size=4, unique=True)
    chosen = draw(st.none() | st.just(["'*'"]) | some)
    return [] if chosen is None else [f"methods: [{', '.join(chosen)}]"]


@st.composite
def matches(draw: st.DrawFn, *, about_caller: bool = True, only_tools: bool = False) -> str:
    kind = Kind.TOOL if only_tools else draw(st.sampled_from([*Kind, None, None]))
    parts = [] if only_tools else [*draw(methods_of(kind))]
    if kind is not None:
        known, patterns = TARGETS[kind]
        parts.append(f"{kind}s: ['{draw(st.sampled_from((*known, *patterns)))}']")
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
def rules(
    draw: st.DrawFn,
    decisions: Sequence[str],
    *,
    conditions: Sequence[str],
    only_tools: bool = False,
) -> str:
    decision = draw(st.sampled_from(decisions))
    # A denial that asks for roles or scopes is a negation: who loses them gains.
    grants = decision in ("allow", "require_approval")
    parts = [f"decision: {decision}", draw(matches(about_caller=grants, only_tools=only_tools))]
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
    kind = draw(st.sampled_from([*Kind]))
    key = draw(st.sampled_from(TARGETS[kind][0]))
    found = request(
        key,
        {"n": draw(st.integers(0, 6) | st.floats(0, 6))},
        actor=actor,
        effect=draw(st.sampled_from((Effect.READ, Effect.WRITE))),
        risk=draw(st.sampled_from(Risk)),
        phase=draw(st.sampled_from((Phase.ACTING, Phase.PLANNING))),
    )
    method = draw(st.sampled_from(sorted(OF[kind] | set(ASKS))))
    return replace(found, kind=kind, method=method, server="crm")


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
    assume(not call.method.is_task)  # their calls were judged by their arguments before
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
    held = policy.decide(call).effect is DecisionEffect.REQUIRE_APPROVAL
    if policy.decide(call).effect is DecisionEffect.ALLOW or (held and not call.method.is_ask):
        assert policy.may(call)


@given(policies, calls())
def test_a_decision_is_the_same_each_time(bodies: list[str], call: PolicyRequest) -> None:
    assert compiled(bodies).decide(call) == compiled(bodies).decide(call)


@given(
    st.lists(rules(ALL, conditions=CONDITIONS, only_tools=True), min_size=1, max_size=6), calls()
)
def test_rules_about_tools_let_nothing_else_through(bodies: list[str], call: PolicyRequest) -> None:
    policy = compiled(bodies)
    if call.method not in OF[Kind.TOOL]:
        assert policy.decide(call).effect is DecisionEffect.DENY
        assert not policy.may(call)
    assert policy.asks(call) == frozenset()


@given(policies, rules(("deny",), conditions=CONDITIONS), calls(), st.integers(0, 6))
def test_a_further_denial_never_lets_more_be_asked(
    bodies: list[str], denial: str, call: PolicyRequest, position: int
) -> None:
    after = compiled([*bodies[:position], denial, *bodies[position:]])
    assert after.asks(call) <= compiled(bodies).asks(call)


@given(policies, calls())
def test_a_question_that_is_let_through_may_be_asked(
    bodies: list[str], call: PolicyRequest
) -> None:
    policy = compiled(bodies)
    if call.method.is_ask and policy.decide(call).effect is DecisionEffect.ALLOW:
        assert call.method in policy.asks(call)
