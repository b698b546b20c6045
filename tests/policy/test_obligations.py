from dataclasses import replace
from typing import Any

import pytest

from gateway.policy.obligations import (
    CompiledLimit,
    ObligationConflict,
    ObligationFailed,
    Obligations,
    has_parts,
    merge_constraints,
    merge_limits,
    merge_outputs,
    pointer_of,
)
from gateway.types.decisions import (
    RUN_S,
    Constraint,
    Limit,
    OutputPolicy,
    RedactAs,
    Redaction,
)
from gateway.types.json import Json
from tests.policy.example import SAM, policy, request


def constraint(kind: str, pointer: str, value: Json, rule: str = "r") -> Constraint:
    return Constraint(pointer=pointer, kind=kind, value=value, rule=rule)


def limit(rule: str, maximum: float = 5) -> Limit:
    return Limit(id="l", key="tenant=a", maximum=maximum, window_s=60, amount=1, rule=rule)


def test_the_strictest_bound_stays() -> None:
    merged = merge_constraints(
        [
            constraint("max", "/n", 50),
            constraint("max", "/n", 20),
            constraint("max", "/n", 30),
            constraint("min", "/n", 1),
            constraint("min", "/n", 5),
        ]
    )
    assert [(each.kind, each.value) for each in merged] == [("max", 20), ("min", 5)]


@pytest.mark.parametrize(
    "demands",
    [
        [constraint("set", "/a", 1), constraint("set", "/a", 2)],
        [constraint("set", "/a", 1), constraint("set", "/a", True)],
        [constraint("default", "/a", 1), constraint("default", "/a", 2)],
        [constraint("min", "/a", 9), constraint("max", "/a", 2)],
        [constraint("set", "/a", 9), constraint("max", "/a", 2)],
        [constraint("min", "/a", 9), constraint("set", "/a", 2)],
        [constraint("set", "/a", "x"), constraint("max", "/a", 2)],
        [constraint("set", "/a", {}), constraint("set", "/a/b", 2)],
        [constraint("default", "/a/b", {}), constraint("set", "/a", {})],
    ],
)
def test_demands_that_can_not_both_be_met_are_a_conflict(demands: list[Constraint]) -> None:
    with pytest.raises(ObligationConflict):
        merge_constraints(demands)


def test_demands_that_agree_are_one() -> None:
    same = [constraint("set", "/a", "x"), constraint("set", "/a", "x", "other")]
    assert merge_constraints(same) == (same[0],)
    fine = [constraint("set", "/a", 2), constraint("max", "/a", 2), constraint("default", "/a", 1)]
    assert merge_constraints(fine) == tuple(fine)


def test_a_limit_counts_once_and_has_one_meaning() -> None:
    assert merge_limits([limit("a"), limit("b")]) == (limit("a"),)
    with pytest.raises(ObligationConflict, match="rules `a` and `b` give limit `l` two meanings"):
        merge_limits([limit("a"), limit("b", maximum=6)])


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        (("/items/*/id", "/total"), ("/items", "/next"), ("/items/*/id",)),
        (("/a/*",), ("/*/b",), ("/a/b",)),
        (("/a", "/b"), ("/b", "/a"), ("/a", "/b")),
        (("/a",), (), ("/a",)),
        ((), ("/a",), ("/a",)),
        ((), (), ()),
    ],
)
def test_only_what_every_rule_keeps_leaves(
    one: tuple[str, ...], other: tuple[str, ...], common: tuple[str, ...]
) -> None:
    merged = merge_outputs([OutputPolicy(keep=one), OutputPolicy(keep=other)])
    assert merged.keep == common


def test_keeping_nothing_in_common_is_a_conflict_and_not_everything() -> None:
    with pytest.raises(ObligationConflict, match="never meet"):
        merge_outputs([OutputPolicy(keep=("/a",)), OutputPolicy(keep=("/b",))])


def test_the_strongest_redaction_of_a_path_stays() -> None:
    forms = (RedactAs.HASH, RedactAs.REMOVE, RedactAs.MASK)
    merged = merge_outputs(
        OutputPolicy(redact=(Redaction(path="/a", form=form),)) for form in forms
    )
    assert merged.redact == (Redaction(path="/a", form=RedactAs.REMOVE),)


def test_keys_of_two_callers_never_meet() -> None:
    compiled = CompiledLimit(id="l", per=("tenant", "user"), maximum=1, window_s=1, total=None)

    def key(tenant: str, user: str) -> str:
        actor = type(SAM)(
            user=user,
            tenant=tenant,
            roles=SAM.roles,
            scopes=SAM.scopes,
            client="",
            method="",
            issuer="",
        )
        view = policy().view(request(actor=actor))
        return compiled.computed(request(actor=actor), view.scope, "r").key

    pairs = [("a|user=b", ""), ("a", "b"), ("a", "|user=b"), ("a%7C", "b"), ("a|", "b")]
    assert len({key(tenant, user) for tenant, user in pairs}) == len(pairs)


def in_run(limit: CompiledLimit, run_id: str, **changes: Any) -> str:
    """Return the key of a limit for a call in a run, or in none."""
    asked = replace(request(**changes), run_id=run_id)
    return limit.computed(asked, policy().view(asked).scope, "r").key


def test_a_limit_of_a_run_is_counted_for_it_whatever_else_it_is_counted_by() -> None:
    whole = CompiledLimit(id="l", per=("tool",), maximum=1, window_s=RUN_S, total=None)
    assert in_run(whole, "run_1").startswith("of_run=run_1|l|tool=")
    assert in_run(whole, "run_1") != in_run(whole, "run_2")
    with pytest.raises(ObligationFailed, match="counted for a run, and there is none"):
        in_run(whole, "")


def test_calls_without_a_run_are_counted_for_their_caller_alone() -> None:
    by_run = CompiledLimit(id="l", per=("run",), maximum=1, window_s=60, total=None)
    kim = replace(SAM, tenant="globex", user="kim")
    assert in_run(by_run, "") != in_run(by_run, "", actor=kim)
    assert in_run(by_run, "run_1") == in_run(by_run, "run_1", actor=kim)


@pytest.mark.parametrize(
    ("name", "pointer"), [("limit", "/limit"), ("a/b~c", "/a~1b~0c"), ("/a/b", "/a/b")]
)
def test_an_argument_is_named_or_pointed_at(name: str, pointer: str) -> None:
    assert pointer_of(name) == pointer
    assert has_parts(pointer)
    assert not has_parts("/")


def test_an_empty_obligation_demands_nothing() -> None:
    assert not Obligations().are_any
    assert Obligations(output=OutputPolicy(keep=("/a",))).are_any
