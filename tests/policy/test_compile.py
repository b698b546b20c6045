import pytest

from gateway.errors import FilesError
from gateway.policy.compile import compile_policy, in_order
from gateway.policy.files import load
from tests.policy.example import POLICY, files, policy


def faults(*texts: str) -> list[str]:
    with pytest.raises(FilesError) as caught:
        policy(*texts)
    return [str(error) for error in caught.value.errors]


def test_a_misspelt_name_is_refused_at_load_with_its_place() -> None:
    """case: AUT-08"""
    assert faults(
        "rules: [{id: a, decision: allow, when: argumnts.path == 1}]",
    ) == [
        "a.yaml:1:48: no name `argumnts.path` here; known are `args`, `identity.*`, `now`, "
        "`request.*`, `resource.*`, `run.*`, `tool.*`"
    ]


def test_a_condition_that_is_no_expression_is_refused_at_load() -> None:
    """case: AUT-08"""
    (fault,) = faults("""rules: [{id: a, decision: allow, when: "args.path startsWith '/a'"}]""")
    assert fault.startswith("a.yaml:1:51: can't be read from here on")


def test_every_fault_of_every_file_is_told_at_once_in_file_order() -> None:
    told = faults(
        """
sets: {eu: [acme]}
rules:
  - {id: one, decision: allow, match: {tenants: {in_set: euu}}, when: identity.tennant == 'x'}
  - id: two
    decision: allow
    when: |
      args.a == 1 &&
        identity.tenant in sets.uk
  - {id: three, decision: allow, constrain: {set: {a: nope}, max: {/: 3}}}
""",
        """
sets: {eu: [other]}
rules:
  - id: one
    decision: allow
    limits: [{id: l, per: [user], max: 1, window: 1h, sum: args.}]
""",
    )
    assert told == [
        "a.yaml:4:58: no set named `euu`; did you mean `eu`?",
        "a.yaml:4:79: no name `identity.tennant` here; did you mean `identity.tenant`?",
        "a.yaml:9:32: no name `sets.uk` here; did you mean `sets.eu`?",
        "a.yaml:10:55: no name `nope` here; known are `args`, `identity.*`, `now`, `request.*`, "
        "`resource.*`, `run.*`, `sets.*`, `tool.*`",
        "a.yaml:10:71: should name an argument, such as `/amount`",
        "b.yaml:2:12: set `eu` is already defined at a.yaml:2:12; rename or remove one",
        "b.yaml:4:9: rule `one` is already defined at a.yaml:4:10; rename or remove one",
        told[-1],
    ]
    assert told[-1].startswith("b.yaml:6:")


def test_limits_and_the_default_are_defined_once() -> None:
    limit = "{id: l, per: [user], max: 1, window: 1h}"
    told = faults(
        f"default: {{code: a}}\nrules: [{{id: a, decision: allow, limits: [{limit}]}}]",
        f"default: {{code: b}}\nrules: [{{id: b, decision: allow, limits: [{limit}]}}]",
    )
    assert [each.partition(" is already")[0] for each in told] == [
        "b.yaml:1:10: the policy's `default`",
        "b.yaml:2:48: limit `l`",
    ]


def test_files_stand_in_the_order_of_their_names() -> None:
    texts = ("rules: []", "rules: []")
    assert [each.name for each in in_order(reversed(files(*texts)))] == ["a.yaml", "b.yaml"]


def test_sets_are_shared_between_files() -> None:
    assert (
        policy(
            "sets: {eu: [acme]}",
            "rules: [{id: a, decision: allow, when: identity.tenant in sets.eu}]",
        )
        .rules[0]
        .condition
    )


def test_a_rule_knows_its_file_and_line() -> None:
    rule = compile_policy([load(POLICY, file="prod.yaml")]).rules[0]
    assert (rule.id, rule.place) == ("guard.pinned-schema", "prod.yaml:11")


def test_codes_that_are_not_written_say_the_decision() -> None:
    rules = policy(
        """
rules:
  - {id: a, decision: allow}
  - {id: b, decision: deny}
  - {id: c, decision: require_approval, approval: {approvers: {roles: [x]}}}
"""
    ).rules
    assert [rule.code for rule in rules] == ["allowed", "denied", "approval_required"]
