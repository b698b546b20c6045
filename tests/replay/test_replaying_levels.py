"""Whatever is kept of calls, and whatever is sealed beside them, replay is never wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from gateway.clock import SystemClock
from gateway.replay import history
from gateway.replay.history import Span
from gateway.replay.replaying import Replay
from gateway.replay.types import Compared, Grade
from gateway.revision import Revision
from gateway.store.sealing import Sealer, opened
from gateway.store.sealing_keys import SealingKeys
from gateway.store.unsealing import Unsealed
from gateway.types.audit import Audit, Level, SealedCopy
from gateway.types.events import Event
from gateway.types.json import JsonObject
from tests.helpers.histories import History
from tests.helpers.planted import NARROWER, WIDER, Edit
from tests.helpers.worlds import World

RUNS = 60
EDITS: Mapping[str, Edit] = dict([*WIDER.items(), *NARROWER.items()][::3])
KEYS = SealingKeys(b"s" * 32)


@dataclass
class Drawer:
    """Seals in memory, and opens again."""

    copies: dict[str, SealedCopy] = field(default_factory=dict[str, SealedCopy])
    sealer: Sealer = field(default_factory=lambda: Sealer(lambda: KEYS, SystemClock()))

    def sealed(self, event: Event, arguments: JsonObject) -> Event:
        made = self.sealer.sealed(event, arguments)
        assert made.sealed is not None
        self.copies[event.id] = made.sealed
        return made

    async def beside(self, events: Sequence[JsonObject]) -> Mapping[str, Unsealed]:
        found = {str(each["id"]): each for each in events if str(each["id"]) in self.copies}
        return {
            id: Unsealed(
                arguments=opened(KEYS, each, self.copies[id].wrapped, self.copies[id].content)
            )
            for id, each in found.items()
        }


async def replayed(
    made: History, candidate: Revision, drawer: Drawer | None = None
) -> list[Compared]:
    async def past(id: str) -> Revision | None:
        return made.revision if id == made.revision.id else None

    replay = Replay(candidate=candidate, past=past, definitions=made.definitions)
    return [each async for each in replay.over(history.calls(made.log, Span(), drawer))]


def unlike(found: list[Compared]) -> list[Compared]:
    return [each for each in found if each.grade is not Grade.SAME or not each.is_faithful]


@pytest.mark.parametrize("level", Level)
async def test_under_its_own_revision_all_is_the_same_at_each_level(level: Level) -> None:
    made = History()
    made.books.level = level
    await made.runs(0, RUNS)
    found = await replayed(made, made.revision)
    assert unlike(found) == []
    share = sum(bool(each.recorded.unknown) for each in found) / len(found)
    assert share > (0.6 if level is Level.METADATA else 0.25)


def a_history(*, level: Level = Level.REQUEST) -> tuple[History, Drawer]:
    """Return a history in which all is sealed, before anything happened."""
    world, drawer = World(), Drawer()
    sealed = tuple(replace(each, audit=Audit(seal=True)) for each in world.contracts)
    made = History(world=replace(world, contracts=sealed), is_able=True)
    made.books.level = level
    made.books.sealer = drawer
    return made, drawer


async def test_with_what_is_sealed_nothing_of_arguments_is_unknown_and_all_is_the_same() -> None:
    made, drawer = a_history(level=Level.METADATA)
    await made.runs(0, RUNS)
    found = await replayed(made, made.revision, drawer)
    assert unlike(found) == []
    reviewed = {each.tool for each in made.world.contracts}
    assert not any(each.recorded.unknown for each in found if each.recorded.tool in reviewed)


@pytest.mark.parametrize("name", EDITS)
async def test_a_level_takes_answers_away_and_makes_none_wrong(name: str) -> None:
    edit = EDITS[name]
    made, drawer = a_history(level=Level.METADATA)
    await made.runs(0, RUNS // 3)
    candidate = edit(made.world).revision()
    known = await replayed(made, candidate, drawer)
    less = await replayed(made, candidate)
    for one, other in zip(known, less, strict=True):
        if other.after is None or one.after is None:
            assert other.certain is None or one.after is None or other.certain is one.after.effect
        else:
            assert (other.after.effect, other.after.code) == (one.after.effect, one.after.code)
    assert sum(each.after is None for each in known) <= sum(each.after is None for each in less)
