"""Step 8: constrain."""

from dataclasses import replace

from gateway.case import Case, Verdict
from gateway.judging import judge
from gateway.runs.templates import RunLimit, Template
from gateway.steps import constrain
from gateway.types.decisions import Constraint, Decision, DecisionEffect
from gateway.types.guarantees import Idempotency, Injection, InjectPlace
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Refusal, Status
from gateway.types.runs import BindingKind, Phase, Run
from gateway.types.tools import Effect
from gateway.types.values import replaced
from tests.helpers.cases import a_case, a_contract, a_definition, a_prompt, a_tool

PINNED = """\
rules:
  - id: own-tenant
    decision: allow
    match: {tools: ["crm.*"]}
    constrain: {set: {tenant: identity.tenant}, max: {limit: 50}}
"""
FIND = a_definition("find", {"tenant": {"type": "string"}, "limit": {"type": "integer"}})


def test_policy_writes_tenant_and_bounds_over_what_the_model_sent() -> None:
    """case: AUT-03"""
    case = a_case({"tenant": "globex", "limit": 200}, tool=a_tool(FIND), policy=PINNED)
    assert judge(case).case.arguments == {"tenant": "acme", "limit": 50}


def test_what_policy_writes_is_not_written_beside_another_spelling_of_it() -> None:
    open_tool = a_tool(a_definition("find", {}))
    for name in ("Tenant", "te_nant"):
        case = a_case({name: "globex"}, tool=open_tool, policy=PINNED)
        verdict = judge(case)
        assert verdict.refusal is not None
        assert (verdict.refusal.code, f"`{name}`" in verdict.refusal.reason) == (
            "constraint_unsatisfiable",
            True,
        )


def test_arguments_that_no_longer_fit_the_schema_are_not_sent() -> None:
    answer = constrained("/limit", "many")
    assert isinstance(answer, Refusal)
    assert (answer.status, answer.code) == (Status.DENIED, "constraint_unsatisfiable")


def test_a_constraint_that_fits_is_applied() -> None:
    answer = constrained("/limit", 5)
    assert isinstance(answer, Case)
    assert answer.arguments == {"limit": 5}


def constrained(pointer: str, value: Json) -> Case | Refusal:
    constraint = Constraint(pointer=pointer, kind="set", value=value, rule="r")
    decision = Decision(effect=DecisionEffect.ALLOW, constraints=(constraint,), rule="r")
    return constrain.apply(a_case(tool=a_tool(FIND), arguments={}, decision=decision))


def test_what_has_no_schema_can_not_be_constrained_and_is_denied() -> None:
    constraint = Constraint(pointer="/who", kind="set", value="Ann", rule="r")
    decision = Decision(effect=DecisionEffect.ALLOW, constraints=(constraint,), rule="r")
    contract = a_contract(a_prompt())
    case = a_case(tool=a_prompt(), contract=contract, arguments={}, decision=decision)
    answer = constrain.apply(case)
    assert isinstance(answer, Refusal)
    assert (answer.status, answer.code) == (Status.DENIED, "constraint_unsatisfiable")


def test_constrained_arguments_are_judged_with_a_stand_in_for_the_key_of_the_server() -> None:
    definition = a_definition("put", {"v": {"type": "integer"}, "key": {"type": "string"}})
    schema = definition["inputSchema"]
    assert isinstance(schema, dict)
    tool = a_tool({**definition, "inputSchema": {**schema, "required": ["key"]}})
    constraint = Constraint(pointer="/v", kind="set", value=5, rule="r")
    decision = Decision(effect=DecisionEffect.ALLOW, constraints=(constraint,), rule="r")
    for name, is_kept in (("/key", True), ("/v/key", False)):
        keyed = Idempotency(inject=Injection(place=InjectPlace.ARGUMENT, name=name))
        contract = a_contract(tool, effect=Effect.WRITE, idempotency=keyed)
        case = a_case(tool=tool, contract=contract, arguments={}, decision=decision)
        answer = constrain.apply(case)
        if is_kept:
            assert isinstance(answer, Case)
            assert answer.arguments == {"v": 5}
        else:
            assert isinstance(answer, Refusal)
            assert answer.code == "constraint_unsatisfiable"


OF_RUN = Template(
    name="refund",
    limits=(
        RunLimit(kind="writes", maximum=3),
        RunLimit(kind="tokens", maximum=1000),
        RunLimit(kind="money", maximum=500, argument="/amount"),
    ),
)
PAY = a_definition("pay", {"amount": {"type": "number"}})
HALVED = """\
rules:
  - id: half
    decision: allow
    match: {tools: ["crm.*"]}
    constrain: {set: {amount: args.amount / 2.0}}
    limits: [{id: payments, per: [user], max: 9, window: 1h}]
"""


def in_run(arguments: JsonObject, *, cause: str = "", tokens: int = 0) -> Verdict:
    tool = a_tool(PAY)
    case = a_case(
        arguments, tool=tool, contract=a_contract(tool, effect=Effect.WRITE), policy=HALVED
    )
    run = Run(run_id="run_1", tenant="acme", owner="o", user="sam", template="refund")
    return judge(
        replaced(
            case,
            run=replaced(run, phase=Phase.ACTING, tokens=tokens),
            bound_by=BindingKind.META,
            call=replace(case.call, cause=cause),
            revision=replace(case.revision, templates={"refund": OF_RUN}),
        )
    )


def test_a_call_takes_of_the_limits_of_its_run_by_its_final_arguments() -> None:
    judged = in_run({"amount": 25.0})
    assert judged.refusal is None
    taken = {each.id: each.amount for each in judged.case.decision.limits}
    assert taken == {"payments": 1.0, "run_writes": 1.0, "run_money": 12.5}


def test_a_call_of_the_gateways_own_takes_nothing_of_its_run() -> None:
    taken = [
        each.id for each in in_run({"amount": 25.0}, cause="compensation").case.decision.limits
    ]
    assert taken == ["payments"]


def test_an_amount_that_can_not_be_told_is_refused() -> None:
    refusal = in_run({"amount": -25.0}).refusal
    assert refusal is not None
    assert (refusal.status, refusal.code) == (Status.DENIED, "constraint_unsatisfiable")
    assert refusal.reason == "`/amount` is limited in this run, and is no amount"


def test_a_run_without_tokens_makes_no_call() -> None:
    refusal = in_run({"amount": 25.0}, tokens=1000).refusal
    assert refusal is not None
    assert (refusal.status, refusal.code) == (Status.LIMIT_EXCEEDED, "run_tokens")
    assert refusal.rule == "runs.refund"
