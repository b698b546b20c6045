"""The same decision with other demands."""

from typing import Any

import pytest

from gateway.policy.differences import Difference, differences, of_all
from gateway.types.approvals import ApprovalClause, Assurance, Escalation, Factor, Fallback
from gateway.types.decisions import (
    Constraint,
    Decision,
    DecisionEffect,
    Limit,
    OutputPolicy,
    RedactAs,
    Redaction,
    RowFilter,
)
from gateway.types.json import Json
from gateway.types.leans import Lean
from gateway.types.tools import Risk

WIDER, NARROWER, OTHER = Lean.WIDER, Lean.NARROWER, Lean.OTHER


def constraint(value: Json, kind: str = "max", expression: str = "") -> Constraint:
    return Constraint(pointer="/a", kind=kind, value=value, rule="r", expression=expression)


def limit(**changes: Any) -> Limit:
    fields: dict[str, Any] = {
        "id": "l",
        "key": "tenant=acme",
        "maximum": 10.0,
        "window_s": 60.0,
        "amount": 1.0,
        "rule": "r",
    }
    return Limit(**(fields | changes))


def clause(**changes: Any) -> ApprovalClause:
    fields: dict[str, Any] = {"factors": (Factor(name="lead", roles=("lead",), count=2),)}
    return ApprovalClause(**(fields | changes))


def told(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, Lean]]:
    old, new = (Decision(effect=DecisionEffect.ALLOW, **each) for each in (before, after))
    return [(each.what, each.lean) for each in differences(old, new, (Risk.LOW, Risk.LOW))]


CONSTRAINTS = [
    ((constraint(5),), (constraint(6),), "`max` of `/a`: 5 → 6", WIDER),
    ((constraint(5),), (constraint(4),), "`max` of `/a`: 5 → 4", NARROWER),
    ((constraint(5, "min"),), (constraint(4, "min"),), "`min` of `/a`: 5 → 4", WIDER),
    ((constraint(5),), (), "`max` of `/a`: 5 → none", WIDER),
    ((), (constraint(5),), "`max` of `/a`: none → 5", NARROWER),
    (
        (constraint("acme", "set", "identity.tenant"),),
        (constraint("x", "set"),),
        '`set` of `/a`: `identity.tenant` → "x"',
        OTHER,
    ),
    ((constraint(1, "set"),), (constraint(True, "set"),), "`set` of `/a`: 1 → true", OTHER),
]


@pytest.mark.parametrize(("before", "after", "what", "lean"), CONSTRAINTS)
def test_constraints(
    before: tuple[Constraint, ...], after: tuple[Constraint, ...], what: str, lean: Lean
) -> None:
    assert told({"constraints": before}, {"constraints": after}) == [(what, lean)]


LIMITS = [
    (limit(), limit(maximum=20.0), "limit `l`: 10 in 60 s → 20 in 60 s", WIDER),
    (limit(), limit(window_s=30.0), "limit `l`: 10 in 60 s → 10 in 30 s", WIDER),
    (limit(), limit(window_s=90.0, maximum=5.0), "limit `l`: 10 in 60 s → 5 in 90 s", NARROWER),
    (limit(), limit(window_s=90.0, maximum=20.0), "limit `l`: 10 in 60 s → 20 in 90 s", OTHER),
    (limit(), limit(key="user=sam"), "limit `l` counts for each tenant → user", OTHER),
    (limit(), limit(amount=2.0), "what a call takes of limit `l`", NARROWER),
    (limit(), None, "limit `l`: 10 in 60 s → none", WIDER),
    (None, limit(), "limit `l`: none → 10 in 60 s", NARROWER),
]


@pytest.mark.parametrize(("before", "after", "what", "lean"), LIMITS)
def test_limits(before: Limit | None, after: Limit | None, what: str, lean: Lean) -> None:
    old, new = ((each,) if each else () for each in (before, after))
    assert told({"limits": old}, {"limits": new}) == [(what, lean)]


def masked(form: RedactAs) -> OutputPolicy:
    return OutputPolicy(redact=(Redaction(path="/m", form=form),))


