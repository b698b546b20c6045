from dataclasses import replace

import pytest

from gateway.replay.alike import Alike
from gateway.replay.types import Recorded
from gateway.revision import Revision, Unreviewed
from gateway.types.json import JsonObject
from gateway.types.tools import Effect
from gateway.types.values import replaced
from tests.helpers.cases import a_contract, a_definition, a_tool
from tests.helpers.planted import ABOUT, NARROWER, WIDER
from tests.helpers.replays import TOOL, a_known_case, a_law, policy, recorded, rule
from tests.helpers.worlds import World

OTHER = a_tool(a_definition("other"))
RULES = (
    rule("one", when="args.amount <= 1.0", match={"tools": [TOOL.key]}),
    rule("two", match={"tools": [OTHER.key]}),
)
LAW = a_law(policy(*RULES), a_contract(TOOL), a_contract(OTHER))
CALL = recorded(a_known_case(LAW, {"amount": 1}))


def alike(other: Revision, call: Recorded = CALL) -> bool:
    return Alike()(LAW, replace(other, id="sha256:other"), call)


def a_law_with(*rules: JsonObject, **more: JsonObject) -> Revision:
    return a_law(policy(*rules, **more), a_contract(TOOL), a_contract(OTHER))


def test_what_is_about_other_tools_changes_nothing_for_calls_of_this_one() -> None:
    assert alike(a_law_with(RULES[0], {**RULES[1], "decision": "deny"}))
    assert alike(a_law_with({"id": "x", "decision": "deny", "match": {"tools": ["z.*"]}}, *RULES))
    assert alike(a_law(policy(*RULES), a_contract(TOOL), a_contract(OTHER, effect=Effect.READ)))


@pytest.mark.parametrize(
    "other",
    [
        a_law_with({**RULES[0], "when": "args.amount <= 2.0"}, RULES[1]),
        a_law_with({**RULES[0], "reason": "others words"}, RULES[1]),
        a_law_with({**RULES[0], "match": {"servers": [TOOL.server]}}, RULES[1]),
        a_law_with({**RULES[0], "mode": "shadow"}, RULES[1]),
        a_law_with({**RULES[0], "constrain": {"set": {"amount": 1}}}, RULES[1]),
        a_law_with(*RULES, default={"decision": "deny", "code": "other"}),
        replace(LAW, unreviewed=Unreviewed.OBSERVE),
        a_law(policy(*RULES), a_contract(TOOL, scopes=frozenset({"x"})), a_contract(OTHER)),
        a_law(policy(*RULES), a_contract(OTHER)),
    ],
)
def test_what_is_asked_about_a_call_counts(other: Revision) -> None:
    assert not alike(other)


def test_the_same_number_in_another_type_is_another_demand() -> None:
    def law(value: str) -> Revision:
        text = policy({**RULES[0], "constrain": {"set": {"amount": value}}}, RULES[1])
        return a_law(text.replace(f'"{value}"', value), a_contract(TOOL), a_contract(OTHER))

    one = law("1")
    assert Alike()(one, replace(law("1"), id="sha256:other"), CALL)
    assert not Alike()(one, replace(law("true"), id="sha256:other"), CALL)


def test_what_a_set_holds_counts_where_expressions_name_it() -> None:
    def law(*values: int) -> Revision:
        named = {**RULES[0], "when": "args.amount in sets.x"}
        return a_law_with(named, RULES[1], sets={"x": [*values], "y": [*values]})

    assert Alike()(law(1), replace(law(1), id="sha256:other"), CALL)
    assert not Alike()(law(1), replace(law(2), id="sha256:other"), CALL)


@pytest.mark.parametrize("name", [*WIDER, *NARROWER])
def test_no_planted_change_is_taken_for_none(name: str) -> None:
    world = World()
    other = {**WIDER, **NARROWER}[name](world).revision()
    about = [tool for tool in ABOUT[name] if not alike_of(world.revision(), other, tool)]
    assert about


def alike_of(one: Revision, other: Revision, tool: str) -> bool:
    return Alike()(one, other, replaced(CALL, tool=tool, server=tool.partition(".")[0]))
