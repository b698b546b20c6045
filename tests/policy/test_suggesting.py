"""The narrowest rules for what was allowed."""

from dataclasses import replace
from decimal import Decimal

import pytest

from gateway.policy.compile import compile_policy
from gateway.policy.files import load
from gateway.policy.findings import Level
from gateway.policy.lint import lint
from gateway.policy.past import Past
from gateway.policy.suggesting import Suggestion, draft, suggest
from gateway.types.calls import Method
from gateway.types.causes import Cause
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Phase
from gateway.types.tools import Contract, Kind
from tests.helpers.pasts import ARGUMENTS, a_past
from tests.policy.example import CONTRACTS, OPS, SAM, contract

KNOWN = {each.tool: each for each in CONTRACTS}


def one(*pasts: Past, known: Contract | None = None) -> Suggestion:
    (found,) = suggest(pasts, KNOWN if known is None else {known.tool: known})
    return found


def paid(amount: Json, **more: Json) -> Past:
    return a_past(arguments={**ARGUMENTS, "amount": amount, **more})


def test_a_rule_names_who_called_from_where_and_when() -> None:
    found = one(
        a_past(),
        a_past(
            actor=replace(SAM, user="kim", tenant="globex", roles=frozenset({"support", "lead"}))
        ),
    )
    assert found.match == {
        "tools": ["payments.refund"],
        "roles": {"all": ["support"]},
        "tenants": ["acme", "globex"],
        "phases": ["acting"],
        "causes": ["caller"],
    }
    assert (found.calls, found.users, found.by) == (2, 2, ("payments.refund.small",))
    assert found.id == "suggested.payments.refund"


def test_of_the_scopes_that_callers_had_only_those_are_asked_for_that_something_needs() -> None:
    known = {
        **KNOWN,
        "payments.refund": replace(KNOWN["payments.refund"], scopes=frozenset({"crm:read"})),
    }
    (found,) = suggest([a_past()], known)
    assert found.match["scopes"] == {"all": ["crm:read"]}
    asked = {"payments.refund.small": frozenset({"payments:write", "never:held"})}
    (found,) = suggest([a_past()], known, asked)
    assert found.match["scopes"] == {"all": ["crm:read", "payments:write"]}


def test_people_without_a_role_in_common_have_one_of_few_or_are_named() -> None:
    roles = [frozenset({"a", "x"}), frozenset({"b", "x"}), frozenset({"c"})]
    several = one(*(a_past(actor=replace(SAM, roles=each)) for each in roles))
    assert several.match["roles"] == {"any": ["c", "x"]}
    nobody = one(a_past(actor=replace(SAM, roles=frozenset())), a_past(actor=OPS))
    assert "roles" not in nobody.match
    assert nobody.match["users"] == ["ops", "sam"]


def test_numbers_are_bounded_by_the_largest_that_was_seen() -> None:
    assert one(paid(50), paid(12.5)).when.startswith("args.amount <= 50.0")
    assert one(paid(12.5)).when.startswith("args.amount <= 12.5")
    assert "amount" not in one(paid(2**63)).when
    assert "amount" not in one(paid(Decimal("0.1"))).when
    assert "amount" not in one(paid("much")).when


SCHEMA: JsonObject = {
    "currency": {"enum": ["EUR", "USD", "GBP"]},
    "urgent": {"type": "boolean"},
    "note": {"type": "string"},
    "a-b": {"type": "integer"},
}
TOOL = contract("payments.refund", SCHEMA)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            [{"currency": "EUR"}, {"currency": "USD"}],
            "args.currency in ['EUR', 'USD'] && !has(args.urgent) && !has(args.note) "
            "&& !('a-b' in args)",
        ),
        (
            [{"urgent": False, "note": "x", "a-b": 3}, {"note": "y"}],
            "!has(args.currency) && (!has(args.urgent) || args.urgent == false) "
            "&& (!('a-b' in args) || args['a-b'] <= 3.0)",
        ),
        (
            [{"urgent": False, "note": "", "a-b": 1}, {"urgent": True, "note": "", "a-b": -1}],
            "!has(args.currency) && args['a-b'] <= 1.0",
        ),
    ],
)
def test_arguments_are_held_to_what_was_seen(arguments: list[JsonObject], expected: str) -> None:
    found = one(*(a_past(arguments=each) for each in arguments), known=TOOL)
    assert found.when == expected


def test_what_was_redacted_bounds_nothing_and_that_is_said() -> None:
    hidden = a_past(arguments={"currency": "?"}, unknown={"/currency": "it was redacted"})
    found = one(hidden, a_past(arguments={"currency": "EUR"}), known=TOOL)
    assert "currency" not in found.when
    assert found.notes == ("`currency` is not bounded: of 1 call it is not known",)


def test_each_thing_and_method_has_a_rule_of_its_own() -> None:
    found = suggest(
        [
            a_past(),
            a_past(method=Method.GET_TASK),
            a_past(
                kind=Kind.RESOURCE, method=Method.READ_RESOURCE, key="file:///a?b", server="files"
            ),
            a_past(kind=Kind.PROMPT, method=Method.GET_PROMPT, key="desk.reply"),
            a_past(
                key="crm.search_customers",
                cause=Cause.VERIFICATION,
                run={"template": "case"},
                phase=Phase.FINALIZING,
            ),
        ],
        KNOWN,
    )
    by = {each.id: each.match for each in found}
    assert by["suggested.payments.refund.tasks-get"]["methods"] == ["tasks/get"]
    assert by["suggested.file-a-b"]["resources"] == ["file:///a?b"]
    assert by["suggested.file-a-b"]["servers"] == ["files"]
    assert by["suggested.desk.reply"]["prompts"] == ["desk.reply"]
    search = by["suggested.crm.search_customers"]
    assert (search["templates"], search["causes"]) == (["case"], ["verification"])
    assert any("wild sign" in note for each in found for note in each.notes)
    assert len({each.id for each in found}) == 5


def test_names_that_look_alike_get_ids_that_don_t() -> None:
    found = suggest(
        [a_past(kind=Kind.PROMPT, method=Method.GET_PROMPT, key=key) for key in ("d.a b", "d.a/b")],
        {},
    )
    assert [each.id for each in found] == ["suggested.d.a-b", "suggested.d.a-b-2"]


def test_the_draft_loads_lints_and_enforces_nothing() -> None:
    found = suggest([paid(50), paid(80.5, note="it's \\ \u202e")], KNOWN)
    text = draft(found, of="from\nyesterday", unused=["rule `a` never decided"])
    assert "# Drafted from what was allowed: from\nyesterday" not in text.splitlines()[1:2]
    file = load(text.replace("from\nyesterday", "x"), file="draft.yaml")
    assert all(rule.shadow for rule in compile_policy([file]).rules)
    findings = lint([file], CONTRACTS)
    assert [each for each in findings if each.level is Level.ERROR] == []
    assert "# - rule `a` never decided" in text
    assert "# 2 calls by 1 user, allowed by payments.refund.small" in text
    assert load(draft([], of="x"), file="none.yaml").content.rules == ()
