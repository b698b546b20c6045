"""Listing: the checks of calls decide what is seen, for each class of caller."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

import pytest

from gateway.case import Origin
from gateway.clock import SystemClock
from gateway.errors import BadCursor
from gateway.listing import TOOL, Listing
from gateway.revision import Revision
from gateway.steps.resolve import Resolve
from gateway.types.actors import Actor
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Tool
from tests.helpers.cases import a_contract, a_definition, a_principal, a_revision, a_tool

SUPPORT_ONLY = """\
rules:
  - {id: find, decision: allow, match: {tools: [crm.find], roles: {any: [support]}}}
  - {id: wipe, decision: allow, match: {tools: [crm.wipe], roles: {any: [admin]}}}
"""


@dataclass
class Shelf:
    """A catalogue that a test can change."""

    held: tuple[Tool, ...]
    version: int = 0

    def tools(self) -> tuple[Tool, ...]:
        return self.held

    def find(self, exposed_name: str) -> Tool | None:
        return next((tool for tool in self.held if tool.exposed_name == exposed_name), None)


@dataclass
class Law:
    """A revision that a test can change."""

    revision: Revision
    reads: list[datetime] = field(default_factory=list[datetime])


async def nothing_seen(
    actor: Actor, wanted: Mapping[JsonPointer, tuple[Json, tuple[str, ...]]]
) -> Mapping[JsonPointer, tuple[Origin, ...]]:
    return {}


FIND = a_tool(a_definition("find"))
WIPE = a_tool(a_definition("wipe", annotations={"readOnlyHint": True, "title": "Wipe"}))


def a_listing(policy: str = SUPPORT_ONLY, *, page_size: int = 200) -> tuple[Listing, Shelf, Law]:
    contracts = [a_contract(FIND), a_contract(WIPE, effect=Effect.DESTRUCTIVE)]
    shelf, law = Shelf((FIND, WIPE)), Law(a_revision(contracts, policy))
    clock = SystemClock()
    resolve = Resolve(
        catalogue=shelf,
        revision=lambda: law.revision,
        clock=clock,
        default_phase=Phase.ACTING,
        seen=nothing_seen,
    )
    listing = Listing(
        catalogue=shelf,
        resolve=resolve,
        revision=lambda: law.revision,
        clock=clock,
        page_size=page_size,
    )
    return listing, shelf, law


def names(listed: list[JsonObject]) -> list[str]:
    return [str(definition["name"]) for definition in listed]


def test_a_caller_sees_what_some_rule_could_let_it_use() -> None:
    """case: AUT-01, AUT-02"""
    listing, _, _ = a_listing()
    support, admin = a_principal(), a_principal(roles=frozenset({"admin"}))
    assert names(listing.visible(support)) == ["crm__find"]
    assert names(listing.visible(admin)) == ["crm__wipe"]


def test_rights_that_shrink_are_seen_at_once() -> None:
    """case: AUT-02"""
    listing, _, law = a_listing()
    assert names(listing.visible(a_principal())) == ["crm__find"]
    law.revision = replace(a_revision([a_contract(FIND)], "rules: []\n"), id="sha256:next")
    assert listing.visible(a_principal()) == []


def test_a_changed_catalogue_is_seen_at_once() -> None:
    listing, shelf, _ = a_listing()
    assert names(listing.visible(a_principal())) == ["crm__find"]
    shelf.held, shelf.version = (WIPE,), 1
    assert listing.visible(a_principal()) == []


def test_a_changed_tool_is_not_listed() -> None:
    listing, shelf, _ = a_listing()
    shelf.held = (replace(FIND, pin="sha256:other"),)
    assert listing.visible(a_principal()) == []


def test_definitions_pass_as_received_and_our_own_additions_are_marked() -> None:
    """case: SCH-04, SCH-06"""
    definition = a_definition(
        "find", {"a": {"type": "string", "enum": ["x"], "x-own": 1}}, title="T", vendor={"k": [1]}
    )
    listing, shelf, law = a_listing()
    tool = a_tool(definition)
    shelf.held = (tool,)
    law.revision = a_revision([a_contract(tool)], SUPPORT_ONLY)
    (listed,) = listing.visible(a_principal())
    about = {"server": "crm", "effect": "read", "risk": "low"}
    assert listed == {**definition, "name": "crm__find", "_meta": {TOOL: about}}


def test_hints_that_play_a_call_down_are_corrected_and_said_so() -> None:
    listing, _, _ = a_listing()
    (listed,) = listing.visible(a_principal(roles=frozenset({"admin"})))
    assert listed["annotations"] == {"readOnlyHint": False, "title": "Wipe"}
    meta = listed["_meta"]
    assert isinstance(meta, dict)
    assert meta[TOOL] == {
        "server": "crm",
        "effect": "destructive",
        "risk": "high",
        "overrides": ["/annotations/readOnlyHint"],
    }


def test_pages_follow_each_other_without_gap_or_repetition() -> None:
    everything = "rules:\n  - {id: all, decision: allow, match: {tools: ['*']}}\n"
    listing, _, _ = a_listing(everything, page_size=1)
    first = listing.page(a_principal(), None)
    second = listing.page(a_principal(), first.next_cursor)
    assert names(first.tools) + names(second.tools) == ["crm__find", "crm__wipe"]
    assert second.next_cursor is None


@pytest.mark.parametrize("cursor", ["x", "", "bm90aGluZw==", "ÿ"])
def test_a_cursor_that_is_not_ours_is_refused(cursor: str) -> None:
    listing, _, _ = a_listing()
    with pytest.raises(BadCursor):
        listing.page(a_principal(), cursor)


def test_a_schema_is_shown_to_those_who_see_the_tool_only() -> None:
    listing, _, _ = a_listing()
    assert listing.schema(a_principal(), "crm__find") is FIND.definition["inputSchema"]
    assert listing.schema(a_principal(), "crm__wipe") is None
