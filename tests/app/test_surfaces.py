"""Whether somebody could decide."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.app.surfaces import Lack, lacks
from gateway.config.settings import Settings
from gateway.types.approvals import ApprovalClause, Assurance, Escalation, Factor

LEADS = ApprovalClause(factors=(Factor(name="leads", roles=("lead",), users=("cai",), count=2),))
LEA = {"user": "lea", "tenant": "acme", "roles": ["lead"]}
BO = {"user": "bo", "tenant": "acme", "roles": ["lead"]}
EVE = {"user": "eve", "tenant": "globex", "roles": ["lead"]}
OIDC = {"issuer": "https://login.acme.example", "client_id": "gateway", "tenant": "acme"}


def found(clause: ApprovalClause, **sections: Any) -> list[Lack]:
    return [*lacks([("refunds", clause)], Settings.model_validate(sections))]


def test_enough_people_of_one_tenant_are_enough() -> None:
    assert found(LEADS, admin={"accounts": [LEA, BO]}) == []
    cai = {"user": "cai", "tenant": "acme"}
    assert found(LEADS, admin={"accounts": [LEA, cai]}) == []


def test_people_of_two_tenants_never_decide_together() -> None:
    (lack,) = found(LEADS, admin={"accounts": [LEA, EVE]})
    assert lack.found.endswith("`refunds` holds; it takes 1 more of lead, cai")
    assert "`admin.accounts`" in lack.mend


def test_who_acts_locally_asks_too_and_is_nobody_who_could_decide_alone() -> None:
    one = replace(LEADS, factors=(Factor(name="leads", roles=("lead",)),))
    local = {"local": {"user": "kim", "roles": ["lead"]}}
    assert len(found(one, identity=local)) == 1
    assert found(replace(one, requester_may_approve=True), identity=local) == []
    assert len(found(one)) == 1


def test_whom_an_escalation_brings_in_counts() -> None:
    clause = replace(LEADS, escalation=(Escalation(after_s=60, users=("bo",)),))
    bo = {"user": "bo", "tenant": "acme"}
    assert found(clause, admin={"accounts": [LEA, bo]}) == []


@pytest.mark.parametrize("accounts", [[], [LEA, BO]])
def test_a_provider_is_needed_where_a_rule_wants_a_login(accounts: list[Any]) -> None:
    clause = replace(LEADS, min_assurance=Assurance.AUTHENTICATED)
    (lack,) = found(clause, admin={"accounts": accounts})
    assert "wants approvers to log in at an identity provider" in lack.found
    assert "`admin.oidc`" in lack.mend
    assert found(clause, admin={"accounts": accounts, "oidc": OIDC}) == []


def test_who_comes_in_by_a_provider_is_not_known_here() -> None:
    assert found(LEADS, admin={"oidc": OIDC}) == []


def test_what_the_own_client_confirms_needs_nobody_else() -> None:
    assert found(replace(LEADS, self_confirm=True, min_assurance=Assurance.CLIENT_ASSERTED)) == []
