"""A policy folder with one contract, for the commands about policies."""

from pathlib import Path

from gateway.types.guarantees import Compensation, CompensationClass
from gateway.types.tools import Effect
from tests.journeys import house

READ = "  - {id: read, decision: allow, match: {effects: [read], roles: {any: [support]}}}\n"
RULES = f"""\
rules:
{READ}  - id: note
    decision: allow
    match: {{tools: [desk.note], roles: {{any: [support]}}}}
    when: size(args.text) < 10
"""
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
KEPT = Compensation(kind=CompensationClass.IRREVERSIBLE, reason="no tool takes a note back")
NOTE = {"name": "note", "inputSchema": TEXT}
TESTS = """\
apiVersion: weighbridge/v1
kind: PolicyTest
callers:
  sam: {user: sam, tenant: acme, roles: [support]}
defaults: {as: sam}
tests:
  - name: a short note passes
    call: desk.note
    args: {text: hello}
    expect: {decision: allow, rule: note}
  - name: a long one does not
    call: desk.note
    args: {text: hello hello hello}
    expect: {decision: deny}
"""


def a_folder(folder: Path, rules: str = RULES, tests: str = TESTS) -> list[str]:
    """Write a policy folder with one contract, and return the words that name it."""
    (folder / "contracts").mkdir()
    contract = house.contract(NOTE, "desk", effect=Effect.WRITE, compensation=KEPT)
    (folder / "contracts/desk.yaml").write_text(house.contracts(contract))
    (folder / "rules.yaml").write_text(rules)
    if tests:
        (folder / "tests").mkdir()
        (folder / "tests/desk.yaml").write_text(tests)
    return ["--policies", str(folder)]
