"""Judging requests that nobody makes."""

from dataclasses import replace

import pytest

from gateway.actions import trial
from gateway.policy.cases import load
from gateway.policy.testing import Left
from gateway.types.decisions import DecisionEffect
from gateway.types.runs import Phase
from gateway.types.tools import Contract, Kind, Sensitivity, Tool
from tests.helpers.cases import NOW, a_contract, a_definition, a_revision, a_tool, an_actor

RULES = """\
rules:
  - {id: find, decision: allow, match: {tools: [crm.find]}}
  - {id: handbook, decision: allow, match: {resources: ["file:///handbook/*"], servers: [files]}}
  - {id: prompts, decision: allow, match: {prompts: ["crm.*"]}}
  - id: ask
    decision: allow
    match: {methods: [elicitation/create], servers: [crm]}
    when: "!args.message.contains('password')"
"""
CASE = """\
callers: {{sam: {{user: sam}}}}
defaults: {{as: sam}}
tests:
  - {{name: it, {about}, expect: {{decision: allow}}}}
"""
CONTRACT = a_contract()
REVISION = a_revision([CONTRACT], RULES)
ALLOW, DENY = DecisionEffect.ALLOW, DecisionEffect.DENY


@pytest.mark.parametrize(
    ("about", "effect", "rule"),
    [
        ("call: crm.find", ALLOW, "find"),
        ("resource: 'file:///handbook/a', server: files", ALLOW, "handbook"),
        ("resource: 'file:///handbook/a', server: other", DENY, ""),
        ("resource: 'file:///payroll/a', server: files", DENY, ""),
        ("prompt: crm.reply, args: {tone: kind}", ALLOW, "prompts"),
        ("prompt: crm.reply, method: completion/complete", ALLOW, "prompts"),
        ("call: crm.find, ask: elicitation/create, args: {message: which city?}", ALLOW, "ask"),
        ("call: crm.find, ask: elicitation/create, args: {message: your password?}", DENY, ""),
        ("call: crm.find, ask: sampling/createMessage", DENY, ""),
    ],
)
def test_every_method_is_judged_by_the_checks_of_its_calls(
    about: str, effect: DecisionEffect, rule: str
) -> None:
    (case,) = load(CASE.format(about=about), file="t.yaml").cases({CONTRACT.tool: CONTRACT})
    assert case.call is not None
    decision = trial.decide(REVISION)(case.call)
    assert (decision.effect, decision.rule) == (effect, rule)
    assert trial.validate(REVISION)(case.call) == ""


@pytest.mark.parametrize(("rules", "effect"), [(RULES, ALLOW), ("rules: []", DENY)])
def test_a_task_is_judged_by_whether_its_tool_could_be_used(
    rules: str, effect: DecisionEffect
) -> None:
    text = CASE.format(about="call: crm.find, method: tasks/get")
    (case,) = load(text, file="t.yaml").cases({CONTRACT.tool: CONTRACT})
    assert case.call is not None
    assert trial.decide(a_revision([CONTRACT], rules))(case.call).effect is effect


FILE = Tool(
    server="files",
    name="file:///handbook/a",
    exposed_name="file:///handbook/a",
    definition={},
    pin="",
    kind=Kind.RESOURCE,
)
TOOL = a_tool()


@pytest.mark.parametrize(
    ("tool", "contract", "expected"),
    [
        (TOOL, CONTRACT, True),
        (TOOL, None, False),
        (TOOL, replace(CONTRACT, reviewed=False), False),
        (TOOL, replace(CONTRACT, pin="sha256:other"), False),
        (replace(TOOL, name="other"), CONTRACT, False),
        (FILE, None, True),
        (replace(FILE, server="other"), None, False),
        (replace(FILE, name="file:///payroll/a"), None, False),
    ],
)
def test_what_a_caller_finds_in_its_list_is_told_by_the_checks_of_lists(
    tool: Tool, contract: Contract | None, expected: bool
) -> None:
    revision = a_revision([contract] if contract else [], RULES)
    assert trial.is_listed(tool, an_actor(), Phase.ACTING, revision, NOW) is expected


ROWS = a_contract(
    a_tool(
        a_definition(
            "find",
            outputSchema={"type": "object", "properties": {"rows": {"type": "array"}}},
        )
    ),
    sensitive_results={"/token": Sensitivity.SECRET},
)
FILTERED = """\
rules:
  - id: find
    decision: allow
    match: {tools: [crm.find]}
    output:
      rows: [{path: /rows, where: row.id == identity.user}]
      redact: [{path: /rows/*/mail, as: hash}]
"""


def left(result: str) -> Left:
    text = CASE.format(about=f"call: crm.find, result: {result}")
    text = text.replace("decision: allow}", "decision: allow, result: {}}")
    (case,) = load(text, file="t.yaml").cases({ROWS.tool: ROWS})
    assert case.call is not None
    return trial.leaves(a_revision([ROWS], FILTERED))(case.call)


def test_of_a_result_leaves_what_would_leave_of_a_real_one() -> None:
    rows = "[{id: sam, mail: a@b.c}, {id: kim}, nothing]"
    assert left(f"{{rows: {rows}, token: t}}").value == {
        "rows": [{"id": "sam", "mail": "[hash]"}],
    }


def test_a_result_that_no_server_may_return_tests_nothing() -> None:
    assert left("{rows: 1}").problem == (
        "it does not match the tool's output schema: `/rows`: expected array"
    )
