"""Listing: the checks of calls decide what is seen, for each class of caller."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.clock import SystemClock
from gateway.errors import BadCursor
from gateway.listing import TOOL, Listing
from gateway.types.calls import AuthMethod
from gateway.types.guarantees import Idempotency, Injection, InjectPlace
from gateway.types.json import JsonObject
from gateway.types.operations import RetryClass
from gateway.types.tools import Effect, Listed, Quarantine, Sensitivity
from tests.helpers.cases import (
    a_contract,
    a_definition,
    a_principal,
    a_prompt,
    a_resource,
    a_revision,
    a_tool,
)
from tests.helpers.shelves import Law, Shelf, a_resolve

SUPPORT_ONLY = """\
rules:
  - {id: find, decision: allow, match: {tools: [crm.find], roles: {any: [support]}}}
  - {id: wipe, decision: allow, match: {tools: [crm.wipe], roles: {any: [admin]}}}
"""


FIND = a_tool(a_definition("find"))
WIPE = a_tool(a_definition("wipe", annotations={"readOnlyHint": True, "title": "Wipe"}))


def a_listing(policy: str = SUPPORT_ONLY, *, page_size: int = 200) -> tuple[Listing, Shelf, Law]:
    contracts = [a_contract(FIND), a_contract(WIPE, effect=Effect.DESTRUCTIVE)]
    shelf, law = Shelf((FIND, WIPE)), Law(a_revision(contracts, policy))
    listing = Listing(
        catalogue=shelf,
        resolve=a_resolve(shelf, law),
        revision=lambda: law.revision,
        clock=SystemClock(),
        page_size=page_size,
    )
    return listing, shelf, law


def names(listed: list[JsonObject]) -> list[str]:
    return [str(definition["name"]) for definition in listed]


def test_a_caller_sees_what_some_rule_could_let_it_use() -> None:
    """case: AUT-01, AUT-02"""
    listing, _, _ = a_listing()
    support, admin = a_principal(), a_principal(roles=frozenset({"admin"}))
    assert names(listing.visible(Listed.TOOLS, support)) == ["crm__find"]
    assert names(listing.visible(Listed.TOOLS, admin)) == ["crm__wipe"]


def test_rights_that_shrink_are_seen_at_once() -> None:
    """case: AUT-02"""
    listing, _, law = a_listing()
    assert names(listing.visible(Listed.TOOLS, a_principal())) == ["crm__find"]
    law.revision = replace(a_revision([a_contract(FIND)], "rules: []\n"), id="sha256:next")
    assert listing.visible(Listed.TOOLS, a_principal()) == []


def test_the_way_of_proving_who_one_is_makes_another_view() -> None:
    listing, _, _ = a_listing(
        "rules: [{id: a, decision: allow, match: {authenticated_by: [api_key]}}]"
    )
    assert names(listing.visible(Listed.TOOLS, a_principal())) == ["crm__find", "crm__wipe"]
    assert listing.visible(Listed.TOOLS, a_principal(method=AuthMethod.JWT)) == []


def test_a_changed_catalogue_is_seen_at_once() -> None:
    listing, shelf, _ = a_listing()
    assert names(listing.visible(Listed.TOOLS, a_principal())) == ["crm__find"]
    shelf.held, shelf.version = (WIPE,), 1
    assert listing.visible(Listed.TOOLS, a_principal()) == []


def test_a_changed_tool_is_not_listed() -> None:
    listing, shelf, _ = a_listing()
    shelf.held = (replace(FIND, pin="sha256:other"),)
    assert listing.visible(Listed.TOOLS, a_principal()) == []


def test_definitions_pass_as_received_and_our_own_additions_are_marked() -> None:
    """case: SCH-04, SCH-06"""
    definition = a_definition(
        "find", {"a": {"type": "string", "enum": ["x"], "x-own": 1}}, title="T", vendor={"k": [1]}
    )
    listing, shelf, law = a_listing()
    tool = a_tool(definition)
    shelf.held = (tool,)
    law.revision = a_revision([a_contract(tool)], SUPPORT_ONLY)
    (listed,) = listing.visible(Listed.TOOLS, a_principal())
    about = {"server": "crm", "effect": "read", "risk": "low"}
    assert listed == {**definition, "name": "crm__find", "_meta": {TOOL: about}}


def test_hints_that_play_a_call_down_are_corrected_and_said_so() -> None:
    listing, _, _ = a_listing()
    (listed,) = listing.visible(Listed.TOOLS, a_principal(roles=frozenset({"admin"})))
    assert listed["annotations"] == {"readOnlyHint": False, "title": "Wipe"}
    meta = listed["_meta"]
    assert isinstance(meta, dict)
    assert meta[TOOL] == {
        "server": "crm",
        "effect": "destructive",
        "risk": "high",
        "overrides": ["/annotations/readOnlyHint"],
    }


def test_an_argument_that_the_gateway_fills_in_is_asked_of_nobody() -> None:
    definition = a_definition("put", {"v": {"type": "integer"}, "key": {"type": "string"}})
    schema = definition["inputSchema"]
    assert isinstance(schema, dict)
    demanding: JsonObject = {**schema, "required": ["v", "key"]}
    listing, shelf, law = a_listing()
    tool = a_tool({**definition, "inputSchema": demanding})
    shelf.held = (tool,)
    keyed = Idempotency(
        retry=RetryClass.KEYED, inject=Injection(place=InjectPlace.ARGUMENT, name="/key")
    )
    contract = a_contract(tool, effect=Effect.WRITE, idempotency=keyed)
    law.revision = a_revision([contract], SUPPORT_ONLY.replace("crm.find", "crm.put"))
    (listed,) = listing.visible(Listed.TOOLS, a_principal())
    shown = {**schema, "properties": {"v": {"type": "integer"}}, "required": ["v"]}
    assert listed["inputSchema"] == shown


ROWS: JsonObject = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "total": {"type": "number"}},
    "required": ["id", "total"],
}


def shown(output: str = "", **changes: Any) -> Any:
    tool = a_tool(a_definition("find", outputSchema=ROWS))
    policy = "rules:\n  - {id: a, decision: allow, match: {tools: ['*']}}\n"
    if output:
        policy += f"  - {{id: b, decision: obligation, match: {{tools: ['*']}}, {output}}}\n"
    law = Law(a_revision([a_contract(tool, **changes)], policy))
    shelf = Shelf((tool,))
    listing = Listing(
        catalogue=shelf,
        resolve=a_resolve(shelf, law),
        revision=lambda: law.revision,
        clock=SystemClock(),
    )
    [definition] = listing.visible(Listed.TOOLS, a_principal())
    return definition.get("outputSchema")


def test_an_output_schema_asks_for_nothing_that_policy_may_withhold() -> None:
    kinds = {"id": {"type": "string"}, "total": {"type": "number"}}
    assert shown() == ROWS
    assert shown("output: {keep: [/id]}") == {"type": "object", "properties": kinds}
    rows = "output: {rows: [{path: /rows, where: row.id == 'a'}]}"
    assert shown(rows) == {"type": "object", "properties": kinds}


def test_a_value_that_leaves_in_another_form_is_promised_in_none() -> None:
    hashed = {"type": "object", "properties": {"id": {"type": "string"}, "total": {}}}
    assert shown("output: {redact: [{path: /total, as: hash}]}") == hashed
    assert shown(sensitive_results={"/total": Sensitivity.SECRET}) == hashed
    assert shown(sensitive_results={"/total": Sensitivity.PERSONAL}) == ROWS
    assert shown("output: {redact: [{path: /iban, as: mask}]}") is None


def test_pages_follow_each_other_without_gap_or_repetition() -> None:
    everything = "rules:\n  - {id: all, decision: allow, match: {tools: ['*']}}\n"
    listing, _, _ = a_listing(everything, page_size=1)
    first = listing.page(Listed.TOOLS, a_principal(), None)
    second = listing.page(Listed.TOOLS, a_principal(), first.next_cursor)
    assert names(first.items) + names(second.items) == ["crm__find", "crm__wipe"]
    assert second.next_cursor is None


@pytest.mark.parametrize("cursor", ["x", "", "bm90aGluZw==", "ÿ"])
def test_a_cursor_that_is_not_ours_is_refused(cursor: str) -> None:
    listing, _, _ = a_listing()
    with pytest.raises(BadCursor):
        listing.page(Listed.TOOLS, a_principal(), cursor)


def test_a_schema_is_shown_to_those_who_see_the_tool_only() -> None:
    listing, _, _ = a_listing()
    assert listing.schema(a_principal(), "crm__find") is FIND.definition["inputSchema"]
    assert listing.schema(a_principal(), "crm__wipe") is None


MIXED = """\
rules:
  - {id: notes, decision: allow, match: {resources: ["crm://notes/*"]}}
  - {id: greet, decision: allow, match: {prompts: ["crm.*"], roles: {any: [support]}}}
