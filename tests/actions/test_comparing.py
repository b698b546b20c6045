"""What a change of the policy folder does to calls: planted edits, each found for what it is."""

import time

import pytest

from gateway.actions.comparing import Comparison, compare
from gateway.types.leans import Lean
from tests.helpers.edits import CONTRACTS, RULES, TEXTS, a_revision, after, edited

WIDER, NARROWER, OTHER = Lean.WIDER, Lean.NARROWER, Lean.OTHER
REFUND, FIND, MAIL, CLOSE = "pay.refund", "crm.find", "mail.send", "crm.close"
HANDBOOK = "file:///handbook/x"


def decided(found: Comparison) -> set[tuple[Lean, str, str, str]]:
    """Return the groups in which the decision itself differs, by what they say."""
    return {
        (group.cause.lean, group.cause.target, group.cause.before, group.cause.after)
        for group in found.impact.groups
        if group.cause.is_decision
    }


def demanded(found: Comparison) -> set[tuple[Lean, str, str]]:
    """Return the differences of groups with the same decision."""
    return {
        (each.lean, group.cause.target, each.what)
        for group in found.impact.groups
        for each in group.cause.differs
    }


DECISIONS = [
    pytest.param(
        [("args.amount <= 100.0 &&", "args.amount <= 50.0 &&")],
        {(NARROWER, REFUND, "allow", "deny")},
        id="a bound that opens a gap",
    ),
    pytest.param(
        [("args.amount <= 1000.0", "args.amount <= 5000.0")],
        {(WIDER, REFUND, "deny", "require_approval")},
        id="a bound that is raised",
    ),
    pytest.param(
        [("args.amount <= 100.0 &&", "args.amount < 100.0 &&")],
        {(NARROWER, REFUND, "allow", "deny")},
        id="a bound that is no longer part of its range",
    ),
    pytest.param(
        [
            ("args.amount <= 100.0 &&", "args.amount <= 400.0 &&"),
            ("args.amount > 100.0", "args.amount > 400.0"),
        ],
        {
            (WIDER, REFUND, "require_approval", "allow"),
            (NARROWER, REFUND, "require_approval", "deny"),
        },
        id="people who are asked later",  # and GBP, which nobody looks at any more
    ),
    pytest.param(
        [("roles: {any: [support]}, phases", "roles: {any: [support, intern]}, phases")],
        {(WIDER, REFUND, "deny", "allow")},
        id="a role that is added",
    ),
    pytest.param(
        [
            (
                "tools: [pay.refund], roles: {any: [support]}}",
                "tools: [pay.refund], roles: {any: [suport]}}",
            )
        ],
        {
            (WIDER, REFUND, "deny", "require_approval"),
            (NARROWER, REFUND, "require_approval", "deny"),
        },
        id="a role that is misspelled",
    ),
    pytest.param(
        [(", roles: {any: [contractor]}}", ", roles: {all: [contractor, intern]}}")],
        {(WIDER, FIND, "deny", "allow")},
        id="a denial of fewer",
    ),
    pytest.param(
        [("when: has(args.tenant) && args.tenant != identity.tenant", "when: 'false'")],
        {(WIDER, FIND, "deny", "allow")},
        id="a denial that never holds",
    ),
    pytest.param(
        [
            (
                "  - id: no-contractors\n    decision: deny\n"
                "    match: {tools: [crm.find], roles: {any: [contractor]}}\n",
                "",
            )
        ],
        {(WIDER, FIND, "deny", "allow")},
        id="a denial that is gone",
    ),
    pytest.param(
        [("tenants: [acme, initech]", "tenants: [acme, inittech]")],
        {(WIDER, FIND, "deny", "allow"), (NARROWER, FIND, "allow", "deny")},
        id="a tenant that is misspelled",
    ),
    pytest.param(
        [('scopes: {all: ["mail:send"]}', 'scopes: {all: ["mail:send", "mail:extern"]}')],
        {(NARROWER, MAIL, "allow", "deny")},
        id="a scope that is needed too",
    ),
    pytest.param(
        [
            (
                'match: {tools: [mail.send], scopes: {all: ["mail:send"]}}',
                "match: {tools: [mail.send]}",
            )
        ],
        {(WIDER, MAIL, "deny", "allow")},
        id="a scope that is dropped",
    ),
    pytest.param(
        [(", phases: [acting]}", ", phases: [acting, finalizing]}")],
        set[tuple[Lean, str, str, str]](),
        id="a phase that has no room for such calls anyway",
    ),
    pytest.param(
        [("tenants: [acme, initech]}", "tenants: [acme, initech], phases: [acting]}")],
        {(NARROWER, FIND, "allow", "deny")},
        id="a rule that holds in one phase only",
    ),
    pytest.param(
        [("    mode: shadow\n", "")],
        {(NARROWER, REFUND, "allow", "deny"), (NARROWER, REFUND, "require_approval", "deny")},
        id="a rule that is enforced from now on",
    ),
    pytest.param(
        [
            (
                "  - id: no-contractors\n    decision: deny\n",
                "  - id: no-contractors\n    decision: deny\n    mode: shadow\n",
            )
        ],
        {(WIDER, FIND, "deny", "allow")},
        id="a rule that is only watched from now on",
    ),
    pytest.param(
        [("rules:\n", "mode: shadow\nrules:\n")],
        {
            (NARROWER, FIND, "allow", "deny"),
            (NARROWER, MAIL, "allow", "deny"),
            (NARROWER, REFUND, "allow", "deny"),
            (NARROWER, REFUND, "require_approval", "deny"),
            (NARROWER, CLOSE, "allow", "deny"),
            (NARROWER, HANDBOOK, "allow", "deny"),
        },
        id="a whole file that is only watched",
    ),
    pytest.param(
        [("size(args.body) <= 200", "size(args.body) <= 201")],
        {(WIDER, MAIL, "deny", "allow")},
        id="a length",
    ),
    pytest.param(
        [('== identity.tenant + ".example"', '!= identity.tenant + ".example"')],
        {(WIDER, MAIL, "deny", "allow"), (NARROWER, MAIL, "allow", "deny")},
        id="who may be written to",
    ),
    pytest.param(
        [("now.getHours() < 8", "now.getHours() < 9")],
        {(NARROWER, MAIL, "allow", "deny")},
        id="an hour",
    ),
    pytest.param(
        [("paid_in: [EUR, USD]", "paid_in: [EUR, USD, GBP]")],
        {(WIDER, REFUND, "deny", "allow")},
        id="a value in a set",
    ),
    pytest.param(
        [("file:///handbook/*", "file:///*")],
        {(WIDER, "file:///x", "deny", "allow")},
        id="more resources",
    ),
    pytest.param(
        [("servers: [files], ", "")],
        {(WIDER, HANDBOOK, "deny", "allow")},
        id="resources of every server",
    ),
    pytest.param(
        [(" && !run.tainted", "")],
        {(WIDER, CLOSE, "deny", "allow")},
        id="taint that doesn't count any more",
    ),
    pytest.param(
        [("has(run.fields.customer) && args.customer == run.fields.customer &&", "true &&")],
        {(WIDER, CLOSE, "deny", "allow")},
        id="a field of the run that doesn't count any more",
    ),
    pytest.param(
        [("templates: [case], ", "")],
        {(WIDER, CLOSE, "deny", "allow")},
        id="any run instead of one template's",
    ),
]


