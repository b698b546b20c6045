"""Permissions that nobody used."""

from dataclasses import replace

from gateway.policy.unused import unused
from gateway.types.decisions import DecisionEffect
from tests.helpers.pasts import a_past
from tests.policy.example import CONTRACTS, SAM, policy

RULES = """\
rules:
  - {id: pay, decision: allow, match: {tools: [payments.refund], roles: {any: [support, finance]}}}
  - id: crm
    decision: require_approval
    match: {tools: ["crm.*", "mail.*"], roles: {all: [finance, support]}}
    approval: {approvers: {roles: [lead]}}
  - {id: no, decision: deny, match: {tools: [infra.drop_database], roles: {any: [sre]}}}
  - {id: watch, decision: allow, mode: shadow, match: {tools: ["*"], roles: {any: [intern]}}}
"""


def test_rules_that_never_decided_and_what_roles_never_used_are_named() -> None:
    rules = policy(RULES).rules
    pasts = [
        a_past(rule="pay"),
        a_past(rule="no", key="infra.drop_database", decided=DecisionEffect.DENY),
    ]
    assert unused(rules, CONTRACTS, pasts) == (
        "rule `crm` never decided (a.yaml:3)",
        "role `finance` used nothing that rules grant it: "
        "crm.search_customers, mail.send, payments.refund",
        "role `support` never used crm.search_customers, mail.send",
    )


def test_what_was_used_is_not_named() -> None:
    rules = policy(RULES.splitlines()[0] + "\n" + RULES.splitlines()[1] + "\n").rules
    both = replace(SAM, roles=frozenset({"support", "finance"}))
    assert unused(rules, CONTRACTS, [a_past(rule="pay", actor=both)]) == ()