"""


def a_mixed_listing() -> tuple[Listing, Shelf, Law]:
    listing, shelf, law = a_listing(MIXED)
    shelf.held = (
        FIND,
        a_prompt(),
        a_resource("crm://notes/1", definition={"uri": "crm://notes/1", "size": 3, "own": [1]}),
        a_resource("crm://keys/1"),
        a_resource(
            "crm://notes/{id}", definition={"uriTemplate": "crm://notes/{id}", "name": "note"}
        ),
    )
    return listing, shelf, law


def test_every_list_shows_what_rules_could_let_its_caller_use() -> None:
    """case: AUT-01"""
    listing, _, _ = a_mixed_listing()
    seen = {kind: listing.page(kind, a_principal(), None).items for kind in Listed}
    assert seen[Listed.TOOLS] == []
    assert [item["uri"] for item in seen[Listed.RESOURCES]] == ["crm://notes/1"]
    assert [item["uriTemplate"] for item in seen[Listed.TEMPLATES]] == ["crm://notes/{id}"]
    assert names(seen[Listed.PROMPTS]) == ["crm__greet"]
    admin = a_principal(roles=frozenset({"admin"}))
    assert listing.page(Listed.PROMPTS, admin, None).items == []


def test_a_listed_resource_is_as_its_server_published_it_and_marked() -> None:
    listing, _, _ = a_mixed_listing()
    (item,) = listing.visible(Listed.RESOURCES, a_principal())
    about = {"server": "crm", "effect": "read", "risk": "low"}
    assert item == {
        "uri": "crm://notes/1",
        "size": 3,
        "own": [1],
        "_meta": {"weighbridge/resource": about},
    }


def test_a_resource_that_several_servers_have_is_listed_under_the_uri_that_works() -> None:
    listing, shelf, _ = a_mixed_listing()
    qualified = "weighbridge://crm/crm%3A%2F%2Fnotes%2F1"
    shelf.held = (a_resource("crm://notes/1", exposed_name=qualified),)
    (item,) = listing.visible(Listed.RESOURCES, a_principal())
    assert item["uri"] == qualified


def test_a_prompt_that_can_not_be_used_is_not_listed() -> None:
    listing, shelf, _ = a_mixed_listing()
    shelf.held = (a_prompt(quarantine=Quarantine(reason="no name")),)
    assert listing.visible(Listed.PROMPTS, a_principal()) == []


def test_pages_of_resources_follow_each_other_by_uri() -> None:
    listing, shelf, _ = a_mixed_listing()
    listing.page_size = 2
    shelf.held = tuple(a_resource(f"crm://notes/{number}") for number in range(3))
    first = listing.page(Listed.RESOURCES, a_principal(), None)
    second = listing.page(Listed.RESOURCES, a_principal(), first.next_cursor)
    uris = [item["uri"] for item in (*first.items, *second.items)]
    assert uris == ["crm://notes/0", "crm://notes/1", "crm://notes/2"]
    assert second.next_cursor is None


def test_a_schema_is_that_of_now_whoever_asked_last() -> None:
    listing, shelf, law = a_listing()
    support, admin = a_principal(), a_principal(roles=frozenset({"admin"}))
    for who, sees in ((support, "crm__find"), (admin, "crm__wipe"), (support, "crm__find")):
        for name in ("crm__find", "crm__wipe"):
            assert (listing.schema(who, name) is not None) is (name == sees)
    shelf.held, shelf.version = (WIPE,), shelf.version + 1
    assert listing.schema(support, "crm__find") is None
    shelf.held, shelf.version = (FIND, WIPE), shelf.version + 1
    assert listing.schema(support, "crm__find") is not None
    law.revision = replace(a_revision([a_contract(FIND)], "rules: []\n"), id="sha256:2")
    assert listing.schema(support, "crm__find") is None
