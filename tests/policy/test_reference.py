"""The examples of the reference page are rules and tests that hold."""

import re
from pathlib import Path

from gateway.policy import cases, lint_approvals, lint_methods
from gateway.policy.compile import compile_policy
from gateway.policy.files import load
from gateway.policy.survey import survey
from gateway.policy.testing import run
from tests.policy.example import NUMBER, TEXT, contract

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "policy.md"
REFUND = contract("desk.refund", {"amount": NUMBER, "currency": TEXT})


def test_the_tests_on_the_page_pass_under_the_rules_on_the_page() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tests,) = [each for each in blocks if "tests:" in each]
    rules = [
        load(text, file=f"{number}.yaml")
        for number, text in enumerate(each for each in blocks if each is not tests)
    ]
    assert len(rules) == 7
    view = survey(rules, (REFUND,), ("finance-lead", "legal", "cfo"))
    assert [*lint_methods.check(view), *lint_approvals.check(view)] == []
    found = cases.load(tests, file="tests.yaml").cases({REFUND.tool: REFUND})
    report = run(found, compile_policy(rules), validate=lambda _: "")
    assert report.failed == 0, report.text()
    assert len(report.results) == 7
