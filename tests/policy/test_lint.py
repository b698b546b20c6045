from gateway.policy.findings import Finding, Level
from gateway.policy.lint import lint, lint_texts
from tests.policy.example import CONTRACTS, POLICY, files


def told(text: str) -> list[str]:
    return [
        f"{each.line}:{each.column} {each.level} {each.check}"
        for each in lint_texts({"p.yaml": text}, CONTRACTS)
        if each.file == "p.yaml"
    ]


def test_the_example_has_no_errors_and_no_warnings() -> None:
    findings = lint(files(POLICY), CONTRACTS, roles=["finance-lead", "sre-lead", "security"])
    assert findings == ()


def test_every_planted_mistake_is_found_at_its_place() -> None:
    assert told(
        """\
sets:
  eu_tenants: [acme]
  unused: [x]
rules:
  - id: a
    decision: deny
    when: args.tenant != identity.tenant
    match: {tools: [crm.search_customers]}
  - id: b
    decision: allow
    match: {tools: [payments.refund]}
    when: args.amount <= "10" && args.amont == 3
  - id: c
    decision: allow
    match: {tools: [payment.refund], tenants: {in_set: eu_tenant}, roles: {any: [x]}}
    when: |
      args.x > 3 &&
        identity.tennant in sets.eu_tenants
  - id: c
    decision: require_approval
    match: {tools: [payments.refund], phases: [acting]}
    approval: {approvers: {roles: [nobody]}}
"""
    ) == [
        "3:3 warning unused-set",
        "5:9 warning deny-without-code",
        "7:11 error optional-argument",
        "9:9 warning open-allow",
        "12:23 error condition-type",
        "12:38 error condition-type",
        "15:21 error unknown-tool",
        "15:56 error unknown-set",
        "18:17 error condition",
        "19:9 error duplicate",
        "22:36 info unknown-role",
    ]


def test_a_file_that_can_not_be_read_does_not_hide_the_others() -> None:
    findings = lint_texts(
        {"a.yaml": "rules: [{id: a}]", "b.yaml": "a: &x 1", "c.yaml": "sets: {s: [1]}"}, ()
    )
    assert [(each.file, each.check, each.level) for each in findings] == [
        ("a.yaml", "schema", Level.ERROR),
        ("b.yaml", "schema", Level.ERROR),
        ("c.yaml", "unused-set", Level.WARNING),
    ]


def test_the_messages_name_the_mend() -> None:
    findings = lint_texts({"p.yaml": "rules: [{id: a, decision: permit}]"}, CONTRACTS)
    (schema,) = [each for each in findings if each.check == "schema"]
    assert isinstance(schema, Finding)
    assert "`allow`, `deny`, `require_approval` or `obligation`" in schema.message
