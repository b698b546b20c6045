"""Long work for pages: one piece at a time, its result kept a while."""

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import anyio
import anyio.to_thread
import pytest

from gateway.admin.errands import Asker, Errand, Errands, State
from gateway.types.json import JsonObject
from tests.helpers.cases import NOW


def side(rules: str = "rules: []\n") -> JsonObject:
    """Return a policy as a shelf passes it on."""
    return {
        "texts": {"rules.yaml": rules},
        "unreviewed": "refuse",
        "at": NOW.isoformat(),
        "prefix": "",
    }


def diff() -> JsonObject:
    """Return an order that succeeds: nothing against nothing."""
    return {"work": "diff", "before": side(), "after": side(), "servers": []}


@dataclass
class Clock:
    """A clock that is moved by hand."""

    s: float = field(default=1000.0)

    def now(self) -> datetime:
        return NOW + timedelta(seconds=self.s)

    def time_ns(self) -> int:
        return int(self.now().timestamp() * 1e9)

    def monotonic(self) -> float:
        return self.s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def errands(clock: Clock) -> Generator[Errands]:
    with closing(Errands(clock=clock)) as made:
        yield made


ANN = Asker("acme", "ann")


def begin(errands: Errands, key: str, order: JsonObject, by: Asker = ANN) -> Errand | None:
    return errands.begin(key, order, title=key, to=f"/{key}", tenant="acme", by=by)


async def over(errands: Errands, key: str) -> Errand:
    """Wait until a piece of work has ended."""
    with anyio.fail_after(30):
        while True:
            found = errands.find(key)
            assert found is not None
            if found.state is not State.RUNNING:
                return found
            await anyio.sleep(0.02)


async def test_work_is_done_in_a_process_of_its_own_and_its_result_is_found(
    errands: Errands,
) -> None:
    begun = begin(errands, "a", diff())
    assert begun is not None
    assert (begun.state, begun.result(), errands.is_free(ANN)) == (State.RUNNING, b"", False)
    done = await over(errands, "a")
    assert (done.state, done.problem) == (State.DONE, "")
    assert b'"differing":0' in done.result()
    assert errands.is_free(ANN)


async def test_one_piece_of_a_person_is_under_way_at_a_time_until_it_is_cancelled(
    errands: Errands,
) -> None:
    first = begin(errands, "a", diff())
    assert first is not None
    assert begin(errands, "b", diff()) is None
    errands.cancel("a")
    errands.cancel("nothing of the kind")
    assert first.process.returncode is not None
    assert (first.state, first.result()) == (State.CANCELLED, b"")
    assert begin(errands, "b", diff()) is not None
    assert [each.key for each in errands.all()] == ["b", "a"]


async def test_no_tenant_has_all_places(errands: Errands) -> None:
    for user in ("ann", "ben"):
        assert begin(errands, user, diff(), Asker("acme", user)) is not None
    assert begin(errands, "cy", diff(), Asker("acme", "cy")) is None
    eve = begin(errands, "eve", diff(), Asker("globex", "eve"))
    assert eve is not None
    assert begin(errands, "gus", diff(), Asker("globex", "gus")) is None  # three are all
    errands.cancel("ann")
    assert not errands.is_free(Asker("acme", "ann"))  # cy was there before
    assert not errands.is_free(Asker("initech", "pam"))
    assert begin(errands, "cy", diff(), Asker("acme", "cy")) is not None


async def test_a_turn_is_kept_for_a_minute(errands: Errands, clock: Clock) -> None:
    for user in ("ann", "ben"):
        assert begin(errands, user, diff(), Asker("acme", user)) is not None
    assert not errands.has_turn(Asker("acme", "cy"))
    errands.cancel("ann")
    assert not errands.has_turn(ANN)
    clock.s += 61
    assert errands.has_turn(ANN)


async def test_nobody_drives_out_the_results_of_another_tenant(errands: Errands) -> None:
    assert begin(errands, "eve", diff(), Asker("globex", "eve")) is not None
    errands.cancel("eve")
    for number in range(20):
        assert begin(errands, f"a{number}", diff()) is not None
        errands.cancel(f"a{number}")
    kept = [each.key for each in errands.all()]
    assert (len(kept), kept[-1], kept[0]) == (16, "eve", "a19")


async def test_a_result_is_dropped(errands: Errands) -> None:
    begin(errands, "a", diff())
    errands.drop("a")
    errands.drop("a")
    assert errands.find("a") is None


async def test_of_those_who_ask_at_the_same_time_one_is_served(errands: Errands) -> None:
    begun: list[Errand | None] = []

    async def ask(key: str) -> None:
        begun.append(await anyio.to_thread.run_sync(begin, errands, key, diff()))

    async with anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(ask, f"a{number}")
    assert [each is None for each in begun].count(False) == 1
    assert len(errands.all()) == 1


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ({"work": "diff", "before": side("rules: 7\n"), "after": side()}, "rules.yaml:1:8"),
        ({"work": "magic"}, "it failed with KeyError"),
    ],
)
async def test_what_fails_says_why(
    errands: Errands, order: JsonObject, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    begin(errands, "a", order)
    failed = await over(errands, "a")
    assert failed.state is State.FAILED
    assert said in failed.problem
    capfd.readouterr()


async def test_what_takes_too_long_is_ended(errands: Errands, clock: Clock) -> None:
    begun = begin(errands, "a", diff())
    assert begun is not None
    clock.s += 601
    found = errands.find("a")
    assert found is not None
    assert (found.state, "ten minutes" in found.problem) == (State.FAILED, True)
    assert begun.process.returncode is not None


async def test_results_are_forgotten_after_an_hour(errands: Errands, clock: Clock) -> None:
    begun = begin(errands, "a", diff())
    assert begun is not None
    await over(errands, "a")
    assert begun.folder.exists()
    clock.s += 3601
    assert errands.all() == []
    assert not begun.folder.exists()


async def test_nothing_is_left_of_them_in_the_end(clock: Clock) -> None:
    with closing(Errands(clock=clock)) as errands:
        begun = begin(errands, "a", diff())
        assert begun is not None
    assert begun.process.returncode is not None
    assert not begun.folder.parent.exists()
