from dataclasses import replace

from gateway.policy.engine import PolicyRequest
from gateway.policy.methods import Target
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.tools import Kind
from tests.policy.example import SAM, policy, request


def find(server: str, method: Method = Method.CALL_TOOL) -> Target:
    return Target(method, Kind.TOOL, f"{server}.find", server)


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
    crm, hr = rules.candidates(find("crm")), rules.candidates(find("hr"))
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
    assert rules.candidates(find("crm")) is crm


TASKS = """
rules:
  - id: small
    decision: allow
    match: {tools: ["crm.*"]}
    when: args.amount <= 100.0
    constrain: {set: {tenant: identity.tenant}}
    limits: [{id: a-day, per: [user], max: 2, window: 1d}]
    output: {keep: [/id, /city]}
  - id: large
    decision: require_approval
    match: {tools: ["crm.*"]}
    when: args.amount > 100.0
    risk: critical
    output: {keep: [/id]}
    approval: {approvers: {roles: [lead]}}
  - {id: cap, decision: deny, match: {tools: ["crm.*"]}, when: args.amount > 1000.0}
  - {id: away, decision: deny, when: identity.user == 'eve' || 'args' in identity.roles}
  - {id: mine, decision: deny, match: {methods: [tasks/cancel]}, when: args.taskId == 'x'}
"""


def test_a_task_is_judged_by_what_can_be_told_after_its_call() -> None:
    rules = policy(TASKS)
    about = rules.candidates(find("crm", Method.GET_TASK))
    assert [rule.id for rule in about.enforced] == ["away", "small", "large"]
    assert about.raising == ()
    cancel = rules.candidates(find("crm", Method.CANCEL_TASK))
    assert [rule.id for rule in cancel.enforced] == ["away", "mine", "small", "large"]
    asked = replace(request("crm.find"), method=Method.GET_TASK)
    decision = rules.decide(asked)
    assert (decision.effect, decision.rule) == (DecisionEffect.ALLOW, "small")
    assert (decision.constraints, decision.limits, decision.output.keep) == ((), (), ("/id",))
    eve = replace(asked, actor=replace(SAM, user="eve"))
    assert rules.decide(eve).rule == "away"
    cancelled = replace(asked, method=Method.CANCEL_TASK, arguments={"taskId": "x"})
    assert rules.decide(cancelled).rule == "mine"


FILES = """
rules:
  - {id: read, decision: allow, match: {resources: ["file:///*"], roles: {any: [support]}}}
  - {id: docs, decision: allow, match: {resources: ["docs:///handbook/*"]}}
  - {id: no-pay, decision: deny, match: {resources: ["file:///payroll/*"]}}
"""


def resource(uri: str, method: Method) -> PolicyRequest:
    return replace(request(uri), method=method, kind=Kind.RESOURCE, server="files")


def test_a_template_is_listed_when_some_of_it_may_be_read() -> None:
    rules = policy(FILES)
    for template, may in (
        ("file:///{+path}", True),
        ("docs:///{book}/{page}", True),
        ("file:///payroll/{month}", False),
        ("docs:///secret/{page}", False),
    ):
        assert rules.may(resource(template, Method.READ_RESOURCE)) is may


def test_a_template_is_completed_only_when_all_of_it_may_be_read() -> None:
    rules = policy(FILES)
    for template, rule, effect in (
        ("file:///notes/{name}", "read", DecisionEffect.ALLOW),
        ("file:///{+path}", "no-pay", DecisionEffect.DENY),
        ("docs:///handbook/{page}", "docs", DecisionEffect.ALLOW),
        ("docs:///{book}/{page}", "", DecisionEffect.DENY),
    ):
        decision = rules.decide(resource(template, Method.COMPLETE))
        assert (decision.effect, decision.rule) == (effect, rule)


def test_uris_that_callers_make_up_are_not_all_remembered() -> None:
    rules = policy(FILES)
    first = resource("file:///0", Method.READ_RESOURCE).target
    before = rules.candidates(first)
    for number in range(1, 1100):
        rules.candidates(resource(f"file:///{number}", Method.READ_RESOURCE).target)
    assert rules.candidates(first) is not before
    assert rules.candidates(first) == before
