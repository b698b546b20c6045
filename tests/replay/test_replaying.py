import pytest

from gateway.replay import history
from gateway.replay.history import Span
from gateway.replay.replaying import Replay
from gateway.replay.types import Compared, Counters, Grade
from gateway.revision import Revision
from gateway.types.decisions import DecisionEffect
from gateway.types.leans import Lean
from gateway.types.values import replaced
from tests.helpers.histories import History
from tests.helpers.planted import ABOUT, NARROWER, WIDER, Edit
from tests.helpers.worlds import World

SMALL = 60  # runs; `python -m bench.replay` has as many as wanted


async def a_history(many: int) -> History:
    made = History()
    await made.runs(0, many)
    return made


def a_replay(
    made: History,
    candidate: Revision,
    *,
    keeps: bool = True,
    counters: Counters = Counters.RECORDED,
) -> Replay:
    async def past(id: str) -> Revision | None:
        return made.revision if keeps and id == made.revision.id else None

    return Replay(candidate=candidate, past=past, definitions=made.definitions, counters=counters)


async def replayed(made: History, candidate: Revision, *, keeps: bool = True) -> list[Compared]:
    replay = a_replay(made, candidate, keeps=keeps)
    return [each async for each in replay.over(history.calls(made.log, Span()))]


async def test_under_its_own_revision_all_of_a_log_is_the_same() -> None:
    made = await a_history(SMALL)
    found = await replayed(made, made.revision)
    assert len(found) == made.calls
    assert [each for each in found if each.grade is not Grade.SAME or not each.is_faithful] == []
    assert sum(bool(each.recorded.unknown) for each in found) > made.calls / 4


@pytest.mark.parametrize(
    ("name", "edit", "lean"),
    [(name, edit, Lean.WIDER) for name, edit in WIDER.items()]
    + [(name, edit, Lean.NARROWER) for name, edit in NARROWER.items()],
    ids=[*WIDER, *NARROWER],
)
async def test_a_planted_change_is_found_and_goes_its_way(
    name: str, edit: Edit, lean: Lean
) -> None:
    made = History(is_able=True, only=ABOUT[name])
    await made.runs(0, SMALL)
    found = await replayed(made, edit(made.world).revision())
    changed = [each for each in found if each.grade is Grade.CHANGED]
    stopped = [each for each in changed if each.after is not None and each.after.exceeded]
    freed = [each for each in changed if each.before.exceeded]
    ways = {each.grants for each in changed if each not in stopped and each not in freed}
    assert lean in ways
    assert ways <= {lean, Lean.OTHER}
    assert Lean.WIDER not in {each.grants for each in stopped}  # whatever rule lets them through


async def test_without_the_revision_of_then_what_is_known_is_compared_with_what_was_said() -> None:
    made = await a_history(SMALL // 4)
    found = await replayed(made, WIDER["no scope"](made.world).revision(), keeps=False)
    assert {each.is_faithful for each in found} == {None}
    assert {Grade.SAME, Grade.CHANGED, Grade.UNDECIDABLE} == {each.grade for each in found}


async def test_a_log_that_somebody_has_changed_is_not_faithful() -> None:
    made = await a_history(SMALL)
    calls = [each async for each in history.calls(made.log, Span())]
    denied = next(each for each in calls if each.judged.code == "no_matching_rule")
    forged = replaced(denied, judged=replaced(denied.judged, effect=DecisionEffect.ALLOW))
    compared = await a_replay(made, made.revision).compared(forged)
    assert compared.is_faithful is False
    assert compared.grade is Grade.CHANGED


async def test_limits_that_are_counted_anew_come_to_what_they_came_to() -> None:
    world = World().edited("max: 3, window: 5m", "max: 1, window: 15m")
    made = History(is_able=True, only=("crm.find", "crm.note"), world=world)
    await made.runs(0, 2 * SMALL)
    replay = a_replay(made, made.revision, counters=Counters.SIMULATED)
    found = [each async for each in replay.over(history.calls(made.log, Span()))]
    assert any(each.before.exceeded for each in found)
    assert [each for each in found if each.grade is not Grade.SAME] == []
