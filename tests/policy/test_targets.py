"""What two policies could be asked about."""

from gateway.policy.methods import Target
from gateway.policy.targets import targets
from gateway.types.calls import Method
from gateway.types.tools import Kind
from tests.policy.example import policy


def of(*rules: str, tools: tuple[str, ...] = (), servers: tuple[str, ...] = ()) -> set[Target]:
    text = "\n".join(["rules:" if rules else "rules: []", *(f"  - {each}" for each in rules)])
    return {*targets(policy(text).rules, tools, servers)}


def test_every_tool_is_called() -> None:
    assert of(tools=("a.x", "b.y")) == {
        Target(Method.CALL_TOOL, Kind.TOOL, "a.x", "a"),
        Target(Method.CALL_TOOL, Kind.TOOL, "b.y", "b"),
    }


def test_other_methods_are_tried_where_a_rule_names_them() -> None:
    found = of("{id: a, decision: deny, match: {methods: [tasks/cancel]}}", tools=("a.x",))
    assert Target(Method.CANCEL_TASK, Kind.TOOL, "a.x", "a") in found
    asks = of(
        "{id: a, decision: allow, match: {methods: [elicitation/create], servers: [a]}}",
        tools=("a.x", "b.y"),
    )
    assert Target(Method.ELICIT, Kind.TOOL, "a.x", "a") in asks
    assert Target(Method.ELICIT, Kind.TOOL, "b.y", "b") not in asks


def test_a_pattern_over_uris_stands_for_one_at_each_server() -> None:
    found = of(
        "{id: a, decision: allow, match: {resources: ['file:///h/*'], servers: [files]}}",
        servers=("wiki",),
    )
    assert {each.server for each in found} == {"files", "wiki", "other-server"}
    assert {(each.method, each.key) for each in found} == {(Method.READ_RESOURCE, "file:///h/x")}


def test_a_pattern_over_prompts_stands_for_one() -> None:
    found = of("{id: a, decision: allow, match: {prompts: ['desk.*']}}")
    assert found == {Target(Method.GET_PROMPT, Kind.PROMPT, "desk.x", "desk")}
