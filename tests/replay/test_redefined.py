import pytest

from gateway.replay import history
from gateway.replay.fitting import Fitting
from gateway.replay.history import Span
from gateway.replay.redefined import Fate, Redefined, redefined
from gateway.replay.replaying import Replay
from gateway.replay.tool_reports import ToolReport
from gateway.replay.types import Compared, Grade
from gateway.revision import Revision
from gateway.types.decisions import DecisionEffect
from gateway.types.json import JsonObject
from gateway.types.leans import Lean
from gateway.types.outcomes import Status
from tests.helpers.histories import History
from tests.helpers.planted import DEFINED, DEFINITIONS, Edit, published
from tests.helpers.worlds import World

RUNS = 40
LAW = World().revision()
# Calls of what was not as reviewed then are let through, once that is what servers publish.
NOT_AS_REVIEWED = (Status.TOOL_CHANGED, Status.TOOL_QUARANTINED)


async def replayed(made: History, other: Redefined) -> tuple[list[Compared], dict[str, ToolReport]]:
    async def past(id: str) -> Revision | None:
        return made.revision if id == made.revision.id else None

    fitting = Fitting(tools=other.tools)
    replay = Replay(
        candidate=other.revision,
        past=past,
        definitions=made.definitions,
        offered=other.offered,
        watches=fitting,
    )
    found = [each async for each in replay.over(history.calls(made.log, Span()))]
    return found, {each.tool: each for each in fitting.report()}


async def a_history(world: World, tool: str) -> History:
    made = History(world=world, only=(tool,))
    await made.runs(0, RUNS)
    return made


@pytest.mark.parametrize(
    ("tool", "edit"), [(DEFINED[name], edit) for name, edit in DEFINITIONS.items()], ids=DEFINED
)
async def test_a_planted_definition_is_found_and_goes_its_way(tool: str, edit: Edit) -> None:
    world = World()
    for before, after, lean in (
        (world, edit(world), Lean.NARROWER),
        (edit(world), world, Lean.WIDER),
    ):
        made = await a_history(before, tool)
        other = redefined(made.revision, published(after, tool))
        assert other.tools[tool].fate is Fate.CHANGED
        found, tools = await replayed(made, other)
        told = tools[tool]
        no_more, now = (told.fits_no_more, told.fits_now)
        assert (no_more > 0, now > 0) == (lean is Lean.NARROWER, lean is Lean.WIDER)
        assert told.faults or lean is Lean.WIDER
        changed = [each for each in found if each.grade is Grade.CHANGED]
        ways = {each.grants for each in changed if each.before.status not in NOT_AS_REVIEWED}
        assert ways <= {lean, Lean.OTHER}
        went = sum(each.before.effect is not DecisionEffect.DENY for each in found)
        assert told.blocked == went


async def test_what_is_as_it_was_reviewed_changes_nothing() -> None:
    made = await a_history(World(), "crm.find")
    other = redefined(made.revision, published(made.world, "crm.find"))
    assert other.revision.id == made.revision.id
    assert {each.fate for each in other.tools.values()} == {Fate.SAME}
    found, tools = await replayed(made, other)
    assert {each.grade for each in found} == {Grade.SAME}
    assert (tools["crm.find"].blocked, tools["crm.find"].passes) == (0, True)


async def test_calls_of_what_is_gone_or_can_not_be_enforced_are_refused() -> None:
    made = await a_history(World(), "crm.get")
    gone = redefined(made.revision, {"crm": {}})
    found, tools = await replayed(made, gone)
    codes = {each.after.code for each in found if each.after is not None}
    assert (codes, tools["crm.get"].fate, tools["crm.get"].passes) == ({"gone"}, "gone", False)
    bad: JsonObject = {
        "name": "get",
        "inputSchema": {"type": "object", "properties": {"id": {"type": "x"}}},
    }
    unusable = redefined(made.revision, {"crm": {"get": bad}})
    found, tools = await replayed(made, unusable)
    codes = {each.after.code for each in found if each.after is not None}
    assert (codes, tools["crm.get"].passes) == ({"tool_quarantined"}, False)
    assert "/inputSchema" in tools["crm.get"].fault


async def test_a_tool_that_nobody_reviewed_is_judged_by_a_new_draft() -> None:
    made = await a_history(World(), "shell.run_command")
    shell = made.tools["shell.run_command"].definition
    properties: JsonObject = {"command": {"type": "array"}, "api_key": {"type": "string"}}
    other: JsonObject = {
        **shell,
        "inputSchema": {"type": "object", "properties": properties},
    }
    found, tools = await replayed(made, redefined(made.revision, {"shell": {"run_command": other}}))
    codes = {each.after.code for each in found if each.after is not None}
    assert (codes, tools["shell.run_command"].fate) == ({"schema", "not_json"}, "new")


def test_a_server_that_is_not_named_stays_as_it_is() -> None:
    other = redefined(LAW, {"web": {}})
    assert [*other.tools] == ["web.fetch"]
    assert other.revision.id != LAW.id
    assert other.revision.contracts == LAW.contracts
