from dataclasses import replace

from gateway.policy import lint_tools
from gateway.policy.survey import survey
from gateway.types.guarantees import (
    CallTemplate,
    Compensation,
    CompensationClass,
    Idempotency,
    Readback,
)
from gateway.types.json import JsonObject
from gateway.types.tools import Contract, Effect, Risk, RiskRaise
from tests.policy.example import CONTRACTS, INTEGER, TEXT, contract, files


def found(rules: str, *contracts: Contract) -> list[str]:
    view = survey(files(f"rules:\n{rules}"), contracts or CONTRACTS, ())
    return [f"{each.level} {each.check}: {each.message}" for each in lint_tools.check(view)]


READ = contract("crm.find", {"q": TEXT, "limit": INTEGER}, required=["q"])


def test_a_tool_that_nobody_knows_is_told_with_the_nearest() -> None:
    rules = "  - {id: a, decision: deny, match: {tools: [crm.fnd, 'crm.*'], servers: [crn, crm]}}"
    assert found(rules, READ) == [
        "error unknown-tool: `crm.fnd` matches no known tool; did you mean `crm.find`?",
        "error unknown-server: no server `crn` is known; did you mean `crm`?",
    ]


def servers_told(rule: str, *configured: str) -> list[str]:
    view = survey(files(f"rules:\n  - {{id: a, {rule}}}\n"), (READ,), (), configured)
    return [
        f"{each.level} {each.message}"
        for each in lint_tools.check(view)
        if each.check == "unknown-server"
    ]


def test_a_server_that_is_not_configured_is_told_whatever_the_rule_is_about() -> None:
    unlike = "decision: allow, match: {resources: ['file:*'], servers: [handbooks]}"
    assert servers_told(unlike) == []  # it may have resources and no tools
    said = "no server `handbooks` is configured, and none is under a contract"
    assert servers_told(unlike, "crm") == [f"warning {said}"]
    assert servers_told(unlike, "handbook") == [f"warning {said}; did you mean `handbook`?"]
    assert servers_told(unlike, "handbooks") == []


def test_a_configured_server_is_no_slip_of_the_pen_for_another() -> None:
    rule = "decision: deny, match: {tools: ['*'], servers: [crm2]}"
    assert servers_told(rule) == ["error no server `crm2` is known; did you mean `crm`?"]
    assert servers_told(rule, "crm2") == []


def test_a_rule_for_an_effect_that_its_tools_never_have_is_told() -> None:
    (said,) = found(
        "  - {id: a, decision: deny, match: {tools: [crm.find], effects: [write]}}", READ
    )
    assert said.startswith("warning never-decides: rule `a` can never decide: no tool it names")


def test_constraints_name_arguments_that_exist_and_can_be_bounded() -> None:
    rules = """\
  - id: a
    decision: allow
    match: {tools: [crm.find]}
    constrain: {set: {tenant: identity.tenant}, max: {q: 3, limit: 5}, default: {/q/x: 1}}
"""
    assert found(rules, READ) == [
        "error unknown-argument: `crm.find` has no argument `tenant`",
        "error not-a-number: argument `q` of `crm.find` is no number and has no max",
        "info unbounded: `crm.find` may be called without `limit`, "
        "which then has no max; add a `default`",
        "error unknown-argument: `crm.find` has no argument `/q/x`",
    ]


def test_a_bound_with_a_default_is_complete() -> None:
    rules = "  - {id: a, decision: allow, constrain: {max: {limit: 5}, default: {limit: 5}}}"
    assert found(rules, READ) == []


def test_arguments_behind_references_are_found() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"page": {"$ref": "#/$defs/page"}, "items": {"type": "array"}},
        "$defs": {"page": {"type": "object", "properties": {"size": INTEGER}}},
    }
    tool = replace(READ, definition={"name": "find", "inputSchema": schema})
    rules = "  - {id: a, decision: allow, constrain: {set: {/page/size: 5, /items/*/x: 1, %s: 1}}}"
    assert found(rules % "/page/sise", tool) == [
        "error unknown-argument: `crm.find` has no argument `/page/sise`"
    ]
    open_schema: JsonObject = {**schema, "additionalProperties": True}
    tool = replace(READ, definition={"name": "find", "inputSchema": open_schema})
    assert found(rules % "/anything", tool) == []


def test_what_a_schema_does_not_say_is_no_mistake() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "map": {"type": "object", "properties": {"a": INTEGER}},
            "free": {"type": "object"},
            "plain": TEXT,
            "anything": True,
        },
    }
    tool = replace(READ, definition={"name": "find", "inputSchema": schema})
    rules = """\
  - id: a
    decision: allow
    constrain: {max: {/map/*/n: 1, anything: 1}, set: {/free/x: 1, /anything/y: 1, /plain/z: 1}}
    output: {keep: [/a]}
"""
    assert [each for each in found(rules, tool) if not each.startswith("info")] == [
        "error unknown-argument: `crm.find` has no argument `/plain/z`; did you mean `plain`?"
    ]


def test_kept_fields_exist_in_the_output_schema() -> None:
    rules = """\
  - id: a
    decision: allow
    match: {tools: [crm.search_customers]}
    output: {keep: [/items/*/id, /items/*/nam, /items/0/city, /total]}
"""
    said = [each for each in found(rules) if "unknown-field" in each]
    assert said == [
        "error unknown-field: results of `crm.search_customers` have no field `/items/*/nam`",
        "error unknown-field: results of `crm.search_customers` have no field `/total`",
    ]


def test_contracts_that_need_a_person_are_told() -> None:
    tools = (
        contract("a.wipe", {}, effect=Effect.DESTRUCTIVE, risk=Risk.MEDIUM),
        contract("a.save", {}, effect=Effect.WRITE, reviewed=False),
        contract("a.read", {}),
    )
    rules = "  - {id: all, decision: deny}\n  - {id: w, decision: deny, match: {tools: [a.wipe]}}"
    assert found(rules, *tools) == [
        "warning low-risk: `a.wipe` is destructive but of class `medium`; "
        "it counts as `high`, so write that",
        "warning unreviewed-tool: the contract of `a.save` is not reviewed; "
        "look at it and set `reviewed: true`",
        "warning no-rule: no rule ever allows or denies `a.save`; it can't be used",
    ]


def test_a_finding_about_a_contract_stands_at_its_place() -> None:
    view = survey(files("rules: []"), (replace(READ, reviewed=False),), ())
    (finding,) = lint_tools.check(view)
    assert (finding.file, finding.line) == ("contracts.yaml", 1)
    view = survey(files("rules: []"), (replace(READ, reviewed=False, place=""),), ())
    (finding,) = lint_tools.check(view)
    assert (finding.file, finding.line) == ("contracts", 0)


def test_what_is_promised_of_writes_does_nothing_for_a_read() -> None:
    asking = replace(
        READ,
        compensation=Compensation(
            kind=CompensationClass.COMPENSATABLE, call=CallTemplate(tool="crm.undo")
        ),
        idempotency=Idempotency(intent=("/q",), is_declared=True),
        readback=Readback(call=CallTemplate(tool="crm.find"), expect="true"),
    )
    rules = "  - {id: a, decision: allow, match: {tools: [crm.find]}}"
    assert found(rules, asking) == [
        f"warning no-effect: `{section}` of `crm.find` does nothing: the tool only reads"
        for section in ("compensation", "readback", "idempotency")
    ]
    raised = RiskRaise(when="true", reason="r", effect=Effect.WRITE)
    assert found(rules, replace(asking, raises=(raised,))) == []
