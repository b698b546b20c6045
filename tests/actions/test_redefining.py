from gateway.actions import redefining, revisions
from gateway.actions.redefining import Broken
from gateway.contracts import writing
from gateway.contracts.published import Definitions
from gateway.policy.findings import Level
from gateway.replay.redefined import redefined
from gateway.revision import Unreviewed
from gateway.types.json import JsonObject
from gateway.types.tools import OnFail, ProvenanceRule, Sensitivity, Source, SourceKind
from tests.helpers.cases import NOW, a_contract, a_definition, a_tool

PROPERTIES: JsonObject = {"amount": {"type": "number"}, "note": {"type": "string"}}
DEFINITION = a_definition("pay", PROPERTIES)
CONTRACT = a_contract(
    a_tool(DEFINITION, "alpha"),
    sensitive={"/note": Sensitivity.SECRET},
    provenance=(
        ProvenanceRule(
            pointer="/amount",
            sources=(Source(kind=SourceKind.ALLOWLIST, operands=("1",)),),
            on_fail=OnFail.DENY,
        ),
    ),
)
RULES = """\
rules:
  - id: pay
    decision: allow
    match: {tools: [alpha.pay]}
    when: has(args.amount) && args.amount <= 100.0
    constrain: {max: {amount: 50}}
"""
TESTS = """\
callers: {sam: {user: sam, tenant: acme}}
tests:
  - name: sam may
    as: sam
    call: alpha.pay
    args: {amount: 5}
    expect: {decision: allow}
"""


def broken(definition: JsonObject) -> Broken:
    texts = revisions.folder_of(
        {
            "contracts/a.yaml": writing.dump([CONTRACT]),
            "rules.yaml": RULES,
            "tests/t.yaml": TESTS,
        }
    )
    law = revisions.compiled(texts, unreviewed=Unreviewed.REFUSE, at=NOW, prefix="p/")
    published: Definitions = {"pay": definition}
    other = redefined(law, {"alpha": published})
    return redefining.broken(law, other.revision, prefix="p/")


def test_what_stays_true_of_a_definition_breaks_nothing() -> None:
    for definition in (DEFINITION, {**DEFINITION, "description": "others words"}):
        assert broken(definition) == Broken(findings={}, tests={})


def test_rules_origins_and_secrets_that_lead_nowhere_are_told_with_their_place() -> None:
    found = broken(a_definition("pay", {"sum": {"type": "number"}, "text": {"type": "string"}}))
    checks = {(each.check, each.file) for each in found.findings["alpha.pay"]}
    assert checks >= {
        ("condition-type", "p/rules.yaml"),
        ("unknown-argument", "p/rules.yaml"),
        ("unknown-argument", "p/contracts/a.yaml"),
        ("sensitive", "p/contracts/a.yaml"),
    }
    assert {each.level for each in found.findings["alpha.pay"][:4]} == {Level.ERROR}


def test_an_argument_of_another_type_breaks_what_compares_it() -> None:
    found = broken(a_definition("pay", {**PROPERTIES, "amount": {"type": "string"}}))
    checks = {each.check for each in found.findings["alpha.pay"]}
    assert {"condition-type", "not-a-number"} <= checks
    assert found.tests == {"alpha.pay": ("p/tests/t.yaml:3: sam may",)}
