import pytest

from gateway.policy import lint_methods, lint_tools
from gateway.policy.survey import survey
from tests.policy.example import CONTRACTS, files

APPROVAL = "approval: {approvers: {roles: [lead]}}"


def found(body: str) -> list[str]:
    view = survey(files(f"rules:\n  - {{id: a, {body}}}\n"), CONTRACTS, ())
    return [
        f"{each.level} {each.check}: {each.message}"
        for check in (lint_methods.check, lint_tools.check)
        for each in check(view)
        if each.file.endswith("a.yaml")
    ]


@pytest.mark.parametrize(
    "match",
    [
        "resources: ['file:*']",
        "prompts: ['crm.*']",
        "methods: [elicitation/create]",
        "methods: [tools/call, tasks/get], tools: ['crm.*']",
        "methods: ['*']",
    ],
)
def test_only_calls_can_be_approved_or_written_into(match: str) -> None:
    (held,) = found(f"decision: require_approval, match: {{{match}}}, {APPROVAL}")
    assert held.startswith("error approval-without-call: only `tools/call` can be approved")
    said = found(f"decision: obligation, match: {{{match}}}, constrain: {{set: {{tenant: 1}}}}")
    assert any(each.startswith("error constrain-without-call: only arguments") for each in said)


def test_rules_about_tools_may_hold_and_write_as_before() -> None:
    assert found(f"decision: require_approval, match: {{tools: ['crm.*']}}, {APPROVAL}") == []
    assert found(f"decision: require_approval, match: {{servers: [crm]}}, {APPROVAL}") == []
    assert (
        found(
            "decision: obligation, match: {tools: [crm.search_customers]}, "
            "constrain: {set: {tenant: identity.tenant}}"
        )
        == []
    )


def test_questions_have_no_limits_and_no_output() -> None:
    (said,) = found(
        "decision: allow, match: {methods: [roots/list, notifications/message]}, "
        "limits: [{id: l, per: [user], max: 1, window: 1h}]"
    )
    assert said == (
        "error obliged-question: questions of servers have no `limits`, so this refuses "
        "`notifications/message` and 1 more; write a rule of its own for them"
    )


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("handbook/*", "error unknown-resource: `handbook/*` matches no URI"),
        ("weighbridge://crm/*", "error unknown-resource: `weighbridge://crm/*` is how callers"),
    ],
)
def test_a_pattern_that_is_no_uri_is_told(pattern: str, said: str) -> None:
    (first,) = found(f"decision: deny, match: {{resources: ['{pattern}']}}")
    assert first.startswith(said)


@pytest.mark.parametrize("pattern", ["file:///a", "*", "fi*", "?ile:///a", "urn:x:*", "*/a"])
def test_a_pattern_that_may_be_a_uri_is_fine(pattern: str) -> None:
    assert found(f"decision: deny, match: {{resources: ['{pattern}']}}") == []


def test_prompts_are_named_with_their_server() -> None:
    assert found("decision: deny, match: {prompts: [reply, 'payment.*', 'hr.*', '*']}") == [
        "error unknown-prompt: `reply` matches no prompt; write `server.reply`",
        "warning unknown-prompt: no server `payment` is known; did you mean `payments`?",
    ]


def test_a_denial_of_everything_that_reads_an_argument_is_told() -> None:
    (said,) = found("decision: deny, when: args.amount > 10.0")
    assert said.startswith("warning denies-more: `amount` is no argument of resources, prompts")
    for fine in (
        "decision: deny, when: has(args.amount) && args.amount > 10.0",
        "decision: deny, match: {tools: ['payments.*']}, when: args.amount > 10.0",
        "decision: deny, mode: shadow, when: args.amount > 10.0",
    ):
        assert found(fine) == []


def test_a_server_without_contracts_may_offer_resources() -> None:
    assert found("decision: allow, match: {servers: [files], resources: ['file:*']}") == []
    (said,) = found("decision: allow, match: {servers: [payment], resources: ['file:*']}")
    assert "no server `payment` is known; did you mean `payments`?" in said
