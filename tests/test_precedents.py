"""Whatever is judged like an earlier call is judged as all the checks would."""

from collections import ChainMap
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import judging, precedents
from gateway.case import Case, Check, Facts, Verdict
from gateway.policy.request import PolicyRequest
from gateway.precedents import BY_RULES, BY_RUN, Precedents
from gateway.revision import Revision
from gateway.steps import policy, risk
from gateway.types.actors import Actor
from gateway.types.calls import Method, ProposedCall
from gateway.types.causes import OWN
from gateway.types.guarantees import (
    Compensation,
    CompensationClass,
    Idempotency,
    Injection,
    InjectPlace,
)
from gateway.types.json import JsonObject
from gateway.types.runs import Holder, Phase, Run
from gateway.types.tools import (
    Contract,
    Effect,
    Quarantine,
    Risk,
    RiskRaise,
    Tool,
    WhenTainted,
)
from tests.helpers.cases import NOW, a_call, a_case, a_contract, a_revision, a_tool, an_actor
from tests.helpers.runs import a_run

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "n": {"type": "integer"},
        "in": {"type": "object", "properties": {"x": {}}},
    },
    "required": ["n"],
}
FIND = a_tool({"name": "find", "description": "d", "inputSchema": SCHEMA})
ALLOW = "{id: all, decision: allow, match: {tools: ['*']}}"
RULES = {
    "allows": (ALLOW,),
    "allows by name": ("{id: one, decision: allow, match: {tools: [crm.find]}}",),
    "reads an argument": (ALLOW, "{id: no, decision: deny, when: args.n > 5}"),
    "breaks": (ALLOW, "{id: no, decision: deny, when: args.text > 5}"),
    "reads the time": (
        ALLOW,
        "{id: no, decision: deny, when: \"now > timestamp('2026-11-30T10:00:00Z')\"}",
    ),
    "minds taint": (ALLOW, "{id: no, decision: deny, when: run.tainted}"),
    "raises at times": (
        ALLOW,
        "{id: up, decision: obligation, when: args.n > 5, risk: high}",
        "{id: high, decision: deny, match: {risk: [high]}}",
    ),
    "raises": (ALLOW, "{id: up, decision: obligation, risk: high}"),
    "asks people": (
        "{id: ask, decision: require_approval, approval: {approvers: {users: [self, ann]}}}",
    ),
    "writes": (ALLOW, "{id: most, decision: obligation, constrain: {max: {n: 3}}}"),
    "limits": (
        ALLOW,
        "{id: few, decision: obligation, limits: [{id: l, per: [tool], max: 9, window: 1h}]}",
    ),
    "withholds": (ALLOW, "{id: keep, decision: obligation, output: {keep: [/name]}}"),
    "filters": (
        ALLOW,
        "{id: rows, decision: obligation, output: {rows: [{path: /a, where: row.n > 1}]}}",
    ),
    "would deny": (ALLOW, "{id: maybe, decision: deny, mode: shadow, when: args.n > 5}"),
    "would always deny": (ALLOW, "{id: maybe, decision: deny, mode: shadow}"),
    "denies a role": (ALLOW, "{id: no, decision: deny, match: {roles: {any: [agent]}}}"),
    "denies a phase": (ALLOW, "{id: no, decision: deny, match: {phases: [planning]}}"),
    "denies a cause": (ALLOW, "{id: no, decision: deny, match: {causes: [lookup]}}"),
    "says nothing": (),
}


def text_of(rules: Sequence[str]) -> str:
    return "rules:" + (" []" if not rules else "") + "".join(f"\n  - {each}" for each in rules)


class Court:
    """Precedents beside the checks, and how often the checks were asked from the first on."""

    def __init__(self) -> None:
        self.whole = 0
        self.precedents = Precedents(judge=self._judge, checks=judging.CHECKS_FOR)

    def _judge(self, case: Case, checks: tuple[Check, ...]) -> Verdict:
        self.whole += checks not in (BY_RULES, BY_RUN)
        return judging.judge(case, checks)

    def holds(self, case: Case) -> Verdict:
        """Hold what precedents say against what the checks do."""
        found = self.precedents.judged(case)
        assert found == judging.judge(case, judging.CHECKS_FOR[case.call.method])
        return found


def a_contract_that(**changes: Any) -> Contract:
    return a_contract(FIND, **changes)


