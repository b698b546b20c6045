from dataclasses import replace

import pytest

from gateway.replay import history
from gateway.replay.alike import Alike
from gateway.replay.history import Span
from gateway.replay.replaying import Replay
from gateway.replay.types import Recorded
from gateway.revision import Revision, Unreviewed
from gateway.types.json import JsonObject
from gateway.types.tools import Effect
from gateway.types.values import replaced
from tests.helpers.cases import a_contract, a_definition, a_tool
from tests.helpers.histories import History
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


async def test_what_is_taken_to_be_the_same_is_the_same_when_it_is_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = History(seed=3)
    await made.runs(0, 12)
    calls = [each async for each in history.calls(made.log, Span())]
    for edit in {**WIDER, **NARROWER}.values():
        law = edit(made.world).revision()
        told = await judged(made, law, calls)
        with monkeypatch.context() as patched:
            patched.setattr(Alike, "__call__", never)
            assert await judged(made, law, calls) == told


def never(*about: object) -> bool:
    """Take nothing for the same."""
    del about
    return False


async def judged(made: History, law: Revision, calls: list[Recorded]) -> list[object]:
    """Return how calls fare, but for the places of rules, which move with every line."""

    async def past(id: str) -> Revision | None:
        return made.revision if id == made.revision.id else None

    replay = Replay(candidate=law, past=past, definitions=made.definitions)
    found = [await replay.compared(each) for each in calls]
    return [
        replaced(each, after=replaced(each.after, place="")) if each.after is not None else each
        for each in found
    ]
