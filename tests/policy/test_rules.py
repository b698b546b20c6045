import pytest

from gateway.errors import FilesError
from gateway.policy.files import load
from gateway.types.calls import Method
from gateway.types.decisions import RUN_S

RULE = "rules:\n  - {{id: a, decision: {decision}{rest}}}"
APPROVAL = "approval: {approvers: {roles: [x]}}"


def faults(text: str) -> list[str]:
    with pytest.raises(FilesError) as caught:
        load(text, file="p.yaml")
    return [str(error) for error in caught.value.errors]


@pytest.mark.parametrize(
    ("decision", "rest", "said"),
    [
        ("permit", "", "p.yaml:2:23: `rules.0.decision` is `permit`"),
        ("allow", ", mtach: {}", "unknown key `mtach`; did you mean `match`?"),
        ("allow", ", match: {tool: [x]}", "unknown key `tool`; did you mean `tools`?"),
        ("allow", ", match: {phases: [planing]}", "did you mean `planning`?"),
        ("allow", ", match: {tools: []}", "is empty; write at least one"),
        ("allow", ", risk: extreme", "`rules.0.risk` is `extreme`"),
        ("allow", ", code: Not Good", "`rules.0.code`"),
        ("allow", f", {APPROVAL}", "a rule with `decision: allow` waits for nobody; remove it"),
        (
            "require_approval",
            "",
            "without an `approval` section; say who may approve: "
            "`approval: {approvers: {roles: [lead]}}`",
        ),
        ("deny", ", constrain: {set: {a: 1}}", "there is nothing to constrain"),
        ("obligation", "", "an obligation needs"),
        ("require_approval", ", approval: {approvers: {}}", "name at least one role or user"),
        (
            "require_approval",
            ", approval: {approvers: {roles: [x]}, quorum: 0}",
            "has to be at least `1`",
        ),
        (
            "require_approval",
            ", approval: {approvers: {roles: [x]}, quorum: true}",
            "`rules.0.approval.quorum`",
        ),
        (
            "require_approval",
            ", approval: {approvers: {roles: [x], tenant: any}}",
            "`rules.0.approval.approvers.tenant` is `any`",
        ),
        (
            "require_approval",
            ", approval: {approvers: {roles: [x]}, expires: 30}",
            "is no duration; a duration is a number with a unit",
        ),
        (
            "require_approval",
            ", approval: {quorum: 1}",
            "should say who may decide by `approvers` or `factors`, one of the two",
        ),
        (
            "require_approval",
            ", approval: {approvers: {roles: [x]}, factors: [{name: a, roles: [x]}]}",
            "should say who may decide by `approvers` or `factors`, one of the two",
        ),
        (
            "require_approval",
            ", approval: {quorum: 1, factors: [{name: a, roles: [x]}]}",
            "has a `quorum` beside `factors`; each of them has its own `count`",
        ),
        (
            "require_approval",
            ", approval: {factors: [{name: a, roles: [x]}, {name: a, roles: [y]}]}",
            "has two `factors` of one name; rename one",
        ),
        ("require_approval", ", approval: {factors: []}", "is empty; write at least one"),
        (
            "require_approval",
            ", approval: {factors: [{name: a}]}",
            "name at least one role or user of the group",
        ),
        (
            "require_approval",
            ", approval: {approvers: {roles: [x]}, escalate: [{after: 1m}]}",
            "name at least one role or user who may decide then",
        ),
        (
            "require_approval",
            ", approval: {approvers: {roles: [x]}, escalate: [{after: 1m, users: [self]}]}",
            "nobody escalates to `self`",
        ),
        (
            "require_approval",
            ", approval: {approvers: {roles: [x]}, "
            "escalate: [{after: 1m, roles: [y]}, {after: 1m, roles: [z]}]}",
            "has steps of `escalate` out of order",
        ),
        (
            "require_approval",
            ", approval: {approvers: {roles: [x]}, min_assurance: authentic}",
            "did you mean `authenticated`?",
        ),
        (
            "require_approval",
            ", approval: {approvers: {roles: [x]}, fallback: allow}",
            "`rules.0.approval.fallback` is `allow`",
        ),
        (
            "allow",
            ", limits: [{id: l, per: [user], max: -1, window: 1h}]",
            "has to be at least `0`",
        ),
        ("allow", ", limits: [{id: l, per: [user], max: 1, window: 0s}]", "a duration is a number"),
        (
            "allow",
            ", limits: [{id: l, per: [], max: 1, window: 1s}]",
            "is empty; write at least one",
        ),
        ("allow", ", limits: [{id: l, per: [users], max: 1, window: 1s}]", "did you mean `user`?"),
        ("allow", ", output: {redact: [{path: a, as: hash}]}", "`rules.0.output.redact.0.path`"),
        ("allow", ", output: {redact: [{path: /a, as: gone}]}", "is `gone`"),
        ("allow", ", output: {keep: []}", "is empty; write at least one"),
    ],
)
def test_a_rule_that_can_not_be_meant_is_refused(decision: str, rest: str, said: str) -> None:
    assert any(said in fault for fault in faults(RULE.format(decision=decision, rest=rest)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("default: {decision: allow}", "`default.decision` is `allow`"),
        ("apiVersion: weighbridge/v9", "`apiVersion` is `weighbridge/v9`"),
        ("kind: ToolContracts", "`kind` is `ToolContracts`"),
        ("rule: []", "unknown key `rule`; did you mean `rules`?"),
        ("sets: {a-b: [x]}", "sets"),
        ("rules: [{id: 'a b', decision: deny}]", "is no id; use letters"),
    ],
)
def test_a_file_that_can_not_be_meant_is_refused(text: str, said: str) -> None:
    assert any(said in fault for fault in faults(text))