INJECTS = Idempotency(inject=Injection(place=InjectPlace.ARGUMENT, name="/key"))
FINAL = Compensation(kind=CompensationClass.IRREVERSIBLE)
CONTRACTS = {
    "reads": a_contract_that(),
    "writes": a_contract_that(effect=Effect.WRITE),
    "destroys": a_contract_that(effect=Effect.DESTRUCTIVE),
    "is final": a_contract_that(effect=Effect.WRITE, compensation=FINAL),
    "raises": a_contract_that(
        raises=(RiskRaise(when="args.n > 5", reason="many", risk=Risk.HIGH, effect=Effect.WRITE),)
    ),
    "fills in": a_contract_that(effect=Effect.WRITE, idempotency=INJECTS),
    "minds taint": a_contract_that(when_tainted=WhenTainted.APPROVE),
    "wants a scope": a_contract_that(scopes=frozenset({"crm:write"})),
    "is of another pin": a_contract_that(pin="sha256:other"),
}
values: st.SearchStrategy[Any] = st.one_of(
    st.integers(-2, 9), st.text(max_size=3), st.none(), st.booleans(), st.floats(allow_nan=False)
)
nested: st.SearchStrategy[Any] = st.dictionaries(st.sampled_from(["n", "x"]), values, max_size=2)
anything: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["n", "N", "text", "_text", "in", "other", "key"]), values | nested, max_size=3
)
fitting = st.integers(0, 9).map(lambda n: {"n": n, "text": "x" * n})
ACTORS = {False: an_actor(), True: an_actor(roles=frozenset({"agent"}))}
QUARANTINED = replace(FIND, quarantine=Quarantine(reason="x"))
HELD = Holder(run_id="run_0", is_over=False)
LATER = NOW.replace(hour=11)
# Each differs from the first in one thing that some check looks at.
SITUATIONS: tuple[dict[str, Any], ...] = (
    {},
    {"arguments": {"n": 7, "text": "x"}},
    {"arguments": {"n": 1, "text": 1}},
    {"arguments": {"n": 1, "N": 1}},
    {"arguments": {"n": 1, "in": {"x": 1}}},
    {"arguments": {"n": 1, "in": {"X": 1}}},
    {"now": LATER},
    {"is_tainted": True},
    {"actor": ACTORS[True]},
    {"phase": Phase.PLANNING},
    {"phase": Phase.COMPLETED},
    {"cause": OWN[1]},
    {"input_error": "no JSON"},
    {"method": Method.GET_TASK},
    {"run": a_run(phase=Phase.ACTING)},
    {"run": a_run(phase=Phase.PLANNING)},
    {"run": a_run(phase=Phase.ACTING, is_paused=True)},
    {"run": a_run(phase=Phase.ACTING, template="gone")},
    {"run": a_run(phase=Phase.COMPLETED)},
    {"run": a_run(phase=Phase.ACTING, parent="run_0", held_by=HELD)},
    {"tool": QUARANTINED},
)


@st.composite
def situations(draw: st.DrawFn) -> list[dict[str, Any]]:
    several = st.lists(st.sampled_from(SITUATIONS), min_size=1, max_size=3)
    some = draw(st.lists(several, min_size=2, max_size=6))
    sent = {"arguments": draw(anything | fitting)}
    return [dict(ChainMap(sent, *each)) for each in some]


def situated(
    contract: Contract,
    revision: Revision,
    *,
    arguments: JsonObject | None = None,
    now: datetime = NOW,
    is_tainted: bool = False,
    actor: Actor = ACTORS[False],
    phase: Phase = Phase.ACTING,
    run: Run | None = None,
    tool: Tool = FIND,
    **of_call: Any,
) -> Case:
    return Case(
        call=a_call(arguments={"n": 1} if arguments is None else arguments, **of_call),
        tool=tool,
        contract=contract,
        actor=actor,
        phase=phase if run is None else run.phase,
        facts=Facts(now=now, is_tainted=is_tainted),
        revision=revision,
        run=run,
    )


@pytest.mark.parametrize("rules", RULES)
def test_precedents_say_what_the_checks_say(rules: str) -> None:
    for contract in CONTRACTS.values():
        revision = a_revision([contract], text_of(RULES[rules]))
        for first in SITUATIONS:
            court = Court()
            court.holds(situated(contract, revision, **first))
            for each in SITUATIONS:
                court.holds(situated(contract, revision, **each))


@given(
    situations(),
    st.sampled_from(sorted(CONTRACTS)),
    st.lists(st.sampled_from(sorted(RULES)), min_size=1, max_size=2),
)
def test_precedents_say_what_the_checks_say_of_whatever_comes(
    some: list[dict[str, Any]], contract: str, named: list[str]
) -> None:
    reviewed, court = CONTRACTS[contract], Court()
    for rules in named:  # another revision takes force in between
        revision = a_revision([reviewed], text_of(RULES[rules]))
        for each in (*some, *some):
            court.holds(situated(reviewed, revision, **each))


def cases(rules: str, contract: str = "reads", number: int = 3) -> list[Case]:
    """Return cases that differ in their arguments."""
    reviewed = CONTRACTS[contract]
    revision, actor = a_revision([reviewed], text_of(RULES[rules])), an_actor()
    return [
        a_case(
            {"n": n, "text": "a" * n},
            tool=FIND,
            contract=reviewed,
            revision=revision,
            actor=actor,
        )
        for n in range(number)
    ]


