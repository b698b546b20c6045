"""A first policy for one person at one machine, with tests of its own."""

from collections.abc import Iterable, Sequence
from typing import Final

from gateway.contracts import schemas
from gateway.errors import SchemaError
from gateway.policy import sample_arguments
from gateway.policy.sample_texts import Pool
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Contract, Effect
from gateway.types.values import value
from gateway.yamltext import layout
from gateway.yamltext.editors import schema_line

ROLE: Final = "owner"  # of who acts on this machine
IDENTITY: Final = f"""\
# Who acts on this machine, in a terminal and through the client; rules go by the role.
identity:
  local: {{user: local, roles: [{ROLE}]}}
"""
POLICY: Final = f"""\
{schema_line("policy")}\
# What you start with: reads pass, writes ask you first, what destroys is decided outside of the
# agent's own client. Nothing is allowed unless a rule allows it (docs/reference/policy.md).
apiVersion: weighbridge/v1
kind: PolicySet
metadata: {{name: starter}}

rules:
  - id: starter.read
    decision: allow
    match: {{tools: ["*"], effects: [read], roles: {{any: [{ROLE}]}}}}

  - id: starter.resources
    decision: allow
    match: {{resources: ["*"], roles: {{any: [{ROLE}]}}}}

  - id: starter.prompts
    decision: allow
    match: {{prompts: ["*"], roles: {{any: [{ROLE}]}}}}

  # Log messages and questions of servers, such as for a value that is missing.
  - id: starter.questions
    decision: allow
    match:
      methods: [elicitation/create, sampling/createMessage, roots/list, notifications/message]
      roles: {{any: [{ROLE}]}}

  # Confirmed in your client, where it can ask you; else with `weighbridge approvals approve`.
  - id: starter.write
    decision: require_approval
    reason: it changes something
    match: {{tools: ["*"], effects: [write], roles: {{any: [{ROLE}]}}}}
    approval: {{approvers: {{users: [self]}}}}

  # Decided in a terminal or on the page, where no agent's client can answer by itself.
  - id: starter.destroy
    decision: require_approval
    reason: it destroys something
    match: {{tools: ["*"], effects: [destructive], roles: {{any: [{ROLE}]}}}}
    approval: {{approvers: {{roles: [{ROLE}]}}, requester_may_approve: true}}
"""
_RULES: Final = {
    Effect.READ: ("starter.read", "allow", "a read passes"),
    Effect.WRITE: ("starter.write", "require_approval", "a write asks first"),
    Effect.DESTRUCTIVE: (
        "starter.destroy",
        "require_approval",
        "what destroys is decided by a person",
    ),
}
_HEAD: Final = f"""\
{schema_line("policy-test")}\
# `weighbridge policy test` runs these; the policy is not taken up while one fails.
apiVersion: weighbridge/v1
kind: PolicyTest
callers:
  me: {{user: local, tenant: local, roles: [{ROLE}]}}
  other: {{user: other, tenant: local}}
defaults: {{as: me}}
tests:
"""


@value
class Case:
    """One test: its name, what is asked for, and what has to come of it."""

    name: str
    asked: JsonObject
    expected: JsonObject

    @property
    def text(self) -> str:
        """The test as a line of the file."""
        whole: JsonObject = {"name": self.name, **self.asked, "expect": self.expected}
        return f"  - {layout.flow(whole)}\n"


def cases(contracts: Iterable[Contract], servers: Sequence[str]) -> tuple[Case, ...]:
    """Return tests of the policy: by one tool of each effect, and by what needs none."""
    found: list[Case] = []
    for effect, (rule, decision, name) in _RULES.items():
        tools = sorted((each for each in contracts if each.effect is effect), key=_by_name)
        example = next(
            ((each, args) for each in tools if (args := _example(each)) is not None), None
        )
        if example is None:
            continue
        asked: JsonObject = {"call": example[0].tool, "args": example[1]}
        found.append(Case(name=name, asked=asked, expected={"decision": decision, "rule": rule}))
        refused: JsonObject = {"as": "other", **asked}
        found.append(
            Case(name=f"{name}, for nobody else", asked=refused, expected={"decision": "deny"})
        )
    if servers:
        resource: JsonObject = {"resource": "file:///readme.md", "server": servers[0]}
        rule_of: JsonObject = {"decision": "allow", "rule": "starter.resources"}
        found.append(Case(name="a resource can be read", asked=resource, expected=rule_of))
        other: JsonObject = {"as": "other", **resource}
        denied: JsonObject = {"decision": "deny"}
        found.append(Case(name="by nobody else", asked=other, expected=denied))
    return tuple(found)


def tests(given: Iterable[Case]) -> str:
    """Return the file of tests."""
    return _HEAD + "".join(each.text for each in given)


def _by_name(contract: Contract) -> str:
    return contract.tool


def _example(contract: Contract) -> JsonObject | None:
    """Return arguments that the tool's schema takes; None when none were found."""
    schema = contract.definition.get("inputSchema")
    try:
        judged = schemas.compile_tool(contract.definition).input
    except SchemaError:
        return None
    root: JsonObject = schema if isinstance(schema, dict) else {}
    empty: JsonObject = {}
    for each in (empty, *sample_arguments.values(root, root, Pool())):
        if isinstance(each, dict) and judged.is_valid(each):
            return _short(each)
    return None


def _short(found: Json) -> JsonObject | None:
    """Return arguments that fit into a line that people read."""
    return found if isinstance(found, dict) and len(layout.flow(found)) <= 400 else None
