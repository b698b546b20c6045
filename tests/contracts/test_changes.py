"""What differs between two contracts of a tool."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.contracts.changes import changes
from gateway.types.guarantees import Compensation, CompensationClass, Idempotency
from gateway.types.leans import Lean
from gateway.types.tools import (
    Contract,
    Effect,
    Ensure,
    OnFail,
    ProvenanceRule,
    Risk,
    RiskRaise,
    Sensitivity,
    Source,
    SourceKind,
    SourceTrust,
    WhenTainted,
)
from tests.helpers.cases import a_contract, a_definition, a_tool

WIDER, NARROWER, OTHER = Lean.WIDER, Lean.NARROWER, Lean.OTHER
RESULTS = Source(kind=SourceKind.RESULTS, operands=("crm.id",))
ACTOR = Source(kind=SourceKind.ACTOR, operands=("tenant",))


def origin(**fields: Any) -> ProvenanceRule:
    known: dict[str, Any] = {"pointer": "/id", "sources": (RESULTS,), "on_fail": OnFail.DENY}
    return ProvenanceRule(**(known | fields))


def raised(risk: Risk) -> RiskRaise:
    return RiskRaise(when="args.amount > 5", reason="r", risk=risk)


BACK = Compensation(kind=CompensationClass.IRREVERSIBLE, reason="r")
ONE_WAY = Compensation(kind=CompensationClass.PIVOT)
CASES: list[tuple[dict[str, Any], dict[str, Any], str, Lean]] = [
    ({"effect": Effect.WRITE}, {}, "effect: write → read", WIDER),
    ({}, {"risk": Risk.HIGH}, "risk: low → high", NARROWER),
    ({"reviewed": False}, {}, "reviewed: yes", WIDER),
    ({}, {"reviewed": False}, "reviewed: not any more", NARROWER),
    ({"scopes": frozenset({"a"})}, {}, "scope `a` is not needed any more", WIDER),
    ({}, {"scopes": frozenset({"a"})}, "scope `a` is needed too", NARROWER),
    (
        {"raises": (raised(Risk.HIGH),)},
        {},
        "calls with `args.amount > 5` are not raised any more",
        WIDER,
    ),
    ({}, {"raises": (raised(Risk.HIGH),)}, "calls with `args.amount > 5` are raised", NARROWER),
    (
        {"raises": (raised(Risk.HIGH),)},
        {"raises": (raised(Risk.MEDIUM),)},
        "calls with `args.amount > 5` are raised to another class",
        OTHER,
    ),
    (
        {"sensitive": {"/iban": Sensitivity.SECRET}},
        {},
        "argument `/iban`: secret → not sensitive",
        WIDER,
    ),
    (
        {},
        {"sensitive_results": {"/iban": Sensitivity.SECRET}},
        "result `/iban`: not sensitive → secret",
        NARROWER,
    ),
    ({"provenance": (origin(),)}, {}, "`/id` may come from anywhere", WIDER),
    ({}, {"provenance": (origin(),)}, "`/id` has to come from `results(crm.id)`", NARROWER),
    (
        {"provenance": (origin(),)},
        {"provenance": (origin(on_fail=OnFail.LOG),)},
        "`/id` from elsewhere: deny → log",
        WIDER,
    ),
    (
        {"provenance": (origin(),)},
        {"provenance": (origin(sources=(RESULTS, ACTOR)),)},
        "`/id` from `results(crm.id)` → `results(crm.id) or actor(tenant)`",
        WIDER,
    ),
    (
        {"provenance": (origin(),)},
        {"provenance": (origin(sources=(ACTOR,)),)},
        "`/id` from `results(crm.id)` → `actor(tenant)`",
        OTHER,
    ),
    (
        {"provenance": (origin(),)},
        {"provenance": (origin(trust_min=SourceTrust.SYSTEM),)},
        "origins of `/id`: external → system",
        NARROWER,
    ),
    (
        {"provenance": (origin(),)},
        {"provenance": (origin(max_of=True),)},
        "what else is asked of the origin of `/id`",
        OTHER,
    ),
    (
        {"ensure": (Ensure(when="result.ok", message="m"),)},
        {},
        "the outcome need not meet `result.ok` any more",
        WIDER,
    ),
    (
        {},
        {"ensure": (Ensure(when="result.ok", message="m"),)},
        "the outcome has to meet `result.ok`",
        NARROWER,
    ),
    ({}, {"trusted_text": True}, "texts of results count as trusted: yes", WIDER),
    ({"lenient_output": True}, {}, "results that miss their schema pass: no", NARROWER),
    ({}, {"result_trust": SourceTrust.SYSTEM}, "trust in results: tenant → system", WIDER),
    (
        {"when_tainted": WhenTainted.DENY},
        {},
        "what holds calls of tainted runs: none any more",
        WIDER,
    ),
    ({}, {"compensation": BACK}, "the way back: there is one now", NARROWER),
    ({"compensation": BACK}, {"compensation": ONE_WAY}, "the way back: another one", OTHER),
    (
        {},
        {"idempotency": Idempotency(ignore=("/note",), is_declared=True)},
        "idempotency: `ignore`, `is_declared`",
        OTHER,
    ),
    ({}, {"timeout_s": 5.0}, "`timeout_s` is another one", OTHER),
    ({}, {"pin": "sha256:x"}, "another pin", OTHER),
]


@pytest.mark.parametrize(("before", "after", "what", "lean"), CASES)
def test_each_field_says_which_way_it_goes(
    before: dict[str, Any], after: dict[str, Any], what: str, lean: Lean
) -> None:
    old, new = a_contract(**before, place="a:1"), a_contract(**after, place="b:2")
    (found,) = changes({old.tool: old}, {new.tool: new})
    assert (found.what, found.lean) == (what, lean)
    assert (found.before, found.after) == ("a:1", "b:2")


def test_where_it_stands_makes_no_other_contract() -> None:
    old, new = a_contract(place="a:1"), a_contract(place="b:2")
    assert changes({old.tool: old}, {new.tool: new}) == ()


def test_another_definition_is_told_with_what_differs_in_it() -> None:
    old = a_contract()
    tool = a_tool(a_definition(description="other", title="t"))
    (found,) = changes({old.tool: old}, {old.tool: a_contract(tool)})
    assert found.what == "another definition is reviewed: `/description`, `/title`"


def test_contracts_that_come_and_go_are_told_after_what_is_wider() -> None:
    def named(tool: str, **fields: Any) -> dict[str, Contract]:
        return {tool: replace(a_contract(**fields), tool=tool)}

    old = {**named("a.gone"), **named("c.both", scopes=frozenset({"x"}))}
    new = {**named("b.new"), **named("c.both")}
    assert [(each.tool, each.what, each.before, each.after) for each in changes(old, new)] == [
        ("c.both", "scope `x` is not needed any more", "", ""),
        ("a.gone", "has no contract any more", "", ""),
        ("b.new", "has a contract now", "", ""),
    ]


def test_a_long_condition_is_cut() -> None:
    long = RiskRaise(when=" && ".join(["args.amount > 5"] * 40), reason="r")
    (found,) = changes({"t": a_contract(raises=(long,))}, {"t": a_contract()})
    assert len(found.what) < 200
    assert "…" in found.what