@pytest.mark.parametrize(("edits", "expected"), DECISIONS)
def test_an_edit_is_found_in_the_group_it_belongs_to(
    edits: list[tuple[str, str]], expected: set[tuple[Lean, str, str, str]]
) -> None:
    assert decided(after(*edits)) == expected


DEMANDS = [
    pytest.param(
        [("max: {limit: 50}", "max: {limit: 500}")],
        {(WIDER, FIND, "`max` of `/limit`: 50 → 500")},
        id="a constraint is loosened",
    ),
    pytest.param(
        [("      set: {tenant: identity.tenant}\n", "")],
        {(WIDER, FIND, "`set` of `/tenant`: `identity.tenant` → none")},
        id="a constraint is dropped",
    ),
    pytest.param(
        [("max: 20, window: 1h", "max: 200, window: 1h")],
        {(WIDER, REFUND, "limit `refunds`: 20 in 3600 s → 200 in 3600 s")},
        id="a limit is raised",
    ),
    pytest.param(
        [("max: 20, window: 1h", "max: 20, window: 2h")],
        {(NARROWER, REFUND, "limit `refunds`: 20 in 3600 s → 20 in 7200 s")},
        id="a limit is counted for longer",
    ),
    pytest.param(
        [("per: [tenant, user]", "per: [user]")],
        {(OTHER, REFUND, "limit `refunds` counts for each tenant, user → user")},
        id="a limit counts something else",
    ),
    pytest.param(
        [("/items/*/name]", "/items/*/name, /items/*/mail]")],
        {(WIDER, FIND, "`/items/*/mail` leaves")},
        id="a field is let through",
    ),
    pytest.param(
        [("as: mask", "as: hash")],
        {(WIDER, FIND, "`/items/*/mail` leaves as mask → as hash")},
        id="a value is hidden less",
    ),
    pytest.param(
        [("        - {name: legal, roles: [legal]}\n", "")],
        {(WIDER, REFUND, "approval by 1 of `legal` is not needed any more")},
        id="a group need not approve any more",
    ),
    pytest.param(
        [("count: 2", "count: 1")],
        {(WIDER, REFUND, "`finance`: 2 → 1 people")},
        id="fewer people have to approve",
    ),
    pytest.param(
        [("      expires: 30m\n", "      expires: 30m\n      requester_may_approve: true\n")],
        {(WIDER, REFUND, "the requester may approve: no → yes")},
        id="who asks may approve",
    ),
    pytest.param(
        [("  - id: close\n", "  - id: close\n    risk: high\n")],
        {(NARROWER, CLOSE, "class: medium → high")},
        id="the class is raised",
    ),
]