def test_nothing_but_a_denial_can_be_the_default() -> None:
    content = load("default: {code: closed}", file="p.yaml").content
    assert content.default is not None
    assert content.default.decision == "deny"


def test_durations_are_seconds() -> None:
    text = "rules: [{id: a, decision: allow, limits: [%s]}]"
    limits = ", ".join(
        f"{{id: l{index}, per: [user], max: 1, window: {window}}}"
        for index, window in enumerate(("30s", "1.5m", "2h", "7d"))
    )
    (rule,) = load(text % limits, file="p.yaml").content.rules
    assert [limit.window for limit in rule.limits] == [30, 90, 7200, 604800]


def test_a_limit_may_be_for_a_whole_run() -> None:
    text = "rules: [{id: a, decision: allow, limits: [{id: l, per: [tool], max: 1, window: %s}]}]"
    (rule,) = load(text % "run", file="p.yaml").content.rules
    assert rule.limits[0].window == RUN_S
    with pytest.raises(FilesError, match="a duration is a number"):
        load(text % "a run", file="p.yaml")


def test_values_of_sets_keep_their_types() -> None:
    content = load('sets: {a: [1, 1.5, true, "1", no]}', file="p.yaml").content
    assert [repr(each) for each in content.sets["a"]] == ["1", "1.5", "True", "'1'", "'no'"]


@pytest.mark.parametrize(
    ("match", "said"),
    [
        ("methods: [tool/call]", "did you mean `tools/call`?"),
        ("methods: ['*', nope]", "is `nope`"),
        ("methods: []", "is empty; write at least one"),
        ("methods: tools/call", "a list"),
        ("tools: [a.b], resources: ['file:*']", "write a rule for each"),
        ("tools: [a.b], methods: [resources/read]", "`resources/read` never is"),
        ("prompts: [a.b], methods: [roots/list, tools/call]", "`tools/call` never is"),
        ("authenticated_by: [key]", "did you mean `api_key`?"),
        ("causes: [compensated]", "did you mean `compensation`?"),
        ("causes: []", "is empty; write at least one"),
        ("resources: ['file:*'], causes: [lookup]", "by itself only calls tools"),
    ],
)
def test_what_a_rule_can_not_be_about_is_told(match: str, said: str) -> None:
    with pytest.raises(FilesError) as caught:
        load(f"rules:\n  - {{id: a, decision: deny, match: {{{match}}}}}\n", file="a.yaml")
    assert said in "\n".join(map(str, caught.value.errors))


def test_a_star_stands_for_every_method() -> None:
    file = load("rules: [{id: a, decision: deny, match: {methods: ['*']}}]", file="a.yaml")
    assert set(file.content.rules[0].match.methods or ()) == set(Method)