ROWS = OutputPolicy(rows=(RowFilter(path="/i", where="row.a", rule="r", holds=lambda _: True),))
DOCUMENTS = OutputPolicy(rows=(RowFilter(path="", where="row.b", rule="r", holds=lambda _: True),))
NONE = OutputPolicy()
OUTPUTS = [
    (OutputPolicy(keep=("/a",)), NONE, "all fields leave, not only those of `keep`", WIDER),
    (NONE, OutputPolicy(keep=("/a",)), "only the fields of `keep` leave", NARROWER),
    (OutputPolicy(keep=("/a",)), OutputPolicy(keep=("/a", "/b")), "`/b` leaves", WIDER),
    (OutputPolicy(keep=("/a", "/b")), OutputPolicy(keep=("/a",)), "`/b` leaves no more", NARROWER),
    (masked(RedactAs.MASK), masked(RedactAs.HASH), "`/m` leaves as mask → as hash", WIDER),
    (masked(RedactAs.MASK), masked(RedactAs.REMOVE), "`/m` leaves as mask → as remove", NARROWER),
    (masked(RedactAs.HASH), NONE, "`/m` leaves as hash → as it is", WIDER),
    (ROWS, NONE, "rows of `/i` need not meet `row.a` any more", WIDER),
    (NONE, DOCUMENTS, "documents have to meet `row.b`", NARROWER),
]


@pytest.mark.parametrize(("before", "after", "what", "lean"), OUTPUTS)
def test_output(before: OutputPolicy, after: OutputPolicy, what: str, lean: Lean) -> None:
    assert told({"output": before}, {"output": after}) == [(what, lean)]


LEGAL = Factor(name="legal", roles=("legal",))
LEAD = Factor(name="lead", roles=("lead",), count=2)
APPROVALS: list[tuple[dict[str, Any], dict[str, Any], str, Lean]] = [
    ({"factors": (LEAD, LEGAL)}, {}, "approval by 1 of `legal` is not needed any more", WIDER),
    ({}, {"factors": (LEAD, LEGAL)}, "approval by 1 of `legal` is needed too", NARROWER),
    ({}, {"factors": (Factor(name="lead", roles=("lead",)),)}, "`lead`: 2 → 1 people", WIDER),
    (
        {},
        {"factors": (Factor(name="lead", roles=("lead",), users=("kim",), count=2),)},
        "`lead`: `kim` may approve",
        WIDER,
    ),
    (
        {"factors": (Factor(name="lead", roles=("lead", "cfo"), count=2),)},
        {},
        "`lead`: `cfo` may not approve any more",
        NARROWER,
    ),
    ({}, {"requester_may_approve": True}, "the requester may approve: no → yes", WIDER),
    (
        {"min_assurance": Assurance.AUTHENTICATED},
        {},
        "`min_assurance`: authenticated → local",
        WIDER,
    ),
    ({}, {"denials": 2}, "`deny_count`: 1 → 2", WIDER),
    ({}, {"not_before_s": 60.0}, "`not_before` in s: 0 → 60", NARROWER),
    ({}, {"expires_s": 60.0}, "`expires` in s: 1800 → 60", NARROWER),
    ({}, {"use_within_s": 60.0}, "`use_within` in s: none → 60", OTHER),
    ({}, {"fallback": Fallback.DENY}, "`fallback`: oob → deny", OTHER),
    (
        {},
        {"escalation": (Escalation(after_s=60.0, roles=("cfo",)),)},
        "`escalate` names others or other times",
        OTHER,
    ),
    (
        {},
        {"self_confirm": True},
        "approval: 2 of lead (lead); within 30m → "
        "2 of lead (lead); the requester may confirm in his own client; within 30m",
        OTHER,
    ),
]


@pytest.mark.parametrize(("before", "after", "what", "lean"), APPROVALS)
def test_approval(before: dict[str, Any], after: dict[str, Any], what: str, lean: Lean) -> None:
    old, new = clause(**before), clause(**after)
    assert told({"approval": old}, {"approval": new}) == [(what, lean)]
    assert told({"approval": old}, {"approval": old}) == []


def test_the_class_of_the_call() -> None:
    word = Decision(effect=DecisionEffect.ALLOW)
    (up,) = differences(word, word, (Risk.LOW, Risk.HIGH))
    (down,) = differences(word, word, (Risk.HIGH, Risk.LOW))
    assert (up.lean, down.lean) == (NARROWER, WIDER)


def test_a_denied_call_has_no_demands() -> None:
    old, new = Decision(constraints=(constraint(1),)), Decision()
    assert differences(old, new, (Risk.LOW, Risk.HIGH)) == ()


def test_several_go_the_way_that_has_to_be_looked_at_first() -> None:
    def lean(*leans: Lean) -> Lean:
        return of_all([Difference(what="x", lean=each) for each in leans])

    assert lean(OTHER, NARROWER, WIDER) is WIDER
    assert lean(OTHER, NARROWER) is NARROWER
    assert lean(OTHER) is lean() is OTHER
