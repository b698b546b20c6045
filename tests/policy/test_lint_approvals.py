"""Checks of who may decide, and of what people are shown."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.policy import lint_approvals
from gateway.policy.survey import survey
from gateway.types.approvals import ApprovalNotes
from gateway.types.json import JsonObject
from gateway.types.tools import Effect, Sensitivity
from tests.policy.example import INTEGER, TEXT, contract, files

CLOSED: JsonObject = {
    "type": "object",
    "properties": {"name": TEXT, "key": TEXT},
    "additionalProperties": False,
}
PAY = contract(
    "desk.pay",
    {"amount": INTEGER, "to": CLOSED, "tags": {"type": "array", "items": TEXT}, "pin": TEXT},
    effect=Effect.WRITE,
)


def told(approval: str, match: str = "{tools: [desk.pay]}") -> list[str]:
    rule = f"{{id: a, decision: require_approval, match: {match}, approval: {approval}}}"
    view = survey(files(f"rules:\n  - {rule}\n"), (), ["lead", "boss"])
    return [f"{each.level} {each.check}: {each.message}" for each in lint_approvals.check(view)]


def of_contract(notes: ApprovalNotes, **fields: Any) -> list[str]:
    view = survey(files("rules: []"), (replace(PAY, approval=notes, **fields),), ())
    return [f"{each.level} {each.check}: {each.message}" for each in lint_approvals.check(view)]


@pytest.mark.parametrize(
    "approval",
    [
        "{approvers: {roles: [lead]}, quorum: 5, deny_count: 3}",
        "{approvers: {users: [ana, kim]}, quorum: 1, deny_count: 2}",
        "{approvers: {users: [ana], roles: [lead]}, quorum: 3}",
        "{approvers: {users: [self]}, min_assurance: client_asserted, fallback: deny}",
        "{approvers: {users: [self]}, requester_may_approve: true}",
        "{factors: [{name: a, users: [ana, kim]}, {name: b, users: [bob, eva]}]}",
        "{factors: [{name: a, roles: [lead], count: 2}, {name: b, users: [kim, bob]}]}",
        "{approvers: {roles: [lead]}, not_before: 29m, expires: 30m, use_within: 30d, "
        "escalate: [{after: 29m, roles: [boss]}]}",
    ],
)
def test_a_sound_clause_has_no_findings(approval: str) -> None:
    assert told(approval) == []


@pytest.mark.parametrize(
    "approval",
    [
        "{approvers: {roles: [lead, ghost]}}",
        "{factors: [{name: a, roles: [ghost]}]}",
        "{approvers: {roles: [lead]}, escalate: [{after: 1m, roles: [ghost]}]}",
    ],
)
def test_a_role_that_nobody_else_names_is_told_wherever_it_is(approval: str) -> None:
    assert told(approval) == [
        "info unknown-role: approver role `ghost` is named nowhere else; check its spelling"
    ]


def test_a_role_that_no_account_has_is_a_warning_where_all_are_known() -> None:
    rule = (
        "{id: a, decision: require_approval, match: {tools: [desk.pay]}, "
        "approval: {approvers: {roles: [lead, ghost]}}}"
    )
    view = survey(files(f"rules:\n  - {rule}\n"), (), ["lead"], are_all_roles=True)
    assert [(str(each.level), each.message) for each in lint_approvals.check(view)] == [
        ("warning", "approver role `ghost` is that of no account and no key; check its spelling")
    ]


@pytest.mark.parametrize(
    ("approval", "said"),
    [
        (
            "{approvers: {users: [ana, Ana]}, quorum: 2}",
            "error quorum-too-large: needs 2 people, and 1 are named",
        ),
        (
            "{factors: [{name: a, users: [ana], count: 2}]}",
            "error quorum-too-large: `a` needs 2 people, and 1 are named",
        ),
        (
            "{factors: [{name: a, users: [ana]}, {name: b, users: [ana]}]}",
            "error quorum-too-large: `a`, `b` together need 2 people, and 1 are named",
        ),
        (
            "{approvers: {users: [ana]}, quorum: 2, escalate: [{after: 1m, users: [kim]}]}",
            "warning quorum-too-large: needs 2 people, and 1 are named",
        ),
        (
            "{approvers: {users: [ana, kim]}, deny_count: 3}",
            "error deny-count-too-large: `deny_count` is 3 and 2 may decide: no one's no would "
            "end it",
        ),
        (
            "{approvers: {users: [self]}, min_assurance: local}",
            "error self-too-weak: `self` confirms in the caller's own client, which is worth no "
            "more than `client_asserted`; lower `min_assurance`, or name somebody else",
        ),
        (
            "{approvers: {users: [self]}, requester_may_approve: false}",
            "error self-is-requester: `self` is the requester, and `requester_may_approve: false` "
            "says that he may not; remove one of them",
        ),
        (
            "{approvers: {roles: [lead]}, requester_may_approve: true}",
            "info requester-approves: rule `a` lets people approve what they asked for themselves; "
            "the log will say so of each such vote",
        ),
        (
            "{approvers: {roles: [lead]}, fallback: deny}",
            "warning no-effect: `fallback` is about clients that can't be asked, and only "
            "`users: [self]` asks them",
        ),
        (
            "{approvers: {roles: [lead]}, not_before: 30m}",
            "error never-approved: `not_before` is not before the end: a request expires after 30m",
        ),
        (
            "{approvers: {roles: [lead]}, expires: 1h, escalate: [{after: 1h, roles: [boss]}]}",
            "error never-escalates: `after` is not before the end: a request expires after 1h",
        ),
        (
            "{approvers: {roles: [lead]}, expires: 31d}",
            "warning stale-approval: `expires` is more than 30 days: what people saw may no longer "
            "be so when it is sent",
        ),
        (
            "{approvers: {roles: [lead]}, use_within: 31d}",
            "warning stale-approval: `use_within` is more than 30 days: what people saw may no "
            "longer be so when it is sent",
        ),
    ],
)
def test_a_clause_that_can_t_be_meant_is_told(approval: str, said: str) -> None:
    assert told(approval) == [said]


@pytest.mark.parametrize(
    ("approval", "match", "level"),
    [
        ("{approvers: {users: [ana]}}", "{users: [Ana]}", "error"),
        ("{approvers: {users: [jos\u00e9]}}", "{users: [jose\u0301]}", "error"),
        ("{approvers: {users: [ana, kim]}, quorum: 2}", "{users: [ana, kim]}", "error"),
        ("{approvers: {users: [ana]}}", "{users: [ana, kim]}", "warning"),
        ("{approvers: {users: [ana]}}", "{}", "warning"),
        ("{factors: [{name: a, users: [ana, kim]}, {name: b, users: [bob]}]}", "{}", "warning"),
        ("{factors: [{name: a, roles: [lead]}, {name: b, users: [bob]}]}", "{}", "warning"),
    ],
)
def test_a_call_that_only_its_requester_could_approve_is_told(
    approval: str, match: str, level: str
) -> None:
    (said,) = [each for each in told(approval, match) if "only-requester" in each][:1]
    assert said.startswith(f"{level} only-requester: when `")
    assert said.endswith("name more people, or say `requester_may_approve: true`")


@pytest.mark.parametrize(
    ("approval", "match"),
    [
        ("{approvers: {users: [ana]}}", "{users: [kim]}"),
        ("{approvers: {users: [ana], roles: [lead]}}", "{users: [ana]}"),
        ("{approvers: {users: [ana]}, requester_may_approve: true}", "{users: [ana]}"),
        ("{approvers: {users: [ana]}, escalate: [{after: 1m, users: [kim]}]}", "{users: [ana]}"),
        ("{approvers: {users: [self]}}", "{users: [ana]}"),
    ],
)
def test_a_call_that_somebody_else_can_approve_is_fine(approval: str, match: str) -> None:
    assert [each for each in told(approval, match) if "only-requester" in each] == []


def test_a_rule_that_holds_nothing_has_no_findings() -> None:
    view = survey(files("rules:\n  - {id: a, decision: allow}\n"), (), ())
    assert [*lint_approvals.check(view)] == []


def test_a_finding_points_at_its_place() -> None:
    text = """\
