"""Approval sections as clauses, and in words."""

import pytest

from gateway.policy.clauses import compiled, duration, groups, in_words, to_json
from gateway.policy.rules import Approval
from gateway.types.approvals import (
    ApprovalClause,
    Assurance,
    Escalation,
    Factor,
    Fallback,
)
from tests.policy.example import policy, request


def clause(section: str) -> ApprovalClause:
    """Return the clause of a rule in the form that a decision has it, for a call of sam's."""
    text = f"""\
rules:
  - id: a
    decision: require_approval
    approval: {section}
"""
    found = policy(text).decide(request()).approval
    assert found is not None
    return found


def test_one_group_is_one_factor() -> None:
    found = clause("{approvers: {roles: [lead, boss], users: [ana]}, quorum: 2}")
    assert found == ApprovalClause(
        factors=(Factor(name="approvers", roles=("lead", "boss"), users=("ana",), count=2),)
    )


def test_every_word_of_a_section_is_in_the_clause() -> None:
    found = clause("""
      factors:
        - {name: finance, roles: [finance-lead], count: 2}
        - {name: legal, roles: [legal], users: [kim]}
      deny_count: 2
      requester_may_approve: true
      min_assurance: authenticated
      not_before: 5m
      expires: 4h
      use_within: 10m
      escalate:
        - {after: 1h, roles: [cfo]}
        - {after: 2h, users: [ceo]}
      fallback: deny""")
    assert found == ApprovalClause(
        factors=(
            Factor(name="finance", roles=("finance-lead",), count=2),
            Factor(name="legal", roles=("legal",), users=("kim",)),
        ),
        denials=2,
        requester_may_approve=True,
        min_assurance=Assurance.AUTHENTICATED,
        not_before_s=300.0,
        expires_s=14400.0,
        use_within_s=600.0,
        escalation=(
            Escalation(after_s=3600.0, roles=("cfo",)),
            Escalation(after_s=7200.0, users=("ceo",)),
        ),
        fallback=Fallback.DENY,
    )
    assert found.quorum == 3


def test_self_is_whoever_calls_in_every_factor() -> None:
    found = clause("""
      factors:
        - {name: requester, users: [self]}
        - {name: lead, roles: [lead], users: [self, kim]}""")
    assert [each.users for each in found.factors] == [("sam",), ("sam", "kim")]
    assert found.self_confirm
    assert found.requester_may_approve
    assert found.min_assurance is Assurance.CLIENT_ASSERTED


def test_a_rule_without_an_approval_has_no_clause() -> None:
    assert compiled(None) is None
    assert groups(Approval.model_construct(approvers=None, factors=None)) == ()


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("{approvers: {roles: [lead]}}", "1 of lead; within 30m"),
        (
            "{approvers: {users: [self]}, expires: 10m, fallback: deny}",
            "sam; the requester may confirm in his own client; within 10m; "
            "denied where the client can't be asked",
        ),
        (
            "{factors: [{name: money, roles: [cfo]}, {name: law, roles: [legal], count: 2}], "
            "deny_count: 2, requester_may_approve: true, min_assurance: authenticated, "
            "not_before: 90s, use_within: 1d, expires: 2d, "
            "escalate: [{after: 1.5s, roles: [x], users: [y]}]}",
            "1 of cfo (money) and 2 of legal (law); the requester may be one of them; "
            "2 of them end it by a no; by a login at the identity provider; "
            "not within the first 90s; after 1.5s also x, y; within 2d; used within 1d",
        ),
    ],
)
def test_a_clause_is_told_on_one_line(section: str, words: str) -> None:
    assert in_words(clause(section)) == words


def test_programs_get_the_names_that_rules_have() -> None:
    found = to_json(clause("{approvers: {roles: [lead]}, escalate: [{after: 5m, users: [kim]}]}"))
    assert found == {
        "factors": [{"name": "approvers", "roles": ["lead"], "users": [], "count": 1}],
        "quorum": 1,
        "deny_count": 1,
        "requester_may_approve": False,
        "self_confirm": False,
        "min_assurance": "local",
        "not_before_s": 0.0,
        "expires_s": 1800.0,
        "use_within_s": None,
        "escalate": [{"after_s": 300.0, "roles": [], "users": ["kim"]}],
        "fallback": "oob",
    }


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(30.0, "30s"), (90.0, "90s"), (120.0, "2m"), (3600.0, "1h"), (172800.0, "2d"), (0.5, "0.5s")],
)
def test_a_time_is_written_as_rules_have_it(seconds: float, text: str) -> None:
    assert duration(seconds) == text