@pytest.mark.parametrize(("edits", "expected"), DEMANDS)
def test_the_same_decision_with_other_demands_is_told_apart(
    edits: list[tuple[str, str]], expected: set[tuple[Lean, str, str]]
) -> None:
    found = after(*edits)
    assert decided(found) == set()
    assert demanded(found) == expected


CHANGES = [
    (
        ("effect: write\n    risk: high", "effect: read\n    risk: high"),
        WIDER,
        "effect: write → read",
    ),
    (("risk: high", "risk: medium"), WIDER, "risk: high → medium"),
    (("risk: medium", "risk: high"), NARROWER, "risk: medium → high"),
]


@pytest.mark.parametrize(("edit", "lean", "what"), CHANGES)
def test_what_a_contract_says_is_compared_beside_the_rules(
    edit: tuple[str, str], lean: Lean, what: str
) -> None:
    found = after(edit, file="contracts/all.yaml")
    assert (lean, what) in {(each.lean, each.what) for each in found.contracts}
    assert found.has(lean)


def test_what_can_be_asked_of_more_people_has_the_rule_and_place_of_both_sides() -> None:
    (group,) = after(("tenants: [acme, initech]}", "tenants: [acme]}")).impact.groups
    line = RULES.splitlines().index("  - id: find") + 1
    assert (group.before_place, group.after_place) == (
        f"old/rules.yaml:{line}",
        f"new/rules.yaml:{line}",
    )
    assert (group.cause.before_rule, group.cause.after_rule) == ("find", "(no_matching_rule)")
    assert group.example.tenant == "initech"


def test_an_example_has_nothing_that_it_would_show_the_same_without() -> None:
    (group,) = after(("args.amount <= 1000.0", "args.amount <= 5000.0")).impact.groups
    assert group.example.roles == ("support",)
    assert group.example.scopes == ()
    assert sorted(group.example.arguments) == ["amount", "currency"]
    assert group.example.run is None


REORDERED = "".join(
    [
        RULES[: RULES.index("rules:\n")],
        "rules:\n",
        *reversed(["  - id:" + part for part in RULES.split("rules:\n")[1].split("  - id:")[1:]]),
    ]
)


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param(RULES, id="itself"),
        pytest.param(RULES.replace("[EUR, USD]", "['EUR', 'USD'] # paid out"), id="formatted"),
        pytest.param(
            RULES.replace("    decision: deny\n", "    reason: no\n    decision: deny\n"),
            id="words",
        ),
        pytest.param(REORDERED, id="other order"),
    ],
)
def test_a_policy_that_decides_the_same_is_no_change(rules: str) -> None:
    found = compare(a_revision(), a_revision({**TEXTS, "rules.yaml": rules}))
    assert found.impact.groups == ()
    assert found.contracts == ()
    assert not found.has(None)
    assert found.impact.requests > 100


def test_the_same_seed_makes_up_the_same_calls_and_no_more_than_are_allowed() -> None:
    edits = ("args.amount <= 1000.0", "args.amount <= 5000.0")
    assert after(edits).impact == after(edits).impact
    few = compare(a_revision(), a_revision(edited(edits)), most=40)
    assert (few.impact.requests, few.impact.is_cut) == (40, True)


def test_where_something_was_written_is_looked_at_before_the_rest() -> None:
    last = ("tools: [pay.refund], roles: {any: [support]}, phases", "tools: [pay.refund], phases")
    few = compare(a_revision(), a_revision(edited(last)), most=300)
    assert decided(few) == {(WIDER, REFUND, "deny", "allow")}


def test_rules_that_no_call_met_are_named() -> None:
    assert after(("args.amount <= 100.0", "args.amount <= 50.0")).impact.unmet == ()
    nobody = (
        "    when: args.amount <= 100.0 && args.currency in sets.paid_in\n",
        "    when: args.note == 'a' && args.note == 'b'\n",
    )
    found = after(nobody, ("id: refund.small", "id: refund.none"))
    assert found.impact.unmet == ("refund.none",)


def test_a_tool_without_a_contract_is_told_when_it_gets_one() -> None:
    without = CONTRACTS[: CONTRACTS.index("  mail.send:")]
    found = compare(a_revision({**TEXTS, "contracts/all.yaml": without}), a_revision())
    assert (WIDER, MAIL, "deny", "allow") in decided(found)
    assert [(each.tool, each.what) for each in found.contracts] == [(MAIL, "has a contract now")]


def test_thousands_of_calls_are_judged_by_both_in_a_moment() -> None:
    old, new = a_revision(), a_revision(edited(("rules:\n", "mode: shadow\nrules:\n")))
    began = time.process_time()
    found = compare(old, new)
    spent = time.process_time() - began
    assert found.impact.requests > 500
    # A bound with a wide margin: a shared machine counts its neighbours' share as ours.
    assert spent / found.impact.requests < 0.005
