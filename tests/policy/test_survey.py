from dataclasses import replace

from gateway.policy.findings import Level
from gateway.policy.survey import effects_of, risks_of, survey
from gateway.types.tools import Effect, Risk, RiskRaise
from tests.policy.example import CONTRACTS, POLICY, files


def test_a_rule_is_about_the_tools_that_it_could_match() -> None:
    view = survey(files(POLICY), CONTRACTS, ["lead"])
    about = {each.rule.id: [tool.tool for tool in each.tools] for each in view.rules}
    assert about["guard.tenant-isolation"] == ["crm.search_customers"]
    assert about["guard.plan-is-read-only"] == [
        "payments.refund",
        "mail.send",
        "infra.drop_database",
    ]
    assert view.roles >= {"support", "finance", "sre", "lead"}


def test_a_call_can_be_what_the_contract_or_a_hint_raises_it_to() -> None:
    read = CONTRACTS[1]
    assert effects_of(read) == {Effect.READ}
    assert effects_of(CONTRACTS[0]) == {Effect.WRITE, Effect.DESTRUCTIVE}
    raised = replace(read, raises=(RiskRaise(when="true", reason="r", effect=Effect.WRITE),))
    assert effects_of(raised) == {Effect.READ, Effect.WRITE}
    assert list(risks_of(CONTRACTS[0])) == [Risk.HIGH, Risk.CRITICAL]


def test_a_finding_points_into_the_rule() -> None:
    view = survey(files(POLICY), CONTRACTS, ())
    finding = view.rules[0].finding(Level.INFO, "check", "said", "when")
    assert (finding.file, finding.line, finding.column) == ("a.yaml", 14, 11)
    assert view.rules[0].finding(Level.INFO, "check", "said").line == 11
