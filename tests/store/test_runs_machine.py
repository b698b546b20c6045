"""Any order of calls, moves, pauses, decisions and ends: no write goes through a closed phase."""

from collections.abc import Iterator

import pytest
from anyio import to_thread
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.helpers import run_races
from tests.helpers.databases import OpenStore
from tests.helpers.run_machine import Runs, World

pytestmark = pytest.mark.postgres


@pytest.fixture
def world(open_store: OpenStore) -> Iterator[World]:
    """Two gateways on one database."""
    found = World(stores=[open_store(), open_store()])
    yield found
    found.loop.close()


def test_no_write_goes_through_a_phase_that_is_closed(world: World) -> None:
    """Failure case 21; `python -m bench.runs` takes a hundred thousand steps."""
    Runs.world = world
    run_state_machine_as_test(
        Runs,
        settings=settings(
            max_examples=20,
            derandomize=True,  # by chance, hardly any write gets through once in a while
            database=None,
            phases=[Phase.generate],  # a failing order is told as it was found
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
    assert world.rules > 500
    assert world.sent > 3


async def test_two_processes_that_use_and_change_the_same_runs_leave_a_log_without_fault(
    store_url: str,
) -> None:
    """Failure case 21, by processes of their own."""
    runs = await run_races.begin(store_url, 2)
    met = await to_thread.run_sync(run_races.processes, store_url, runs, 60)
    tally = await run_races.looked(store_url, runs, met)
    assert tally.wrong == []
    assert tally.sent == met["sent"] > 0
    assert met["changed"] > 0
