from typing import Any

import pytest

from gateway.case import Facts, Origin
from gateway.replay.oracle import Answer
from gateway.types.decisions import DecisionEffect
from gateway.types.outcomes import Status
from gateway.types.tools import OnFail, ProvenanceRule, Sensitivity, Source, SourceKind
from tests.helpers.cases import NOW
from tests.helpers.replays import (
    a_known_case,
    a_law,
    a_secret_note,
    again,
    decided,
    places,
    policy,
    recorded,
    rule,
)

RESULTS = Source(kind=SourceKind.RESULTS, operands=("crm.id",))
OTHERS = Source(kind=SourceKind.RESULTS, operands=("crm.other",))
LISTED = Source(kind=SourceKind.ALLOWLIST, operands=("c-1",))
GIVEN = {"/id": (Origin(type="crm.id", record="call_0", tool="crm.find"),)}


def a_rule(*sources: Source, on_fail: OnFail = OnFail.DENY, **changes: Any) -> ProvenanceRule:
    fields: dict[str, Any] = {"pointer": "/id", "sources": sources, "on_fail": on_fail, **changes}
    return ProvenanceRule(**fields)


def under(
    then: tuple[ProvenanceRule, ...],
    now: tuple[ProvenanceRule, ...],
    *,
    is_given: bool = False,
    hides_id: bool = False,
    sent: str = "c-1",
) -> Answer:
    tags = {"/id": Sensitivity.SECRET} if hides_id else {}
    law = a_law(policy(rule()), a_secret_note(provenance=then, sensitive=tags))
    other = a_law(policy(rule()), a_secret_note(provenance=now, sensitive=tags), id="sha256:now")
    facts = Facts(now=NOW, origins=GIVEN if is_given else {})
    return again(recorded(a_known_case(law, {"id": sent}, facts=facts)), law, other)


def test_origins_that_were_looked_up_count() -> None:
    then, now = (a_rule(RESULTS, LISTED),), (a_rule(RESULTS),)
    assert decided(under(then, now, is_given=True)).effect is DecisionEffect.ALLOW
    assert decided(under(then, now)).status is Status.PROVENANCE_FAILED


def test_origins_that_nobody_looked_up_are_not_known() -> None:
    assert places(under((), (a_rule(RESULTS),))) == ["origin of /id"]
    assert places(under((a_rule(RESULTS),), (a_rule(OTHERS),))) == ["origin of /id"]


def test_a_value_that_another_source_accounts_for_needs_no_origin() -> None:
    assert decided(under((), (a_rule(RESULTS, LISTED),))).effect is DecisionEffect.ALLOW


def test_a_value_that_no_source_accounts_for_fails_in_the_way_of_the_rule() -> None:
    denied = decided(under((), (a_rule(LISTED),), sent="c-2"))
    assert denied.status is Status.PROVENANCE_FAILED
    held = decided(under((), (a_rule(LISTED, on_fail=OnFail.APPROVE),), sent="c-2"))
    assert (held.effect, held.code) == (DecisionEffect.REQUIRE_APPROVAL, "provenance_unproven")


def test_an_unknown_value_has_the_origin_that_was_found_for_it() -> None:
    then, now = (a_rule(RESULTS, LISTED),), (a_rule(RESULTS),)
    found = under(then, now, is_given=True, hides_id=True)
    assert decided(found).effect is DecisionEffect.ALLOW


def test_whether_an_unknown_value_is_listed_is_not_known() -> None:
    assert places(under((), (a_rule(LISTED),), hides_id=True)) == ["origin of /id"]


@pytest.mark.parametrize("is_given", [True, False])
def test_unchanged_rules_say_what_they_said(is_given: bool) -> None:
    rules = (a_rule(RESULTS),)
    found = decided(under(rules, rules, is_given=is_given, hides_id=True))
    assert (found.effect is DecisionEffect.ALLOW) is is_given


def test_a_place_inside_of_an_unknown_value_is_not_known() -> None:
    inside = a_rule(LISTED, pointer="/id/number")
    assert places(under((), (inside,), hides_id=True)) == ["/arguments/id"]