rules:
  - id: a
    decision: require_approval
    approval:
      approvers: {roles: [lead]}
      expires: 1m
      escalate:
        - {after: 2m, roles: [boss]}
"""
    (found,) = lint_approvals.check(survey(files(text), (), ["lead", "boss"]))
    assert (found.line, found.column) == (8, 19)


def test_what_people_are_shown_well_has_no_findings() -> None:
    notes = ApprovalNotes(
        summary="Pay $args.amount to $args.to.name, $$1",
        show={"To": "/to/name", "First": "/tags/0"},
        confirm="/amount",
    )
    assert of_contract(notes, sensitive={"/to/key": Sensitivity.SECRET}) == []
    assert of_contract(ApprovalNotes()) == []


@pytest.mark.parametrize(
    ("notes", "said"),
    [
        (
            ApprovalNotes(summary="Pay $args.ammount"),
            "error unknown-argument: `approval.summary`: `desk.pay` has no argument `/ammount`",
        ),
        (
            ApprovalNotes(show={"To": "/to/nobody"}),
            "error unknown-argument: `approval.show`: `desk.pay` has no argument `/to/nobody`",
        ),
        (
            ApprovalNotes(confirm="/sum"),
            "error unknown-argument: `approval.confirm`: `desk.pay` has no argument `/sum`",
        ),
        (
            ApprovalNotes(confirm="/to"),
            "error confirm-untypable: `approval.confirm`: `/to` is an object, which nobody can "
            "type",
        ),
        (
            ApprovalNotes(summary="With $args.pin"),
            "error secret-shown: `approval.summary`: `/pin` is secret, and hidden from approvers; "
            "name something else",
        ),
        (
            ApprovalNotes(confirm="/pin"),
            "error secret-shown: `approval.confirm`: `/pin` is secret, and hidden from approvers; "
            "name something else",
        ),
        (
            ApprovalNotes(show={"Tag": "/tags/1"}),
            "warning personal-shown: `approval.show`: `/tags/1` is personal, and would be told in "
            "notices to webhooks too",
        ),
    ],
)
def test_words_about_a_call_are_held_against_its_contract(notes: ApprovalNotes, said: str) -> None:
    sensitive = {"/pin": Sensitivity.SECRET, "/tags/*": Sensitivity.PERSONAL}
    assert of_contract(notes, sensitive=sensitive) == [said]


def test_who_confirms_may_type_something_personal() -> None:
    personal = {"/to/name": Sensitivity.PERSONAL}
    assert of_contract(ApprovalNotes(confirm="/to/name"), sensitive=personal) == []
