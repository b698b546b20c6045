"""What happens to runs beside the calls, over a real store."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.app.runs import RunSweeper, belonging
from gateway.config.runs import RunsSettings
from gateway.errors import StoreUnavailable
from gateway.events.redact import Redactor
from gateway.store.events import EventFilter
from gateway.store.runs import RunFilter
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.types.approvals import Approval
from gateway.types.runs import BindingKind, Phase, Run, StopReason
from gateway.types.values import replaced
from tests.helpers.approvals import asked
from tests.helpers.cases import a_revision
from tests.helpers.databases import ORIGIN
from tests.helpers.fake_server import until_async
from tests.helpers.issuer import HandClock
from tests.helpers.runs import a_field, begun, moved, told

REDACTOR = Redactor(lambda tenant: tenant.encode().ljust(32, b"0"))


@dataclass
class Place:
    """A store, a clock that is moved by hand, and the loop over runs."""

    store: Store
    clock: HandClock
    called_off: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    is_on: bool = True

    async def call_off(self, approval: Approval, why: str) -> None:
        self.called_off.append((approval.approval_id, why))

    def sweeper(self, **changes: Any) -> RunSweeper:
        values: dict[str, Any] = {
            "runs": self.store.runs,
            "call_off": self.call_off,
            "is_on": lambda: self.is_on,
            "clock": self.clock,
        }
        return RunSweeper(**(values | changes))

    async def begun(self, **changes: Any) -> Run:
        at = microseconds(self.clock.now())
        return await begun(self.store, **({"created_at": at, "active_at": at} | changes))

    async def now(self, run: Run) -> Run | None:
        return await self.store.runs.get(run.run_id)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    clock = HandClock()
    store = Store.open(f"sqlite:///{tmp_path}/store.db", origin=ORIGIN, clock=clock)
    yield Place(store, clock)
    store.close(timeout_s=1)


@pytest.mark.parametrize(
    ("changes", "note"),
    [({"idle_s": 1800.0}, "no call for 30m"), ({"ends_at": 1}, "its time is over")],
)
async def test_a_run_that_does_not_go_on_is_blocked_in_its_phase(
    place: Place, changes: dict[str, Any], note: str
) -> None:
    """Failure case 22: idle end."""
    run = await moved(place.store, await place.begun(**changes), Phase.ACTING)
    place.clock.move(1801)
    await place.sweeper().sweep()
    after = await place.now(run)
    assert after is not None
    assert (after.phase, after.is_paused, after.stop_reason) == (
        Phase.ACTING,
        True,
        StopReason.BLOCKED,
    )
    assert after.note == note
    [event] = await place.store.events.query(EventFilter(run=run.run_id, stage="stopped"))
    body = event.json()["body"]
    assert isinstance(body, dict)
    assert (body["by"], body["stop_reason"]) == ("gateway", "blocked")


async def test_a_run_with_calls_goes_on(place: Place) -> None:
    run = await place.begun(idle_s=1800.0)
    place.clock.move(1801)
    place.store.runs.touched(run.run_id, place.clock.now())
    await place.sweeper().sweep()  # writes what was noted before it looks
    after = await place.now(run)
    assert after is not None
    assert (after.is_paused, after.calls) == (False, 1)


async def test_requests_of_a_stopped_run_are_called_off(place: Place) -> None:
    run = await place.begun()
    approval = await asked(place.store, run_id=run.run_id)
    await place.sweeper().sweep()
    assert place.called_off == []
    await moved(place.store, run, Phase.HANDOFF, stop_reason=StopReason.HANDOFF)
    await place.sweeper().sweep()
    assert place.called_off == [(approval.approval_id, "its run was stopped")]


async def test_what_ended_long_ago_is_forgotten_once_an_hour(place: Place) -> None:
    end = microseconds(place.clock.now())
    run = await place.begun()
    await moved(place.store, run, Phase.COMPLETED, finished_at=end)
    open_run = await place.begun()
    sweeper = place.sweeper()
    await sweeper.sweep()
    place.clock.move(90 * 86_400 + 1)
    await sweeper.sweep()
    assert await place.now(run) is None
    assert await place.now(open_run) is not None


async def test_more_than_one_turn_forgets_is_gone_without_another_hour(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.store.runs._AT_ONCE", 2)
    end = microseconds(place.clock.now())
    for _ in range(5):
        await place.begun(phase=Phase.FAILED, stop_reason=StopReason.FAILED, finished_at=end)
    place.clock.move(90 * 86_400 + 1)
    sweeper = place.sweeper()
    for left in (3, 1, 0):
        await sweeper.sweep()
        assert len(await place.store.runs.find(RunFilter())) == left


async def test_a_blocked_run_that_nobody_comes_back_to_ends_and_is_forgotten(place: Place) -> None:
    run = await place.begun(idle_s=1800.0, fields={"card": a_field("4111")})
    sweeper = place.sweeper()
    place.clock.move(1801)
    await sweeper.sweep()
    place.clock.move(89 * 86_400)
    await sweeper.sweep()
    assert await place.now(run) is not None
    place.clock.move(86_400)
    await sweeper.sweep()
    assert await place.now(run) is None
    events = await place.store.events.query(EventFilter(run=run.run_id, stage="stopped"))
    bodies = [body for each in events if isinstance(body := each.json()["body"], dict)]
    assert {body["stop_reason"]: body.get("note") for body in bodies} == {
        "blocked": None,
        "failed": None,
    }


async def test_a_store_that_is_away_and_a_fault_end_nothing(place: Place) -> None:
    run = await place.begun(idle_s=1.0)
    place.clock.move(60)

    class Odd:
        async def flush(self) -> None:
            raise StoreUnavailable("away")

        def __getattr__(self, name: str) -> Any:
            return getattr(place.store.runs, name)

    await place.sweeper(runs=Odd()).sweep()
    after = await place.now(run)
    assert after is not None
    assert after.is_paused

    class Broken(Odd):
        async def flush(self) -> None:
            raise KeyError("x")

    await place.sweeper(runs=Broken()).sweep()


async def test_the_loop_goes_on_until_it_is_told_and_writes_what_was_noted_at_the_end(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.app.runs._SWEEP_S", 0.01)
    run = await place.begun(idle_s=1.0)
    place.clock.move(60)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(place.sweeper().run)

        async def is_blocked() -> bool:
            after = await place.now(run)
            return after is not None and after.is_paused

        await until_async(is_blocked)
        place.is_on = False
        await anyio.sleep(0.03)
        place.store.runs.touched(run.run_id, place.clock.now())
        tasks.cancel_scope.cancel()
    after = await place.now(run)
    assert after is not None
    assert after.calls == 1


async def test_a_run_that_somebody_resumed_first_is_left_alone(place: Place) -> None:
    run = await place.begun(idle_s=1.0)
    place.clock.move(60)
    found = await place.store.runs.idle()
    assert await place.store.runs.change(run, replaced(run, active_at=run.active_at + 60), told)
    assert len(found) == 1

    class Late:
        async def idle(self) -> list[Run]:
            return found

        def __getattr__(self, name: str) -> Any:
            return getattr(place.store.runs, name)

    await place.sweeper(runs=Late()).sweep()
    after = await place.now(run)
    assert after is not None
    assert not after.is_paused


def test_only_a_process_of_a_host_is_a_session(place: Place) -> None:
    def made(*, is_child: bool) -> Any:
        return belonging(
            place.store,
            RunsSettings(implicit=True),
            revision=a_revision,
            environ={"CLAUDE_CODE_SESSION_ID": "e-1"},
            is_child=is_child,
            clock=place.clock,
            redactor=REDACTOR,
        )

    child, shared = made(is_child=True), made(is_child=False)
    assert child.chain.environment == "e-1"
    assert child.chain.process not in ("", made(is_child=True).chain.process)
    assert (shared.chain.environment, shared.chain.process) == ("", "")
    assert (child.begins, child.idle_s, child.is_on) == (True, 1800.0, False)
    assert BindingKind.SESSION.is_weak
