from gateway.policy import lint_conditions
from gateway.policy.survey import survey
from tests.policy.example import CONTRACTS, TEXT, contract, files


def found(rules: str) -> list[str]:
    view = survey(files(f"rules:\n{rules}"), CONTRACTS, ())
    return [
        f"{each.line}:{each.column} {each.check}: {each.message}"
        for each in lint_conditions.check(view)
    ]


def test_a_condition_is_checked_against_every_tool_that_its_rule_selects() -> None:
    rules = """\
  - {id: a, decision: deny, match: {tools: ["payments.*", "crm.*"]}, when: args.amount > 3}
"""
    assert found(rules) == ["2:80 condition-type: no argument `amount`, for `crm.search_customers`"]


def test_every_expression_of_a_rule_is_checked() -> None:
    rules = """\
  - id: a
    decision: allow
    match: {tools: [payments.refund]}
    constrain: {set: {note: args.nope + "x"}}
    limits: [{id: l, per: [user], max: 1, window: 1h, sum: args.currency}]
"""
    assert sorted(found(rules)) == [
        "5:33 condition-type: no argument `nope`, for `payments.refund`",
        "6:60 not-a-number: `args.currency` is no number for `payments.refund` and has no sum",
    ]


def test_an_argument_without_a_single_type_is_told_to_be_unchecked() -> None:
    tool = contract("crm.find", {"filter": {"type": "object"}, "q": TEXT}, required=["filter", "q"])
    text = """\
rules:
  - {id: a, decision: deny, when: args.filter.x == 1}
  - {id: b, decision: deny, when: args.q == "filters"}
"""
    (finding,) = lint_conditions.check(survey(files(text), (tool,), ()))
    assert (finding.line, finding.level, finding.check) == (2, "info", "unchecked")


def test_an_optional_argument_has_to_be_asked_for() -> None:
    rules = """\
  - {id: a, decision: deny, match: {tools: [payments.refund]}, when: args.note == "x"}
"""
    assert found(rules) == [
        "2:70 optional-argument: argument `note` of `payments.refund` is optional: "
        "write `has(args.note) && ...`"
    ]


def test_a_word_that_can_never_be_met_is_told_at_its_place() -> None:
    rules = """\
  - {id: a, decision: deny, when: request.cause == "lookups"}
  - id: b
    decision: deny
    when: |
      true &&
      tool.risk in ["high", "hihg"]
"""
    assert found(rules) == [
        "2:52 unknown-word: `request.cause` is never `lookups`; did you mean `lookup`?",
        "7:29 unknown-word: `tool.risk` is never `hihg`; did you mean `high`?",
    ]
