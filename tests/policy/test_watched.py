"""What rules in shadow mode would have done."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.policy.watched import Glimpse, Watching
from gateway.types.decisions import DecisionEffect
from tests.helpers.cases import NOW

ALLOW, ASK, DENY = DecisionEffect.ALLOW, DecisionEffect.REQUIRE_APPROVAL, DecisionEffect.DENY


def seen(**changes: Any) -> Glimpse:
    fields: dict[str, Any] = {
        "rule": "wide",
        "would": DENY,
        "code": "too_wide",
        "decided": ALLOW,
        "decided_by": "find",
        "tenant": "acme",
        "user": "sam",
        "tool": "crm.find",
        "at": NOW,
        "call": "call_1",
    }
    return Glimpse(**(fields | changes))


@pytest.mark.parametrize(
    ("would", "decided", "by", "changes"),
    [
        (DENY, ALLOW, "a", True),
        (DENY, ASK, "a", True),
        (ASK, ALLOW, "a", True),
        (ALLOW, ASK, "a", False),  # the stronger one still wins
        (ALLOW, DENY, "a", False),
        (ASK, DENY, "a", False),
        (ALLOW, DENY, "", True),  # nothing had allowed it
        (ASK, DENY, "", True),
        (DENY, DENY, "", False),
        (ALLOW, ALLOW, "a", False),
    ],
)
def test_a_call_changes_where_the_rule_would_have_had_the_last_word(
    would: DecisionEffect, decided: DecisionEffect, by: str, changes: bool
) -> None:
    assert seen(would=would, decided=decided, decided_by=by).changes is changes


def test_calls_are_counted_by_rule_with_who_when_and_an_example() -> None:
    watching = Watching()
    watching.see(seen())
    watching.see(seen(call="call_2", at=NOW + timedelta(hours=1), user="kim", tool="crm.list"))
    watching.see(seen(call="call_3", at=NOW + timedelta(hours=2), decided=DENY))
    watching.see(seen(rule="rare", would=ALLOW, call="call_4"))
    watching.see(seen(rule="rare", code="policy_evaluation_error", call="call_5"))
    first, second, third = watching.all()
    assert first.to_json() == {
        "rule": "wide",
        "would": "deny",
        "calls": 3,
        "changed": 2,
        "errors": 0,
        "was": ["allow"],
        "users": 2,
        "tools": ["crm.find", "crm.list"],
        "first": "2026-11-30T09:00:00+00:00",
        "last": "2026-11-30T11:00:00+00:00",
        "example": "call_2",  # the last that would have been another one
    }
    assert (second.rule, second.would, second.errors) == ("rare", DENY, 1)
    assert (third.rule, third.would, third.changed, third.example) == ("rare", ALLOW, 0, "call_4")


def test_the_same_person_of_another_tenant_is_another_person() -> None:
    watching = Watching()
    watching.see(seen())
    watching.see(seen(tenant="globex"))
    watching.see(seen())
    (found,) = watching.all()
    assert len(found.users) == 2
