from tests.policy.example import policy


def test_candidates_stand_by_strength_and_then_by_file_order() -> None:
    rules = policy(
        """
rules:
  - {id: note, decision: obligation, risk: high}
  - {id: allow.1, decision: allow, match: {tools: ["crm.*"]}}
  - {id: deny.1, decision: deny, risk: high}
  - {id: ask, decision: require_approval, approval: {approvers: {roles: [x]}}}
  - {id: allow.2, decision: allow}
  - {id: deny.2, decision: deny, match: {servers: [crm]}}
  - {id: watch, decision: deny, mode: shadow}
  - {id: watch.note, decision: obligation, risk: high, mode: shadow}
"""
    )
    crm, hr = rules.candidates("crm.find", "crm"), rules.candidates("hr.find", "hr")
    assert [rule.id for rule in crm.enforced] == [
        "deny.1",
        "deny.2",
        "ask",
        "allow.1",
        "allow.2",
        "note",
    ]
    assert [rule.id for rule in hr.enforced] == ["deny.1", "ask", "allow.2", "note"]
    assert [rule.id for rule in crm.raising] == ["deny.1", "note"]
    assert [rule.id for rule in crm.shadow] == ["watch"]
    assert rules.candidates("crm.find", "crm") is crm