@pytest.mark.parametrize("rules", ["allows", "asks people", "withholds", "would always deny"])
def test_what_depends_on_no_argument_is_judged_once(rules: str) -> None:
    court = Court()
    with patch.object(policy, "request", side_effect=policy.request) as asked:
        verdicts = [court.precedents.judged(case) for case in cases(rules)]
    assert court.whole == 1
    assert asked.call_count == 2  # by the checks, and to see what may be kept
    decisions = {id(each.case.decision) for each in verdicts[1:]}
    assert len(decisions) == 1
    assert [each.case.arguments for each in verdicts] == [
        case.call.arguments for case in cases(rules)
    ]


@pytest.mark.parametrize("rules", ["reads an argument", "raises at times", "writes", "limits"])
def test_rules_that_read_a_call_are_asked_for_each(rules: str) -> None:
    court = Court()
    for case in cases(rules, number=9):
        court.holds(case)
    assert court.whole <= 1 + 3  # what is denied is never remembered, and asked by the rules alone


def test_in_a_run_its_phase_and_the_rules_are_asked_for_each() -> None:
    court, first = Court(), cases("allows")[0]
    runs = [a_run(phase=phase, version=n) for n, phase in enumerate((*Phase, *Phase))]
    refused = [
        court.holds(replace(first, run=run, phase=run.phase)).refusal is not None for run in runs
    ]
    assert {run.phase for run, no in zip(runs, refused, strict=True) if no} == {
        *(Phase.COMPLETED, Phase.HANDOFF)
    }
    # Each phase once, those that have no room for it always, and none because of a version.
    assert court.whole == len(Phase) + 2


def test_who_works_in_a_run_for_another_one_is_judged_by_all_checks() -> None:
    court, first = Court(), cases("allows")[0]
    for _ in range(2):
        court.holds(replace(first, run=a_run(phase=Phase.ACTING, parent="run_0")))
    assert court.whole == 2


@pytest.mark.parametrize("contract", ["raises", "fills in", "minds taint"])
def test_a_contract_that_reads_arguments_has_every_check_asked(contract: str) -> None:
    court = Court()
    for case in cases("allows", contract):
        court.holds(case)
    assert court.whole == 3


def test_refusals_are_the_checks_own() -> None:
    court = Court()
    first, second, third = cases("allows")
    court.holds(first)
    wrong = [
        replace(second, call=replace(second.call, arguments={"n": "1"})),
        replace(second, call=replace(second.call, arguments={"n": 1, "Text": ""})),
        replace(second, call=replace(second.call, input_error="no JSON")),
    ]
    for case in wrong:
        assert court.holds(case).refusal is not None
    assert court.whole == 4
    court.holds(third)
    assert court.whole == 4


def test_what_is_refused_sets_no_precedent() -> None:
    court = Court()
    for case in (*cases("says nothing"), *cases("allows", "wants a scope")):
        assert court.holds(case).refusal is not None
    assert court.whole == 6


def test_precedents_are_bounded_and_go_with_their_revision() -> None:
    court, first = Court(), cases("allows")[0]
    known = court.precedents._known  # pyright: ignore[reportPrivateUsage]
    with patch.object(precedents, "_MOST", 2):
        for _ in range(2):
            for number in range(4):
                court.holds(replace(first, tool=replace(FIND, name=f"find_{number}")))
    assert len(known) == 2
    court.holds(cases("allows")[0])
    assert len(known) == 1


def test_nothing_new_is_looked_at_that_precedents_do_not_know_of() -> None:
    """Whoever adds a field has to say whether calls that differ in it are alike."""
    assert {each.name for each in fields(Case)} == {
        *("call", "tool", "contract", "actor", "phase", "facts", "revision"),
        *("run_id", "run", "bound_by", "within", "reads_while_paused"),
        *("arguments", "effect", "risk", "risk_reason", "held", "notes", "decision", "passage"),
        *("operation", "injected"),
    }
    assert {each.name for each in fields(PolicyRequest)} == {
        *("tool", "server", "effect", "risk", "pin", "pinned", "actor", "phase", "arguments"),
        *("now", "run_id", "method", "kind", "cause", "run", "is_tainted", "any_run"),
    }
    assert {each.name for each in fields(ProposedCall)} == {
        *("call_id", "name", "arguments", "meta", "principal", "caller", "received_at"),
        *("request_id", "trace_header", "idempotency_key", "peer", "client_name", "input_error"),
        *("run_header", "method", "params", "operation", "continues", "rounds", "concealed"),
        *("cause", "parent", "run"),
    }


def test_what_rules_are_not_asked_for_is_what_the_checks_before_them_say() -> None:
    assert judging.CHECKS[-len(BY_RUN) :] == BY_RUN
    assert BY_RUN[-len(BY_RULES) :] == BY_RULES
    assert risk.classify in judging.CHECKS[: -len(BY_RUN)]
